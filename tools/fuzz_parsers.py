"""Feeds damaged text and files to every reader of strangers' bytes, led by coverage with libFuzzer (pip install atheris).

    python -m tools.fuzz_parsers --seconds 60 --seed 1
    python -m tools.fuzz_parsers --seconds 10 --target histories

`tests/helpers/parsers.py` has the readers, and says what is a finding; an input that takes over 20 seconds or 3 GB is one, too.
Without atheris, `pytest tests/views/test_fuzz_parsers.py --hypothesis-profile long` damages good inputs without looking at coverage.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from tests.helpers.damage import MAX_INPUT
from tests.helpers.paths import ROOT, environment
from tools.reliability import Row, campaign, progress

# Atheris sees what is imported under it; never the kernel: compiled functions must not be changed.
INSIDE = """
import sys
from pathlib import Path
import atheris
name, folder, *flags = sys.argv[1:]
kernel = [f"okgin_env.kernel.{path.stem}" for path in Path("okgin_env/kernel").glob("*.py")]
with atheris.instrument_imports(include=["okgin_env"], exclude=["okgin_env.kernel", *kernel]):
    from tests.helpers import parsers
for k, good in enumerate(parsers.TARGETS[name].seeds()):
    Path(folder, str(k)).write_bytes(good)
    parsers.read(name, good)
atheris.Setup(["fuzz", *flags, folder], lambda data: parsers.is_taken(name, data))
atheris.Fuzz()
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The readers to fuzz, and how long."""
    parser.add_argument("--seconds", type=float, default=10.0, help="for each reader (default: 10)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", nargs="+", metavar="NAME", help="only these readers")


def work(args: argparse.Namespace) -> Iterator[Row]:
    """Runs each reader under libFuzzer in a process of its own."""
    import atheris  # noqa: F401  # pyright: ignore[reportMissingImports] - one line where it is missing

    from tests.helpers import parsers

    names, tried, findings = args.target or [*parsers.TARGETS], dict[str, int](), 0
    flags = [f"-max_total_time={args.seconds:.0f}", f"-seed={args.seed}", f"-max_len={MAX_INPUT}", "-timeout=20", "-rss_limit_mb=3000"]  # fmt: skip
    with progress("readers", len(names)) as advance:
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                line = [sys.executable, "-c", INSIDE, name, folder, *flags, f"-artifact_prefix={folder}/"]  # fmt: skip
                done = subprocess.run(line, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)  # fmt: skip
            runs = re.search(r"Done (\d+) runs", done.stderr)
            tried[name] = int(runs[1]) if runs else 0
            if done.returncode or runs is None:
                print(f"{name}: libFuzzer ended with {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}", file=sys.stderr)  # fmt: skip
                findings += 1
            advance(1)
    counts = ", ".join(f"{name} {n:,}" for name, n in tried.items())
    how_often = f"{sum(tried.values()):,} inputs: {counts}"
    found = f"{findings} findings" if findings else "none"
    yield Row("readers of strangers' text under a coverage-guided fuzz (atheris)", how_often, found)


if __name__ == "__main__":
    sys.exit(campaign(__doc__, add_options, work))
