"""Gymnasium wrappers: named observations, deadwood shaping, hand histories.

They go around the single environment (`gymnasium.make`), in any order and together with others. Around the native vector environment
(`gymnasium.make_vec`) go `VectorNamedObservation` and `VectorDeadwoodShaping`; its hands are kept by a `HandRecorder`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from okgin_env.engine.games import Games
from okgin_env.env import OklahomaGinEnv
from okgin_env.histories.recorder import HandRecorder
from okgin_env.kernel.melds import deadwood, least_free_discard
from okgin_env.kernel.play import locked_mask
from okgin_env.layout import N_CARDS, OVER, SHED, Layout
from okgin_env.utils.errors import shown
from okgin_env.vector import OklahomaGinVectorEnv

__all__ = [
    "DeadwoodShaping", "HandRecorder", "NamedObservation", "RecordHands", "VectorDeadwoodShaping", "VectorNamedObservation",
]  # fmt: skip

Flat = NDArray[np.int8]
Named = dict[str, Flat]
_BITS = np.uint64(1) << np.arange(N_CARDS, dtype=np.uint64)


def _games(env: Any, kind: type[Any] = OklahomaGinEnv) -> Games:
    """The games under any wrappers around one of our environments."""
    inner: Any = getattr(env, "unwrapped", None)
    if not isinstance(inner, kind):
        single = kind is OklahomaGinEnv
        other = "make_vec: VectorNamedObservation, VectorDeadwoodShaping, HandRecorder" if single else "make: NamedObservation, DeadwoodShaping"  # fmt: skip
        raise TypeError(
            f"env={shown(env)}; allowed: okgin_env/OklahomaGin-v0, wrapped or not, by {kind.__name__} "
            f"(for gymnasium.{other})"
        )
    return inner.games


class NamedObservation(gym.ObservationWrapper[Named, Any, Flat], RecordConstructorArgs):
    """Observations as a `Dict` with one entry for each feature of `okgin_env.layout.FEATURES`.

    Every entry is `MultiBinary(width)`, so an int8 array of 0/1; flags have width 1. The entries keep the order of the flat
    observation: `gymnasium.spaces.flatten` gives that back.

    Args:
        env: The environment, with its flat observation.

    Raises:
        TypeError: Another environment, or one whose observation is no longer flat.
    """

    def __init__(self, env: gym.Env[Flat, Any]) -> None:
        layout = _games(env).layout
        named = _named_space(env.observation_space, layout)
        RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)
        self._slices = layout.slices
        self.observation_space = named  # pyright: ignore[reportAttributeAccessIssue]

    def observation(self, observation: Flat) -> Named:
        """The features by name; views into the observation, which is fresh after every step."""
        return {name: observation[part] for name, part in self._slices.items()}


def _named_space(flat: spaces.Space[Any], layout: Layout) -> spaces.Dict:
    """The space of an observation by name.

    Raises:
        TypeError: It is no longer flat.
    """
    if flat.shape != (layout.size,):
        raise TypeError(f"observation {flat}; allowed: Box ({layout.size},)")
    parts = layout.slices.items()
    return spaces.Dict([(name, spaces.MultiBinary(p.stop - p.start)) for name, p in parts])


class VectorNamedObservation(
    VectorWrapper[Named, NDArray[np.int64], Flat, NDArray[np.int64], NDArray[Any]],
    RecordConstructorArgs,
):
    """`NamedObservation` for the native vector environment: every entry is (N, width).

    Args:
        env: The vector environment, with its flat observation.

    Raises:
        TypeError: Another environment, or one whose observation is no longer flat.
    """

    def __init__(self, env: VectorEnv[Flat, NDArray[np.int64], NDArray[Any]]) -> None:
        layout = _games(env, OklahomaGinVectorEnv).layout
        named = _named_space(env.single_observation_space, layout)
        RecordConstructorArgs.__init__(self)
        VectorWrapper.__init__(self, env)
        self._slices = layout.slices
        self.single_observation_space = named
        self.observation_space = batch_space(named, env.num_envs)

    def reset(self, **options: Any) -> tuple[Named, dict[str, Any]]:
        """Starts episodes; see the environment."""
        observations, info = self.env.reset(**options)
        return self._by_name(observations), info

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Named, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Steps all games; last observations in `info["final_obs"]` are by name, too."""
        observations, *outcome, info = self.env.step(actions)
        for i in np.flatnonzero(info.get("_final_obs", False)).tolist():
            info["final_obs"][i] = self._by_name(info["final_obs"][i])
        return self._by_name(observations), *outcome, info  # pyright: ignore[reportReturnType]

    def _by_name(self, flat: Flat) -> Named:
        return {name: flat[..., part] for name, part in self._slices.items()}


class DeadwoodShaping(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Adds `gamma * phi(s') - phi(s)` to every reward, with `phi = -weight * own least deadwood`.

    Least deadwood is that after the best allowed discard in the discard phase, and that of the own hand before a draw; phi
    is 0 once the episode is over. Shaping by the difference of a potential leaves the best policies, and the order of all
    actions in every state, as they are [1]: the shaped return of an episode is the plain one minus phi of its first state,
    whatever is played, and the value of every action in a state s is the plain one minus phi(s).

    For the discounted sum this holds when `gamma` is the learner's own discount. Rewards stay in hundreds of points, so a `weight`
    of 0.01 pays a point for a pip. `info["shaping"]` is what was added, to be taken off in an evaluation.

    References:
        [1] A. Y. Ng, D. Harada, S. Russell: Policy invariance under reward transformations: theory and application to
        reward shaping. ICML 1999.

    Args:
        env: The environment.
        weight: Reward for a pip of deadwood, 0 or more.
        gamma: The learner's discount, above 0 and up to 1.

    Raises:
        TypeError: Another environment.
        ValueError: A weight or discount out of range.
    """

    def __init__(self, env: gym.Env[Any, Any], weight: float, gamma: float = 1.0) -> None:
        _check_shaping(weight, gamma)
        _games(env)
        RecordConstructorArgs.__init__(self, weight=weight, gamma=gamma)
        gym.Wrapper.__init__(self, env)
        self._weight = weight
        self._gamma = gamma
        self._phi = 0.0

    def potential(self) -> float:
        """Phi of the state the learner is in: of its own cards only."""
        games = _games(self.env)
        s = games.states[0]
        if s["phase"] == OVER:
            return 0.0
        return -self._weight * _least_pips(
            s["hands"][games.seat], s["phase"] == SHED, locked_mask(s)
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts an episode; see the environment."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._phi = self.potential()
        info["shaping"] = 0.0  # the same fields at every step
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Takes an action; the reward is shaped, and `info["shaping"]` says by how much."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        phi = 0.0 if terminated else self.potential()
        info["shaping"] = self._gamma * phi - self._phi
        self._phi = phi
        return observation, float(reward) + info["shaping"], terminated, truncated, info


def _check_shaping(weight: float, gamma: float) -> None:
    if not 0 <= weight < float("inf"):
        raise ValueError(f"weight={weight!r}; allowed: 0 or more")
    if not 0 < gamma <= 1:
        raise ValueError(f"gamma={gamma!r}; allowed: above 0, up to 1")


def _least_pips(hand_mask: Any, discards: bool, locked_mask: Any) -> int:
    """Least deadwood of a hand, after the best allowed discard if it is to discard."""
    if discards:
        return int(least_free_discard(hand_mask, locked_mask, np.zeros(N_CARDS, np.int16)))
    return int(deadwood(hand_mask))


class VectorDeadwoodShaping(
    VectorWrapper[Flat, NDArray[np.int64], Flat, NDArray[np.int64], NDArray[Any]],
    RecordConstructorArgs,
):
    """`DeadwoodShaping` for the native vector environment, in every autoreset mode; it reads flat observations.

    Args:
        env: The vector environment; `VectorNamedObservation` goes around this wrapper.
        weight: Reward for a pip of deadwood, 0 or more.
        gamma: The learner's discount, above 0 and up to 1.

    Raises:
        TypeError: Another environment, or one whose observation is no longer flat.
        ValueError: A weight or discount out of range.
    """

    def __init__(
        self,
        env: VectorEnv[Flat, NDArray[np.int64], NDArray[Any]],
        weight: float,
        gamma: float = 1.0,
    ) -> None:
        _check_shaping(weight, gamma)
        layout = _games(env, OklahomaGinVectorEnv).layout
        _named_space(env.single_observation_space, layout)  # flat
        RecordConstructorArgs.__init__(self, weight=weight, gamma=gamma)
        VectorWrapper.__init__(self, env)
        self._weight, self._gamma = weight, gamma
        self._slices = layout.slices
        self._phi = np.zeros(env.num_envs)
        self._over = np.zeros(env.num_envs, np.bool_)  # games that the next step resets

    def potentials(self, observations: Flat) -> NDArray[np.float64]:
        """(M,) phi of the states that (M, D) observations are of, none of them over."""
        at = self._slices
        hands, taken = (
            observations[:, at[name]].astype(np.uint64) @ _BITS for name in ("hand", "taken")
        )
        discards = observations[:, at["phase"]][:, -1].astype(np.bool_)
        rows = zip(hands, discards, taken, strict=True)
        return -self._weight * np.array([_least_pips(*row) for row in rows], np.float64)

    def reset(self, **options: Any) -> tuple[Flat, dict[str, Any]]:
        """Starts episodes; see the environment."""
        observations, info = self.env.reset(**options)
        begun = info["_action_mask"]
        self._phi[begun], self._over[begun] = self.potentials(observations[begun]), False
        return observations, info | self._told(np.zeros(self.num_envs), begun)

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Flat, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Steps all games; rewards are shaped, and `info["shaping"]` says by how much."""
        observations, rewards, terminated, truncated, info = self.env.step(actions)
        ended = terminated | truncated
        last = info.get("_final_obs", np.zeros_like(ended))  # observations of ended games are gone
        phi = self.potentials(observations)
        reached = np.where(terminated, 0.0, phi)
        for i in np.flatnonzero(last & ~terminated).tolist():
            reached[i] = self.potentials(info["final_obs"][i][None])[0]
        shaping = np.where(self._over, 0.0, self._gamma * reached - self._phi)
        self._phi = np.where(last, phi, reached)
        if self.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP:
            self._over = ended
        if last.any():
            info["final_info"] |= self._told(np.where(last, shaping, 0.0), last)
        info |= self._told(np.where(last, 0.0, shaping), info["_action_mask"])
        return observations, rewards + shaping, terminated, truncated, info

    def _told(self, shaping: NDArray[np.float64], present: NDArray[np.bool_]) -> dict[str, Any]:
        return {"shaping": shaping, "_shaping": present}


class RecordHands(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Writes the history of every hand that ends, all cards included, to a file.

    Also of the hands of a match that opponents end between two of the learner's decisions, and of hands that are forfeited.
    A hand is written before its step returns, which costs about a millisecond.

    Args:
        env: The environment.
        path: A name that ends in ``.okgin``; hands are added to what is there. See `okgin_env.histories`.
        names: The players by seat.

    Raises:
        TypeError: Another environment.
        ValueError: A bad path or name, or an environment whose hands are recorded already.
        OSError: The file cannot be written.
    """

    def __init__(
        self, env: gym.Env[Any, Any], path: str | Path, names: Sequence[str] | None = None
    ) -> None:
        games = _games(env)
        RecordConstructorArgs.__init__(self, path=path, names=names)
        gym.Wrapper.__init__(self, env)
        if games.recorder is not None:
            raise ValueError("the environment's hands are recorded already; allowed: one recorder")
        self.recorder = HandRecorder(path, games.rules, names)
        games.recorder = self.recorder

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts an episode; its hands are written with its seed, if it has one."""
        self.recorder.seed = seed
        return self.env.reset(seed=seed, options=options)

    def close(self) -> None:
        """Stops recording and closes the environment."""
        _games(self.env).recorder = None
        self.env.close()
