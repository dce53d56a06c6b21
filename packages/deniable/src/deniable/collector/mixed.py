"""A survey whose reports come from a relay: its terms, the collector's key, and what its page says about both losses."""

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from deniable.device.sending import Reply, asker
from deniable.errors import InvalidParameter
from deniable.mixing import BothLosses, Opener, Terms, mixed_losses
from deniable.survey import Survey

PATIENCE = 5.0  # seconds for the other side to say under which terms it works
_TERMS = re.compile(rb";\s*terms=(\w*)")


@dataclass(frozen=True)
class Mixed:
    """What `deniable mix keys` wrote for this survey. Then reports are counted only if a relay passes them on."""

    terms: Terms
    opener: Opener
    losses: BothLosses

    @classmethod
    def of(cls, survey: Survey, terms: Terms, opener: Opener) -> "Mixed":
        """The two files of one survey; refuses those of another, and two that do not belong together."""
        terms.check(survey)
        if (opener.survey, opener.size, opener.key) != (terms.survey, terms.size, terms.key):
            raise InvalidParameter(
                "The terms of mixing and the collector's key do not belong together. Restore the pair that deniable mix "
                "keys wrote, or make a new one with --force and give the new terms to the relay and all devices."
            )
        return cls(terms, opener, mixed_losses(survey, terms.people, terms.delta))

    @classmethod
    def beside(cls, file: Path, survey: Survey) -> "Mixed | None":
        """What lies beside the file of a survey; None if it is not mixed."""
        public, private = file.with_suffix(".mix"), file.with_suffix(".mixkey")
        if not private.exists() and not public.exists():
            return None
        if not private.exists():
            raise InvalidParameter(
                f"{private} is missing next to {public}, so nothing from the relay could be read. Restore it. To "
                f"serve the survey without mixing, remove {public}."
            )
        if not public.exists():
            raise InvalidParameter(
                f"{public} is missing next to {private}. The answer page needs these terms: copy them back from the relay."
            )
        return cls.of(survey, Terms.load(public), Opener.load(private))

    @property
    def text(self) -> str:
        """As JSON for devices: the terms, their fingerprint, and the epsilon against the collector alone."""
        return json.dumps(announced(self.terms) | {"epsilon": self.losses.mixed.epsilon})


def announced(terms: Terms) -> dict[str, object]:
    """The terms with their fingerprint, as collector and relay both show them, so that people can compare."""
    return terms.data() | {"fingerprint": terms.fingerprint}


def names_other(content_type: bytes | None, terms: Terms) -> bool:
    """Whether a content type names other terms than these; one that names none is as good."""
    found = _TERMS.search(content_type or b"")
    return found is not None and found[1] != terms.fingerprint.encode()


def terms_at(url: str) -> tuple[str | None, str]:
    """The fingerprint of the terms that the collector or the relay at this address has; or None, and why there is none."""
    found = asker(url, PATIENCE)("/v1/mix", None, {})
    if isinstance(found, Reply):
        return None, f"it does not answer ({found.detail})"
    status, body, _ = found
    with suppress(ValueError, KeyError, TypeError):
        if status == 200:
            return str(json.loads(body)["fingerprint"]), ""
    return None, f"it has no terms of mixing for this survey (status {status})"
