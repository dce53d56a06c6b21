"""Any text that nobody listed: the most frequent strings, each verified."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deniable.arrays import Floats
from deniable.core import Answers, AnyDomain, Estimate, Mechanism, Tally
from deniable.errors import InvalidParameter, OutsideDomain
from deniable.planning.ranking import counted
from deniable.survey.kinds.kind import Details, Kind, Published, WrongDetail
from deniable.survey.kinds.summary import Limits

if TYPE_CHECKING:
    from deniable.discovery.found import Found
    from deniable.discovery.gathered import Round
    from deniable.discovery.verifying import Wanted
    from deniable.domains.strings import Strings

P_VALUE = "p-value"  # the measure of how sure a name is
WORDS = ("site", "shop", "news", "mail", "maps", "bank", "game", "book", "film", "song")
MOST_NAMED, MOST_BLOCKED = 200, 1000
FAKES = 0.01  # the share of false reports for which their effect is stated


class Text(Kind["Strings"]):
    """A text of at most 64 bytes, or with `at_most` several. The `find` most frequent that pass verification are named."""

    keys = frozenset({"find", "form", "normal", "at_most", "false_discoveries", "blocklist", "rounds"})

    def domain(self, details: Details) -> "Strings":
        from deniable.domains.string_codes import FORMS
        from deniable.domains.strings import LONGEST, NORMAL, Strings  # which few surveys need

        form, normal, at_most = details.get("form", "text"), details.get("normal", list(NORMAL)), details.get("at_most", 1)
        if form not in FORMS:
            raise WrongDetail("form", f"form must be one of {', '.join(map(repr, FORMS))}.")
        if not isinstance(normal, Sequence) or isinstance(normal, str) or any(each not in NORMAL for each in normal):
            raise WrongDetail("normal", f"normal must list some of {', '.join(map(repr, NORMAL))}.")
        try:
            made = Strings(form, LONGEST, normal=[each for each in NORMAL if each in normal], at_most=at_most)
        except InvalidParameter as error:
            raise WrongDetail("at_most", str(error)) from None
        _wanted(details, 0.95)
        rounds = details.get("rounds", 1)
        if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= 16:
            raise WrongDetail("rounds", "rounds must be a whole number from 1 to 16.")
        return made

    def accepts(self, domain: "Strings", details: Details, found: AnyDomain) -> bool:
        """The prefixes of a mechanism, and in later rounds its list, are its own; what people may answer is not."""
        from deniable.domains.listed_strings import ListedStrings
        from deniable.domains.strings import Strings

        if isinstance(found, ListedStrings):
            return (found.length, found.normal, 1) == (domain.length, domain.normal, domain.at_most)
        if not isinstance(found, Strings):
            return False
        return all(getattr(found, name) == getattr(domain, name) for name in ("form", "length", "normal", "at_most"))

    def mechanism(self, domain: "Strings", details: Details, epsilon: float, people: int) -> Mechanism:
        from deniable.discovery.planning import plan_discovery

        asked = self.domain(details)
        return plan_discovery(epsilon, asked.form, normal=asked.normal, at_most=asked.at_most)

    def rounds(self, details: Details) -> int:
        return int(details.get("rounds", 1))

    def moves(self, details: Details) -> bool:
        return True

    def next_round(
        self, details: Details, epsilon: float, people: int, earlier: Sequence[tuple[Mechanism, Tally]]
    ) -> Mechanism:
        """The same again, with the strings set apart that are certain, or a list of the candidates that were found."""
        from deniable.discovery.rounds import next_search

        blocked, left = _wanted(details, 0.95).blocklist, max(1, self.rounds(details) - len(earlier))
        return next_search(earlier, _find(details), people, blocked, left)

    def hint(self, domain: "Strings") -> str:
        several = f", or up to {domain.at_most} of them, separated by semicolons" if _at_most(domain) > 1 else ""
        return f"a text of at most {domain.length} bytes{several}"

    def read(self, domain: "Strings", text: str) -> object:
        parts = [part.strip() for part in text.split(";")] if _at_most(domain) > 1 else [text]
        if not any(parts):
            raise OutsideDomain("Type a text.")
        domain.index([parts if len(parts) > 1 else parts[0]])  # refuses what is too long
        return parts if len(parts) > 1 else parts[0]

    def pretend(self, domain: "Strings", random: np.random.Generator, people: int) -> Answers:
        """A hundred made-up words, of which the shares fall off like 1 / rank; of several, one to as many as are allowed."""
        words = [f"{first} {second}" for first in WORDS for second in WORDS]
        random.shuffle(words)
        weights = 1.0 / np.arange(1, len(words) + 1)
        most = _at_most(domain)
        drawn = random.choice(len(words), (people, most), p=weights / weights.sum()).tolist()
        sizes = random.integers(1, most + 1, people).tolist()
        listed = [[words[place] for place in own[:size]] for own, size in zip(drawn, sizes, strict=True)]
        return [own if most > 1 else own[0] for own in listed]

    def error(self, domain: "Strings", mechanism: Mechanism, people: int) -> float:
        """Of the share of a string that few people have, among those who verify."""
        from deniable.mechanisms.discovery.prefix_hashing import PrefixHashing

        if isinstance(mechanism, PrefixHashing):
            return float(np.sqrt(mechanism.noise() / (people * mechanism.shares[-1])))
        truth = np.zeros(mechanism.domain.size)
        truth[-1] = 1.0
        return float(mechanism.predict(truth, people).standard_error[0])

    def explained(self, mechanism: Mechanism, details: Details, people: int) -> Sequence[str]:
        from deniable.discovery.planning import rarest
        from deniable.mechanisms.discovery.prefix_hashing import PrefixHashing

        if not isinstance(mechanism, PrefixHashing):
            return ()
        return [f"A string is found with probability 1/2 if its share is {100 * rarest(mechanism, people):.2g} %."]

    def estimate(self, mechanism: Mechanism, tally: Tally) -> "Discovered":
        return Discovered({}, ((mechanism, tally),))

    def combined(self, rounds: Sequence[tuple[Mechanism, Tally]]) -> "Discovered":
        return Discovered({}, tuple(rounds))

    def results(self, details: Details, rounds: Sequence[tuple[Mechanism, Tally]]) -> "Discovered":
        """Nothing is searched for before it is asked for."""
        return Discovered(details, tuple(rounds))

    def cleaned(self, domain: AnyDomain, part: Estimate) -> Floats:
        return np.clip(part.values, 0, 1)


def _at_most(domain: AnyDomain) -> int:
    return int(getattr(domain, "at_most", 1))


def _find(details: Details) -> int:
    return int(details.get("find", 20))


def _wanted(details: Details, confidence: float) -> "Wanted":
    """What the lines of a question ask for; refuses what makes no sense."""
    from deniable.discovery.verifying import Wanted
    from deniable.domains.strings import NORMAL, Strings

    find, rate = details.get("find", 20), details.get("false_discoveries", 0.03)
    if isinstance(find, bool) or not isinstance(find, int) or not 1 <= find <= MOST_NAMED:
        raise WrongDetail("find", f"find must be a whole number from 1 to {MOST_NAMED}.")
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 < rate < 1:
        raise WrongDetail("false_discoveries", "false_discoveries must be a number between 0 and 1, such as 0.03.")
    blocked = details.get("blocklist", [])
    if not isinstance(blocked, list) or len(blocked) > MOST_BLOCKED or not all(isinstance(one, str) for one in blocked):
        raise WrongDetail("blocklist", f'blocklist must be a list of at most {MOST_BLOCKED:,} texts: blocklist = ["..."].')
    alike = Strings("bytes", normal=details.get("normal", NORMAL))
    try:
        return Wanted(find, confidence, float(rate), frozenset(alike.normalised(each) for each in blocked))
    except OutsideDomain:
        raise WrongDetail("blocklist", "A text of the blocklist is empty, or has more than 64 bytes.") from None


@dataclass(frozen=True, eq=False)
class Discovered(Published):
    """What is published about a text: names, their shares and how sure they are; searched for when it is first needed."""

    details: Details
    rounds: tuple["Round", ...]

    @cached_property
    def _found(self) -> dict[float, "Found"]:
        return {}

    def found(self, confidence: float = 0.95) -> "Found":
        """The names, with intervals that hold together with this confidence."""
        from deniable.discovery.rounds import decode_rounds

        if confidence not in self._found:
            self._found[confidence] = decode_rounds(self.rounds, _wanted(self.details, confidence))
        return self._found[confidence]

    @property
    def parts(self) -> Sequence[Estimate]:
        """The shares of the names, and how often a string that nobody has would be backed so well."""
        found = self.found()
        labels = [each.name for each in found]
        chances = np.array([each.error_rate for each in found])

        def ends(confidence: float) -> tuple[Floats, Floats]:
            again = self.found(confidence)
            return np.array([each.low for each in again]), np.array([each.high for each in again])

        def same(_: float) -> tuple[Floats, Floats]:
            return chances, chances

        shares = Named(labels, found.shares, found.errors**2, found.n, limits=ends)
        return [shares, Named(labels, chances, np.zeros(len(chances)), found.n, measure=P_VALUE, limits=same)]

    def sentences(self, confidence: float) -> list[str]:
        """How far the list can be trusted: false discoveries, what may be missing, and what false reports can do."""
        found = self.found(confidence)
        shown = (
            f"{counted(len(found), 'name')} passed verification. Of such names, at most {100 * found.false_discoveries:g} % "
            "are expected to be strings that nobody has."
            if len(found)
            else "No string passed verification yet. With more people, rarer strings are found."
        )
        lines = [shown, found.left_out[0].upper() + found.left_out[1:]]
        if found.gain:
            lines.append(
                f"One false report can move a share by up to {100 * found.gain:.2g} points; if {100 * FAKES:g} % of all "
                f"reports were false, by up to {100 * found.worst_gain(FAKES):.2g} points."
            )
        return lines

    def bounded(self, fakes: float, confidence: float) -> list[tuple[str, float, float]]:
        """The names with intervals that hold if this share of all reports is false, whatever these contain."""
        found = self.found(confidence)
        reach = found.worst_gain(fakes)
        return [(str(each.name), max(each.low - reach, 0.0), min(each.high + reach, 1.0)) for each in found]


@dataclass(frozen=True, eq=False)
class Named(Estimate):
    """Shares of names whose intervals are given."""

    limits: Limits = field(default=lambda _: (np.zeros(0), np.zeros(0)), repr=False)

    def interval(self, confidence: float = 0.95, together: bool = False) -> tuple[Floats, Floats]:
        """The ends of the intervals, which hold all at once."""
        return self.limits(confidence)
