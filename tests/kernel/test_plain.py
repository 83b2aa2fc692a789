"""The kernel uncompiled and with bounds checks gives what it gives compiled."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from okgin_env.kernel import cache
from okgin_env.kernel.jit import PLAIN
from tests.helpers.digest import digest
from tests.helpers.paths import python

# Writes one past the end of an observation: caught where bounds are checked.
OUT_OF_BOUNDS = """
import numpy as np
from okgin_env import Rules
from okgin_env.kernel import batch, play
from okgin_env.kernel.observe import observe
from okgin_env.kernel.state import new_states
from okgin_env.layout import N_ACTIONS, layout
rules, states, games = Rules().to_record(), new_states(1), np.zeros(1, np.int64)
batch.deal_games(states, games, rules, np.arange(52, dtype=np.int8)[None], np.ones(1, np.int64))
mask, table = np.zeros(N_ACTIONS, np.int8), np.zeros(52, np.int16)
buffer = np.zeros(1000, np.int8)
states[0]["declined"][1] = np.uint64(1 << 51)
try:
    observe(states[0], rules[0], 0, False, buffer[: layout(2).size - 1], table)
    print("not checked")
except IndexError:
    print("checked")
"""

pytestmark = pytest.mark.skipif(PLAIN, reason="compares with compiled code")


def run(*command: str, **settings: str) -> str:
    """Output of a Python process with other settings; its warnings are errors."""
    done = python("-W", "error", *command, env=settings)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_uncompiled_gives_the_same() -> None:
    out = run("-m", "tests.helpers.digest", "20", NUMBA_DISABLE_JIT="1")
    assert out.strip() == digest(20)


@pytest.mark.slow
def test_with_bounds_checks_gives_the_same(tmp_path: Path) -> None:
    """In a cache of its own, as code from the usual one would not be checked."""
    settings = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    out = run("-m", "tests.helpers.digest", "300", **settings)
    assert out.strip() == digest(300)
    assert run("-c", OUT_OF_BOUNDS, **settings).strip() == "checked"


def test_bounds_checked_code_is_cached_apart() -> None:
    """Else `NUMBA_BOUNDSCHECK=1 pytest` runs what was compiled without and checks nothing."""
    ask = "from okgin_env.kernel import cache; print(cache.cache_folder())"
    folders = {run("-c", ask, NUMBA_BOUNDSCHECK=value) for value in ("0", "1")}
    assert len(folders) == 2


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")  # fmt: skip
def test_no_code_is_loaded_from_below_a_folder_of_somebody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner could put another in its place."""
    monkeypatch.setattr(cache, "_cache_root", lambda: Path("/dev/null/nowhere"))
    monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: str(tmp_path))
    find = cache.cache_folder.__wrapped__
    assert str(find()).startswith(str(tmp_path))
    os.chown(tmp_path / "okgin_env-0", 12345, -1)
    assert find() is None
