"""Folders of the checkout, and Python processes that import it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
PLAYTHROUGHS = DATA / "playthroughs.okgin"
PATIENCE = 600  # seconds until a process counts as hanging; nothing is measured by it


def environment(**more: str) -> dict[str, str]:
    """Variables of a process that imports the checkout, wherever it runs."""
    return os.environ | {"PYTHONPATH": str(ROOT), **more}


def python(*words: str, env: dict[str, str] | None = None, **more: Any) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Runs this interpreter on the checkout to its end; what it wrote is kept as text."""
    settings: dict[str, Any] = {"cwd": ROOT, "timeout": PATIENCE, "capture_output": True}
    return subprocess.run(
        [sys.executable, *words], env=environment(**env or {}), text=True, **settings | more
    )
