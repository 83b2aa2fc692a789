"""Engines that play tasks: in this process, in several on this machine, or on a Ray cluster. The results are the same."""

from __future__ import annotations

import logging
import multiprocessing
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing.connection import Connection
from typing import Any

from okgin_env.arena.decks import Decks
from okgin_env.arena.luck import Gauge
from okgin_env.arena.match import play_deals
from okgin_env.arena.outcome import Played
from okgin_env.arena.plan import Plan, Task
from okgin_env.players.base import Player
from okgin_env.rules import Rules
from okgin_env.utils.errors import told
from okgin_env.utils.workers import obey

RAY_OBJECT_STORE = 200 << 20  # bytes; results are small
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",  # nobody else on this machine can use a cluster that is started here
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else a warning without a GPU
}


@dataclass(frozen=True)
class Hall:
    """Everything that a worker needs to play any task.

    Attributes:
        rules: The rules of the tables.
        players: By the name they have in tasks.
        secrets: Secrets that decks come from, by their labels.
        gauges: What measures the luck in a pair's hands, by their names; a pair without goes unmeasured.
    """

    rules: Rules
    players: Mapping[str, Player]
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    gauges: Mapping[tuple[str, str], Gauge] = field(default_factory=dict)

    def play(self, task: Task) -> Played:
        """Plays a task."""
        a, b = self.players[task.a], self.players[task.b]
        matches = task.kind == "matches"
        decks = Decks.of(task.seed, self.secrets)
        gauge = self.gauges.get((task.a, task.b))
        return play_deals(
            a, b, self.rules, decks, task.first, task.deals, matches=matches, gauge=gauge
        )


class Engine:
    """Plays in this process; other engines submit tasks to somewhere else.

    Attributes:
        hall: Rules and players.
        most: Tasks that are submitted at once: few, so that results do not pile up.
    """

    def __init__(self, hall: Hall) -> None:
        self.hall, self.most = hall, 1
        self._running: dict[Future[Played], Task] = {}

    def submit(self, task: Task) -> Future[Played]:
        """A task's results, at once or later."""
        future: Future[Played] = Future()
        future.set_result(self.hall.play(task))
        return future

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Played]]:
        """Yields tasks with what was played, in the order in which they are ready.

        Raises:
            RuntimeError: A worker process has died.
        """
        rest, running = iter(tasks), self._running
        while True:
            for task in islice(rest, self.most - len(running)):
                running[self.submit(task)] = task
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()

    def close(self) -> None:
        """Ends the workers."""


class Processes(Engine):
    """Plays with several workers on this machine, in processes of their own."""

    def __init__(self, hall: Hall, workers: int) -> None:
        super().__init__(hall)
        self.most = 2 * workers
        context = multiprocessing.get_context("spawn")
        self._leash, self._end = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(workers, context, _start, (hall, self._leash))

    def submit(self, task: Task) -> Future[Played]:
        """A task's results, later."""
        return self._pool.submit(_play, task)

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Played]]:
        """See `Engine`."""
        try:
            yield from super().run(tasks)
        except BrokenProcessPool as error:
            raise RuntimeError(
                "a worker process has died (a player killed it, or it ran out of memory); seat such a player "
                "by 'cmd:', which contains it"
            ) from error

    def close(self) -> None:
        """Ends the workers, at once if they still play: nobody waits for what they would have to say."""
        if self._running:
            self._end.close()
        self._pool.shutdown(cancel_futures=True)
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


class Ray(Engine):
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
        super().__init__(hall)
        if "ray" not in sys.modules:  # it reads them when imported, its daemons when they start
            for name, value in _QUIET.items():
                os.environ.setdefault(name, value)
        try:
            import ray  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise ImportError("--engine ray needs: pip install 'okgin-env[ray]'") from error
        own: dict[str, Any] = {
            "object_store_memory": RAY_OBJECT_STORE,
            "include_dashboard": False,
            "num_cpus": workers or None,
        }
        quiet = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": False}
        try:
            ray.init(address=address or "local", **quiet, **({} if address else own))
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise ValueError(
                f"--address {address!r}: no Ray cluster there: {told(error)}"
            ) from error
        self._ray: Any = ray
        self._workers = workers or int(ray.cluster_resources().get("CPU", 1))
        self._hall = ray.put(hall)
        self._play: Any = ray.remote(num_cpus=1)(Hall.play)

    def submit(self, task: Task) -> Future[Played]:
        """A task's results, later."""
        return self._play.remote(self._hall, task).future()

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Played]]:
        """See `Engine`. The first task is played alone, so that its code is compiled once and not by every worker."""
        for done in super().run(tasks):
            self.most = 2 * self._workers
            yield done

    def close(self) -> None:
        """Leaves the cluster; one that was started here ends."""
        self._ray.shutdown()


def engine(hall: Hall, plan: Plan) -> Engine:
    """The engine that a plan asks for.

    Raises:
        ImportError: Ray is not installed.
        ValueError: No Ray cluster at the address.
    """
    if plan.engine == "ray":
        return Ray(hall, plan.workers or 0, plan.address)
    workers = plan.workers or 1
    return Engine(hall) if workers == 1 else Processes(hall, workers)
