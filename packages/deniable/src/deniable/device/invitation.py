"""A device's invitation: it is exchanged once for a token, which is kept until the report has arrived."""

import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from deniable.device.ledger import Ledger
from deniable.device.sending import Exchanger, Reply
from deniable.errors import InvalidParameter, InvalidReport
from deniable.invitations.blind_rsa import PublicKey, blind, finalize
from deniable.invitations.token import Token, fresh_prefix, signed_message
from deniable.survey.survey import Survey

ATTEMPTS = 3  # at a key that has just been replaced


@dataclass(frozen=True)
class Right:
    """A token, and the time before which the report is not sent, so that the two requests do not come together."""

    token: bytes
    after: float

    def __repr__(self) -> str:
        return "Right(...)"


def code_of(invitation: str) -> str:
    """The code of an invitation, given as such or as the link that holds it.

    >>> code_of("https://survey.example/#invitation=Y29kZQ")
    'Y29kZQ'
    """
    text = invitation.strip()
    found = parse_qs(urlsplit(text).fragment).get("invitation") if "#" in text else [text]
    if not found or not found[0] or not found[0].isascii() or len(found[0]) > 100:
        raise InvalidParameter("This is not an invitation. Give the whole link that you received, or the code at its end.")
    return found[0]


class Exchange:
    """The exchange of one person's invitation. What is needed to repeat it is in the ledger before anything is sent."""

    def __init__(
        self, survey: Survey, ledger: Ledger, ask: Exchanger | None, code: str | None, clock: Callable[[], float] = time.time
    ) -> None:
        assert survey.invitations is not None
        self._survey, self._terms, self._ledger = survey, survey.invitations, ledger
        self._ask, self._code, self._clock = ask, code, clock
        self._name = f"{survey.id} {survey.fingerprint}"

    def kept(self) -> Right | None:
        """The token that the ledger holds."""
        state = self._ledger.exchange(self._name)
        return (
            Right(bytes.fromhex(state["token"]), float(state["after"])) if state is not None and "token" in state else None
        )

    def right(self) -> Right | Reply:
        """The token, exchanged for the invitation if that has not happened yet; or what the collector says instead."""
        for _ in range(ATTEMPTS):
            found = self.kept()
            if found is not None:
                return found
            state = self._ledger.exchange(self._name) or self._begun()
            if isinstance(state, Reply):
                return state
            reply, answer = self._asking()("/v1/invitation", _request(state))
            if reply.reason == "other-key":
                self._ledger.drop_exchange(self._name)  # it was not recorded under that key: begin again
                continue
            if not reply.arrived:
                return reply
            self._finish(state, answer)
        return Reply(0, None, "the key of the survey keeps changing")

    def _asking(self) -> Exchanger:
        if self._ask is None:
            raise InvalidParameter(
                "This device has no collector for its invitation. Give its address: Device(..., send=...)."
            )
        return self._ask

    def _begun(self) -> Mapping[str, str] | Reply:
        """Draw a token and blind it."""
        if self._code is None:
            raise InvalidParameter("This survey is for invited people. Give the invitation: Device(..., invitation=...).")
        reply, answer = self._asking()("/v1/issuer", None)
        if not reply.arrived:
            return reply
        number, key = self._chosen(answer)
        prefix = fresh_prefix()
        blinded = blind(key, signed_message(prefix, self._survey.fingerprint_bytes))
        state = {
            "code": self._code, "key": str(number), "public": key.der.hex(), "prefix": prefix.hex(),
            "blinded": blinded.message.hex(), "inverse": f"{blinded.inverse:x}",
        }  # fmt: skip
        return self._ledger.put_exchange(self._name, state)

    def _chosen(self, answer: Mapping[str, object]) -> tuple[int, PublicKey]:
        """The key that signs now. It must be one that the survey names, since that is the same for everybody."""
        try:
            number, keys = answer["current"], answer["keys"]
            assert isinstance(number, int) and isinstance(keys, list)
            key = PublicKey(bytes.fromhex(keys[number]))
            if number >= 0 and answer["survey"] == self._survey.fingerprint and key.id == self._terms.keys[number]:
                return number, key
        except (KeyError, TypeError, ValueError, IndexError, AssertionError):
            pass
        raise InvalidReport(
            "The collector offers a key that the survey does not name. It could recognize you by it, so your invitation was "
            "not used. Tell the people who run the survey."
        )

    def _finish(self, state: Mapping[str, str], answer: Mapping[str, object]) -> None:
        key, prefix = PublicKey(bytes.fromhex(state["public"])), bytes.fromhex(state["prefix"])
        message = signed_message(prefix, self._survey.fingerprint_bytes)
        try:
            signed = bytes.fromhex(str(answer["signature"]))
        except (KeyError, ValueError):
            signed = b""
        signature = finalize(key, message, signed, int(state["inverse"], 16))
        wait = secrets.randbelow(1000 * self._terms.delay + 1) / 1000
        token = Token(int(state["key"]), prefix, signature).to_bytes()
        self._ledger.put_exchange(self._name, {"token": token.hex(), "after": repr(self._clock() + wait)})


def _request(state: Mapping[str, str]) -> bytes:
    return json.dumps({"invitation": state["code"], "key": int(state["key"]), "blinded": state["blinded"]}).encode()
