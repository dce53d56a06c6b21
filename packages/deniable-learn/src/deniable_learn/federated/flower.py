"""Flower, with its telemetry and Ray's switched off: both would report every run to their makers."""

import os
import sys
import warnings

from deniable.errors import MissingExtra

SWITCHES = {"FLWR_TELEMETRY_ENABLED": "0", "RAY_USAGE_STATS_ENABLED": "0"}


def switch_off() -> None:
    """Switch off the telemetry of Flower and Ray; also where Flower was imported before, which read its switch then."""
    os.environ.update(SWITCHES)
    loaded = sys.modules.get("flwr.supercore.telemetry")
    if loaded is not None:
        loaded.FLWR_TELEMETRY_ENABLED = "0"  # type: ignore[attr-defined]


switch_off()
try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of packages that Flower uses
        from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Error, Message, MessageType, MetricRecord, RecordDict
        from flwr.clientapp import ClientApp
        from flwr.serverapp import Grid
        from flwr.serverapp.strategy import FedAvg
        from flwr.supercore.task_identity import TaskIdentity
except ImportError:
    raise MissingExtra("Federated learning with Flower", "learn") from None

__all__ = [
    "Array",
    "ArrayRecord",
    "ClientApp",
    "ConfigRecord",
    "Context",
    "Error",
    "FedAvg",
    "Grid",
    "Message",
    "MessageType",
    "MetricRecord",
    "RecordDict",
    "TaskIdentity",
]
