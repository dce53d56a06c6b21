"""Audits: a lower bound on the privacy loss of any client, from its reports alone."""

from deniable.audit.result import Audit
from deniable.audit.run import audit
from deniable.verbs import callable_package

__all__ = ["Audit", "audit"]

callable_package(__name__, audit)
