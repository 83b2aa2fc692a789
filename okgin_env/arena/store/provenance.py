"""The provenance of results: the commit of the code, and the versions it ran with."""

from __future__ import annotations

import platform
import subprocess
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from okgin_env import __version__


@lru_cache
def commit() -> str:
    """The commit of the checkout this package stands in, marked when it has changes; "unknown" outside of one."""
    folder = Path(__file__).resolve().parents[3]
    try:
        if Path(_git(folder, "rev-parse", "--show-toplevel")) != folder:
            return "unknown"  # installed inside of somebody else's checkout
        return _git(folder, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def versions() -> dict[str, str]:
    """Versions of all that decides a hand, and the commit, by name."""
    libraries = {name: version(name) for name in ("numpy", "numba")}
    return {
        "okgin_env": __version__,
        "commit": commit(),
        "python": platform.python_version(),
        **libraries,
    }


def _git(folder: Path, *words: str) -> str:
    """The output of a git command."""
    found = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return found.stdout.strip()
