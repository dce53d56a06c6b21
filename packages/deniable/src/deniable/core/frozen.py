"""Frozen dataclasses that check and complete their fields as they are made."""


class Frozen:
    """What mechanisms and domains have in common: once made, they do not change."""

    def _fix(self, **values: object) -> None:
        """Give fields their final values; only while the object is made."""
        for name, value in values.items():
            object.__setattr__(self, name, value)
