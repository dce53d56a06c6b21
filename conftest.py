"""Modules that cannot even be imported without an extra have no doctests where it is missing."""

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("flwr") else ["src/deniable/learning/federated/*.py"]
