"""The adapters of one game as `tools/fuzz_adapters.py` plays them, and the list of all."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from random import Random
from typing import Any

import gymnasium as gym
import numpy as np

from okgin_env import ENV_ID, aec, sb3
from okgin_env.env import OklahomaGinEnv
from okgin_env.vector import OklahomaGinVectorEnv
from tests.helpers import absurd
from tests.helpers.absurd import bad_reset, refused
from tests.helpers.adapter_batches import Sb3, Vector
from tests.helpers.adapter_checks import (
    CLOSE,
    LEARNER,
    Adapter,
    Table,
    check_hand,
    check_rows,
    flat,
    hold,
    is_legal,
)


class Single:
    """`gymnasium.make`."""

    n_games, goes_on = 1, True
    arguments = (*LEARNER, "render_mode", "illegal")

    def __init__(self, table: Table, rng: Random) -> None:
        self.table, self.kwargs = table, table.against(rng)
        self.env: Any = gym.make(ENV_ID, **self.kwargs)
        self.over = True

    def masks(self) -> np.ndarray:
        return self.env.unwrapped.action_masks()[None].astype(np.int8)

    def reset(self, seed: int | None, options: dict[str, Any], rng: Random) -> None:
        observation, info = self.env.reset(seed=seed, options=options)
        self.over = False
        hold({*info} == {"action_mask"}, f"info {[*info]} after a reset")
        check_rows(observation[None], info["action_mask"][None], self.table, 1)

    def step(self, actions: np.ndarray) -> object:
        legal, was_over = is_legal(self.masks(), actions)[0], self.over
        observation, reward, over, truncated, info = self.env.step(int(actions[0]))
        hold(self.env.observation_space.contains(observation), "an observation out of its space")
        check_rows(observation[None], info["action_mask"][None], self.table, 1)
        hold(type(reward) is float and type(over) is bool and truncated is False, "types")
        hold(not was_over or over, "it goes on after its end")
        hold(not over or info["action_mask"].all(), "the mask at the end is not all ones")
        if not was_over:
            hold(legal or over, "it goes on after an illegal action")
            if len(info) > 1:
                check_hand(info, self.table, reward, not legal, self.kwargs["seat"])
            else:
                hold(not over and (reward == 0 or self.table.match), f"pays {reward} for no hand")
        self.over = over
        return observation.tobytes(), reward, over, flat(info)

    def absurd(self, rng: Random) -> None:
        kind = rng.randrange(3)
        if kind == 0:
            action = rng.choice(absurd.ACTIONS)
            refused(f"step({action!r})", lambda: self.env.step(action), ("action",), self.seen)
        else:
            bad_reset(self.env.reset, absurd.SEEDS, rng, self.seen)

    def copies(self) -> list[Adapter]:
        made = [copy.deepcopy(self)]
        if not self.over:
            other = Single.__new__(Single)
            other.__dict__ |= {**self.__dict__, "env": gym.make(ENV_ID, **self.kwargs)}
            other.reset(None, {"state": self.env.unwrapped.state()}, Random(0))
            hold((other.masks() == self.masks()).all(), "a saved state has another mask")
            made.append(other)
        return made  # pyright: ignore[reportReturnType]

    def seen(self) -> bytes:
        games = self.env.unwrapped.games
        return games.states.tobytes() + games.finals.tobytes() + self.masks().tobytes()

    def saved(self) -> bytes | None:
        return None if self.over else self.env.unwrapped.state()


class Aec:
    """PettingZoo's turns, bare or in its wrapper."""

    n_games, goes_on = 1, False
    arguments = ("rules", "players", "episode", "reward", "render_mode")

    def __init__(self, table: Table, rng: Random) -> None:
        self.table = table
        self.env: Any = rng.choice((aec.env, aec.raw_env))(**table.settings)

    def masks(self) -> np.ndarray:
        return self.env.observe(self.env.agent_selection)["action_mask"][None]

    def reset(self, seed: int | None, options: dict[str, Any], rng: Random) -> None:
        self.env.reset(seed=seed, options=options)
        hold(self.env.agents == self.env.possible_agents, "agents are missing")
        self._check()

    def step(self, actions: np.ndarray) -> object:
        agent, legal = self.env.agent_selection, is_legal(self.masks(), actions)[0]
        self.env.step(int(actions[0]))
        rewards, infos = dict(self.env.rewards), dict(self.env.infos)
        hold(
            abs(sum(rewards.values())) < CLOSE * max(1.0, *map(abs, rewards.values())),
            f"rewards {rewards}",
        )
        over = any(self.env.terminations.values())
        hold(not any(self.env.truncations.values()), "a truncation")
        hold(legal or over, "it goes on after an illegal action")
        if infos[agent]:
            for seat, name in enumerate(self.env.possible_agents):
                check_hand(
                    infos[name], self.table, rewards[name], name == agent and not legal, seat
                )
        self._check()
        said = self.env.agent_selection, rewards, flat(infos), over
        while over and self.env.agents:
            refused("step(3) of a dead agent", lambda: self.env.step(3), ("none",), self.seen)
            self.env.step(None)
        return said

    def _check(self) -> None:
        """Every agent's observation; the mask of those that are not to move is zero."""
        over = any(self.env.terminations.values())
        for name in self.env.agents:
            seen = self.env.observe(name)
            hold(self.env.observation_space(name).contains(seen), "an observation out of its space")
            hold(
                over or seen["action_mask"].any() == (name == self.env.agent_selection),
                f"the mask of {name}",
            )
            hold(seen["observation"].shape == (self.table.size,), "shape")

    def absurd(self, rng: Random) -> None:
        if rng.random() < 0.4:
            action = rng.choice(absurd.ACTIONS)
            refused(f"step({action!r})", lambda: self.env.step(action), ("action",), self.seen)
        else:
            bad_reset(self.env.reset, absurd.SEEDS, rng, self.seen)

    def copies(self) -> list[Adapter]:
        return [copy.deepcopy(self), pickle.loads(pickle.dumps(self))]

    def seen(self) -> bytes:
        bare = self.env.unwrapped
        more = (
            bare.agents,
            bare.rewards,
            bare._cumulative_rewards,
            bare.terminations,
            bare.agent_selection,
        )
        return bare._states.tobytes() + bare._finals.tobytes() + repr(more).encode()

    def saved(self) -> bytes | None:
        return self.env.unwrapped._states[0].tobytes() if self.env.agents else None


ADAPTERS = {"single": Single, "vector": Vector, "sb3": Sb3, "aec": Aec}
MAKERS: dict[str, Callable[..., Any]] = {
    "single": OklahomaGinEnv,  # gymnasium.make looks at some arguments itself
    "vector": lambda **kwargs: OklahomaGinVectorEnv(**{"num_envs": 2, **kwargs}),
    "sb3": lambda **kwargs: sb3.OklahomaGinVecEnv(**{"num_envs": 2, **kwargs}),
    "aec": aec.raw_env,
}
