"""Sending a report through a relay."""

import json
from contextlib import suppress

from deniable.device.sending import Reply, Sender, asker, judged
from deniable.mixing.sealing import Terms


def mix_sender(terms: Terms, timeout: float = 10.0) -> Sender:
    """A function that seals a report and posts it to the relay.

    Its answer says that the relay has stored the report durably, not that anybody has counted it. A message that is sent
    again is sealed anew, and the relay recognizes it by its ticket.
    """
    ask = asker(terms.relay, timeout)

    def send(message: bytes) -> Reply:
        found = ask("/v1/mix", terms.seal(message), {"Content-Type": terms.media_type})
        if isinstance(found, Reply):
            return found
        status, body, wait = found
        with suppress(ValueError, KeyError, TypeError):
            data = json.loads(body)
            if status == 202 and data["stored"] == 1 and data["survey"] == terms.survey:
                return Reply(status)
        return judged(b"", status, body, wait)  # whatever else answers has stored nothing

    return send
