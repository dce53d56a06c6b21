"""The old name of `deniable_learn.federated`."""

from deniable.learning import moved


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(moved(".federated"), name)
