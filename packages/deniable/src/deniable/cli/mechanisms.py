"""The names of mechanisms on the command line, made from the planner's families, and mechanisms from files."""

from collections.abc import Callable
from pathlib import Path

from deniable.core import Domain, Mechanism, PureProtocol
from deniable.errors import DeniableError, InvalidParameter
from deniable.mechanisms.registry import candidates, mechanism_from_json
from deniable.planning.ranking import short_name

MAKERS: dict[str, Callable[[Domain, float], PureProtocol]] = {
    short_name(name): candidate.make for name, candidate in candidates().items()
}
NAMES = ", ".join(MAKERS)


def made(name: str, domain: Domain, epsilon: float) -> PureProtocol:
    """The mechanism of this name for a question."""
    if name not in MAKERS:
        raise InvalidParameter(f"There is no mechanism {name!r}. Use one of {NAMES}.")
    return MAKERS[name](domain, epsilon)


def read_mechanism(path: Path) -> Mechanism:
    """The mechanism in a JSON file."""
    try:
        return mechanism_from_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidParameter(f"There is no file {str(path)!r}. Write one with: deniable plan ... --out FILE") from None
    except DeniableError as error:
        raise InvalidParameter(f"The file {str(path)!r} does not describe a mechanism. {error}") from error
    except (OSError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidParameter(
            f"The file {str(path)!r} cannot be read as the JSON of a mechanism. Write it again with deniable plan or "
            "mechanism.to_json()."
        ) from error
