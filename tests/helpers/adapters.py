"""Every adapter as `tests/helpers/adapter_machine.py` plays it: how its calls are made, and what must come back."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from okgin_env import ENV_ID, aec, sb3
from okgin_env.env import OklahomaGinEnv
from okgin_env.vector import OklahomaGinVectorEnv
from tests.helpers import absurd
from tests.helpers.absurd import Absurd, bad_resets, check_refused
from tests.helpers.adapter_checks import (  # fmt: skip
    CLOSE,
    Table,
    check_hand,
    check_no_hand,
    check_rows,
    comparable,
    hold,
    is_legal,
)
from tests.helpers.adapter_machine import Adapter


def told_of(info: dict[str, Any], i: int) -> dict[str, Any]:
    """What a batch's info says of game i."""
    return {k: v[i] for k, v in info.items() if f"_{k}" in info and info[f"_{k}"][i]}


class Single(Adapter):
    """`gymnasium.make`."""

    def __init__(self, table: Table, rng: Random) -> None:
        self.table, self.kwargs = table, table.against(rng)
        self.env = gym.make(ENV_ID, **self.kwargs)
        self.over = True

    def masks(self) -> NDArray[np.int8]:
        return self.env.unwrapped.action_masks()[None].astype(np.int8)

    def reset(self, seed: int | None, options: dict[str, Any], rng: Random) -> None:
        observation, info = self.env.reset(seed=seed, options=options)
        self.over = False
        check_no_hand(info, self.table)
        check_rows(observation[None], info["action_mask"][None], self.table, 1)

    def step(self, actions: NDArray[np.int64]) -> object:
        legal, was_over = is_legal(self.masks(), actions)[0], self.over
        observation, reward, over, truncated, info = self.env.step(int(actions[0]))
        hold(self.env.observation_space.contains(observation), "an observation out of its space")
        check_rows(observation[None], info["action_mask"][None], self.table, 1)
        hold(type(reward) is float and type(over) is bool and truncated is False, "types")
        hold(not was_over or over, "it goes on after its end")
        hold(not over or info["action_mask"].all(), "the mask at the end is not all ones")
        if not was_over:
            hold(legal or over, "it goes on after an illegal action")
            if info["ending"]:
                check_hand(info, self.table, reward, not legal, self.kwargs["seat"])
            else:
                check_no_hand(info, self.table)
                hold(not over and (reward == 0 or self.table.match), f"pays {reward} for no hand")
        self.over = over
        return observation.tobytes(), reward, over, comparable(info)

    def absurd(self) -> Iterator[Absurd]:
        for action in absurd.ACTIONS:
            yield Absurd(f"step({action!r})", lambda a=action: self.env.step(a), ("action",))
        yield from bad_resets(self.env.reset, iter(absurd.SEEDS))

    def change_opponents(self, rng: Random) -> None:
        opponent = self.table.against(rng)["opponent"]
        before = self.masks()
        self.env.unwrapped.set_opponents(opponent)  # pyright: ignore
        hold((self.masks() == before).all(), "other opponents change the hand in play")
        self.kwargs["opponent"] = opponent
        self.reset(None, {}, rng)  # a saved game does not say whom its hand is played against

    def copies(self) -> list[Adapter]:
        made: list[Adapter] = [copy.deepcopy(self)]
        if not self.over:  # gymnasium's wrappers cannot be pickled; a saved game is the same
            other = Single.__new__(Single)
            other.__dict__ |= {**self.__dict__, "env": gym.make(ENV_ID, **self.kwargs)}
            other.reset(None, {"state": self.env.unwrapped.state()}, Random(0))  # pyright: ignore
            hold((other.masks() == self.masks()).all(), "a saved state has another mask")
            made.append(other)
        return made

    def saved(self) -> bytes | None:
        return None if self.over else self.env.unwrapped.state()  # pyright: ignore


class Batch(Adapter):
    """All that the adapters of many games have in common; against a pool of opponents or one."""

    def __init__(self, table: Table, rng: Random) -> None:
        self.table, self.kwargs, self.n_games = table, table.against(rng), table.n_games
        if rng.random() < 0.5:
            self.kwargs["pool"] = self._pool(rng)

    def _pool(self, rng: Random) -> list[Any]:
        return [self.table.against(rng)["opponent"] for _ in range(rng.randint(1, 4))]

    def change_opponents(self, rng: Random) -> None:
        before = self.seen()
        if rng.random() < 0.5:
            self.env.set_opponents(pool=self._pool(rng))
        else:
            self.env.set_opponents(self.table.against(rng)["opponent"])
        hold(self.seen() == before, "other opponents change the hands in play")

    def masks(self) -> NDArray[np.int8]:
        return self.env.action_masks().astype(np.int8)

    def absurd(self) -> Iterator[Absurd]:
        for bad in ("nobody", 5, ["simple"] * 5):
            yield Absurd(f"set_opponents({bad!r})", lambda o=bad: self.env.set_opponents(o), absurd.ARGUMENT_WORDS["pool"])  # fmt: skip
        for actions in absurd.action_arrays(self.n_games):
            yield Absurd(f"step({actions!r})", lambda a=actions: self.env.step(a), ("action",))


class Vector(Batch):
    """`gymnasium.make_vec`, in each mode of resetting."""

    def __init__(self, table: Table, rng: Random) -> None:
        super().__init__(table, rng)
        self.mode = rng.choice([*AutoresetMode])
        self.env = gym.make_vec(ENV_ID, self.n_games, autoreset_mode=self.mode, **self.kwargs)
        self.ended = np.zeros(self.n_games, np.bool_)

    def reset(self, seed: int | None, options: dict[str, Any], rng: Random) -> None:
        chosen = np.ones(self.n_games, np.bool_)
        if rng.random() < 0.3 and self.env._seeded:
            chosen = np.array([rng.random() < 0.5 for _ in chosen])
            chosen[rng.randrange(self.n_games)] = True
            options = {**options, "reset_mask": chosen}
        some = [seed if rng.random() < 0.5 else None] * self.n_games
        seeds = rng.choice((seed, some)) if self.env._seeded else seed
        observations, info = self.env.reset(seed=seeds, options=options)
        self.ended &= ~chosen
        for i, reset in enumerate(chosen.tolist()):
            told = told_of(info, i)
            hold(bool(told) == reset, "other games were reset")
            if reset:
                check_no_hand(told, self.table)
        check_rows(observations[chosen], info["action_mask"][chosen], self.table, int(chosen.sum()))

    def step(self, actions: NDArray[np.int64]) -> object:
        if self.mode == AutoresetMode.DISABLED and self.ended.any():
            early = Absurd("a step of games that are over", lambda: self.env.step(actions), ("over",))  # fmt: skip
            check_refused(early, self.seen)
            self.env.reset(options={"reset_mask": self.ended})
            self.ended[:] = False
            actions = self.masks().argmax(1).astype(np.int64)
        legal, fresh = is_legal(self.masks(), actions), self.ended.copy()
        observations, rewards, dones, truncations, info = self.env.step(actions)
        same = self.mode == AutoresetMode.SAME_STEP
        check_rows(observations, info["action_mask"], self.table)
        hold(rewards.shape == dones.shape == truncations.shape == (self.n_games,), "shapes")
        kinds = (rewards.dtype, dones.dtype, truncations.dtype)
        hold(kinds == (np.float64, np.bool_, np.bool_), "types")
        hold(not truncations.any() and not (dones & fresh).any(), "a reset that ends")
        hold((legal | dones | fresh).all(), "it goes on after an illegal action")
        for i in range(self.n_games):
            told = told_of(info["final_info"] if same and dones[i] else info, i)
            if same and dones[i]:
                hold(self.env.single_observation_space.contains(info["final_obs"][i]), "final_obs")
            if told["ending"]:
                check_hand(told, self.table, rewards[i], not legal[i], self.kwargs["seat"])
            hold(told["ending"] or not dones[i], "an end of which nothing is said")
        self.ended = np.zeros(self.n_games, np.bool_) if same else dones.copy()
        return observations.tobytes(), rewards.tolist(), dones.tolist(), comparable(info)

    def absurd(self) -> Iterator[Absurd]:
        yield from super().absurd()
        for mask in absurd.reset_masks(self.n_games):
            options = {"reset_mask": mask}
            yield Absurd(f"reset_mask={mask!r}", lambda o=options: self.env.reset(seed=3, options=o), ("reset_mask",))  # fmt: skip
        yield from bad_resets(self.env.reset, absurd.seed_lists(self.n_games))

    def saved(self) -> bytes | None:
        return None if self.ended[0] else self.env.games.states[0].tobytes()


class Sb3(Batch):
    """stable-baselines3's VecEnv."""

    def __init__(self, table: Table, rng: Random) -> None:
        super().__init__(table, rng)
        self.env = sb3.OklahomaGinVecEnv(self.n_games, seed=rng.randrange(1000), **self.kwargs)

    def reset(self, seed: int | None, options: dict[str, Any], rng: Random) -> None:
        if seed is not None:
            self.env.seed(seed)
        self.env.set_options(rng.choice((options, [options] * self.n_games)))
        check_rows(self.env.reset(), self.masks(), self.table)

    def step(self, actions: NDArray[np.int64]) -> object:
        legal, match = is_legal(self.masks(), actions), self.table.match
        observations, rewards, dones, infos = self.env.step(actions)
        check_rows(observations, self.masks(), self.table)
        hold((rewards.dtype, dones.dtype) == (np.float32, np.bool_), "types")
        n = self.n_games
        hold(rewards.shape == dones.shape == (n,) and len(infos) == n, "shapes")
        hold((legal | dones).all(), "it goes on after an illegal action")
        for info, reward, done, fine in zip(infos, rewards.tolist(), dones, legal, strict=True):
            if info:
                check_hand(info, self.table, reward, not fine, self.kwargs["seat"])
            hold(bool(info) or not done, "an end of which nothing is said")
            hold(reward == 0 or info or match, f"pays {reward} for no hand")
            hold(("terminal_observation" in info) == bool(done), "terminal_observation")
            if done:
                last = info["terminal_observation"]
                hold(self.env.observation_space.contains(last), "terminal_observation")
        return observations.tobytes(), rewards.tolist(), dones.tolist(), comparable(infos)

    def absurd(self) -> Iterator[Absurd]:
        yield from super().absurd()
        for seed in absurd.SEEDS:
            yield Absurd(f"seed({seed!r})", lambda s=seed: self.env.seed(s), ("seed",))
        for options in absurd.OPTIONS:
            last = [{}] * (self.n_games - 1) + [options]
            yield Absurd(f"set_options({options!r})", lambda o=last: self._reset_with(o), absurd.OPTION_WORDS)  # fmt: skip

    def _reset_with(self, options: Any) -> None:
        try:
            self.env.set_options(options)
            self.env.reset()
        finally:
            self.env.set_options()

    def saved(self) -> bytes | None:
        return self.env.games.states[0].tobytes()


class Aec(Adapter):
    """PettingZoo's turns, bare or in its wrapper."""

    goes_on = False

    def __init__(self, table: Table, rng: Random) -> None:
        self.table = table
        self.env = rng.choice((aec.env, aec.raw_env))(**table.settings)

    def masks(self) -> NDArray[np.int8]:
        agent = self.env.agent_selection
        return self.env.observe(agent)["action_mask"][None]

    def reset(self, seed: int | None, options: dict[str, Any], rng: Random) -> None:
        self.env.reset(seed=seed, options=options)
        hold(self.env.agents == self.env.possible_agents, "agents are missing")
        self._check()

    def step(self, actions: NDArray[np.int64]) -> object:
        agent, legal = self.env.agent_selection, is_legal(self.masks(), actions)[0]
        self.env.step(int(actions[0]))
        rewards, infos = dict(self.env.rewards), dict(self.env.infos)
        most = max(1.0, *map(abs, rewards.values()))
        hold(abs(sum(rewards.values())) < CLOSE * most, f"rewards {rewards}")
        over = any(self.env.terminations.values())
        hold(not any(self.env.truncations.values()), "a truncation")
        hold(legal or over, "it goes on after an illegal action")
        if infos[agent]:
            for seat, name in enumerate(self.env.possible_agents):
                forfeit = name == agent and not legal
                check_hand(infos[name], self.table, rewards[name], forfeit, seat)
        self._check()
        said = self.env.agent_selection, rewards, comparable(infos), over
        while over and self.env.agents:
            late = Absurd("step(3) of a dead agent", lambda: self.env.step(3), ("none",))
            check_refused(late, self.seen)
            self.env.step(None)
        return said

    def _check(self) -> None:
        """Every agent's observation; the mask of those that are not to move is zero."""
        over = any(self.env.terminations.values())
        for name in self.env.agents:
            seen = self.env.observe(name)
            hold(self.env.observation_space(name).contains(seen), "an observation out of its space")
            able = seen["action_mask"].any() == (name == self.env.agent_selection)
            hold(over or able, f"the mask of {name}")
            hold(seen["observation"].shape == (self.table.size,), "shape")

    def absurd(self) -> Iterator[Absurd]:
        for action in absurd.ACTIONS:
            yield Absurd(f"step({action!r})", lambda a=action: self.env.step(a), ("action",))
        yield from bad_resets(self.env.reset, iter(absurd.SEEDS))

    def seen(self) -> bytes:
        bare = self.env.unwrapped
        more = (bare.agents, bare.rewards, bare._cumulative_rewards, bare.terminations, bare.agent_selection)  # fmt: skip
        return super().seen() + repr(more).encode()

    def saved(self) -> bytes | None:
        return self.env.unwrapped.games.states[0].tobytes() if self.env.agents else None


ADAPTERS: dict[str, type[Adapter]] = {"single": Single, "vector": Vector, "sb3": Sb3, "aec": Aec}
_LEARNER = ("rules", "players", "seat", "opponent", "pool", "episode", "reward")
MAKERS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    # gymnasium.make looks at some arguments itself
    "single": (OklahomaGinEnv, (*_LEARNER, "render_mode", "illegal")),
    "vector": (
        lambda **kwargs: OklahomaGinVectorEnv(**{"num_envs": 2, **kwargs}),
        (*_LEARNER, "threads", "num_envs", "autoreset_mode"),
    ),
    "sb3": (
        lambda **kwargs: sb3.OklahomaGinVecEnv(**{"num_envs": 2, **kwargs}),
        (*_LEARNER, "threads", "num_envs", "seed"),
    ),
    "aec": (aec.raw_env, ("rules", "players", "episode", "reward", "render_mode")),
}
"""Of each adapter its constructor, and the arguments that it takes."""
