"""Members with secrets at a collector: the key of a survey, in its database, and reports that are refused without a tag."""

import hmac
import secrets

from deniable.collector import verdicts
from deniable.collector.stages import Stage
from deniable.collector.store import Change, Store, View
from deniable.collector.verdicts import Refusal
from deniable.errors import InvalidParameter, InvalidReport
from deniable.invitations.member import KEY_BYTES, Membership
from deniable.survey import Message, Survey
from deniable.survey.message import encode

MEMBERS = "members"  # what the key is called among those of a survey


def key_of(view: View | Change, survey: str) -> bytes | None:
    """The key of the survey with this id, if it has one."""
    rows = view.run("SELECT private FROM issuers WHERE survey = ? AND id = ?", survey, MEMBERS)
    return bytes(rows[0][0]) if rows else None


def members_of(store: Store, survey: Survey) -> list[Membership]:
    """The membership of each member, in order; the key that they follow from is made the first time."""
    if not survey.has_secrets:
        raise InvalidParameter(
            f"The survey {survey.id!r} lets anybody report for a member. To give each member a secret, add "
            'reporters = "secret" to its question of kind "friends" before it is first served.'
        )
    with store.change() as change:
        change.alone()
        key = key_of(change, survey.id)
        if key is None:
            key = secrets.token_bytes(KEY_BYTES)
            change.run(
                "INSERT INTO issuers (survey, id, place, public, private, state) VALUES (?, ?, ?, ?, ?, ?)",
                survey.id, MEMBERS, 0, b"", key, MEMBERS,
            )  # fmt: skip
    (question,) = survey.questions
    return [Membership.derived(key, survey.id, member) for member in range(question.domain.size)]


def check_members(store: Store, survey: Survey, number: int) -> None:
    """Refuse to serve a survey whose members have no secrets in this database: no report would be counted."""
    if not survey.has_secrets:
        return
    with store.view() as view:
        known, state = key_of(view, survey.id), view.state(number)
    if known is None and state is not None and state.stage is Stage.OPEN:
        raise InvalidParameter(
            f"The members of {survey.id!r} have no secrets in this database. Make links first: deniable invite members."
        )


class Senders:
    """Whether reports come from the members that they name."""

    def __init__(self, survey: Survey, store: Store) -> None:
        self._survey, self._store = survey, store
        self._key: bytes | None = None

    def refusal(self, message: Message) -> Refusal | None:
        """Why a message is not counted."""
        if message.reports > 1:
            return verdicts.NO_BATCHES.saying("In a survey whose members have secrets, each member sends their own report.")
        if not message.token:
            return verdicts.NO_SECRET
        if self._key is None:
            with self._store.view() as view:
                self._key = key_of(view, self._survey.id)
        if self._key is None:
            return verdicts.BAD_SECRET
        (question,) = self._survey.questions
        try:
            (member,) = question.how.senders(self._survey.unpack(message)[0].columns).tolist()
        except InvalidReport as error:
            return verdicts.IMPOSSIBLE.saying(str(error))
        whole = encode(self._survey.fingerprint_bytes, message._replace(token=b""))
        expected = Membership.derived(self._key, self._survey.id, int(member)).tag(whole)
        return None if hmac.compare_digest(expected, message.token) else verdicts.BAD_SECRET
