"""Mechanisms that find answers nobody listed."""
