"""Who reports for a member of a list: a secret for each, with which a report is tagged, so that nobody uses another's name.

The collector holds one key, from which all secrets follow. A secret is never sent: what is sent is HMAC-SHA-256 of the
message under it, which fits this report of this round only.
"""

import base64
import hashlib
import hmac
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from deniable.errors import InvalidParameter

KEY_BYTES = 32
SECRET_BYTES = 16
_START = 8  # of what is tagged: all of a message but its format, the length of the tag and the checksum
_CHECKSUM = 4


@dataclass(frozen=True)
class Membership:
    """The number of a member, and the secret that goes with it."""

    member: int
    secret: str

    def __repr__(self) -> str:  # it is worth all reports of this member
        return f"Membership({self.member}, ...)"

    @classmethod
    def of(cls, link: str) -> "Membership":
        """The membership in a link, or in what follows its #.

        >>> Membership.of("https://survey.example/#member=3.AAAAAAAAAAAAAAAAAAAAAA").member
        3
        """
        text = link.strip()
        found = parse_qs(urlsplit(text if "#" in text else f"#{text}").fragment).get("member", [""])[0]
        number, _, secret = found.partition(".")
        if not (number.isascii() and number.isdigit() and len(number) < 8 and secret.isascii() and len(secret) == 22):
            raise InvalidParameter("This is not the link of a member. Give the whole link that you received.")
        return cls(int(number), secret)

    @classmethod
    def derived(cls, key: bytes, survey: str, member: int) -> "Membership":
        """The membership that follows from the key of a survey."""
        digest = hmac.digest(key, b"deniable member secret\0" + f"{survey} {member}".encode(), hashlib.sha256)
        return cls(member, base64.urlsafe_b64encode(digest[:SECRET_BYTES]).decode().rstrip("="))

    @property
    def fragment(self) -> str:
        """What follows the # of a link."""
        return f"member={self.member}.{self.secret}"

    def tag(self, message: bytes) -> bytes:
        """What shows that whoever made this message, which has no token, holds the secret."""
        return self.tag_of(message[_START:-_CHECKSUM])

    def tag_of(self, content: bytes) -> bytes:
        """The same for what a message has between its format and its token."""
        return hmac.digest(self.secret.encode(), b"deniable member\0" + content, hashlib.sha256)
