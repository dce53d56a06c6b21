"""Flower in one process: the same apps, mods, messages and strategies, without Ray; for tests and experiments."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from deniable.errors import InvalidParameter
from deniable_learn.federated.flower import ClientApp, Context, Grid, Message, RecordDict, TaskIdentity

RUN = 1


class LocalGrid(Grid):  # type: ignore[misc]
    """A grid whose nodes are in this process: each has a context of its own, which lasts as long as the grid.

    `node_configs` has one entry for each client, which its app finds in `context.node_config`. `sent` keeps the replies.
    """

    def __init__(self, app: ClientApp, node_configs: Sequence[Mapping[str, Any]]) -> None:
        if not node_configs:
            raise InvalidParameter("A simulation needs at least one client.")
        self._app, self.sent, self._replies = app, list[Message](), dict[str, Message]()
        self.contexts = {
            node: Context(RUN, node, dict(config), RecordDict(), {}) for node, config in enumerate(node_configs, 1)
        }

    def set_run(self, run: Any) -> None:
        """There is one run only."""

    @property
    def run(self) -> Any:
        """There is one run only, and it has no description."""
        raise InvalidParameter("A simulated grid has no description of its run.")

    def create_message(
        self, content: RecordDict, message_type: str, dst_node_id: int, group_id: str, ttl: float | None = None
    ) -> Message:
        """A message to a node."""
        return Message(content, dst_node_id, message_type, ttl=ttl, group_id=group_id)

    def get_node_ids(self) -> Iterable[int]:
        """The numbers of the nodes, from 1."""
        return list(self.contexts)

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        """Run the app of each node on its message, one after the other."""
        names = []
        for message in messages:
            name = f"{len(self.sent)}"
            message.metadata.__dict__["_message_id"] = name
            reply = self._app(message, self.contexts[message.metadata.dst_node_id])
            self.sent.append(reply)
            self._replies[name] = reply
            names.append(name)
        return names

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        """The replies to these messages, each once."""
        return [self._replies.pop(name) for name in list(message_ids) if name in self._replies]

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> Iterable[Message]:
        """Both, at once."""
        return self.pull_messages(self.push_messages(messages))


@contextmanager
def local_grid(app: ClientApp, node_configs: Sequence[Mapping[str, Any]]) -> Iterator[LocalGrid]:
    """A grid in this process, for `strategy.start(grid, ...)`; it gives Flower the run, which it needs."""
    before = [getattr(TaskIdentity, name) for name in ("_task_id", "_run_id", "_node_id")]
    TaskIdentity.task_id, TaskIdentity.run_id, TaskIdentity.node_id = 1, RUN, 0
    try:
        yield LocalGrid(app, node_configs)
    finally:
        TaskIdentity._task_id, TaskIdentity._run_id, TaskIdentity._node_id = before
