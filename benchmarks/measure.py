"""Measuring on a machine that others use too: short repetitions in turn, medians, ratios within a round.

Every contestant gets one short repetition a round, so whatever else the machine does falls on all of them alike; a ratio
is taken within each round before its median is.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

CLOCKS: Mapping[str, Callable[[], float]] = {"cpu": time.process_time, "wall": time.perf_counter}
ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """Something whose speed is measured.

    Attributes:
        key: Name of its figure in the JSON.
        label: What is counted, for the table.
        play: Does a small piece of work (milliseconds) and returns how many units that were.
        invert: Whether the figure is nanoseconds a unit instead of units a second.
        seconds: Length of a repetition in units of the usual one.
    """

    key: str
    label: str
    play: Callable[[], int]
    invert: bool = False
    seconds: float = 1.0


@dataclass
class Figure:
    """The repetitions of one figure.

    Attributes:
        key: Name in the JSON.
        label: What is counted.
        unit: "/s", "s" or "ns".
        samples: One value a repetition, by the clock that was chosen.
        wall: The same by the wall clock.
    """

    key: str
    label: str
    unit: str
    samples: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    @property
    def median(self) -> float | None:
        """The median of the repetitions; None when there are none."""
        return statistics.median(self.samples) if self.samples else None


def race(
    contestants: Sequence[Contestant],
    repeats: int,
    seconds: float,
    clock: str,
    tick: Callable[[str], None],
) -> dict[str, Figure]:
    """Measures all contestants, one short repetition of each a round.

    Args:
        contestants: Whom to measure. Each plays once beforehand, unmeasured, to compile and warm up.
        repeats: Rounds.
        seconds: Least length of a repetition.
        clock: "cpu" or "wall", which `Figure.samples` are taken by.
        tick: Told of every repetition done.

    Returns:
        A figure of `repeats` samples for every contestant.
    """
    figures = {c.key: Figure(c.key, c.label, "ns" if c.invert else "/s") for c in contestants}
    for contestant in contestants:
        contestant.play()
        tick(f"warming up {contestant.key}")
    for turn in range(repeats):
        for k in range(len(contestants)):
            contestant = contestants[(turn + k) % len(contestants)]  # nobody is always first
            figure = figures[contestant.key]
            units, spent = _repetition(contestant, seconds * contestant.seconds)
            for kind, values in ((clock, figure.samples), ("wall", figure.wall)):
                speed = units / max(spent[kind], 1e-9)
                values.append(1e9 / speed if contestant.invert else speed)
            tick(contestant.key)
    return figures


def _repetition(contestant: Contestant, seconds: float) -> tuple[int, dict[str, float]]:
    """Plays for `seconds` of this process's own time; returns the units and the time by each clock."""
    began = {name: read() for name, read in CLOCKS.items()}
    units = contestant.play()
    while time.process_time() - began["cpu"] < seconds:
        units += contestant.play()
    return units, {name: read() - began[name] for name, read in CLOCKS.items()}


def paired_ratio(above: Figure | None, below: Figure | None) -> list[float]:
    """The ratio of two figures in every round; empty where one of them was not measured."""
    if above is None or below is None:
        return []
    return [a / b for a, b in zip(above.samples, below.samples, strict=True)]


def allowed_cores() -> set[int]:
    """The cores this process may use; empty where the system does not say."""
    return set(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else set()


def use_cores(cores: set[int]) -> None:
    """Binds this process (and what it starts) to the given cores, where the system can."""
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)


def use_one_core(core: int | None) -> int | None:
    """Binds this process (and what it starts) to one core.

    Args:
        core: Which one; None: the last one that is allowed.

    Returns:
        The core, or None where the system cannot bind processes.

    Raises:
        ValueError: A core this process may not use.
    """
    allowed = allowed_cores()
    if core is not None and core not in allowed:
        raise ValueError(
            f"--core {core}; allowed: {', '.join(map(str, sorted(allowed))) or 'none'}"
        )
    if not allowed:
        return None
    chosen = max(allowed) if core is None else core
    use_cores({chosen})
    return chosen


@contextmanager
def progress(total: int, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A progress bar on standard error; gives the function to call after each step of `total`."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        quiet = True
    if quiet:
        yield lambda _: None
        return
    columns = (
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=total)
        yield lambda said: bar.update(task, advance=1, description=said)
