"""Runs training or a tournament for a while, and says whether memory, descriptors and speed stay flat.

    python -m tools.soak training --minutes 30 --json soak.json
    python -m tools.soak tournament --minutes 30 --table soak.csv

Every few seconds the process and all it has started are looked at: resident memory, open descriptors, threads, and how far
the work has come (steps of the newest checkpoint's run, deals in the store). The first fifth is left out: things are loaded and
caches fill. What is left is cut into ten blocks; a slope over their means has a 95 % interval by Student's t, and growth is
called only where the interval lies above zero and the growth over the whole time is more than a hundredth. The work is in a
new folder that is deleted afterwards; speed falls where other programs use the machine, and then says nothing.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from scipy import stats

from okgin_env.utils.files import check_writable, write_text
from tests.helpers.paths import ROOT, environment
from tools.reliability import Row, campaign, progress

N_BLOCKS = 10
LEFT_OUT = 0.2  # of the time, at the start
GROWTH = 0.01  # of the mean over the whole time, below which nothing is called growth
TRAINING = [
    *("--preset", "smoke", "--steps", "1000000000", "--games", "128", "--rollout", "32"),
    *("--batch", "1024", "--checkpoint-every", "163840", "--evaluation-hands", "200"),
    *("--opponents", "simple", "self", "--threads", "1"),
]
TOURNAMENT = ["simple", "knocker", "careful", "camper", "--hands", "2000000000", "--matches", "0"]


@dataclass(frozen=True)
class Sample:
    """The process and all it has started, at one moment.

    Attributes:
        seconds: Since the start.
        memory: Resident, in MiB.
        descriptors: Open files, pipes and sockets.
        threads: Threads.
        processes: Processes.
        done: How far the work has come.
    """

    seconds: float
    memory: float
    descriptors: int
    threads: int
    processes: int
    done: int


def command(what: str, folder: Path) -> list[str]:
    """The work, for longer than anybody waits."""
    if what == "training":
        return [sys.executable, "train.py", *TRAINING, "--out", str(folder / "run")]
    store = ["--store", str(folder / "r.sqlite"), "--workers", "2"]
    return [sys.executable, "evaluate.py", *TOURNAMENT, *store]


def done(what: str, folder: Path) -> int:
    """Steps that the log speaks of, or deals that are stored."""
    if what == "training":
        steps = [0]
        for path in (folder / "run").glob("progress_*.csv"):
            with path.open() as file:
                steps += [int(row["time/total_timesteps"]) for row in csv.DictReader(file) if re.fullmatch("[0-9]+", row.get("time/total_timesteps") or "")]  # fmt: skip
        return max(steps)
    path = folder / "r.sqlite"
    if not path.exists():
        return 0
    from okgin_env.arena.store.store import Store

    return sum(task.deals for task in Store(path).tasks())


def sample(root: psutil.Process, began: float, what: str, folder: Path) -> Sample:
    """Looks at the whole family; a process that ends meanwhile is left out."""
    memory, descriptors, n_threads, n = 0, 0, 0, 0
    for process in [root, *root.children(recursive=True)]:
        try:
            with process.oneshot():
                memory += process.memory_info().rss
                descriptors += process.num_fds()
                n_threads += process.num_threads()
                n += 1
        except psutil.Error:
            continue
    return Sample(
        time.monotonic() - began, memory / 2**20, descriptors, n_threads, n, done(what, folder)
    )


def slope(seconds: np.ndarray, values: np.ndarray) -> tuple[float, float, float]:
    """Growth over the whole time, with its 95 % interval: a line through the means of blocks."""
    parts = np.array_split(np.arange(len(seconds)), N_BLOCKS)
    if np.ptp(values) == 0:
        return 0.0, 0.0, 0.0
    x = np.array([seconds[part].mean() for part in parts])
    y = np.array([values[part].mean() for part in parts])
    line: Any = stats.linregress(x, y)
    half = stats.t.ppf(0.975, N_BLOCKS - 2) * line.stderr
    length = seconds[-1] - seconds[0]
    return line.slope * length, (line.slope - half) * length, (line.slope + half) * length


def judged(samples: list[Sample]) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Growth of each quantity over the time looked at, and the names of those that are not flat."""
    kept = [s for s in samples if s.seconds >= LEFT_OUT * samples[-1].seconds]
    seconds = np.array([s.seconds for s in kept])
    rows = {
        name: np.array([float(getattr(s, name)) for s in kept])
        for name in ("memory", "descriptors", "threads")
    }
    gains = np.diff([s.done for s in kept]) / np.diff(seconds)
    numbers: dict[str, dict[str, float]] = {}
    wrong = []
    for name, values in {**rows, "speed": gains}.items():
        growth, low, high = slope(seconds[-len(values) :], values)
        mean = float(values.mean())
        numbers[name] = {"mean": mean, "growth": growth, "low": low, "high": high}
        bad = low > 0 if name != "speed" else high < 0
        if bad and abs(growth) > GROWTH * mean:
            wrong.append(name)
    return numbers, wrong


def soak(what: str, minutes: float, every: float, folder: Path) -> list[Sample]:
    """Runs the work and looks at it; then ends it.

    SIGINT and SIGTERM are remembered and asked for between two looks. A handler that raises could do so between the start of
    the work and the line that knows its number, and the work would go on for hours with nobody to end it.

    Raises:
        RuntimeError: It ended by itself.
        SystemExit: One of the two signals came; the code is 128 and its number.
    """
    came = list[int]()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: came.append(number))
    process = subprocess.Popen(
        command(what, folder),
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    began, samples = time.monotonic(), list[Sample]()
    try:
        root = psutil.Process(process.pid)
        with progress(f"minutes of {what}", minutes) as advance:
            while time.monotonic() - began < 60 * minutes:
                look = time.monotonic() + every
                while not came and (rest := look - time.monotonic()) > 0:
                    time.sleep(min(rest, 0.1))  # a signal does not cut a sleep short
                if came:
                    raise SystemExit(128 + came[0])
                if process.poll() is not None:
                    raise RuntimeError(f"{what} ended by itself with {process.returncode}")
                samples.append(sample(root, began, what, folder))
                advance(every / 60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return samples


def add_options(parser: argparse.ArgumentParser) -> None:
    """The work, its length, and what is written."""
    parser.add_argument("work", choices=("training", "tournament"))
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--every", type=float, default=3.0, metavar="S", help="seconds between two looks (default: 3)")  # fmt: skip
    parser.add_argument("--table", type=Path, metavar="FILE", help="write all samples here, as CSV")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers here")


def work(args: argparse.Namespace) -> Iterator[Row]:
    """Runs the soak and names what grows or slows down."""
    if 60 * args.minutes < 3 * N_BLOCKS * args.every:
        raise ValueError(f"--minutes {args.minutes:g}; allowed: {N_BLOCKS * args.every / 20:g} or more with --every {args.every:g}")  # fmt: skip
    for path in filter(None, (args.table, args.json)):
        check_writable(path)
    with tempfile.TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True) as folder:
        samples = soak(args.work, args.minutes, args.every, Path(folder))
    numbers, wrong = judged(samples)
    if args.table:
        text = io.StringIO()
        writer = csv.DictWriter(text, [*asdict(samples[0])])
        writer.writeheader()
        writer.writerows(map(asdict, samples))
        write_text(args.table, text.getvalue())
    if args.json:
        content = {"work": args.work, "numbers": numbers, "not_flat": wrong}
        write_text(args.json, json.dumps(content))
    said = "; ".join(
        f"{name} {n['mean']:,.0f}, growth {n['growth']:+,.1f} ({n['low']:+,.1f} to {n['high']:+,.1f})"
        for name, n in numbers.items()
    )
    how_often = f"{args.minutes:g} minutes, {len(samples)} looks; {said}"
    yield Row(f"soak of {args.work} (memory in MiB)", how_often, ", ".join(wrong) or "none")


if __name__ == "__main__":
    sys.exit(campaign(__doc__, add_options, work))
