"""Measures how long a user waits for the first game: cold (nothing compiled yet) and warm."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import Figure

_ROOT = Path(__file__).resolve().parents[1]
_FIRST_GAME = """
import gymnasium
import okgin_env
env = gymnasium.make(okgin_env.ENV_ID)
env.reset(seed=0)
env.step(0)
"""


def measure(repeats: int, warm_each: int, tick: Callable[[str], None]) -> dict[str, Figure]:
    """Times whole processes that import, make, reset and step.

    Args:
        repeats: Cold starts, each with an empty cache of compiled code of its own.
        warm_each: Warm starts after each of them.
        tick: Told of every start.

    Returns:
        Seconds by the wall clock, interpreter and exit included; the processors' time is in the `_cpu_s` figures.
    """
    figures = {
        f"{kind}_start{clock}_s": Figure(f"{kind}_start{clock}_s", label, "s")
        for kind, what in (("cold", "nothing compiled yet"), ("warm", "compiled code cached"))
        for clock, label in (
            ("", f"new process: import, make, reset, step; {what}"),
            ("_cpu", "- its processor time"),
        )
    }
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(prefix="okgin_env-cache-") as cache:
            for kind in ("cold", *["warm"] * warm_each):
                wall, cpu = _first_game(cache)
                for clock, seconds in (("", wall), ("_cpu", cpu)):
                    figure = figures[f"{kind}_start{clock}_s"]
                    figure.samples.append(seconds)
                    figure.wall.append(wall)
                tick(f"{kind} start")
    return figures


def _first_game(cache: str) -> tuple[float, float]:
    """Seconds a process takes to its first step and its end: wall clock and processor time."""
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": path}
    used, began = _cpu_of_children(), time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", _FIRST_GAME], check=True, env=environment, capture_output=True
    )
    return time.perf_counter() - began, _cpu_of_children() - used


def _cpu_of_children() -> float:
    """Processor time of the processes that have ended, in seconds (0 where the system does not say)."""
    times = os.times()
    return times.children_user + times.children_system
