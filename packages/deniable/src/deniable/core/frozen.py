"""Frozen dataclasses that check and complete their fields as they are made, and names that attributes had before."""

import warnings
from typing import Any


class Frozen:
    """What mechanisms and domains have in common: once made, they do not change."""

    def _fix(self, **values: object) -> None:
        """Give fields their final values; only while the object is made."""
        for name, value in values.items():
            object.__setattr__(self, name, value)


class Former:
    """A former name of an attribute or method: it still works, and warns with the present name."""

    def __init__(self, present: str) -> None:
        self.present = present

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        said = f"{owner.__name__}.{self.name} is now called {self.present}. Use that name."
        warnings.warn(said, DeprecationWarning, stacklevel=2)
        return getattr(instance, self.present)
