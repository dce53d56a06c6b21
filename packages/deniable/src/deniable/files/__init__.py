"""Reports in files, written whole or not at all."""

from deniable.files.arrow import from_arrow, to_arrow
from deniable.files.losses import read_losses
from deniable.files.reports import read_batches, read_reports, write_batches, write_reports

__all__ = ["from_arrow", "read_batches", "read_losses", "read_reports", "to_arrow", "write_batches", "write_reports"]
