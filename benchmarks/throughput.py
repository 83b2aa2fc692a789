"""Measures speed next to the peers' and to an environment that costs nothing: one run, one core, medians."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

# The checkout goes first, installed or not.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import measure, report
from benchmarks.measure import Contestant, Figure

PARTS = ("kernel", "gym", "peers", "train", "start")
EPILOG = """what is counted:
  A step is one decision of a player. Kernel, OpenSpiel and RLCard: every decision of both
  seats, chance moves not. gymnasium.make: the learner's decisions only, though the opponent's
  are played too. Ours write an observation and a mask for each decision, as does RLCard;
  OpenSpiel's C++ bots see no observation, OpenSpiel from Python is given one.

how it is measured:
  Everything takes short repetitions in turn on one core, with one thread. By default a
  repetition is timed by the processor time of this process, so other people's jobs on the
  machine slow it little; the wall clock is in the JSON too (start times are always wall
  clock). A figure is the median of its repetitions, a ratio the median of the ratios within
  each round.

examples:
  python benchmarks/throughput.py --json throughput.json      some minutes, everything
  python benchmarks/throughput.py --quick                     under a minute, rough
  python benchmarks/throughput.py --only kernel,peers --repeats 9
  python benchmarks/throughput.py --only train --train-preset full

peers need: pip install 'okgin-env[peers]'; training needs: pip install 'okgin-env[train]'.
What is not installed is left out, and null in the JSON."""


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    options = _parser().parse_args(argv)
    for variable in measure.ONE_THREAD:
        os.environ[variable] = str(options.train_threads)
    try:
        only = _parts(options.only)
        _check_writable(options.json)
        _check_preset(options.train_preset, only)
        allowed = measure.allowed_cores()
        core = measure.use_one_core(options.core)
        began = time.time()
        figures, notes = _measure(options, only, allowed)
    except ValueError as error:
        print(f"throughput.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("throughput.py: stopped, nothing written", file=sys.stderr)
        return 130
    ratios = report.paired_ratios(figures)
    print(report.as_text(figures, ratios, notes))
    if options.json:
        about = report.machine(options, core, time.time() - began)
        content = report.as_json(figures, ratios, {**about, "notes": notes})
        options.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        print(f"\nwritten to {options.json}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="throughput.py",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--json", type=Path, metavar="FILE", help="write all figures to this file")
    add("--repeats", type=_positive, default=5, help="repetitions of each figure (default 5)")
    add("--only", default=",".join(PARTS), metavar="PARTS",
        help=f"measure these only, comma-separated: {', '.join(PARTS)} (default: all)")  # fmt: skip
    add("--quick", action="store_true", help="shorter and fewer repetitions: a look, not a result")
    add("--clock", choices=tuple(measure.CLOCKS), default="cpu",
        help="time by processor time (default) or by the wall clock")  # fmt: skip
    add("--core", type=int, metavar="N", help="the core to run on (default: the last one allowed)")
    add("--rules", default="classic", help="rules preset of our games (default classic)")
    add("--train-preset", default="quick", metavar="NAME",
        help="preset of train.py for the training figures (default quick)")  # fmt: skip
    add("--train-threads", type=_positive, default=1, metavar="N",
        help="threads for the training figures (default 1); with more than one they are timed by "
        "the wall clock and may use all cores")  # fmt: skip
    add("--quiet", action="store_true", help="no progress bar")
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value}; allowed: 1 or more")
    return value


def _parts(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    unknown = [part for part in parts if part not in PARTS]
    if unknown or not parts:
        raise ValueError(f"--only {text}; allowed: {', '.join(PARTS)}")
    return parts


def _check_writable(path: Path | None) -> None:
    """Says so before minutes of measuring, not after."""
    if path is not None and (path.is_dir() or not path.resolve().parent.is_dir()):
        raise ValueError(f"--json {path}; allowed: a file in a folder that exists")


def _check_preset(name: str, only: list[str]) -> None:
    if "train" not in only:
        return
    from okgin_env.learning.config import PRESETS

    if name not in PRESETS:
        raise ValueError(f"--train-preset {name}; allowed: {', '.join(PRESETS)}")


def _measure(
    options: argparse.Namespace, only: list[str], allowed: set[int]
) -> tuple[dict[str, Figure], list[str]]:
    """Builds all contestants and measures them, part by part; also says what was left out."""
    notes: list[str] = []
    repeats = min(options.repeats, 3) if options.quick else options.repeats
    seconds = 0.1 if options.quick else 0.4
    players = _players(options, only, notes)
    n_cold, n_warm = 1 if options.quick else 2, 2
    total = len(players) * (repeats + 1)
    total += n_cold * (1 + n_warm) * ("start" in only) + 5 * (repeats + 1) * ("train" in only)
    figures: dict[str, Figure] = {}
    with measure.progress(total, options.quiet) as tick:
        figures |= measure.race(players, repeats, seconds, options.clock, tick)
        if "start" in only:
            from benchmarks import start

            figures |= start.measure(n_cold, n_warm, tick)
        if "train" in only:
            clock = options.clock
            if (
                options.train_threads > 1
            ):  # threads take over the binding of the one that starts them
                measure.use_cores(allowed)
                clock = "wall"
            figures |= measure.race(_learners(options, notes), repeats, seconds, clock, tick)
    return figures, notes


def _players(options: argparse.Namespace, only: list[str], notes: list[str]) -> list[Contestant]:
    """The works that are timed in turn: kernel, environments and peers."""
    from benchmarks import own, peers
    from okgin_env.rules import as_rules

    as_rules(options.rules)
    found: list[Contestant] = []
    if "kernel" in only:
        found += [own.random_kernel(options.rules), own.random_kernel(options.rules, bare=True)]
        found += [own.scripted_hands(options.rules), *own.deadwoods()]
    if "gym" in only:
        found.append(own.gym_make(options.rules))
        try:
            found.append(own.native_vec(options.rules, 512))
        except ImportError:
            notes.append("native VecEnv left out; pip install 'okgin-env[train]'")
    if "peers" in only:
        found += peers.contestants()
        notes += [f"{name} is not installed, left out; {peers.INSTALL}" for name in peers.missing()]
    return found


def _learners(options: argparse.Namespace, notes: list[str]) -> list[Contestant]:
    try:
        from benchmarks import training
    except ImportError as error:
        notes.append(f"training left out ({error}); pip install 'okgin-env[train]'")
        return []
    found = training.contestants(options.train_preset, options.train_threads, options.quick)
    if len(found) < 5:
        notes.append("bfloat16 left out; this processor does not multiply it")
    return found


if __name__ == "__main__":
    sys.exit(main())
