"""Audits: what any client loses at least, found from its reports alone."""

from deniable.audit.result import Audit
from deniable.audit.run import audit

__all__ = ["Audit", "audit"]
