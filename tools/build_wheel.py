"""Builds the wheel with compiled code in it, so that a first start is as fast as any other.

    pip install build wheel -e . && python tools/build_wheel.py dist

The code is for this system, this Python and this Numba, and on x86-64 for every processor with AVX2; the package checks all of
that before it loads any, and compiles where something does not fit. `python -m build` makes the pure wheel, which always compiles.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What the x86-64-v3 level has, as LLVM names it.
V3 = (
    "64bit avx avx2 bmi bmi2 cmov crc32 cx16 cx8 f16c fma fxsr lzcnt mmx movbe popcnt sahf sse sse2 sse3 sse4.1 sse4.2 ssse3 "
    "xsave"
)


def target() -> dict[str, str]:
    """The environment variables that make Numba compile for many processors."""
    if platform.machine().lower() in ("x86_64", "amd64"):
        features = ",".join(f"+{name}" for name in V3.split())
        return {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": features}
    return {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}


def run(*command: str | Path, **settings: str) -> str:
    """Runs a command; returns what it printed.

    Raises:
        RuntimeError: It failed.
    """
    done = subprocess.run(
        [*map(str, command)], env={**os.environ, **settings}, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")
    return done.stdout


def build(out: Path) -> Path:
    """Builds the wheel into a folder.

    Args:
        out: The folder.

    Returns:
        The wheel.
    """
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        run(sys.executable, "-m", "build", "--wheel", "--outdir", work / "pure", ROOT)
        wheel = next((work / "pure").glob("*.whl"))
        run(sys.executable, "-m", "wheel", "unpack", "--dest", work, wheel)
        package = next(work.glob("okgin_env-*"))
        settings = {"PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(work / "cache"), **target()}
        run(sys.executable, "-P", "-m", "okgin_env", "warm", **settings)
        about = (
            "import json; from okgin_env.kernel import cache; print(json.dumps(cache.describe()))"
        )
        described = json.loads(run(sys.executable, "-P", "-c", about, **settings))
        machine = package / "okgin_env" / "kernel" / "machine"
        machine.mkdir()
        for code in next((work / "cache" / "okgin_env").iterdir()).glob("okgin_env.*"):
            shutil.copy(code, machine)
        (machine / "about.json").write_text(
            json.dumps(described, indent=1) + "\n", encoding="utf-8"
        )
        shutil.rmtree(work / "pure")
        run(sys.executable, "-m", "wheel", "pack", "--dest-dir", work, package)
        tags = [
            "--python-tag",
            f"cp{sys.version_info.major}{sys.version_info.minor}",
            "--abi-tag",
            "none",
        ]
        tags += ["--platform-tag", sysconfig.get_platform().replace("-", "_").replace(".", "_")]
        packed = next(work.glob("*.whl"))
        tagged = run(sys.executable, "-m", "wheel", "tags", "--remove", *tags, packed).split()[-1]
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(work / tagged, out))


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, nargs="?", default=ROOT / "dist", help="folder for the wheel (default: dist)")  # fmt: skip
    out = parser.parse_args(argv).out
    missing = [name for name in ("build", "wheel", "numba", "gymnasium") if not importlib.util.find_spec(name)]  # fmt: skip
    if missing:
        print(f"build_wheel.py: not installed: {', '.join(missing)}; pip install build wheel -e .", file=sys.stderr)  # fmt: skip
        return 2
    print("building, and compiling the game for the wheel: about half a minute", flush=True)
    try:
        print(build(out))
    except RuntimeError as error:
        print(f"build_wheel.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
