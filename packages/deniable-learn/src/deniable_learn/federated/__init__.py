"""Federated rounds with Flower: randomized updates, a budget for all rounds, and nothing else in the messages."""

from deniable_learn.federated.client import PrivateUpdates
from deniable_learn.federated.server import PrivateFedAvg
from deniable_learn.federated.simulation import LocalGrid, local_grid
from deniable_learn.update_forecast import UpdateForecast
from deniable_learn.update_plan import Anonymizer, UpdatePlan

__all__ = ["Anonymizer", "LocalGrid", "PrivateFedAvg", "PrivateUpdates", "UpdateForecast", "UpdatePlan", "local_grid"]
