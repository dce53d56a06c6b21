"""Mechanisms for vectors of numbers: their mean, coordinate by coordinate or as a whole."""
