"""Mechanisms for the mean of a number."""
