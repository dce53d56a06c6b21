"""Keys that the tests of invitations share, since making one takes a while."""

from collections.abc import Iterator
from itertools import cycle

import pytest

from deniable.invitations.blind_rsa import PrivateKey


@pytest.fixture(scope="session")
def some_keys() -> Iterator[PrivateKey]:
    return cycle([PrivateKey.fresh() for _ in range(5)])


@pytest.fixture(autouse=True)
def keys_at_once(some_keys: Iterator[PrivateKey], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PrivateKey, "fresh", lambda: next(some_keys))
