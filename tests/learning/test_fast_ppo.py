"""The fast learner is MaskablePPO: the same update from the same rollout, the same files, masks obeyed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecMonitor

from okgin_env.learning.config import PRESETS
from okgin_env.learning.fast_ppo import FastMaskablePPO
from okgin_env.learning.model import make_env, settings

CONFIG = replace(PRESETS["smoke"], games=32, rollout=16, batch=128, epochs=2, learning_rate=1e-3)


def learner(kind: type[MaskablePPO], **more: Any) -> Any:
    model = kind("MlpPolicy", VecMonitor(make_env(CONFIG)), **settings(CONFIG), **more)
    model.learn(2 * CONFIG.games * CONFIG.rollout)  # two rollouts
    return model


def parameters(model: Any) -> list[np.ndarray]:
    return [p.detach().numpy().copy() for p in model.policy.parameters()]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_same_rollout_gives_the_same_update_and_the_same_log(precision: str) -> None:
    fast, stock = learner(FastMaskablePPO, precision=precision), learner(MaskablePPO)
    stock.policy.load_state_dict(fast.policy.state_dict())
    for model in (fast, stock):  # both without a past
        model.policy.optimizer.state.clear()
        model._n_updates = 0
    before = parameters(fast)
    assert fast.collect_rollouts(fast.env, _Silent(), fast.rollout_buffer, CONFIG.rollout)
    stock.rollout_buffer.reset()
    names = ("observations", "actions", "rewards", "episode_starts", "values", "log_probs")
    for name in (*names, "advantages", "returns", "action_masks"):
        setattr(stock.rollout_buffer, name, getattr(fast.rollout_buffer, name).copy())
    stock.rollout_buffer.full = True
    for model in (fast, stock):
        np.random.seed(3)  # noqa: NPY002 - the order of minibatches
        model._current_progress_remaining = 1.0
        model.train()
    now, as_stock = (np.concatenate(list(map(np.ravel, parameters(m)))) for m in (fast, stock))
    old = np.concatenate(list(map(np.ravel, before)))
    assert (now != old).mean() > 0.5
    if precision == "float32":
        np.testing.assert_allclose(now, as_stock, atol=2e-5)
    else:  # Adam's first steps have one length: a small gradient of the wrong sign is seen as well as a large one
        assert np.corrcoef(now - old, as_stock - old)[0, 1] > 0.95
    logs = [model.logger.name_to_value for model in (fast, stock)]
    wanted = {name for name in logs[1] if name.startswith("train/")}
    assert wanted == {name for name in logs[0] if name.startswith("train/")}
    for name in wanted:
        near = 1e-3 if precision == "float32" else 2e-2
        assert logs[0][name] == pytest.approx(logs[1][name], abs=near), name


class _Silent:
    """A callback that does nothing."""

    def on_rollout_start(self) -> None: ...
    def on_rollout_end(self) -> None: ...
    def update_locals(self, values: dict[str, Any]) -> None: ...
    def on_step(self) -> bool:
        return True


@pytest.mark.parametrize(("precision", "near"), [("float32", 1e-4), ("bfloat16", 0.03)])
def test_actions_are_drawn_from_the_policy_and_always_legal(precision: str, near: float) -> None:
    model = learner(FastMaskablePPO, precision=precision)
    model.collect_rollouts(model.env, _Silent(), model.rollout_buffer, CONFIG.rollout)
    buffer = model.rollout_buffer
    taken = buffer.actions[..., 0].astype(np.int64)
    assert np.take_along_axis(buffer.action_masks, taken[..., None], axis=2).all()
    seen = torch.from_numpy(buffer.observations.reshape(-1, buffer.observations.shape[-1])).float()
    masks = buffer.action_masks.reshape(len(seen), -1)
    with torch.no_grad():
        values, log_probs, _ = model.policy.evaluate_actions(
            seen, torch.from_numpy(taken.ravel()), action_masks=masks
        )
    np.testing.assert_allclose(buffer.log_probs.ravel(), log_probs.numpy(), atol=near)
    np.testing.assert_allclose(buffer.values.ravel(), values.numpy().ravel(), atol=near)
    # Were they not drawn from it, what they come to on average would not be minus the entropy.
    with torch.no_grad():
        entropy = model.policy.get_distribution(seen, action_masks=masks).entropy().numpy()
    error = buffer.log_probs.std() / np.sqrt(len(seen))
    assert abs(buffer.log_probs.mean() + entropy.mean()) < 5 * error


def test_what_it_saves_stable_baselines_loads_and_it_goes_on(tmp_path: Path) -> None:
    model = learner(FastMaskablePPO)
    model.save(tmp_path / "model.zip")
    observations = np.asarray(model._last_obs)
    masks = np.stack(model.env.env_method("action_masks")).reshape(len(observations), -1)
    answers = [
        kind.load(tmp_path / "model.zip", device="cpu").predict(
            observations, action_masks=masks, deterministic=True
        )[0]
        for kind in (MaskablePPO, FastMaskablePPO)
    ]
    assert np.array_equal(*answers)
    again: Any = FastMaskablePPO.load(tmp_path / "model.zip", env=VecMonitor(make_env(CONFIG)))
    again.learn(CONFIG.games * CONFIG.rollout, reset_num_timesteps=False)
    assert again.num_timesteps == 3 * CONFIG.games * CONFIG.rollout
