"""Every error that deniable raises on purpose.

A message says what is wrong, what is allowed and what to do. It never holds a person's value: messages end up in logs.

    DeniableError
    ├── InvalidParameter    an epsilon, size or probability that makes no sense
    ├── OutsideDomain       an answer that the question does not allow
    ├── EmptyBatch          nothing to randomize, count or estimate
    ├── InvalidCoins        something else where a source of randomness is expected
    ├── InvalidReport       bytes or columns that no device of this mechanism can have sent
    ├── SurveyMismatch      reports, tallies or files of another mechanism
    ├── InvalidSurvey       a survey file that says something impossible; the message points to the line
    ├── BudgetSpent         a person who has answered already, or has no budget left
    ├── Unavailable         a collector or its store that cannot take reports just now
    ├── NotCertifiable      code whose law cannot be established by the method asked for
    ├── InvalidLaw          a law that cannot be written down, or that nobody could prove or run
    ├── EngineFailure       an engine that cannot be reached, or that lost its workers
    └── MissingExtra        an optional package that is not installed
        └── MissingPackage  the same for a package of ours
"""


class DeniableError(Exception):
    """The root: catch this to catch everything deniable raises on purpose."""


class InvalidParameter(DeniableError, ValueError):
    """An epsilon, size, probability or confidence that is not allowed."""


class OutsideDomain(DeniableError, ValueError):
    """An answer that the question does not allow. The message names the rule, not the answer."""


class EmptyBatch(DeniableError, ValueError):
    """A batch, tally or estimate of nobody."""


class InvalidCoins(DeniableError, TypeError):
    """Something other than a source of randomness, such as a bare seed."""


class InvalidReport(DeniableError, ValueError):
    """Bytes or columns that no device running this mechanism can have sent."""


class SurveyMismatch(DeniableError, ValueError):
    """Reports, tallies or files that belong to another mechanism or question."""


class InvalidSurvey(InvalidParameter):
    """An invalid survey file; the message begins with the file and the line."""


class BudgetSpent(DeniableError):
    """The person has already answered this survey, or their budget does not suffice for it."""


class Unavailable(DeniableError):
    """A collector or a store that cannot take reports right now; nothing was counted, so try again later."""


class NotCertifiable(DeniableError):
    """Code whose exact law cannot be established by the method asked for."""


class InvalidLaw(DeniableError, ValueError):
    """A law that cannot be recorded as a program, or a program that is not a valid law."""


class EngineFailure(DeniableError, RuntimeError):
    """An engine that cannot be reached, or that lost its workers too often."""


class MissingExtra(DeniableError, ImportError):
    """An optional package that is not installed; the message says how to install it."""

    def __reduce__(self) -> tuple[type["MissingExtra"], tuple[str, str]]:
        return MissingExtra, self._given  # a worker sends it to whoever asked

    def __init__(self, what: str, extra: str) -> None:
        self._given = what, extra
        super().__init__(f"{what} needs a package that is not installed. Install it with: pip install 'deniable[{extra}]'")


class MissingPackage(MissingExtra):
    """Another package of ours that is not installed; the message says how to install it."""

    def __reduce__(self) -> tuple[type["MissingPackage"], tuple[str, str]]:
        return MissingPackage, self._given

    def __init__(self, what: str, package: str) -> None:
        self._given = what, package
        ImportError.__init__(self, f"{what} is in a package that is not installed. Install it with: pip install {package}")
