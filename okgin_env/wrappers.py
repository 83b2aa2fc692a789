"""Gymnasium wrappers: named observations, deadwood shaping, hand histories.

They go around the single environment (`gymnasium.make`), in any order and together with others.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from okgin_env.engine.games import Games
from okgin_env.env import OklahomaGinEnv
from okgin_env.histories import HandHistory, append
from okgin_env.histories.hand import check_name
from okgin_env.kernel.melds import deadwood, least_free_discard
from okgin_env.kernel.play import locked_mask
from okgin_env.layout import N_CARDS, OVER, SHED
from okgin_env.rules import Rules

Flat = NDArray[np.int8]
Named = dict[str, Flat]


def _games(env: gym.Env[Any, Any]) -> Games:
    """The games under any wrappers."""
    if not isinstance(env.unwrapped, OklahomaGinEnv):
        raise TypeError(f"env={env}; allowed: okgin_env/OklahomaGin-v0, wrapped or not")
    return env.unwrapped.games


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
        RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)
        layout = _games(env).layout
        if env.observation_space.shape != (layout.size,):
            raise TypeError(f"observation {env.observation_space}; allowed: Box ({layout.size},)")
        self._slices = layout.slices
        named = [(name, _bits(part)) for name, part in self._slices.items()]
        self.observation_space = spaces.Dict(named)  # pyright: ignore[reportAttributeAccessIssue]

    def observation(self, observation: Flat) -> Named:
        """The features by name; views into the observation, which is fresh after every step."""
        return {name: observation[part] for name, part in self._slices.items()}


def _bits(part: slice) -> spaces.MultiBinary:
    return spaces.MultiBinary(part.stop - part.start)


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
        if not 0 <= weight < float("inf"):
            raise ValueError(f"weight={weight!r}; allowed: 0 or more")
        if not 0 < gamma <= 1:
            raise ValueError(f"gamma={gamma!r}; allowed: above 0, up to 1")
        RecordConstructorArgs.__init__(self, weight=weight, gamma=gamma)
        gym.Wrapper.__init__(self, env)
        _games(env)
        self._weight = weight
        self._gamma = gamma
        self._phi = 0.0

    def potential(self) -> float:
        """Phi of the state the learner is in: of its own cards only."""
        games = _games(self.env)
        s = games.states[0]
        if s["phase"] == OVER:
            return 0.0
        hand = s["hands"][games.seat]
        if s["phase"] == SHED:
            pips = least_free_discard(hand, locked_mask(s), np.zeros(N_CARDS, np.int16))
        else:
            pips = deadwood(hand)
        return -self._weight * int(pips)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts an episode; see the environment."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._phi = self.potential()
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Takes an action; the reward is shaped, and `info["shaping"]` says by how much."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        phi = 0.0 if terminated else self.potential()
        info["shaping"] = self._gamma * phi - self._phi
        self._phi = phi
        return observation, float(reward) + info["shaping"], terminated, truncated, info


class HandRecorder:
    """Appends every hand it is called with to a file: a `recorder` for the games of any adapter.

    `RecordHands` puts one into a single environment. For a vector environment:
    `venv.unwrapped.games.recorder = HandRecorder("hands.okgin", venv.unwrapped.games.rules)`.

    Args:
        path: A name that ends in ``.okgin``; hands are added to what is there.
        rules: The rules of the tables.
        names: The players by seat.

    Attributes:
        seed: The seed to write with the next hands, or None.
        skipped: Hands left out, because they began from a position that was set up and not from a deal.
    """

    def __init__(self, path: str | Path, rules: Rules, names: Sequence[str] | None = None) -> None:
        append(path, ())  # says at once if the file cannot be written
        if names is not None and (isinstance(names, str) or len(names) != rules.players):
            raise ValueError(f"names={names!r}; allowed: {rules.players} names")
        for name in names or ():
            check_name(name)
        self.path = Path(path)
        self.rules = rules
        self.names = names
        self.seed: int | None = None
        self.skipped = 0

    def __call__(self, final: NDArray[np.void]) -> None:
        """Writes one hand.

        Args:
            final: (1,) `STATE`, as the hand ended.
        """
        try:
            hand = HandHistory.from_record(final, self.rules, self.names, self.seed)
        except ValueError as error:
            self.skipped += 1
            if self.skipped == 1:
                gym.logger.warn(
                    f"{self.path}: a hand is left out, others like it silently: {error}"
                )
            return
        append(self.path, hand)


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
        RecordConstructorArgs.__init__(self, path=path, names=names)
        gym.Wrapper.__init__(self, env)
        games = _games(env)
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
