"""Feeds damaged text and files to everything that reads what strangers wrote, led by coverage.

    python -m tools.fuzz_parsers --seconds 60 --seed 1
    python -m tools.fuzz_parsers --seconds 60 --engine atheris     libFuzzer (pip install atheris)
    python -m tools.fuzz_parsers --seconds 10 --target histories

Good inputs are changed (bytes, words, lines and numbers; cut, doubled, swapped, taken from another input), and an input
that reaches a new line of the readers is kept and changed further. Whatever is refused must be refused by a ValueError in one
line; whatever is taken must come back the same from its own text. No input may take over five seconds or a gibibyte, and what lies in a
folder of its own must leave nothing else there. Anything else is a finding: it is printed with its
input, and the exit code is 1. Half of the inputs are changed good ones even late, so all of the readers stay in reach.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from tools.reliability import Row, add_row_option, progress, say_row

if "atheris" in sys.argv and "--inside" in sys.argv:  # before what it is to see is imported
    import atheris

    # Never the kernel: what is compiled must not be changed.
    _KERNEL = (Path(__file__).parents[1] / "okgin_env" / "kernel").glob("*.py")
    _LEFT_OUT = [f"okgin_env.kernel.{path.stem}" for path in _KERNEL]
    with atheris.instrument_imports(include=["okgin_env"], exclude=["okgin_env.kernel", *_LEFT_OUT]):  # fmt: skip
        from tests.helpers import parsers
else:
    from tests.helpers import parsers

MAX_INPUT = 20_000  # bytes
MAX_SECONDS = 5.0  # for one input: more is a finding
MAX_MEMORY = (
    1 << 30
)  # by which one input may make the process grow: model files may unpack to half of it
TOKENS = (b"", b"\n", b"\r\n", b" ", b"\0", b"0", b"-1", b"9" * 20, b"1e999", b"NaN", b"null", b"true", b"[]", b"{}",
          b'"', b"'", b"\xff", b"\xe2\x80\xa8", "é".encode(), "٣".encode(), b"As", b"[" * 2000, b"2147483648", b"0x1")  # fmt: skip


class Finding(AssertionError):
    """Something other than a ValueError in one line."""


@dataclass
class Loop:
    """One target under the own engine.

    Attributes:
        name: Of the target.
        rng: Where the changes come from.
        kept: Inputs that reached something new, the good ones first.
        lines: (file, line) reached so far.
        n: Inputs tried.
        n_taken: Those of them that were not refused.
    """

    name: str
    rng: Random
    kept: list[bytes] = field(default_factory=list)
    lines: set[tuple[str, int]] = field(default_factory=set)
    n: int = 0
    n_taken: int = 0

    def __post_init__(self) -> None:
        self.target = parsers.TARGETS[self.name]
        self.seeds = self.target.seeds()
        for seed in self.seeds:
            before = self.n_taken
            self.try_one(seed)
            if self.n_taken == before:
                raise Finding(f"{self.name}: a good input is refused: {seed!r:.200}")

    def run(self, seconds: float) -> None:
        """Tries changed inputs until the time is over."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            base = self.rng.choice(self.seeds if self.rng.random() < 0.5 else self.kept)
            for _ in range(self.rng.choice((1, 1, 1, 2, 3, 8))):
                base = changed(base, self.rng, self.kept)
            self.try_one(base[:MAX_INPUT])

    def try_one(self, data: bytes) -> None:
        """Reads one input; keeps it where it reaches a new line.

        Raises:
            Finding: It was neither taken nor refused as it should be.
        """
        before, started, memory = len(self.lines), time.monotonic(), _peak()
        sys.settrace(self._trace)
        try:
            read(self.name, data)
            self.n_taken += 1
        except ValueError:
            pass
        finally:
            sys.settrace(None)
        self.n += 1
        if time.monotonic() - started > MAX_SECONDS and self.n > len(self.seeds):
            raise Finding(f"{self.name}: over {MAX_SECONDS:.0f} s for one input\n  {data!r}")
        if _peak() - memory > MAX_MEMORY and self.n > len(self.seeds):
            raise Finding(f"{self.name}: over {MAX_MEMORY >> 20} MiB for one input\n  {data!r}")
        if len(self.lines) > before or self.n <= len(self.seeds):
            self.kept.append(data)

    def _trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        name = frame.f_code.co_filename
        if not any(part in name for part in self.target.modules):
            return None
        if event == "line":
            self.lines.add((name, frame.f_lineno))
        return self._trace


def _peak() -> int:
    """The most memory that this process has had, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def read(name: str, data: bytes) -> None:
    """Gives one input to a target.

    Raises:
        ValueError: It is refused as it should be.
        Finding: Anything else goes wrong.
    """
    try:
        parsers.TARGETS[name].read(data)
    except ValueError as error:
        try:
            parsers.one_line(error)
        except AssertionError as wrong:
            raise Finding(f"{name}: {wrong}\n  {data!r}") from None
        raise
    except BaseException as error:
        raise Finding(f"{name}: {type(error).__name__}: {error}\n  {data!r}") from error


def changed(data: bytes, rng: Random, others: list[bytes]) -> bytes:
    """One change of an input."""
    at = rng.randrange(len(data) + 1)
    kind = rng.randrange(8)
    if kind == 0 and data:  # a byte
        at %= len(data)
        return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    if kind == 1:  # a piece goes
        return data[:at] + data[at + rng.choice((1, 1, 2, 8, 100)) :]
    if kind == 2:  # a piece comes twice
        end = at + rng.choice((1, 4, 30, 300))
        return data[:end] + data[at:end] * rng.choice((1, 1, 3)) + data[end:]
    if kind == 3:  # the end goes
        return data[:at]
    if kind == 4:  # a word or number is replaced
        words = [*re.finditer(rb"[\w.+-]+", data)]
        if words:
            word = rng.choice(words)
            number = str(rng.choice((0, 1, 3, 11, 52, 108, -1, 10**9, rng.randrange(300)))).encode()
            return data[: word.start()] + rng.choice((*TOKENS, number, number)) + data[word.end() :]
    if kind == 5:  # lines change places
        lines = data.split(b"\n")
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[i]
        return b"\n".join(lines)
    if kind == 6 and others:  # a piece of another one
        other = rng.choice(others)
        start = rng.randrange(len(other) + 1)
        return data[:at] + other[start : start + rng.choice((2, 20, 200))] + data[at:]
    return data[:at] + rng.choice(TOKENS) + data[at:]


def _inside_atheris(name: str, seconds: float, seed: int, folder: Path) -> None:
    """Runs one target under libFuzzer, which ends the process."""
    target = parsers.TARGETS[name]
    for k, good in enumerate(target.seeds()):
        (folder / f"{k}").write_bytes(good)
        read(name, good)

    def once(data: bytes) -> None:
        with contextlib.suppress(ValueError):
            read(name, data)

    flags = (
        f"-max_total_time={seconds:.0f}",
        f"-seed={seed}",
        f"-max_len={MAX_INPUT}",
        "-timeout=20",
    )
    atheris.Setup(["fuzz", *flags, "-rss_limit_mb=3000", str(folder)], once)
    atheris.Fuzz()


def _atheris(name: str, seconds: float, seed: int) -> int:
    """Runs one target under libFuzzer in a process of its own; the inputs tried."""
    with tempfile.TemporaryDirectory() as folder:
        line = [
            sys.executable,
            __file__,
            "--inside",
            folder,
            "--target",
            name,
            "--seconds",
            str(seconds),
        ]
        done = subprocess.run(
            [*line, "--seed", str(seed), "--engine", "atheris"], cwd=folder, capture_output=True, text=True, check=False
        )  # fmt: skip
    tried = re.search(r"Done (\d+) runs", done.stderr)
    if done.returncode or tried is None:
        raise Finding(
            f"{name}: libFuzzer ended with {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-1000:]}"
        )
    return int(tried[1])


def main() -> int:
    """Runs the fuzz; the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="for each target (default: 10)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", nargs="+", choices=parsers.TARGETS, help="only these")
    parser.add_argument("--engine", choices=("own", "atheris"), default="own")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    add_row_option(parser)
    args = parser.parse_args()
    if args.inside:
        _inside_atheris(args.target[0], args.seconds, args.seed, args.inside)
    names = args.target or [*parsers.TARGETS]
    tried, failed = {}, 0
    with progress("readers", len(names)) as advance:
        for name in names:
            try:
                if args.engine == "atheris":
                    tried[name] = _atheris(name, args.seconds, args.seed)
                else:
                    loop = Loop(name, Random(f"{args.seed}/{name}"))
                    loop.run(args.seconds)
                    tried[name] = loop.n
                    print(f"{name}: {loop.n:,} inputs, {loop.n_taken:,} taken, {len(loop.lines)} lines reached")  # fmt: skip
            except Finding as found:
                print(found, file=sys.stderr)
                failed += 1
            advance(1)
    counts = ", ".join(f"{name} {n:,}" for name, n in tried.items())
    print(f"inputs: {counts}")
    say_row(args, Row(f"readers of strangers' text under a coverage-guided fuzz ({args.engine})", f"{sum(tried.values()):,} inputs: {counts}", "none" if not failed else f"{failed} findings"))  # fmt: skip
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
