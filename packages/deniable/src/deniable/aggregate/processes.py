"""The engine of one machine: plain processes that read jobs from a pipe. One that dies is replaced and its job done again.

They are started afresh rather than forked, and do not import the program that started them: a script needs no guard.
"""

import os
import pickle
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from deniable.aggregate.engine import Merge, Returned, Shared, Task, Work
from deniable.errors import EngineFailure, InvalidParameter

TRIES = 3  # workers that one job may lose
LOADING = 1.5  # seconds that the first job may take longer than the others, to load what they all need
PAYS = 3.0  # seconds of work that are worth starting processes for


@dataclass(frozen=True)
class Processes:
    """So many processes on this machine; with one, the work is done in the process that asks.

    Unless they are wanted at once, they are started when the first jobs show that there is enough to do.
    """

    workers: int
    at_once: bool = True

    def run(
        self, work: Work[Shared, Task, Returned], shared: Shared, jobs: Sequence[Task], merge: Merge[Returned]
    ) -> Iterator[Returned]:
        alone, allowance = self.workers == 1 or not self.at_once, LOADING
        for done, job in enumerate(jobs if alone else ()):
            start = time.perf_counter()
            result = work(shared, job)
            left, took = len(jobs) - done - 1, time.perf_counter() - start - allowance
            allowance = 0.0
            yield result
            if self.workers > 1 and left > 1 and left * took > PAYS:
                yield from self._shared_out(work, shared, jobs[done + 1 :])
                return
        if not alone:
            yield from self._shared_out(work, shared, jobs)

    def _shared_out(self, work: Work[Shared, Task, Returned], shared: Shared, jobs: Sequence[Task]) -> Iterator[Returned]:
        try:
            duty = pickle.dumps((work, shared))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise InvalidParameter("This mechanism cannot be sent to other processes. Define it in a module.") from error
        todo = deque((job, 0) for job in jobs)
        replies: SimpleQueue[tuple[bool, Any]] = SimpleQueue()
        crew = [Servant(duty, todo, replies) for _ in range(min(self.workers, len(jobs)))]
        try:
            for servant in crew:
                servant.start()
            for _ in jobs:
                fine, reply = replies.get()
                if not fine:
                    raise reply
                yield reply
        finally:
            todo.clear()
            for servant in crew:
                servant.dismiss()
            for servant in crew:
                servant.join()


class Servant(Thread):
    """A thread that hands jobs to one process, and to another if that one dies."""

    def __init__(self, duty: bytes, todo: "deque[tuple[Any, int]]", replies: "SimpleQueue[tuple[bool, Any]]") -> None:
        super().__init__(daemon=True)
        self._duty, self._todo, self._replies = duty, todo, replies
        self._process: subprocess.Popen[bytes] | None = None
        self._dismissed = False

    def run(self) -> None:
        try:
            while not self._dismissed:
                try:
                    job, lost = self._todo.popleft()
                except IndexError:
                    break
                try:
                    self._replies.put(self._ask(job))
                except (EOFError, OSError, pickle.UnpicklingError):  # the process has died
                    self.dismiss(for_good=False)
                    if lost + 1 >= TRIES:
                        self._replies.put((False, EngineFailure(_lost(lost + 1))))
                    self._todo.appendleft((job, lost + 1))
        except BaseException as error:  # must reach whoever waits
            self._replies.put((False, error))
        finally:
            self.dismiss()

    def _ask(self, job: object) -> tuple[bool, Any]:
        process = self._process = self._process or self._begin()
        assert process.stdin is not None and process.stdout is not None
        pickle.dump(job, process.stdin)
        process.stdin.flush()
        fine, reply = pickle.load(process.stdout)
        return fine, reply

    def _begin(self) -> "subprocess.Popen[bytes]":
        seen = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
        process = subprocess.Popen(
            [sys.executable, "-c", "from deniable.aggregate.processes import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": seen},
            process_group=0,  # Ctrl-C is for whoever started the run, who then ends the workers
        )
        assert process.stdin is not None
        process.stdin.write(self._duty)
        return process

    def dismiss(self, for_good: bool = True) -> None:
        """End the process."""
        self._dismissed = self._dismissed or for_good
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    try:
                        pipe.close()
                    except OSError:  # what was not sent is not needed
                        continue


def _lost(times: int) -> str:
    return (
        f"A job ended {times} worker processes, one after the other. It may have run out of memory: use fewer workers, "
        "or write the reports in smaller row groups. What has been counted is in the manifest, if you asked for one."
    )


def serve() -> None:
    """What a worker process does: it reads its duty, then jobs, and answers each on the pipe."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what anybody prints must not get among the answers
    orders = sys.stdin.buffer
    work, shared = pickle.load(orders)
    while True:
        try:
            job = pickle.load(orders)
        except EOFError:
            return
        try:
            reply = pickle.dumps((True, work(shared, job)))
        except Exception as error:
            reply = pickle.dumps((False, error))
        answers.write(reply)
        answers.flush()
