"""What a survey says about invitations: the keys that tokens are signed with, and how long devices wait."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from deniable.errors import InvalidParameter

KEYS = 2  # made for a survey: one in use, and one in reserve
MOST_KEYS = 16
DELAY = 60  # seconds, unless the survey says otherwise
LONGEST_DELAY = 7 * 86_400
_ID = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Invitations:
    """The table [invitations] of a survey. As part of the survey it is covered by the fingerprint, for everybody alike."""

    keys: tuple[str, ...]  # the SHA-256 of each public key, in hexadecimal, in the order in which they are used
    delay: int = DELAY  # a device waits up to so many seconds between exchange and report

    @classmethod
    def from_spec(cls, data: object) -> "Invitations":
        """Read the table; what is wrong is said in an error whose message begins with the key."""
        if not isinstance(data, Mapping) or set(data) - {"keys", "delay"}:
            raise InvalidParameter("[invitations] has the keys 'keys' and, if wanted, 'delay'.")
        keys, delay = data.get("keys"), data.get("delay", DELAY)
        good = isinstance(keys, list) and all(isinstance(key, str) and _ID.fullmatch(key) for key in keys)
        if not good or not isinstance(keys, list) or not 1 <= len(set(keys)) == len(keys) <= MOST_KEYS:
            raise InvalidParameter(
                f"keys must be a list of 1 to {MOST_KEYS} different key ids of 64 hexadecimal digits, as deniable invite "
                "keys writes them."
            )
        if isinstance(delay, bool) or not isinstance(delay, int) or not 0 <= delay <= LONGEST_DELAY:
            raise InvalidParameter(f"delay must be a whole number of seconds from 0 to {LONGEST_DELAY:,}.")
        return cls(tuple(keys), delay)

    def spec(self) -> dict[str, object]:
        """The table as plain data."""
        return {"keys": list(self.keys), "delay": self.delay}
