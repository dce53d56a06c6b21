"""Frequency oracles: mechanisms for the share of each answer."""
