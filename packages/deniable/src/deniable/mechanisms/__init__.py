"""Mechanisms by the question they answer: `registry` finds them by name, `algebra` is the mathematics that they share."""
