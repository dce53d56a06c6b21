"""What runs for one person: randomize once, remember what was spent, send until it has arrived."""

from deniable.device.device import Device, Outcome
from deniable.device.ledger import Entry, Ledger
from deniable.device.memory import Memory
from deniable.device.sending import Reply, Sender, http_sender

__all__ = ["Device", "Entry", "Ledger", "Memory", "Outcome", "Reply", "Sender", "http_sender"]
