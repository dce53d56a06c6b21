"""What a running collector serves, for whoever may read it."""

import json
import urllib.error
import urllib.request

from deniable.errors import InvalidParameter, Unavailable


def fetched(address: str, token: str | None) -> bytes:
    """What is at an address of a collector."""
    if not address.startswith(("http://", "https://")):
        raise InvalidParameter("The address of a collector must begin with http:// or https://.")
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60) as answer:
            found: bytes = answer.read()
            return found
    except urllib.error.HTTPError as error:
        with error:
            detail = json.loads(error.read() or b"{}").get("detail", "")
        raise InvalidParameter(f"The collector refused the request: {detail}") from None
    except OSError as error:
        where = address.partition("/v1/")[0]
        raise Unavailable(
            f"No response from a collector at {where}. Is it running? Start it with deniable serve."
        ) from error
