"""Mechanisms for the distribution of a number: its quantiles, ranges and any other linear question."""
