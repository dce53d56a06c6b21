"""Invitations in a store: keys of the issuer, hashes of codes and of what was signed for them, and tokens that are spent.

Nothing here connects an invitation with a token. No time is stored, and rows lie in the order of their hashes.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from deniable.collector import verdicts
from deniable.collector.membership import Senders, check_members
from deniable.collector.stages import Stage
from deniable.collector.store import MOST_VARIABLES, Change, Store, View, chunks
from deniable.collector.verdicts import Refusal
from deniable.errors import InvalidParameter, InvalidReport
from deniable.invitations.blind_rsa import PrivateKey, PublicKey
from deniable.invitations.terms import KEYS, MOST_KEYS, Invitations
from deniable.invitations.token import Token
from deniable.survey import Message, Survey

CODE_BYTES = 16  # random, so that a code cannot be guessed and its hash needs no salt
REMEMBERED = 4096  # tokens whose signature is not verified again: a body is screened before it waits to be counted
ID_DIGITS = 12  # of its hash, which name an invitation in lists

KeyState = Literal["reserve", "current", "retired", "revoked"]
UNUSED, EXCHANGED, REVOKED = 0, 1, 2


@dataclass(frozen=True)
class IssuerKey:
    """A key of a survey. A retired one signs nothing new, but its tokens count; those of a revoked one do not."""

    public: PublicKey
    private: PrivateKey
    state: KeyState


def code_hash(code: str) -> bytes:
    """What is stored of an invitation."""
    return hashlib.sha256(b"deniable invitation\0" + code.encode()).digest()


def invitation_id(code: str) -> str:
    """What names an invitation in lists, and in the file of links."""
    return code_hash(code).hex()[:ID_DIGITS]


# Keys: the same objects again, since to read and check one takes longer than to sign with it.
_public, _private = lru_cache(64)(PublicKey), lru_cache(64)(PrivateKey)


def keys_of(view: View, survey: str) -> dict[str, IssuerKey]:
    """The keys of the survey with this id, by their ids, in the order in which they are used."""
    rows = view.run("SELECT id, public, private, state FROM issuers WHERE survey = ? ORDER BY place", survey)
    return {row[0]: IssuerKey(_public(bytes(row[1])), _private(bytes(row[2])), row[3]) for row in rows}


def put_keys(change: Change, survey: str, keys: Iterable[IssuerKey]) -> None:
    """Store the keys of a survey."""
    for place, key in enumerate(keys):
        change.run(
            "INSERT INTO issuers (survey, id, place, public, private, state) VALUES (?, ?, ?, ?, ?, ?)",
            survey, key.public.id, place, key.public.der, key.private.der, key.state,
        )  # fmt: skip


def make_keys(store: Store, survey: Survey, count: int = KEYS) -> tuple[str, ...]:
    """The ids of new keys for a survey that nobody has been asked yet; those that were made before, if there are any."""
    if not 1 <= count <= MOST_KEYS:
        raise InvalidParameter(f"A survey has 1 to {MOST_KEYS} keys.")
    with store.change() as change:
        change.alone()
        served = change.survey(survey.id)
        state = None if served is None else change.state(served[0])
        if state is not None and state.stage is not Stage.DRAFT:
            raise InvalidParameter(
                f"The survey {survey.id!r} has already been served, and a survey never changes. Give the survey for "
                "invited people its own id."
            )
        known = keys_of(change, survey.id)
        if not known:
            fresh = [PrivateKey.fresh() for _ in range(count)]
            put_keys(change, survey.id, [IssuerKey(k.public, k, "reserve" if i else "current") for i, k in enumerate(fresh)])
            known = keys_of(change, survey.id)
    return tuple(known)


def rotate_key(store: Store, survey: Survey, revoke: bool) -> tuple[str, str]:
    """Sign with the next key from now on; the ids of the old and the new one. `revoke` also refuses the old one's tokens."""
    with store.change() as change:
        change.alone()
        keys = keys_of(change, survey.id)
        current = [name for name, key in keys.items() if key.state == "current"]
        reserve = [name for name, key in keys.items() if key.state == "reserve"]
        if not current or not reserve:
            raise InvalidParameter(
                "This survey has no key in reserve. Its keys are part of it, and none can be added: make a new survey with "
                "more keys (deniable invite keys --count)."
            )
        for name, state in ((current[0], "revoked" if revoke else "retired"), (reserve[0], "current")):
            change.run("UPDATE issuers SET state = ? WHERE survey = ? AND id = ?", state, survey.id, name)
    return current[0], reserve[0]


# Invitations


def terms_of(survey: Survey) -> Invitations:
    """What the survey says about invitations; refused if it is open to everybody."""
    if survey.invitations is None:
        raise InvalidParameter(
            f"The survey {survey.id!r} is open to everybody. To count each person once, give it keys before it is first "
            "served: deniable invite keys."
        )
    return survey.invitations


def make_invitations(store: Store, survey: Survey, people: int) -> list[str]:
    """Codes of new invitations, which are shown here and nowhere else: only their hashes are stored."""
    terms_of(survey)
    number, _ = store.register(survey)
    codes = [secrets.token_urlsafe(CODE_BYTES) for _ in range(people)]
    with store.change() as change:
        change.patient()
        put_invitations(change, number, sorted((code_hash(code), UNUSED, None) for code in codes))
    return codes


def put_invitations(change: Change, number: int, rows: Sequence[tuple[bytes, int, bytes | None]]) -> None:
    """Store invitations: the hash of the code, the state, and the hash of what was signed for it."""
    for some in chunks(rows, MOST_VARIABLES // 4):
        values = [value for row in some for value in (number, *row)]
        marks = ", ".join(["(?, ?, ?, ?)"] * len(some))
        change.run(f"INSERT INTO invitations (survey, hash, state, blinded) VALUES {marks}", *values)


def count_invitations(view: View, number: int) -> dict[int, int]:
    """How many invitations are unused, exchanged and revoked."""
    return dict(view.run("SELECT state, COUNT(*) FROM invitations WHERE survey = ? GROUP BY state", number))


def revoke_invitations(store: Store, number: int, ids: Sequence[str] | None) -> int:
    """Revoke unused invitations, by their ids, or all of them; how many there were. An exchanged one cannot be revoked:
    nobody knows which token it became."""
    with store.change() as change:
        change.patient()
        rows = change.run(f"SELECT hash FROM invitations WHERE survey = ? AND state = ?{change.for_update}", number, UNUSED)
        unused = {bytes(row[0]).hex()[:ID_DIGITS]: bytes(row[0]) for row in rows}
        chosen = list(unused.values()) if ids is None else [unused[name] for name in sorted(set(ids)) if name in unused]
        for some in chunks(chosen, MOST_VARIABLES):
            marks = ",".join("?" * len(some))
            sql = f"UPDATE invitations SET state = ? WHERE survey = ? AND hash IN ({marks})"
            change.run(sql, REVOKED, number, *some)
    return len(chosen)


def is_invited(view: View, number: int, code: bytes) -> bool:
    """Whether there is an invitation with this hash: asked first, so that guessing costs no signature and no commit."""
    return bool(view.run("SELECT 1 FROM invitations WHERE survey = ? AND hash = ?", number, code))


def exchange(change: Change, number: int, code: bytes, blinded: bytes, current: bool = True) -> Refusal | None:
    """Exchange the invitation with this hash for a signature on the blinded message with that hash, once.

    The same blinded message is signed again, since the first answer may have been lost; another one is refused.
    A key that is not `current` signs only what it has signed before.
    """
    select = f"SELECT state, blinded FROM invitations WHERE survey = ? AND hash = ?{change.for_update}"
    rows = change.run(select, number, code)
    if not rows or rows[0][0] == REVOKED:
        return verdicts.NO_INVITATION
    if rows[0][0] == UNUSED and not current:
        return verdicts.OTHER_KEY
    if rows[0][0] == UNUSED:
        sql = "UPDATE invitations SET state = ?, blinded = ? WHERE survey = ? AND hash = ?"
        change.run(sql, EXCHANGED, blinded, number, code)
        return None
    return None if hmac.compare_digest(bytes(rows[0][1]), blinded) else verdicts.EXCHANGED


def check_keys(store: Store, survey: Survey, number: int) -> None:
    """Refuse to serve a survey whose keys are somewhere else: nobody could answer it."""
    check_members(store, survey, number)
    if survey.invitations is None:
        return
    with store.view() as view:
        known, state = keys_of(view, survey.id), view.state(number)
    if not set(survey.invitations.keys) & set(known) and state is not None and state.stage is Stage.OPEN:
        raise InvalidParameter(
            f"The keys for the invitations of {survey.id!r} are not in this database. Use the one where deniable invite "
            "keys made them, or restore a backup of it."
        )


def prepare_keys(store: Store, survey: Survey) -> None:
    """Read the keys that sign, now or after a rotation, so that no exchange has to wait for that."""
    with store.view() as view:
        keys = keys_of(view, survey.id)
    for key in keys.values():
        if key.state in ("current", "reserve"):
            key.private.prepare()


# Tokens


class Admission:
    """Whether messages may be counted: in a survey for invited people, each with a token that is spent with it."""

    def __init__(self, survey: Survey, store: Store) -> None:
        self._survey, self._keys = survey, list[PublicKey | None]()
        if survey.invitations is not None:
            with store.view() as view:
                known = keys_of(view, survey.id)
            self._keys = [known[name].public if name in known else None for name in survey.invitations.keys]
        self._signed = lru_cache(REMEMBERED)(self._verified)
        self._senders = Senders(survey, store) if survey.has_secrets else None

    def __bool__(self) -> bool:
        return self._survey.invitations is not None

    def refusal(self, message: Message) -> Refusal | None:
        """Why a message is not counted, whatever was counted before."""
        if self._senders is not None:
            return self._senders.refusal(message)
        if not self:
            return verdicts.DAMAGED.saying("This survey takes no tokens.") if message.token else None
        if message.reports > 1:
            return verdicts.NO_BATCHES.saying("A survey for invited people counts one report for each token.")
        if not message.token:
            return verdicts.NOT_INVITED
        try:
            token = Token.from_bytes(message.token)
        except InvalidReport as error:
            return verdicts.BAD_TOKEN.saying(str(error))
        return None if self._signed(token) else verdicts.BAD_TOKEN

    def _verified(self, token: Token) -> bool:
        key = self._keys[token.key] if token.key < len(self._keys) else None
        return key is not None and token.valid(key, self._survey.fingerprint_bytes)

    def spend(self, change: Change, number: int, fresh: Sequence[tuple[int, Message]]) -> dict[int, Refusal]:
        """Spend the tokens of these messages, which are about to be counted; which of them may not be, by their places."""
        assert self._survey.invitations is not None
        revoked = {name for name, key in keys_of(change, self._survey.id).items() if key.state == "revoked"}
        refused, first = dict[int, Refusal](), dict[bytes, int]()
        for place, message in fresh:
            token = Token.from_bytes(message.token)
            if self._survey.invitations.keys[token.key] in revoked:
                refused[place] = verdicts.BAD_TOKEN.saying("The key that signed the token was revoked.")
            elif token.nonce in first:
                refused[place] = verdicts.SPENT
            else:
                first[token.nonce] = place
        unspent = claim_nonces(change, number, sorted(first))
        refused.update({place: verdicts.SPENT for nonce, place in first.items() if nonce not in unspent})
        for place, message in fresh:
            if place in refused:
                unclaim = "DELETE FROM seen WHERE survey = ? AND period = ? AND id = ?"
                change.run(unclaim, number, message.period, message.id)
        return refused


def claim_nonces(change: Change, number: int, nonces: Sequence[bytes]) -> set[bytes]:
    """Take these nonces, given in order; those that nobody had taken before are returned."""
    fresh = set[bytes]()
    for some in chunks(nonces, MOST_VARIABLES // 2):
        marks = ", ".join(["(?, ?)"] * len(some))
        insert = f"INSERT INTO spent (survey, nonce) VALUES {marks} ON CONFLICT DO NOTHING RETURNING nonce"
        rows = change.run(insert, *(value for nonce in some for value in (number, nonce)))
        fresh.update(bytes(row[0]) for row in rows)
    return fresh


def drop_invitations(change: Change, number: int, survey: str) -> None:
    """Delete invitations, spent tokens and keys: the survey counts nothing more, or is deleted."""
    for table in ("invitations", "spent"):
        change.run(f"DELETE FROM {table} WHERE survey = ?", number)
    change.run("DELETE FROM issuers WHERE survey = ?", survey)
