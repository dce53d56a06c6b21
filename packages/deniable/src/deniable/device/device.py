"""One person's client: it randomizes once, keeps the report in a ledger, and sends that same report until it arrives."""

import hashlib
import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

from deniable.core import Coins
from deniable.device.invitation import Exchange, code_of
from deniable.device.ledger import Entry, Ledger, checked_entry
from deniable.device.repeating import Repeating
from deniable.device.sending import Exchanger, Reply, Sender, http_exchanger, http_sender, send_until
from deniable.errors import BudgetSpent, InvalidParameter, NotCertifiable, SurveyMismatch
from deniable.invitations.member import Membership
from deniable.survey.message import with_token
from deniable.survey.question import Question
from deniable.survey.survey import Survey

NO_LINK = "In this survey every member has a link of their own. Give yours: Device(survey, invitation=link)."


@dataclass(frozen=True)
class Outcome:
    """What became of an answer: sent, kept for a later attempt, refused for good, or dropped on the device."""

    state: Literal["sent", "kept", "refused", "dropped"]
    reason: str = ""


class Device:
    """The client of one person and one survey.

    `answer` returns the bytes of the report, once, and refuses a second time. `submit` answers and sends; it returns an
    `Outcome` and counts dropped answers instead of raising into the program around it, unless `strict`. It holds its caller
    up for about `patience` seconds at most; what has not arrived by then is kept, and sent the next time.

    A survey for invited people needs the `invitation`, a link or its code, until it is exchanged for a token; the report is
    sent some random time later, as the survey says, and kept until then. Where each member of a list has a secret, it is the
    link of the member.
    """

    def __init__(
        self,
        survey: Survey,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        send: Sender | str | None = None,
        coins: Coins | None = None,
        attempts: int = 5,
        patience: float = 10.0,
        invitation: str | None = None,
        exchange: Exchanger | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not isinstance(survey, Survey):
            raise InvalidParameter('A device answers a survey: Device(Survey.load("survey.toml")).')
        self.survey = survey
        self.ledger = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        timeout = min(10.0, patience)
        self._send = http_sender(send, timeout=timeout) if isinstance(send, str) else send
        if exchange is None and isinstance(send, str):
            exchange = http_exchanger(send, survey.fingerprint, timeout)
        self._member = self._membership(invitation) if survey.has_secrets else None
        code = None if invitation is None or survey.has_secrets else code_of(invitation)
        self._invited = Exchange(survey, self.ledger, exchange, code) if survey.invitations is not None else None
        self._coins, self._attempts, self._patience = coins, attempts, patience
        self.dropped = 0
        self._again = Repeating(survey, self.ledger, coins, clock) if survey.repeats is not None else None

    def _membership(self, link: str | None) -> Membership | None:
        """Who this device reports for: from the link, which the ledger keeps for the rounds after."""
        name = f"{self.survey.id} {self.survey.lasting} member"
        kept = self.ledger.exchange(name)
        if link is None:
            return None if kept is None else Membership.of(kept["link"])
        found = Membership.of(link)
        if kept is None:
            self.ledger.put_exchange(name, {"link": found.fragment})
        return found

    @cached_property
    def part(self) -> int:
        """Which questions this person is asked, as bits: drawn once, before any answer is known, and kept in the ledger."""
        drawn = self.survey.draw_parts(1, self._coins)[0]
        if self.survey.budget != "sampled":
            return drawn  # all questions: nothing was drawn
        return self.ledger.part(f"{self.survey.id} {self.survey.lasting}", drawn)

    @property
    def _name(self) -> str:
        """What the ledger knows the report by: the survey, or one of its rounds if the same people answer all of them."""
        return self._round_name(self.survey.round or 1) if self.survey.same_people else self.survey.id

    def _round_name(self, number: int) -> str:
        return self.survey.id if number == 1 else f"{self.survey.id} round {number}"

    @property
    def questions(self) -> tuple[Question, ...]:
        """What this person is asked now; a survey that is asked again leaves out what it asks only once."""
        known = self._again is not None and self.ledger.entry(self.survey.id) is not None
        return self.survey.part(self.survey.later if known and self.survey.budget != "sampled" else self.part)

    def entry(self) -> Entry | None:
        """What the ledger holds for this survey; refused if it is for another survey with the same id.

        Of a survey that is asked again, what it holds for this period.
        """
        entry = self.ledger.entry(self._name)
        if entry is not None and entry.fingerprint != self.survey.lasting:
            raise SurveyMismatch("Another survey with this id has already been answered. A changed survey needs a new id.")
        return entry if self._again is None or self._again.has_answered() else None

    def answer(self, answers: Mapping[str, object]) -> bytes:
        """Randomize the answers, once: the report is in the ledger before it is returned."""
        if self.entry() is not None:
            raise BudgetSpent("This survey has already been answered. The same report can be sent again, but not a new one.")
        if self._again is not None:
            return self._again.answer(answers, self.part)
        if self.survey.has_secrets and self._member is None:
            raise InvalidParameter(NO_LINK)
        self._check_round()
        message = self.survey.randomize(answers, self._coins, part=self.part)
        own = {question: checked_entry(loss.odds) for question, loss in self.survey.losses(self.part).items()}
        odds = str(math.prod(map(Fraction, own.values()), start=Fraction(1)))
        entry = Entry(self.survey.lasting, self.survey.epsilon, message.hex(), odds=odds, questions=own)
        if self._has_paid():
            entry = Entry(self.survey.lasting, 0.0, message.hex(), odds="1", unit="in the cost of the first round")
        self.ledger.add(self._name, entry)
        return message

    def _has_paid(self) -> bool:
        """Whether an earlier round was answered, with which this one is paid for: its loss is that of all rounds."""
        earlier = range(1, (self.survey.round or 1) if self.survey.same_people else 1)
        known = (self.ledger.entry(self._round_name(number)) for number in earlier)
        return any(each is not None and each.fingerprint == self.survey.lasting for each in known)

    @property
    def due(self) -> bool:
        """Whether this person is asked now: once, or if the survey is asked again, in each period that is theirs."""
        return self.entry() is None if self._again is None else self._again.due()

    def _check_round(self) -> None:
        """The laws of a round were made while people answered: they are proved here, before anything is made with them."""
        if self.survey.rounds is not None:
            from deniable.survey.certificate import certify_survey  # which other surveys do not need

            if not certify_survey(self.survey).holds:
                raise NotCertifiable("This round discloses more than the survey says, so it was not answered.")
        for question in self.survey.questions:
            self._check_binding(f"{self.survey.id} {self.survey.lasting} {question.id}", question)

    def _check_binding(self, name: str, question: Question) -> None:
        """Rounds of the same people cost what they say together only if they fit together: the ledger knows the first."""
        binding = question.how.binding(question.mechanism)
        if binding:
            number = int(hashlib.sha256(binding.encode()).hexdigest()[:32], 16)
            if self.ledger.part(f"{name} rounds", number) != number:
                raise SurveyMismatch("This round does not follow from the one answered before, so it was not answered.")

    def message(self) -> bytes | None:
        """The report that was made for this survey or period, the same however often it is asked for; None before."""
        entry = self.entry()
        return None if entry is None else bytes.fromhex(entry.message)

    def send(self) -> Reply:
        """Send the report that `answer` made, with retries; what came of it goes into the ledger."""
        if self._send is None:
            raise InvalidParameter("This device has no collector to send to. Give its address: Device(survey, send=...).")
        send = self._send
        if self._again is not None:
            self._again.send_waiting(lambda message: send_until(send, message, 1, patience=self._patience))
        entry = self.entry()
        if entry is None:
            raise InvalidParameter("There is no report to send yet. Answer first.")
        if entry.state == "sent":
            return Reply(200)
        message = self._ready(bytes.fromhex(entry.message))
        if isinstance(message, Reply):
            return message
        reply = send_until(self._send, message, self._attempts, patience=self._patience)
        if not reply.again:
            self.ledger.mark(self._name, "sent" if reply.arrived else "refused")
        return reply

    def exchange(self) -> float | Reply:
        """Exchange the invitation for a token, if that has not happened yet: how many seconds the report has to wait.

        The earlier this happens before the answers are sent, the less the two requests have to do with each other.
        """
        if self._invited is None:
            return 0.0
        right = self._invited.right()
        return right if isinstance(right, Reply) else max(0.0, right.after - time.time())

    def _ready(self, message: bytes) -> bytes | Reply:
        """The message with its token when it may be sent, or why it is kept."""
        if self.survey.has_secrets:
            if self._member is None:
                raise InvalidParameter(NO_LINK)
            return with_token(message, self._member.tag(message))
        if self._invited is None:
            return message
        right = self._invited.right()
        if isinstance(right, Reply):
            return right
        wait = right.after - time.time()
        if wait > self._patience:
            return Reply(
                0, wait, f"waits {wait:.0f} s, so that its time cannot be matched with the exchange of the invitation"
            )
        time.sleep(max(0.0, wait))
        return with_token(message, right.token)

    def submit(self, answers: Mapping[str, object] | None = None, strict: bool = False, wait: bool = True) -> Outcome:
        """Answer, if that has not happened yet, and send. What was answered before is sent again, never made anew.

        Without `wait` it is sent in the background: the outcome says that it is kept, and the ledger what came of it.
        """
        try:
            if self.entry() is None:
                self.answer({} if answers is None else answers)
            if not wait:
                threading.Thread(target=self.submit, name="deniable device", daemon=True).start()
                return Outcome("kept", "sending")
            reply = self.send()
        except Exception as error:
            if strict:
                raise
            self.dropped += 1
            return Outcome("dropped", type(error).__name__)  # no message: the host may log it
        if reply.arrived:
            return Outcome("sent")
        return Outcome("kept" if reply.again else "refused", reply.detail or f"status {reply.status}")
