"""Double DQN in plain torch, masked where it acts and where it learns: ``python -m agents.masked_dqn``.

Q-learning takes the best action of the next decision as what that decision is worth. Libraries that know no masks take the best of
legal and illegal actions alike, whose values nothing ever corrects; here the targets are masked, too (docs/baselines.md compares).
"""

from __future__ import annotations

import argparse
import copy

import gymnasium as gym
import numpy as np
import torch
from torch import nn

import okgin_env

LOOKS = 5  # evaluations on the way
ROWS = 400  # steps of all games that are remembered
BATCH = 256
UPDATES = 4  # gradient steps for each step of all games
AHEAD = (
    5  # decisions whose rewards are added up before a value is asked for: a hand pays at its end
)
FOLLOW = 0.01  # how far the target network follows at each gradient step
EXPLORING, LEAST_CHANCE = (
    0.2,
    0.05,
)  # part of the steps in which the chance of a random action falls


def make_envs(n_games: int, seed: int) -> gym.vector.VectorEnv:
    """Games against `simple`; one that ends goes on with the next hand in the same step."""
    envs = gym.make_vec(
        okgin_env.ENV_ID,
        num_envs=n_games,
        opponent="simple",
        outlook=True,
        autoreset_mode="SameStep",
    )
    envs.reset(seed=seed)
    return envs


def legal_values(network: nn.Module, seen: np.ndarray, masks: np.ndarray) -> torch.Tensor:
    """(M, 108) values of the actions, illegal ones far below all others."""
    return network(torch.from_numpy(seen).float()).masked_fill(torch.from_numpy(masks == 0), -1e9)


def act(
    network: nn.Module, seen: np.ndarray, masks: np.ndarray, chance: float, rng: np.random.Generator
) -> np.ndarray:
    """The best legal action, or by chance any legal one."""
    with torch.no_grad():
        best = legal_values(network, seen, masks).argmax(1).numpy()
    drawn = np.where(masks, rng.random(masks.shape), -1).argmax(1)
    return np.where(rng.random(len(seen)) < chance, drawn, best)


class Memory:
    """The last steps of all games, in rows: the decision after one is in the row after it."""

    def __init__(self, n_games: int, n_features: int) -> None:
        self.seen = np.zeros((ROWS, n_games, n_features), np.int8)
        self.masks = np.zeros((ROWS, n_games, 108), np.bool_)
        self.actions = np.zeros((ROWS, n_games), np.int64)
        self.rewards = np.zeros((ROWS, n_games), np.float32)
        self.ended = np.zeros((ROWS, n_games), np.bool_)
        self.n = 0  # rows ever written

    def add(self, *step: np.ndarray) -> None:
        """Writes a row over the oldest."""
        columns = (self.seen, self.masks, self.actions, self.rewards, self.ended)
        for column, values in zip(columns, step, strict=True):
            column[self.n % ROWS] = values
        self.n += 1

    def sample(self, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        """Decisions, with what came within `AHEAD` of each.

        Returns:
            Observations, actions, sums of rewards, whether the hand then was over, and the observations and masks there.
        """
        age = rng.integers(AHEAD, min(self.n, ROWS), BATCH)
        row, game = (self.n - 1 - age) % ROWS, rng.integers(self.seen.shape[1], size=BATCH)
        paid, over = np.zeros(BATCH, np.float32), np.zeros(BATCH, np.bool_)
        for k in range(AHEAD):
            at = ((row + k) % ROWS, game)
            paid += self.rewards[at] * ~over
            over |= self.ended[at]
        here, after = (row, game), ((row + AHEAD) % ROWS, game)
        return self.seen[here], self.actions[here], paid, over, self.seen[after], self.masks[after]


def learn(
    network: nn.Module,
    target: nn.Module,
    optimizer: torch.optim.Optimizer,
    batch: tuple[np.ndarray, ...],
) -> None:
    """One step towards what was paid plus the value of the best legal action thereafter."""
    seen, actions, paid, over, next_seen, next_masks = batch
    with torch.no_grad():
        best = legal_values(network, next_seen, next_masks).argmax(1, keepdim=True)
        later = legal_values(target, next_seen, next_masks).gather(1, best)[:, 0]
        worth = torch.from_numpy(paid) + later * torch.from_numpy(~over)
    values = network(torch.from_numpy(seen).float()).gather(1, torch.from_numpy(actions)[:, None])
    loss = nn.functional.smooth_l1_loss(values[:, 0], worth, beta=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), network.parameters(), strict=True):
            slow.lerp_(fast, FOLLOW)


def points(network: nn.Module, n_hands: int) -> tuple[float, float]:
    """Mean points a hand of its best actions on decks that training does not see, and half of its 95 % interval."""
    envs, rng = make_envs(n_hands, seed=1_000_000), np.random.default_rng(0)
    seen, info = envs.reset()
    paid, playing = np.zeros(n_hands), np.ones(n_hands, bool)
    while playing.any():
        actions = act(network, seen, info["action_mask"], 0.0, rng)
        seen, rewards, ended, _, info = envs.step(actions)
        paid += rewards * playing
        playing &= ~ended
    return 100 * float(paid.mean()), 196 * float(paid.std()) / n_hands**0.5


def train(args: argparse.Namespace) -> tuple[float, float]:
    """Trains and prints; returns points a hand against `simple` before and after."""
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # small networks: threads would wait for each other
    rng, envs = np.random.default_rng(args.seed), make_envs(args.games, args.seed)
    n_in = gym.spaces.flatdim(envs.single_observation_space)
    network = nn.Sequential(
        nn.Linear(n_in, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 108)
    )
    target, memory = copy.deepcopy(network), Memory(args.games, n_in)
    optimizer = torch.optim.Adam(network.parameters(), args.learning_rate)
    before, error = points(network, args.hands)
    after = before
    print(f"{0:>9,} decisions: {before:+6.1f} ± {error:.1f} points a hand against simple")
    seen, info = envs.reset()
    n_steps = args.steps // args.games
    for k in range(1, n_steps + 1):
        masks = info["action_mask"]
        chance = max(LEAST_CHANCE, 1 - k / (EXPLORING * n_steps))
        actions = act(network, seen, masks, chance, rng)
        next_seen, rewards, ended, _, info = envs.step(actions)
        memory.add(seen, masks, actions, rewards, ended)
        seen = next_seen
        for _ in range(UPDATES if memory.n > 2 * AHEAD else 0):
            learn(network, target, optimizer, memory.sample(rng))
        if k % max(1, n_steps // LOOKS) == 0:
            after, error = points(network, args.hands)
            print(
                f"{k * args.games:>9,} decisions: {after:+6.1f} ± {error:.1f} points a hand against simple"
            )
    print(f"untrained {before:+.1f}, trained {after:+.1f} points a hand")
    return before, after


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m agents.masked_dqn", description=__doc__)
    add = made.add_argument
    add("--steps", type=int, default=500_000, help="decisions to learn from (default: 500000)")
    add("--games", type=int, default=256, help="games at once (default: 256)")
    add("--learning-rate", type=float, default=1e-3, help="of Adam (default: 0.001)")
    add("--hands", type=int, default=2000, help="hands of each evaluation (default: 2000)")
    add("--seed", type=int, default=0, help="of everything (default: 0)")
    return made


if __name__ == "__main__":
    train(parser().parse_args())
