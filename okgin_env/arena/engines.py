"""Engines that play tasks: in this process, in several on this machine, or on a Ray cluster. The results are the same."""

from __future__ import annotations

import logging
import multiprocessing
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from typing import Any

from okgin_env.arena.match import Played, play_deals
from okgin_env.arena.task import Task
from okgin_env.players.base import Player
from okgin_env.rules import Rules
from okgin_env.utils.workers import obey

ENGINES = ("local", "ray")
RAY_OBJECT_STORE = 200 << 20  # bytes; results are small
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",  # nobody else on this machine can use a cluster that is started here
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else a warning without a GPU
}
Done = tuple[Task, Played]


@dataclass(frozen=True)
class Hall:
    """Everything that a worker needs to play any task.

    Attributes:
        rules: The rules of the tables.
        players: By the name they have in tasks.
    """

    rules: Rules
    players: Mapping[str, Player]

    def play(self, task: Task) -> Played:
        """Plays a task."""
        a, b = self.players[task.a], self.players[task.b]
        matches = task.kind == "matches"
        return play_deals(a, b, self.rules, task.seed, task.first, task.deals, matches=matches)


class Local:
    """Plays in this process, or with several workers in processes of their own."""

    def __init__(self, hall: Hall, workers: int = 1) -> None:
        self.hall, self.workers = hall, workers
        self._pool: ProcessPoolExecutor | None = None
        self._running: dict[Future[Played], Task] = {}

    def run(self, tasks: Iterable[Task]) -> Iterator[Done]:
        """Yields tasks with what was played, in the order in which they are ready.

        Raises:
            RuntimeError: A worker process has died.
        """
        if self.workers == 1:
            for task in tasks:
                yield task, self.hall.play(task)
            return
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._leash, self._end = context.Pipe(duplex=False)
            self._pool = ProcessPoolExecutor(
                self.workers, context, _start, (self.hall, self._leash)
            )
        try:
            yield from self._few_at_once(self._pool, tasks)
        except BrokenProcessPool as error:
            raise RuntimeError(
                "a worker process has died (a player killed it, or it ran out of memory); seat such a player "
                "by 'cmd:', which contains it"
            ) from error

    def _few_at_once(self, pool: ProcessPoolExecutor, tasks: Iterable[Task]) -> Iterator[Done]:
        """Keeps a few tasks in the workers' queue, so that results do not pile up."""
        rest, running = iter(tasks), self._running
        while True:
            for task in islice(rest, 2 * self.workers - len(running)):
                running[pool.submit(_play, task)] = task
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()

    def close(self) -> None:
        """Ends the workers, at once if they still play: nobody waits for what they would have to say."""
        if self._pool is None:
            return
        if self._running:
            self._end.close()
        self._pool.shutdown(cancel_futures=True)
        self._pool = None
        self._end.close()
        self._leash.close()


_hall: Hall | None = None  # of a worker process


def _start(hall: Hall, leash: Connection) -> None:
    """Begins a worker process."""
    global _hall
    obey(leash)
    _hall = hall


def _play(task: Task) -> Played:
    if _hall is None:
        raise RuntimeError("the worker has not been started")
    return _hall.play(task)


class Ray:
    """Plays on a Ray cluster: an existing one, or one that is started on this machine.

    Args:
        hall: Rules and players.
        workers: Tasks at once; 0: as many as the cluster has processors.
        address: Of an existing cluster; None: a new one on this machine.

    Raises:
        ImportError: Ray is not installed.
        ValueError: No cluster at the address.
    """

    def __init__(self, hall: Hall, workers: int = 0, address: str | None = None) -> None:
        if (
            "ray" not in sys.modules
        ):  # it reads them when it is imported, and its daemons when they start
            for name, value in _QUIET.items():
                os.environ.setdefault(name, value)
        try:
            import ray  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise ImportError("--engine ray needs: pip install 'okgin-env[ray]'") from error
        self._ray: Any = ray
        local: dict[str, Any] = {
            "object_store_memory": RAY_OBJECT_STORE,
            "include_dashboard": False,
        }
        if address is None and workers:
            local["num_cpus"] = workers
        try:
            ray.init(
                address=address or "local",
                log_to_driver=False,
                logging_level=logging.ERROR,
                configure_logging=False,
                **({} if address else local),
            )
        except (ConnectionError, ValueError, RuntimeError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ValueError(f"--address {address!r}: no Ray cluster there: {reason}") from error
        self._workers = workers or int(ray.cluster_resources().get("CPU", 1))
        self._hall = ray.put(hall)
        self._play: Any = ray.remote(num_cpus=1)(Hall.play)

    def run(self, tasks: Iterable[Task]) -> Iterator[Done]:
        """As `Local.run`. The first task is played alone, so that its code is compiled once and not by every worker."""
        rest = iter(tasks)
        most = 1
        running: dict[Any, Task] = {}
        while True:
            for task in islice(rest, most - len(running)):
                running[self._play.remote(self._hall, task)] = task
            if not running:
                return
            ready, _ = self._ray.wait(list(running), num_returns=1)
            for reference in ready:
                yield running.pop(reference), self._ray.get(reference)
            most = 2 * self._workers

    def close(self) -> None:
        """Leaves the cluster; one that was started here ends."""
        self._ray.shutdown()


def engine(hall: Hall, name: str, workers: int, address: str | None) -> Local | Ray:
    """The engine of a name.

    Args:
        hall: Rules and players.
        name: One of `ENGINES`.
        workers: Processes.
        address: Of a Ray cluster.

    Raises:
        ValueError: An unknown name, a number of workers below 1, or an address without Ray.
        ImportError: Ray is not installed.
    """
    if name not in ENGINES:
        raise ValueError(f"engine {name!r}; allowed: {', '.join(ENGINES)}")
    if address is not None and name != "ray":
        raise ValueError(f"address={address!r}; allowed: with engine ray")
    if workers < 0 or (workers == 0 and name == "local"):
        raise ValueError(f"workers={workers}; allowed: 1 or more")
    return Ray(hall, workers, address) if name == "ray" else Local(hall, workers)
