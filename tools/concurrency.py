"""The same games on any number of threads and processes, forked or spawned, and one compiled cache for all of them.

    python -m tools.concurrency                 everything: some minutes, most of it compiling
    python -m tools.concurrency --only workers vectors

threads: a batch of games on 1, 2 and 4 threads. workers: a tournament in 1 to 4 processes. vectors: gymnasium's
AsyncVectorEnv and stable-baselines3's SubprocVecEnv, forked and spawned, with every kind of opponent, beside the same environments
in one process. cache: 4 processes that all compile into one empty folder at once, then one that starts from it; then a
kernel file is edited in a copy of the package, and what it plays must change.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from okgin_env import players
from okgin_env.engine.games import Games
from okgin_env.env import OklahomaGinEnv
from tests.helpers.networks import network_file
from tests.helpers.paths import ROOT, python
from tools.reliability import Row, campaign

N_PROCESSES = 4
OPPONENTS = {
    "scripted": lambda: "camper",
    "search": lambda: "search:4",
    "network": lambda: str(_network()),
    "program": lambda: f"cmd:{sys.executable} {ROOT / 'examples' / 'bots' / 'simple_bot.py'}",
    "class": lambda: "tools.concurrency:First",
}


class First(players.Bot):
    """Takes the first legal action."""

    def choose(self, view: Any, rng: np.random.Generator) -> int:
        """The first."""
        return view.legal[0]


@cache
def _network() -> Path:
    """A file with a small network of random weights."""
    path = Path(tempfile.mkdtemp(prefix="network-")) / "a.safetensors"
    path.write_bytes(network_file())
    return path


def single(spec: str) -> OklahomaGinEnv:
    """One environment, made in the process that it lives in."""
    return OklahomaGinEnv("classic", opponent=players.make(spec))


# --- vectors ------------------------------------------------------------------------------------------
def check_vectors(kind: str, method: str, n_steps: int = 60) -> int:
    """Two environments in two processes of each library, beside the same two in this one.

    Args:
        kind: Of opponent, as in `OPPONENTS`.
        method: fork or spawn.
        n_steps: Steps of each.

    Returns:
        Steps compared.

    Raises:
        AssertionError: A difference.
    """
    from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

    make = partial(single, OPPONENTS[kind]())
    ours, theirs = SyncVectorEnv([make] * 2), AsyncVectorEnv([make] * 2, context=method)
    try:
        a, b = ours.reset(seed=5), theirs.reset(seed=5)
        for _ in range(n_steps):
            assert np.array_equal(a[0], b[0]), "AsyncVectorEnv: observations"
            actions = ours_actions(np.stack(a[-1]["action_mask"]))
            a, b = ours.step(actions), theirs.step(actions)
            assert np.array_equal(a[1], b[1]), "AsyncVectorEnv: rewards"
    finally:
        ours.close()
        theirs.close()
    dummy, workers = DummyVecEnv([make] * 2), SubprocVecEnv([make] * 2, start_method=method)
    try:
        dummy.seed(5)
        workers.seed(5)
        x: Any = dummy.reset()
        y: Any = workers.reset()
        for _ in range(n_steps):
            assert np.array_equal(x, y), "SubprocVecEnv: observations"
            actions = ours_actions(np.stack(dummy.env_method("action_masks")))
            (x, r, *_), (y, s, *_) = dummy.step(actions), workers.step(actions)
            # DummyVecEnv keeps rewards as float32, SubprocVecEnv as they come
            assert np.array_equal(r, np.asarray(s, np.float32)), "SubprocVecEnv: rewards"
    finally:
        dummy.close()
        workers.close()
    return 2 * n_steps


def ours_actions(masks: np.ndarray) -> np.ndarray:
    """The last legal action of each row: it passes and draws, and knocks when it may."""
    return np.array([np.flatnonzero(mask)[-1] for mask in masks])


def vectors() -> str:
    """Every kind of opponent, forked and spawned."""
    n = sum(check_vectors(kind, method) for kind in OPPONENTS for method in ("fork", "spawn"))
    return f"{len(OPPONENTS)} kinds of opponents, fork and spawn, both libraries, {n:,} steps"


# --- threads and workers ------------------------------------------------------------------------------
def threads() -> str:
    """A batch of games on 1, 2 and 4 threads."""
    said = []
    for n in (1, 2, 4):
        games, every = Games(512, "eaai", opponent="camper", episode="match", threads=n), np.arange(512)  # fmt: skip
        games.seed(every, every.astype(np.uint64))
        written = games.reset(every)
        for _ in range(300):
            written = games.step(ours_actions(written.masks), every, True)
        said.append(games.states.tobytes() + written.observations.tobytes())
        games.close()
    assert len(set(said)) == 1, "threads make a difference"
    return "1, 2 and 4 threads, 512 games, 300 steps"


def workers() -> str:
    """A tournament in 1 to 4 processes, with a program and a network in it."""
    specs = ["simple", "camper", str(_network()), OPPONENTS["program"]()]
    said = []
    for n in range(1, N_PROCESSES + 1):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.json"
            deals = ["--hands", "400", "--matches", "0", "--seed", "0"]
            line = ["evaluate.py", *specs, *deals, "--workers", str(n)]
            _run([*line, "--json", str(path)])
            said.append(json.loads(path.read_text())["results"])
    assert len(set(map(str, said))) == 1, f"digests differ: {said}"
    return f"1 to {N_PROCESSES} processes, 6 pairs, 2,400 hands"


# --- the compiled cache ---------------------------------------------------------------------------------
def compiled() -> str:
    """Several processes compile into one empty folder at once; then a kernel file is edited."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        for name in ("okgin_env", "tests"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        settings = {"NUMBA_CACHE_DIR": str(Path(folder) / "cache"), "PYTHONPATH": str(copy)}
        line = [sys.executable, "-m", "tests.helpers.digest", "10"]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        begun = [
            subprocess.Popen(line, cwd=copy, env=os.environ | settings, **pipes)
            for _ in range(N_PROCESSES)
        ]
        said = []
        for process in begun:
            out, error = process.communicate(timeout=900)
            assert process.returncode == 0, error[-2000:]
            said.append(out)
        began = time.monotonic()
        said.append(_run(line[1:], copy, **settings))
        warm = time.monotonic() - began
        assert len(set(said)) == 1, f"they differ: {said}"
        assert said[0] == _run(line[1:])
        rng = copy / "okgin_env" / "kernel" / "rng.py"
        rng.write_text(rng.read_text().replace("_S30 = np.uint64(30)", "_S30 = np.uint64(29)"))
        assert _run(line[1:], copy, **settings) != said[0], "code from before an edit was served"
    return f"{N_PROCESSES} processes at once from an empty folder, then one from theirs ({warm:.0f} s), then an edit"


def _run(words: list[str], folder: Path = ROOT, **settings: str) -> str:
    done = python(*words, env=settings, cwd=folder, timeout=None)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


CHECKS: dict[str, tuple[str, Callable[[], str]]] = {
    "threads": ("same games on any number of threads", threads),
    "workers": ("same tournament in any number of processes", workers),
    "vectors": ("vector environments in processes beside one process", vectors),
    "cache": ("compiled cache built at once, and after an edit", compiled),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The checks to run."""
    parser.add_argument("--only", nargs="+", choices=CHECKS, default=[*CHECKS])


def work(args: argparse.Namespace) -> Iterator[Row]:
    """Runs the checks."""
    for name in args.only:
        what, check = CHECKS[name]
        try:
            yield Row(what, check())
        except AssertionError as error:
            yield Row(what, "1", f"differs: {error}")


if __name__ == "__main__":
    sys.exit(campaign(__doc__, add_options, work))
