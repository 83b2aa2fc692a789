"""The core on several Pythons and libraries: fresh environments with nothing but the core and pytest.

    python -m tools.versions                                    every Python found, and the oldest libraries
    python -m tools.versions --python 3.13 --pins newest
    python -m tools.versions --keep envs                        keeps the environments for the next time

In each environment the package is installed as its wheel, without any extra, and pytest with hypothesis; then `tools/core_only.py` says whether all that should
work without extras does, and whether what needs one names it; then the tests of the core run. Tests that need an
extra skip, and say so. Pythons are looked for on the path, with `--python`, and with pyenv.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.helpers.paths import ROOT
from tools.reliability import Row, campaign, progress

PYTHONS = ("3.11", "3.12", "3.13")
TESTS = (
    "golden", "analysis", "env", "vector", "wrappers", "histories", "play", "serve", "protocol", "weights", "network", "lanes",
    "outlook", "search", "rules_sentences", "twin", "fuzz", "fuzz_parsers", "machines", "refusals", "aec", "sb3", "process",
)  # fmt: skip
SHOWN = ("gymnasium", "numpy", "numba")


def oldest() -> list[str]:
    """The oldest release of each library that the core's dependencies allow."""
    content = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return [f"{text.replace('>=', '==')}.*" for text in content["project"]["dependencies"]]


def found(version: str) -> str | None:
    """The interpreter of a Python version, on the path or with pyenv."""
    if (named := shutil.which(f"python{version}")) and not _is_shim(named):
        return named
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    made = sorted(root.glob(f"{version}.*/bin/python"))
    return str(made[-1]) if made else None


def _is_shim(path: str) -> bool:
    return "shims" in Path(path).parts


def _said(line: list[str], folder: Path, timeout: int = 1200) -> tuple[int, str]:
    """Exit code and output of a command that sees nothing of this environment."""
    left_out = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    env = {k: v for k, v in os.environ.items() if k not in left_out}
    done = subprocess.run(
        line, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=timeout
    )
    return done.returncode, done.stdout + done.stderr


def environment(python: str, pins: str, folder: Path) -> Path:
    """A fresh environment with the wheel and pytest, or the one that is there; its interpreter.

    Raises:
        RuntimeError: It could not be made.
    """
    inside = folder / "bin" / "python"
    steps = [[str(inside), "-m", "pip", "install", "-q", "--force-reinstall", "--no-deps", str(ROOT)]]  # fmt: skip
    if not inside.exists():
        wanted = oldest() if pins == "oldest" else []
        steps[:0] = [
            [python, "-m", "venv", str(folder)],
            [str(inside), "-m", "pip", "install", "-q", str(ROOT), "pytest", "hypothesis", *wanted],
        ]
    for step in steps:
        code, text = _said(step, folder.parent)
        if code:
            raise RuntimeError(f"{' '.join(step)}: {text[-2000:]}")
    return inside


def try_one(python: str, pins: str, folder: Path, tests: Sequence[str]) -> tuple[str, str]:
    """One environment; what was in it and what came of it, and what failed (or "none")."""
    inside = environment(python, pins, folder)
    ask = f"import importlib.metadata as m, sys; print(sys.version.split()[0], *(f'{{n}} {{m.version(n)}}' for n in {SHOWN}))"
    what = _said([str(inside), "-c", ask], folder)[1].strip()
    failed: list[str] = []
    code, text = _said([str(inside), "-m", "tools.core_only"], ROOT)
    if code:
        print(text[-3000:], file=sys.stderr)
        failed.append("core_only")
    files = [str(path) for name in tests for path in sorted(ROOT.glob(f"tests/*/test_{name}.py"))]
    line = [str(inside), "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider"]
    code, text = _said([*line, *files], ROOT)
    if code:
        print(text[-6000:], file=sys.stderr)
        failed += re.findall(r"^(?:FAILED|ERROR) (\S+)", text, re.M) or ["pytest"]
    last = text.strip().splitlines()[-1]
    return f"Python {what}: {last.strip('= ')}", ", ".join(failed) or "none"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The environments and tests."""
    parser.add_argument("--python", nargs="+", default=[], help="interpreters, or versions such as 3.12 (default: 3.11 to 3.13 where found)")  # fmt: skip
    parser.add_argument("--pins", nargs="+", choices=("newest", "oldest"), default=[], help="libraries (default: newest, and oldest with the first Python)")  # fmt: skip
    parser.add_argument("--tests", nargs="+", default=TESTS, metavar="NAME", help="test files, as in tests/*/test_NAME.py")  # fmt: skip
    parser.add_argument("--keep", type=Path, metavar="DIR", help="make the environments here and keep them")  # fmt: skip


def work(args: argparse.Namespace) -> Iterator[Row]:
    """Makes the environments and runs the tests in each."""
    given = [(found(p) if re.fullmatch(r"3\.\d+", p) else None) or p for p in args.python]
    pythons = given or [made for version in PYTHONS if (made := found(version))]
    pairs = [(p, pins) for p in pythons for pins in args.pins or ["newest"]]
    if not args.pins:
        pairs.append((pythons[0], "oldest"))
    root = args.keep.resolve() if args.keep else Path(tempfile.mkdtemp(prefix="versions-"))
    root.mkdir(parents=True, exist_ok=True)
    with progress("environments", len(pairs)) as advance:
        for interpreter, pins in pairs:
            version = _said([interpreter, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], root)[1].strip()  # fmt: skip
            done, wrong = try_one(interpreter, pins, root / f"{version}-{pins}", args.tests)
            yield Row(f"only the core installed, {pins} libraries", done, wrong)
            advance(1)
    if not args.keep:
        shutil.rmtree(root)


if __name__ == "__main__":
    sys.exit(campaign(__doc__, add_options, work))
