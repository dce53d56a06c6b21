"""Invitations in a backup: the keys, the invitations and the spent tokens of a survey as lines of plain data, and back."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from deniable.collector.invited import IssuerKey, claim_nonces, keys_of, put_invitations, put_keys
from deniable.collector.store import Change, View
from deniable.errors import InvalidReport
from deniable.invitations.blind_rsa import PrivateKey

A_LINE = 1000
Item = TypeVar("Item")


def invited_rows(view: View, number: int, survey: str) -> Iterator[dict[str, Any]]:
    """All of it, some at a time."""
    yield {"keys": [[key.private.der.hex(), key.state] for key in keys_of(view, survey).values()]}
    invitations = view.stream("SELECT hash, state, blinded FROM invitations WHERE survey = ?", number)
    for some in _grouped(invitations):
        yield {"invitations": [[_hex(row[0]), row[1], _hex(row[2])] for row in some]}
    for some in _grouped(view.stream("SELECT nonce FROM spent WHERE survey = ?", number)):
        yield {"spent": [_hex(row[0]) for row in some]}


def put_invited_row(change: Change, number: int, survey: str, line: dict[str, Any]) -> None:
    """Put one of these lines into a store."""
    try:
        if "keys" in line:
            private = [(PrivateKey(bytes.fromhex(der)), state) for der, state in line["keys"]]
            put_keys(change, survey, [IssuerKey(key.public, key, state) for key, state in private])
        elif "invitations" in line:
            rows = [(bytes.fromhex(code), int(state), _bytes(blinded)) for code, state, blinded in line["invitations"]]
            put_invitations(change, number, rows)
        else:
            claim_nonces(change, number, sorted(bytes.fromhex(nonce) for nonce in line["spent"]))
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidReport("The backup is damaged where it holds the invitations. Copy it again.") from error


def _grouped(items: Iterable[Item]) -> Iterator[list[Item]]:
    group = list[Item]()
    for item in items:
        group.append(item)
        if len(group) == A_LINE:
            yield group
            group = []
    if group:
        yield group


def _hex(data: bytes | None) -> str | None:
    return None if data is None else bytes(data).hex()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)
