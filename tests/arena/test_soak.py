"""`tools/soak.py` calls growth what grows, and nothing else."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("psutil")
pytest.importorskip("scipy")


import psutil

from tests.helpers.paths import PATIENCE, ROOT
from tools import soak


def samples(leak: float = 0.0, slower: float = 0.0, opened: float = 0.0) -> list[soak.Sample]:
    """Five minutes with a look every three seconds; changes are shares of the mean over the whole time."""
    rng, made, done = np.random.default_rng(1), [], 0.0
    for k in range(100):
        at = k / 100
        memory = 400 * (1 + leak * at) + rng.normal(0, 1)
        done += 1000 * (1 - slower * at) + rng.normal(0, 20)
        made.append(soak.Sample(3.0 * k, memory, int(50 * (1 + opened * at)), 4, 1, int(done)))
    return made


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [({}, []), ({"leak": 0.1}, ["memory"]), ({"opened": 0.5}, ["descriptors"]), ({"slower": 0.2}, ["speed"])],
)  # fmt: skip
def test_what_grows_is_named(changes: dict[str, float], wrong: list[str]) -> None:
    numbers, found = soak.judged(samples(**changes))
    assert found == wrong
    assert set(numbers) == {"memory", "descriptors", "threads", "speed"}


def test_growth_is_that_of_the_time_looked_at() -> None:
    numbers, _ = soak.judged(samples(leak=0.1))
    memory = numbers["memory"]
    assert memory["low"] < 0.8 * 40 < memory["high"] + 1


@pytest.mark.parametrize("later", [0.0, 0.002, 0.02, 1.0])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_soak_that_is_ended_ends_its_work(number: int, later: float) -> None:
    """Even at the moment when its work was born: two orphans went on beside a third, and nobody saw why it was slow."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tools.soak", "tournament", "--minutes", "60"], cwd=ROOT
    )
    family, children = psutil.Process(process.pid), list[psutil.Process]()
    patience = time.monotonic() + PATIENCE
    while not children and time.monotonic() < patience:
        children = family.children(recursive=True)
    time.sleep(later)
    process.send_signal(number)
    assert process.wait(PATIENCE) == 128 + number
    _, alive = psutil.wait_procs(children, timeout=PATIENCE)
    for left in alive:
        left.kill()
    assert children
    assert not alive
