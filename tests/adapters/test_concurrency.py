"""Threads, forks and processes: the same games however they are played. The longer checks are in `tools/concurrency.py`."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("psutil")

from okgin_env.engine.games import Games
from tests.helpers.paths import PATIENCE
from tools import concurrency

# Python 3.12 and newer warn of what is tried here: a fork beside threads.
pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")

ALL = np.arange(256)


@pytest.mark.parametrize("kind", concurrency.OPPONENTS)
def test_vector_environments_in_forked_processes(kind: str) -> None:
    concurrency.check_vectors(kind, "fork", n_steps=15)


@pytest.mark.slow
@pytest.mark.parametrize("kind", concurrency.OPPONENTS)
def test_vector_environments_in_spawned_processes(kind: str) -> None:
    concurrency.check_vectors(kind, "spawn", n_steps=15)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("close", [False, True])
def test_threads_start_again_after_a_fork(close: bool) -> None:
    """They do not survive it; what was handed to them would never be done."""
    games = Games(256, threads=2)
    games.seed(ALL, ALL.astype(np.uint64))
    written = games.reset(ALL)
    actions = written.masks.argmax(1).astype(np.int64)
    games.step(actions, ALL, True)  # starts them
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        if close:
            games.close()
        games.step(actions, ALL, True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    games.close()
