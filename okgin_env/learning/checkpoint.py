"""Checkpoints from which training goes on exactly as if it had never stopped.

A checkpoint is one safetensors file, written whole or not at all, so a run killed at any moment, or a machine without
power, leaves only whole ones. Reading one runs no code, and takes no more memory than the run itself has: the shapes of
all arrays are those of the run, and are checked before an array is read.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecMonitor

from okgin_env.kernel.state import STATE
from okgin_env.learning import tensors
from okgin_env.learning.tensors import Arrays
from okgin_env.positions import check_state
from okgin_env.sb3 import OklahomaGinVecEnv

KEPT = 2  # the newest, and the one before it
ADAM = ("step", "exp_avg", "exp_avg_sq")


def save(model: MaskablePPO, env: OklahomaGinVecEnv, monitor: VecMonitor, folder: Path) -> Path:
    """Writes the checkpoint of a run between two rollouts.

    Returns:
        The checkpoint's file.

    Raises:
        OSError: It cannot be written; older checkpoints are left as they were.
    """
    path = folder / f"{model.num_timesteps:012d}.safetensors"
    for left in folder.glob(".*.partial"):  # by a run that was killed
        left.unlink()
    arrays = _learner(model) | _games(env) | _randomness() | _moments(model)
    arrays["last_obs"] = np.asarray(model._last_obs)
    arrays["last_starts"] = np.asarray(model._last_episode_starts)
    arrays["episode_returns"] = monitor.episode_returns
    arrays["episode_lengths"] = monitor.episode_lengths
    tensors.write(path, arrays, {})
    for old in _all(folder)[:-KEPT]:
        old.unlink()
    return path


def newest(folder: Path) -> Path | None:
    """The newest checkpoint in a folder."""
    return (_all(folder) or [None])[-1]


def load(model: MaskablePPO, env: OklahomaGinVecEnv, monitor: VecMonitor, path: Path) -> None:
    """Brings a freshly made run to the point of a checkpoint.

    Raises:
        ValueError: The checkpoint cannot be read, or does not fit the run; the run is of no use any more.
    """
    n, space = env.num_envs, env.observation_space
    expected = _learner(model) | _games(env) | _randomness()
    expected["last_obs"] = np.empty((n, *(space.shape or ())), space.dtype)
    expected["last_starts"] = np.empty(n, np.bool_)
    expected["episode_returns"] = np.empty(n, np.float32)
    expected["episode_lengths"] = np.empty(n, np.int32)
    parameters = [*model.policy.parameters()]
    try:
        started = "optimizer.0.step" in tensors.names(path)  # not before the first update
        for i, own in enumerate(parameters if started else ()):
            for key in ADAM:
                shape = () if key == "step" else tuple(own.shape)
                expected[f"optimizer.{i}.{key}"] = np.empty(shape, np.float32)
        stored = tensors.read(path, expected)
        states = stored["states"].view(STATE)
        for game in states:  # compiled code looks at no bounds
            check_state(game, env.games.rules)
        _restore_randomness(stored)
    except (OSError, SafetensorError, RuntimeError, ValueError) as error:
        raise ValueError(f"checkpoint '{path}' cannot be read: {error}") from error
    env.restore(states, stored["finals"].view(STATE), stored["masks"])
    monitor.episode_returns = stored["episode_returns"]
    monitor.episode_lengths = stored["episode_lengths"]
    model._last_obs = stored["last_obs"]
    model._last_episode_starts = stored["last_starts"]
    model.num_timesteps, model._n_updates = stored["progress"].tolist()
    lately = stored["lately"][np.isfinite(stored["lately"]).all(axis=1)]
    told = [{"r": r, "l": int(length), "t": 0.0} for r, length in lately.tolist()]
    model.ep_info_buffer = deque(told, maxlen=model._stats_window_size)
    model.ep_success_buffer = deque(maxlen=model._stats_window_size)
    policy = {n: torch.from_numpy(stored[f"policy.{n}"]) for n in model.policy.state_dict()}
    model.policy.load_state_dict(policy)
    if started:
        state = {
            i: {key: torch.from_numpy(stored[f"optimizer.{i}.{key}"]) for key in ADAM}
            for i in range(len(parameters))
        }
        groups = model.policy.optimizer.state_dict()["param_groups"]
        model.policy.optimizer.load_state_dict({"state": state, "param_groups": groups})


def _all(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9]*.safetensors"))


def _learner(model: MaskablePPO) -> Arrays:
    """Network, how far it has come, and return and length of the last episodes (NaN where there are fewer)."""
    lately = np.full((model._stats_window_size, 2), np.nan)
    ended = [(float(e["r"]), int(e["l"])) for e in model.ep_info_buffer or ()]
    lately[: len(ended)] = np.reshape(ended, (-1, 2))
    arrays: Arrays = {"lately": lately, "progress": np.array([model.num_timesteps, model._n_updates])}  # fmt: skip
    for name, tensor in model.policy.state_dict().items():
        arrays[f"policy.{name}"] = tensor.cpu().numpy()
    return arrays


def _moments(model: MaskablePPO) -> Arrays:
    """Adam's moments of each parameter; its settings are those of the run."""
    state = model.policy.optimizer.state_dict()["state"]
    return {
        f"optimizer.{i}.{key}": own[key].cpu().numpy() for i, own in state.items() for key in ADAM
    }


def _games(env: OklahomaGinVecEnv) -> Arrays:
    return {
        "states": env.games.states.view(np.uint8),
        "finals": env.games.finals.view(np.uint8),
        "masks": env.action_masks(),
    }


def _randomness() -> Arrays:
    """The generators that SB3 draws from."""
    name, keys, position, has_gauss, gauss = np.random.get_state()  # noqa: NPY002 - SB3 draws from it
    assert name == "MT19937"
    return {
        "numpy_keys": np.asarray(keys),
        "numpy_position": np.array([position, has_gauss]),
        "numpy_gauss": np.array(gauss),
        "torch_rng": torch.get_rng_state().numpy(),
    }


def _restore_randomness(stored: Arrays) -> None:
    keys, gauss = stored["numpy_keys"], float(stored["numpy_gauss"])
    position, has_gauss = stored["numpy_position"].tolist()
    if not 0 <= position <= len(keys):  # NumPy reads there without looking
        raise ValueError(f"numpy_position {position}; allowed: 0 to {len(keys)}")
    np.random.set_state(("MT19937", keys, position, has_gauss, gauss))  # noqa: NPY002
    torch.set_rng_state(torch.from_numpy(stored["torch_rng"]))
