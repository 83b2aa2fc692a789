"""Kills training, tournaments, reports and the recording of hands at random moments, and looks at what is left.

    python -m tools.kill_at_random training --kills 50 --seed 1
    python -m tools.kill_at_random tournament --kills 50
    python -m tools.kill_at_random report --kills 50
    python -m tools.kill_at_random histories --kills 50

The whole process group is killed with SIGKILL, then every file is read: it must be whole or absent (what is called
`*.partial` is no file yet). The next start goes on where the last one was killed. A run that comes to its end is
held against one that was never killed, and the next begins anew. Training may lose one interval between checkpoints, a
tournament nothing that was stored, a file of hands at most the hand that was being written.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests.helpers.paths import PATIENCE, ROOT, environment
from tools import left_behind
from tools.reliability import Row, campaign, progress

INTERVAL = 1500  # steps between two checkpoints, which come with the next whole rollout of 1,024
TRAINING = [
    *("--preset", "smoke", "--steps", "6144", "--games", "32", "--rollout", "32", "--batch", "256"),
    *("--imitate-moves", "3200", "--checkpoint-every", str(INTERVAL), "--evaluation-hands", "20"),
    *("--final-hands", "200", "--layers", "16", "--opponents", "simple", "self", "--threads", "1"),
]
PLAYERS = ["simple", "knocker", "careful", "--seed", "0", "--hands", "200000", "--matches", "2000"]


@dataclass(frozen=True)
class Subject:
    """Something that is killed.

    Attributes:
        command: The command for a folder, to begin and to go on.
        check: Reads everything that is left in a folder; how much of the work it holds.
        result: What a run that came to its end says, to be compared.
        loses: How much of the work seen by the last check may be missing at the next.
        what: What a kill may lose, in words.
        begins_with: Files of a run that was never killed with which each run begins.
    """

    command: Callable[[Path], list[str]]
    check: Callable[[Path], float]
    result: Callable[[Path], Any]
    loses: float
    what: str
    begins_with: tuple[str, ...] = ()

    def begin(self, folder: Path, whole: Path) -> None:
        """Makes a folder to work in."""
        folder.mkdir()
        for name in self.begins_with:
            shutil.copy(whole / name, folder)


def _train(folder: Path) -> list[str]:
    run = folder / "run"
    going = (run / "checkpoints").exists() and any((run / "checkpoints").glob("[0-9]*"))
    if not going:
        shutil.rmtree(run, ignore_errors=True)
    return ["train.py", *(["--resume", str(run)] if going else [*TRAINING, "--out", str(run)])]


def _evaluate(folder: Path) -> list[str]:
    paths = {"--store": "r.sqlite", "--report": "page", "--json": "r.json"}
    return ["evaluate.py", *PLAYERS, *(x for k, v in paths.items() for x in (k, str(folder / v)))]


def _record(folder: Path) -> list[str]:
    return ["-m", "tools.left_behind", str(folder)]


SUBJECTS = {
    "training": Subject(
        _train, left_behind.check_training, left_behind.trained, 0, "at most one checkpoint interval"
    ),
    "tournament": Subject(
        _evaluate, left_behind.check_tournament, left_behind.evaluated, 0, "nothing that was stored"
    ),
    "report": Subject(
        _evaluate, left_behind.check_tournament, left_behind.evaluated, 0, "nothing that was stored", ("r.sqlite",)
    ),
    "histories": Subject(
        _record, left_behind.check_histories, lambda folder: 0, math.inf, "at most the hand being written"
    ),
}  # fmt: skip


def start(command: list[str]) -> subprocess.Popen[bytes]:
    """Starts a script in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def to_the_end(command: list[str]) -> float:
    """Runs a script to its end; the seconds it took.

    Raises:
        AssertionError: It failed.
    """
    began = time.monotonic()
    process = start(command)
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, error.decode()[-2000:]
    return time.monotonic() - began


def killed(command: list[str], after: float) -> bool:
    """Starts a script and kills it; False if it came to its end before.

    Raises:
        AssertionError: It failed by itself.
    """
    process = start(command)
    try:
        process.wait(timeout=after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
    _, error = process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), error.decode()[-2000:]
    return process.returncode != 0


def kill_often(name: str, kills: int, seed: int, folder: Path, advance: Callable[[float], None]) -> int:  # fmt: skip
    """Kills something many times; how many runs came to their end in between.

    Raises:
        AssertionError: A file is torn, too much is lost, a run does not go on, or it ends differently.
    """
    subject, rng = SUBJECTS[name], Random(f"{seed}/{name}")
    whole, ends, held = folder / "whole", 0, 0.0
    whole.mkdir()
    seconds, unbroken = 1.5, None
    if name != "histories":  # which goes on until it is killed
        to_the_end(subject.command(whole))
        subject.check(whole)
        unbroken = subject.result(whole)
        # Once more for the time: the first run may compile, and kills within as long would meet few runs alive.
        subject.begin(again := folder / "again", whole)
        seconds = to_the_end(subject.command(again))
        assert subject.result(again) == unbroken
    subject.begin(here := folder / "0", whole)
    for kill in range(kills):
        while not killed(subject.command(here), rng.uniform(0.2, 1.0) * seconds):
            subject.check(here)
            assert subject.result(here) == unbroken, f"a run that was killed ends differently: {here}"  # fmt: skip
            ends, held = ends + 1, 0.0
            shutil.rmtree(here)
            subject.begin(here := folder / f"{kill}.{ends}", whole)
        now = subject.check(here)
        assert now >= held - subject.loses, f"{held} held before the kill, {now} after: {here}"
        held = now
        advance(1)
    if unbroken is not None:
        to_the_end(subject.command(here))
        assert subject.result(here) == unbroken, f"a run that was killed ends differently: {here}"
        ends += 1
    return ends


def add_options(parser: argparse.ArgumentParser) -> None:
    """The kinds of work to kill, and how often."""
    parser.add_argument("subject", choices=SUBJECTS, help="the command that is killed")
    parser.add_argument("--kills", type=int, default=50, help="how often (default: 50)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what is left in this new folder")  # fmt: skip


def work(args: argparse.Namespace) -> Iterator[Row]:
    """Runs the kills; what is left stays where something is found."""
    folder, ended, found = args.keep or Path(tempfile.mkdtemp(prefix="kill-")), "", "none"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with progress(f"kills of {args.subject}", args.kills) as advance:
            ends = kill_often(args.subject, args.kills, args.seed, folder, advance)
        ended = f", {ends} runs ended between and after them as one that was never killed"
    except AssertionError as error:
        found = f"{error}; left in {folder}"
    if args.keep is None and found == "none":
        shutil.rmtree(folder)
    what = f"{args.subject} killed with SIGKILL at random moments: files whole, loses {SUBJECTS[args.subject].what}"
    yield Row(what, f"{args.kills} kills{ended}", found)


if __name__ == "__main__":
    sys.exit(campaign(__doc__, add_options, work))
