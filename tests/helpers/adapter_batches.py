"""The adapters of many games as `tools/fuzz_adapters.py` plays them: each makes its calls, and checks what comes back."""

from __future__ import annotations

import copy
import pickle
from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

from okgin_env import ENV_ID, sb3
from okgin_env.kernel.policies import POLICY_IDS
from tests.helpers import absurd
from tests.helpers.absurd import bad_reset, refused
from tests.helpers.adapter_checks import (
    LEARNER,
    Table,
    check_hand,
    check_rows,
    flat,
    hold,
    is_legal,
)


class Batch:
    """What the adapters of many games have in common."""

    goes_on = True
    env: Any
    n_games: int

    def masks(self) -> np.ndarray:
        return self.env.action_masks().astype(np.int8)

    def copies(self) -> list[Any]:
        return [copy.deepcopy(self), pickle.loads(pickle.dumps(self))]

    def seen(self) -> bytes:
        games = self.env.games
        return games.states.tobytes() + games.finals.tobytes() + self.masks().tobytes()

    def absurd_step(self, rng: Random) -> None:
        actions = rng.choice([*absurd.action_arrays(self.n_games)])
        refused(f"step({actions!r})", lambda: self.env.step(actions), ("action",), self.seen)


class Vector(Batch):
    """`gymnasium.make_vec`, in each mode of resetting."""

    arguments = (*LEARNER, "threads", "num_envs", "autoreset_mode")

    def __init__(self, table: Table, rng: Random) -> None:
        self.table, self.kwargs = table, table.against(rng)
        self.mode = rng.choice([*AutoresetMode])
        self.n_games = table.n_games
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
        hold({*info} == {"action_mask", "_action_mask"}, f"info {[*info]} after a reset")
        hold((info["_action_mask"] == chosen).all(), "other games were reset")
        check_rows(observations[chosen], info["action_mask"][chosen], self.table, int(chosen.sum()))

    def step(self, actions: np.ndarray) -> object:
        if self.mode == AutoresetMode.DISABLED and self.ended.any():
            refused(
                "a step of games that are over",
                lambda: self.env.step(actions),
                ("over",),
                self.seen,
            )
            self.env.reset(options={"reset_mask": self.ended})
            self.ended[:] = False
            actions = np.array([np.flatnonzero(mask)[0] for mask in self.masks()])
        legal, fresh = is_legal(self.masks(), actions), self.ended.copy()
        observations, rewards, dones, truncations, info = self.env.step(actions)
        n, same = self.n_games, self.mode == AutoresetMode.SAME_STEP
        check_rows(observations, info["action_mask"], self.table, n)
        hold(rewards.shape == dones.shape == truncations.shape == (n,), "shapes")
        hold(
            (rewards.dtype, dones.dtype, truncations.dtype) == (np.float64, np.bool_, np.bool_),
            "types",
        )
        hold(not truncations.any() and not (dones & fresh).any(), "a reset that ends")
        hold((legal | dones | fresh).all(), "it goes on after an illegal action")
        for i in range(n):
            told = info["final_info"] if same and dones[i] else info
            told = {k: v[i] for k, v in told.items() if f"_{k}" in told and told[f"_{k}"][i]}
            if same and dones[i]:
                hold(self.env.single_observation_space.contains(info["final_obs"][i]), "final_obs")
            if "ending" in told:
                check_hand(told, self.table, rewards[i], not legal[i], self.kwargs["seat"])
            hold("ending" in told or not dones[i], "an end of which nothing is said")
        self.ended = np.zeros(n, np.bool_) if same else dones.copy()
        return observations.tobytes(), rewards.tolist(), dones.tolist(), flat(info)

    def absurd(self, rng: Random) -> None:
        kind = rng.randrange(4)
        if kind == 0:
            self.absurd_step(rng)
        elif kind == 1:
            mask = rng.choice([*absurd.reset_masks(self.n_games)])
            refused(f"reset_mask={mask!r}", lambda: self.env.reset(seed=3, options={"reset_mask": mask}), ("reset_mask",), self.seen)  # fmt: skip
        else:
            bad_reset(self.env.reset, absurd.seed_lists(self.n_games), rng, self.seen)

    def saved(self) -> bytes | None:
        return None if self.ended[0] else self.env.games.states[0].tobytes()


class Sb3(Batch):
    """stable-baselines3's VecEnv, with a pool of opponents or without."""

    arguments = (*LEARNER, "threads", "num_envs", "seed", "pool")

    def __init__(self, table: Table, rng: Random) -> None:
        self.table, self.kwargs = table, table.against(rng)
        if rng.random() < 0.5:
            self.kwargs["pool"] = [rng.choice([*POLICY_IDS]) for _ in range(rng.randint(1, 4))]
        self.n_games = table.n_games
        self.env = sb3.OklahomaGinVecEnv(self.n_games, seed=rng.randrange(1000), **self.kwargs)

    def reset(self, seed: int | None, options: dict[str, Any], rng: Random) -> None:
        if seed is not None:
            self.env.seed(seed)
        self.env.set_options(rng.choice((options, [options] * self.n_games)))
        check_rows(self.env.reset(), self.masks(), self.table, self.n_games)

    def step(self, actions: np.ndarray) -> object:
        legal, match = is_legal(self.masks(), actions), self.table.match
        observations, rewards, dones, infos = self.env.step(actions)
        check_rows(observations, self.masks(), self.table, self.n_games)
        hold((rewards.dtype, dones.dtype) == (np.float32, np.bool_), "types")
        hold(
            rewards.shape == dones.shape == (self.n_games,) and len(infos) == self.n_games, "shapes"
        )
        hold((legal | dones).all(), "it goes on after an illegal action")
        for info, reward, done, fine in zip(infos, rewards.tolist(), dones, legal, strict=True):
            if info:
                check_hand(info, self.table, reward, not fine, self.kwargs["seat"])
            hold(bool(info) or not done, "an end of which nothing is said")
            hold(reward == 0 or info or match, f"pays {reward} for no hand")
            hold(("terminal_observation" in info) == bool(done), "terminal_observation")
            if done:
                hold(
                    self.env.observation_space.contains(info["terminal_observation"]),
                    "terminal_observation",
                )
        return observations.tobytes(), rewards.tolist(), dones.tolist(), flat(infos)

    def absurd(self, rng: Random) -> None:
        kind = rng.randrange(3)
        if kind == 0:
            self.absurd_step(rng)
        elif kind == 1:
            seed = rng.choice(absurd.SEEDS)
            refused(f"seed({seed!r})", lambda: self.env.seed(seed), ("seed",), self.seen)
        else:
            options = rng.choice(absurd.OPTIONS)
            last = [{}] * (self.n_games - 1) + [options]
            refused(f"set_options({options!r})", lambda: (self.env.set_options(last), self.env.reset()), absurd.OPTION_WORDS, self.seen)  # fmt: skip
            self.env.set_options()

    def saved(self) -> bytes | None:
        return self.env.games.states[0].tobytes()
