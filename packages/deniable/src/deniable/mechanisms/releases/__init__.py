"""Mechanisms that release single values close to the true ones."""
