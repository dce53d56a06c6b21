"""Mechanisms for keys with values, and for links with weights."""
