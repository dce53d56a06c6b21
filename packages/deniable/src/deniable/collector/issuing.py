"""The issuer over HTTP: which keys a survey has, and the exchange of an invitation for a blind signature, once.

The exchange knows the invitation and not the token; the report has the token and not the invitation.
"""

import asyncio
import hashlib
import json
import time
from concurrent.futures import ThreadPoolExecutor

from deniable.collector import verdicts
from deniable.collector.access import RateLimit
from deniable.collector.fields import read_hex
from deniable.collector.invited import code_hash, exchange, is_invited, keys_of
from deniable.collector.service import Service
from deniable.collector.stages import Stage
from deniable.collector.verdicts import Refusal
from deniable.errors import InvalidReport, Unavailable
from deniable.invitations.token import SIGNATURE_BYTES

MOST_BYTES = 4096  # of a request
MOST_WAITING = 256  # exchanges; each takes some milliseconds
RATE = 20.0  # exchanges a second from one address, among them those that fail
LONGEST_CODE = 100
_OPEN = verdicts.NOT_FOUND.saying("This survey is open to everybody and has no invitations.")


class Issuing:
    """The issuer of one collector. It signs in a thread of its own, one exchange at a time."""

    def __init__(self, app: Service) -> None:
        self._app = app
        self._rate = RateLimit(RATE, time.monotonic)
        self._waiting = 0
        self._thread: ThreadPoolExecutor | None = None

    def keys(self) -> bytes | Refusal:
        """The public keys of the survey, and which of them signs, as JSON. Reads the store."""
        survey = self._app.collector.survey
        if survey.invitations is None:
            return _OPEN
        with self._app.collector.store.view() as view:
            keys = keys_of(view, survey.id)
        current = next((name for name, key in keys.items() if key.state == "current"), None)
        order = survey.invitations.keys
        shown = [keys[name].public.der.hex() if name in keys else None for name in order]
        number = order.index(current) if current in order else None
        return json.dumps({"survey": survey.fingerprint, "current": number, "keys": shown}).encode()

    async def exchanged(self, address: str, body: bytes) -> bytes | Refusal:
        """The blind signature for this request, as JSON."""
        if self._app.collector.survey.invitations is None:
            return _OPEN
        if not self._rate.allows(self._app.senders.by_address(address)):
            return verdicts.TOO_OFTEN
        if self._waiting >= MOST_WAITING:
            return verdicts.BUSY.saying("Nothing was exchanged. Try again.")
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "deniable issuer")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._answer, body)
        finally:
            self._waiting -= 1

    def _answer(self, body: bytes) -> bytes | Refusal:
        try:
            code, number, blinded = _read(body)
        except InvalidReport as error:
            return verdicts.DAMAGED.saying(str(error))
        try:
            return self._signed(code, number, blinded)
        except InvalidReport as error:
            return verdicts.DAMAGED.saying(str(error))
        except Unavailable:
            return verdicts.AWAY.saying("Nothing was exchanged. Try again in 2 s.")

    def _signed(self, code: str, number: int, blinded: bytes) -> bytes | Refusal:
        collector = self._app.collector
        survey, terms = collector.survey, collector.survey.invitations
        assert terms is not None
        name = terms.keys[number] if number < len(terms.keys) else ""
        with collector.store.view() as view:
            key = keys_of(view, survey.id).get(name)
            if not is_invited(view, collector.number, code_hash(code)):
                return verdicts.NO_INVITATION
        if key is None or key.state in ("reserve", "revoked"):
            return verdicts.OTHER_KEY
        now = collector.clock()
        if survey.closes is not None and now >= survey.closes:
            return verdicts.CLOSED
        signature = key.private.blind_sign(blinded)  # before the transaction, which then is short; it is sent after it
        digest = hashlib.sha256(name.encode() + blinded).digest()
        with collector.store.change() as change:
            state = change.accepting(collector.number)
            if state is None or state.fingerprint != survey.fingerprint or state.stage is not Stage.OPEN:
                return verdicts.CLOSED
            refusal = exchange(change, collector.number, code_hash(code), digest, key.state == "current")
        if refusal is not None:
            return refusal
        return json.dumps({"survey": survey.fingerprint, "signature": signature.hex()}).encode()


def _read(body: bytes) -> tuple[str, int, bytes]:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidReport("The body is not JSON.") from None
    if not isinstance(data, dict) or set(data) != {"invitation", "key", "blinded"}:
        raise InvalidReport('An exchange has the keys "invitation", "key" and "blinded".')
    code, number = data["invitation"], data["key"]
    if not isinstance(code, str) or not 0 < len(code) <= LONGEST_CODE or not code.isascii():
        raise InvalidReport("invitation must be the code from the link.")
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 256:
        raise InvalidReport("key must be the number of a key of the survey, from 0.")
    return code, number, read_hex(data["blinded"], SIGNATURE_BYTES)
