"""Formulas of models, such as "smokes ~ age + region + age:region": a small parser of the usual notation."""

import re
from dataclasses import dataclass

from deniable.errors import InvalidParameter

_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>`[^`]+`)|(?P<name>[^\W\d]\w*(?:\.\w+)*)|(?P<answer>\[[^\]]*\])|(?P<mark>[-+:*~()01]))"
)
EXAMPLE = 'Write it as "smokes ~ age + region", with a:b for an interaction, a*b for a + b + a:b, and C(a) for categories.'


@dataclass(frozen=True)
class Factor:
    """A variable in a term: as it is, as categories, or as the indicator of one answer."""

    name: str
    categories: bool = False
    answer: str | None = None

    def __str__(self) -> str:
        shown = self.name if re.fullmatch(r"[^\W\d]\w*(\.\w+)*", self.name) else f"`{self.name}`"
        shown = f"C({shown})" if self.categories else shown
        return shown if self.answer is None else f"{shown}[{self.answer}]"


Term = tuple[Factor, ...]


@dataclass(frozen=True)
class Formula:
    """The outcome and the terms of a model.

    >>> str(Formula.parse("smokes[yes] ~ age*C(region) - 1"))
    'smokes[yes] ~ age + C(region) + age:C(region) - 1'
    """

    outcome: Factor
    terms: tuple[Term, ...]
    intercept: bool

    @classmethod
    def parse(cls, text: str) -> "Formula":
        """The formula in this text; an error says what is expected."""
        return _Parser(text).formula()

    @property
    def variables(self) -> list[str]:
        """The names of the covariates, in order."""
        return list(dict.fromkeys(factor.name for term in self.terms for factor in term))

    def __str__(self) -> str:
        terms = [":".join(map(str, term)) for term in self.terms] or ["1"]
        return f"{self.outcome} ~ {' + '.join(terms)}" + ("" if self.intercept else " - 1")


class _Parser:
    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise InvalidParameter(f"A formula is a text. {EXAMPLE}")
        self.tokens: list[tuple[str, str]] = []
        place, text = 0, text.rstrip()
        while place < len(text):
            found = _TOKEN.match(text, place)
            if not found:
                raise InvalidParameter(f"The formula has {text[place:].strip()[:1]!r} where a name is expected. {EXAMPLE}")
            self.tokens.append((found.lastgroup or "", found[found.lastgroup or ""]))
            place = found.end()
        self.place = 0

    def next(self, mark: str) -> bool:
        """Whether this mark comes next; it is passed over then."""
        if self.place < len(self.tokens) and self.tokens[self.place] == ("mark", mark):
            self.place += 1
            return True
        return False

    def formula(self) -> Formula:
        outcome = self.factor()
        if not self.next("~"):
            raise InvalidParameter(f"A formula has the outcome before one ~ and the covariates after it. {EXAMPLE}")
        terms, intercept = dict[Term, None](), True
        adding = not self.next("-")
        while True:
            if self.next("1"):
                intercept = adding
            elif self.next("0"):
                intercept = not adding
            elif adding:
                terms.update(dict.fromkeys(self.product()))
            else:
                for term in self.product():
                    terms.pop(term, None)
            if self.place == len(self.tokens):
                break
            adding = self.next("+")
            if not adding and not self.next("-"):
                raise InvalidParameter(f"Terms of a formula are joined by +, -, : or *. {EXAMPLE}")
        if any(factor.name == outcome.name for term in terms for factor in term):
            raise InvalidParameter("The outcome is among the covariates. Leave it out there.")
        if not terms and not intercept:
            raise InvalidParameter(f"The formula has nothing after the ~. {EXAMPLE}")
        return Formula(outcome, tuple(sorted(terms, key=len)), intercept)

    def product(self) -> list[Term]:
        """The terms of factors joined by : and *."""
        terms: list[Term] = [(self.factor(),)]
        while True:
            if self.next(":"):
                terms[-1:] = [_joined(terms[-1], (self.factor(),))]
            elif self.next("*"):
                other = (self.factor(),)
                terms += [other, *(_joined(term, other) for term in terms)]
            else:
                return terms

    def factor(self) -> Factor:
        if self.place >= len(self.tokens):
            raise InvalidParameter(f"The formula ends where a name is expected. {EXAMPLE}")
        kind, text = self.tokens[self.place]
        self.place += 1
        if kind not in ("name", "quoted"):
            raise InvalidParameter(f"The formula has {text!r} where a name is expected. {EXAMPLE}")
        if kind == "name" and text == "C" and self.next("("):
            inner = self.factor()
            if not self.next(")"):
                raise InvalidParameter(f"A bracket of the formula is not closed. {EXAMPLE}")
            return Factor(inner.name, categories=True, answer=inner.answer)
        answer = None
        if self.place < len(self.tokens) and self.tokens[self.place][0] == "answer":
            answer = self.tokens[self.place][1][1:-1].strip()
            self.place += 1
        return Factor(text.strip("`"), answer=answer)


def _joined(first: Term, second: Term) -> Term:
    return (*first, *(factor for factor in second if factor not in first))
