"""Compiling: by whom, once, with which words, and what comes of it where there are no sources, no folder or another compiler."""

from __future__ import annotations

import compileall
import json
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from okgin_env.kernel import cache
from okgin_env.kernel.jit import PLAIN
from tests.helpers.paths import ROOT, environment, python

pytestmark = pytest.mark.skipif(PLAIN, reason="nothing is compiled")

HAND = "2s Ac 2c 3c 4c 5c Ad 2d 3d 4d 5d"
ASK = f"from okgin_env import analysis; print(analysis.deadwood({HAND!r}))"
# Prints the functions that are compiled, on standard error.
COUNTED = """
import sys
import threading
from okgin_env.kernel import linking
make = linking._Entry._make
def counted(self, args):
    print("made", self.py_func.__name__, file=sys.stderr)
    make(self, args)
linking._Entry._make = counted
"""
LOUD = {"OKGIN_ENV_QUIET": ""}


def test_processes_that_start_together_wait_for_one_compiler(tmp_path: Path) -> None:
    settings = environment(NUMBA_CACHE_DIR=str(tmp_path))
    words = [sys.executable, "-c", COUNTED + ASK]
    both = [
        subprocess.Popen(words, cwd=ROOT, env=settings, stdout=-1, stderr=-1, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=300) for process in both]
    assert [out.strip() for out, _ in said] == ["2", "2"]
    assert sum(err.count("made deadwood") for _, err in said) == 1


def test_compiling_is_said_once_and_can_be_kept_quiet(tmp_path: Path) -> None:
    at_once = "from okgin_env.kernel import cache; cache._SILENCE = 0.0\n"
    more = "; print(analysis.arrange(['As', '2s', '3s']))"
    loud = python("-c", at_once + ASK + more, env={"NUMBA_CACHE_DIR": str(tmp_path), **LOUD})
    assert loud.stderr.count("okgin_env: compiling the game once, about ") == 1
    assert f"kept in {tmp_path}" in loud.stderr
    quiet = {"NUMBA_CACHE_DIR": str(tmp_path / "other"), "OKGIN_ENV_QUIET": "1"}
    assert python("-c", at_once + ASK, env=quiet).stderr == ""
    again = python("-c", at_once + ASK, env={"NUMBA_CACHE_DIR": str(tmp_path), **LOUD})
    assert again.stderr == ""


def test_where_nothing_can_be_kept_the_game_is_compiled_all_the_same() -> None:
    nowhere = (
        "from okgin_env.kernel import cache; cache._SILENCE = 0.0\n"
        "cache._cache_root = lambda: cache.Path('/dev/null')\n"
        "cache.tempfile.gettempdir = lambda: '/dev/null'\n"
    )
    done = python("-c", nowhere + ASK, env=LOUD)
    assert done.stdout.strip() == "2"
    assert "kept nowhere" in done.stderr


def test_a_broken_file_is_compiled_anew(tmp_path: Path) -> None:
    settings = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert python("-c", ASK, env=settings).stdout.strip() == "2"
    file = next(tmp_path.rglob("*melds.deadwood*"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    done = python("-c", COUNTED + ASK, env=settings)
    assert (done.stdout.strip(), done.stderr.strip()) == ("2", "made deadwood")


def test_the_package_plays_from_a_zip(tmp_path: Path) -> None:
    """With the same code, as its sources are the same."""
    archive = tmp_path / "okgin.zip"
    with zipfile.ZipFile(archive, "w") as written:
        for path in sorted((ROOT / "okgin_env").rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                written.write(path, path.relative_to(ROOT))
    code = (
        "import gymnasium, okgin_env; env = gymnasium.make(okgin_env.ENV_ID);"
        "_, info = env.reset(seed=1); env.step(int(info['action_mask'].argmax()));"
        "from okgin_env.kernel import cache; print(okgin_env.__file__, cache.source_digest())"
    )
    done = python("-c", code, cwd=tmp_path, env={"PYTHONPATH": str(archive)})
    file, digest = done.stdout.split()
    assert file.startswith(str(archive)), done.stderr
    assert digest == cache.source_digest()


def test_without_sources_nothing_is_kept_and_nothing_fails(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "okgin_env", tmp_path / "okgin_env")
    assert compileall.compile_dir(tmp_path, quiet=1, legacy=True)
    for source in tmp_path.rglob("*.py"):
        source.unlink()
    more = "; from okgin_env.kernel import cache; print(cache.source_digest())"
    done = python("-c", ASK + more, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)})
    assert done.stdout.split() == ["2", "None"], done.stderr


def test_numba_alone_gives_the_same() -> None:
    """The way back for a Numba whose inner classes are not those that `linking` knows."""
    code = (
        "import numpy as np; from okgin_env.kernel import batch, jit, state; print(jit.Function is None)\n"
        "from okgin_env.rules import Rules; states = state.new_states(3); games = np.arange(3)\n"
        "batch.seed_games(states, games, np.arange(3, dtype=np.uint64))\n"
        "batch.begin_games(states, games, state.as_records(Rules().to_record())); print(states['deck'].tolist())\n"
    )
    own = python("-c", code).stdout.splitlines()
    numbas = python("-c", code, env={"OKGIN_ENV_COMPILER": "njit"}).stdout.splitlines()
    assert (own[0], numbas[0]) == ("False", "True")
    assert own[1] == numbas[1]


@pytest.mark.slow
def test_numba_alone_plays_the_same_games() -> None:
    words = ("-m", "tests.helpers.digest", "60")
    assert python(*words, env={"OKGIN_ENV_COMPILER": "njit"}).stdout == python(*words).stdout


@pytest.mark.parametrize("change", [{}, {"digest": "another"}, {"features": ["avx9000"]}, None])
def test_code_that_came_with_the_wheel_is_loaded_only_where_it_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict | None
) -> None:
    """None: the note of what it is for is missing."""
    if change is not None:
        (tmp_path / "about.json").write_text(json.dumps({**cache.describe(), **change}))
    monkeypatch.setattr(cache, "SHIPPED", tmp_path)
    assert cache.shipped_folder.__wrapped__() == (tmp_path if change == {} else None)


def test_nothing_is_left_to_compile_after_okgin_warm(tmp_path: Path) -> None:
    """In the environments, the players, the arena, histories and the analysis."""
    settings = {"NUMBA_CACHE_DIR": str(tmp_path)}  # in which nobody else has compiled anything
    assert python("-m", "okgin_env", "warm", env=settings).returncode == 0
    code = """
import gymnasium as gym, numpy as np, okgin_env
from okgin_env import Rules, analysis, players, sb3, aec
from okgin_env.arena.match import play
for more in ({"episode": "match", "opponent": "expert"}, {"opponent": "search:8"}, {"rules": "french"}):
    env = gym.make(okgin_env.ENV_ID, **more); _, info = env.reset(seed=3)
    for _ in range(40):
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
        if over: env.reset()
    state = env.unwrapped.state(); env.reset(options={"state": state}); str(env.unwrapped.view())
    env.reset(options={"deck": np.random.default_rng(1).permutation(52)})
vector = sb3.OklahomaGinVecEnv(256, threads=2, pool=["simple", "camper"], outlook=True); vector.reset()
vector.step(vector.action_masks().argmax(axis=1)); vector.set_opponents("knocker")
table = aec.env(players=3, rules="french"); table.reset(seed=1)
for _ in table.agent_iter(60):
    observation, _, over, _, _ = table.last()
    table.step(None if over else int(observation["action_mask"].argmax()))
for name in ("random", "careful", "hunter"): play(players.make(name), players.make("camper"), Rules(), 2, 1)
play(players.make("simple"), players.make("expert"), Rules(), 1, 1, matches=True)
analysis.knock_discards("2s Ac 2c 3c 4c 5c Ad 2d 3d 4d 5d", limit=1)
from okgin_env.cli import watch
watch.Show(Rules(), [players.make("camper"), players.make("expert")], "match", 1, say=str).run()
"""
    done = python("-W", "ignore", "-c", COUNTED + code, env=settings)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_second_process_stops_waiting_when_the_first_is_killed(tmp_path: Path) -> None:
    """A lock goes with the process that had it."""
    settings = environment(NUMBA_CACHE_DIR=str(tmp_path))
    hold = (
        "from okgin_env.kernel.cache import one_at_a_time\n"
        "with one_at_a_time(): print('held', flush=True); input()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", hold], cwd=ROOT, env=settings, stdin=-1, stdout=-1, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    waiting = subprocess.Popen([sys.executable, "-c", ASK], cwd=ROOT, env=settings, stdout=-1, text=True)  # fmt: skip
    holder.kill()
    assert waiting.communicate(timeout=300)[0].strip() == "2"
    holder.communicate()
    assert os.path.exists(next(tmp_path.rglob("lock")))


def test_other_peoples_compiled_code_may_call_the_kernel(tmp_path: Path) -> None:
    """Functions of a linked program are its own: code that Numba compiles in its way must not find them by their names."""
    code = f"""
import numba, numpy as np
from okgin_env import analysis
from okgin_env.kernel import melds
analysis.deadwood({HAND!r}); analysis.knock_discards({HAND!r}, 10)
analysis.layoff(["Js Qs Ks"], "2s Ac 2c 3c 4c 5c Ad 2d 3d Ts")
@numba.njit
def many(masks):
    found = np.empty(len(masks), np.int64)
    for k in range(len(masks)):
        found[k] = melds.deadwood(masks[k])
    return found
rng = np.random.default_rng(0)
masks = np.array([sum(1 << int(card) for card in rng.permutation(52)[:10]) for _ in range(500)], np.uint64)
print(many(masks).tolist() == [melds.deadwood(mask) for mask in masks])
"""
    done = python("-c", code, env={"NUMBA_CACHE_DIR": str(tmp_path)})
    assert done.stdout.strip() == "True", done.stderr


def test_threads_that_call_together_for_the_first_time_slow_no_later_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from okgin_env.kernel.linking import Function

    together, asked = threading.Barrier(2), []
    find = Function._compile_for_args

    def found(self: Function, *args: Any, **kws: Any) -> Any:
        asked.append(args)
        if len(asked) <= 2:
            together.wait()
        return find(self, *args, **kws)

    monkeypatch.setattr(Function, "_compile_for_args", found)
    double = Function(_doubled)
    threads = [threading.Thread(target=double, args=(1,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert double(4) == 8
    assert len(asked) == 2  # from then on Numba finds the one function by itself


def _doubled(x):
    return 2 * x
