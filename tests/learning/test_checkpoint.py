"""Checkpoints: whole or absent, all of the run in them, and a stranger's asks for nothing that the run does not have."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from safetensors.numpy import load_file
from safetensors.numpy import save as packed
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecMonitor

from okgin_env.learning import checkpoint, ppo
from okgin_env.learning.config import PRESETS
from okgin_env.sb3 import OklahomaGinVecEnv

Small = tuple[MaskablePPO, OklahomaGinVecEnv, VecMonitor]


@pytest.fixture
def small() -> Small:
    """A learner that has not begun, and its four games, which have."""
    model, env, monitor = made(seed=0)
    model._last_obs, model._last_episode_starts = monitor.reset(), np.ones(4, np.bool_)
    return model, env, monitor


def made(seed: int) -> Small:
    config = replace(PRESETS["smoke"], games=4, rollout=8, batch=8, seed=seed)
    env = ppo.make_env(config)
    monitor = VecMonitor(env)
    return ppo.make_model(config, monitor), env, monitor


def test_a_checkpoint_is_on_the_disk_before_it_has_its_name(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    sync, replace_file = os.fsync, os.replace

    def synced(handle: int) -> None:
        done.append("synced")
        sync(handle)

    def renamed(path: str, to: Path) -> None:
        done.append("renamed")
        replace_file(path, to)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    (tmp_path / ".000000000000.safetensors.abc.partial").write_bytes(
        b"left by a run that was killed"
    )
    saved = checkpoint.save(*small, tmp_path)
    assert [*tmp_path.iterdir()] == [saved]
    assert done == ["synced", "renamed"]
    checkpoint.load(*small, saved)


def test_the_newest_checkpoints_are_kept(small: Small, tmp_path: Path) -> None:
    assert checkpoint.newest(tmp_path) is None
    for steps in (5, 1000, 70, 9):
        small[0].num_timesteps = steps
        checkpoint.save(*small, tmp_path)
    assert sorted(int(path.stem) for path in tmp_path.iterdir()) == [70, 1000]
    assert checkpoint.newest(tmp_path) == tmp_path / "000000001000.safetensors"


def test_all_that_a_checkpoint_holds_comes_back(small: Small, tmp_path: Path) -> None:
    model, env, _ = small
    model.learn(96)
    saved = checkpoint.save(*small, tmp_path / "a")
    other = made(seed=5)
    checkpoint.load(*other, saved)
    assert "optimizer.0.exp_avg_sq" in load_file(saved)
    assert checkpoint.save(*other, tmp_path / "b").read_bytes() == saved.read_bytes()
    assert other[1].games.states.tobytes() == env.games.states.tobytes()


def test_the_value_network_that_the_docs_draw_is_read_from_a_checkpoint(
    small: Small, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    from benchmarks import learned

    model, env, _ = small
    with pytest.raises(ValueError, match="allowed: the folder of a run"):
        learned.value_network(tmp_path)
    checkpoint.save(*small, tmp_path / "checkpoints")
    seen = np.asarray(env.reset())
    with torch.no_grad():
        expected = model.policy.predict_values(torch.as_tensor(seen))[:, 0]
    found = learned.value_of(seen, learned.value_network(tmp_path))
    assert found == pytest.approx(expected.numpy(), abs=1e-5)


def test_a_checkpoint_asks_for_no_more_memory_than_the_run(small: Small, tmp_path: Path) -> None:
    """A stranger's could ask for any amount."""
    path = checkpoint.save(*small, tmp_path)
    good = load_file(path)
    big = np.zeros((200_000, 100), np.int8)
    for name, value, said in (
        ("states", big.ravel(), r"states has shape \(20000000,\); allowed: \("),
        ("policy.action_net.bias", big, r"bias has shape \(200000, 100\); allowed: \(108,\)"),
        ("masks", np.ones(good["masks"].shape), "masks holds float64; allowed: bool"),
        ("last_obs", np.zeros((4, 3), np.int8), r"last_obs has shape \(4, 3\)"),
        ("optimizer.0.step", np.zeros(0, np.float32), r"step has shape \(0,\); allowed: \(\)"),
        ("numpy_position", np.array([-(10**9), 0]), "numpy_position -1000000000; allowed: 0 to 624"),
        ("torch_rng", np.zeros_like(good["torch_rng"]), "cannot be read"),
    ):  # fmt: skip
        path.write_bytes(packed({**good, name: value}))
        assert peak(refused, small, path, said) < 10_000_000, name
    path.write_bytes(packed({name: value for name, value in good.items() if name != "masks"}))
    refused(small, path, "does not contain tensor masks")
    for content in (b"", b"PK", packed(good)[:-1], b"\xff" * 5000):
        path.write_bytes(content)
        refused(small, path, "cannot be read")
    endless = np.full(good["lately"].shape, np.inf)
    path.write_bytes(packed({**good, "more": big, "lately": endless}))
    checkpoint.load(*small, path)
    assert not small[0].ep_info_buffer


def refused(run: Small, path: Path, said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        checkpoint.load(*run, path)
    assert str(caught.value).startswith(f"checkpoint '{path}' cannot be read: ")
    assert len(str(caught.value).splitlines()) == 1


def peak(call: Callable[..., None], *args: object) -> int:
    """The most bytes that Python and NumPy had at once while something ran."""
    tracemalloc.start()
    try:
        call(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_games_of_a_checkpoint_that_no_table_has_are_refused(small: Small, tmp_path: Path) -> None:
    """They went to compiled code, which looks at no bounds."""
    _, env, _ = small
    before = env.games.states.tobytes()
    for name, value in (("seat", 100), ("n_pile", 99), ("next_card", -3), ("hands", 0)):
        env.games.states[name][2] = value
        saved = checkpoint.save(*small, tmp_path)
        with pytest.raises(ValueError, match=r"cannot be read: state: ") as caught:
            checkpoint.load(*small, saved)
        assert len(str(caught.value).splitlines()) == 1
        env.games.states[:] = np.frombuffer(before, env.games.states.dtype)
    checkpoint.load(*small, checkpoint.save(*small, tmp_path))
