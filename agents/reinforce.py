"""REINFORCE in plain torch on Gymnasium's vector API: ``python -m agents.reinforce``.

The oldest policy gradient: play whole hands, then make the actions of hands that paid more than usual likelier. Illegal actions
have probability zero, so they are never drawn and no gradient flows through them.
"""

from __future__ import annotations

import argparse

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import okgin_env

LOOKS = 5  # evaluations on the way
ENTROPY = 0.01  # keeps it from settling on the first thing that works


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


def distribution(policy: nn.Module, seen: np.ndarray, masks: np.ndarray) -> Categorical:
    """The policy's probabilities of the legal actions, (M, D) and (M, 108) in."""
    scores = policy(torch.from_numpy(seen).float())
    return Categorical(logits=scores.masked_fill(torch.from_numpy(masks == 0), -1e9))


def play(
    envs: gym.vector.VectorEnv, policy: nn.Module, greedy: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Plays one whole hand in every game.

    Returns:
        Of all decisions observations, masks, actions and the game of each; and (N,) what the hands paid.
    """
    seen, info = envs.reset()
    paid, playing = np.zeros(envs.num_envs), np.ones(envs.num_envs, bool)
    rows: list[tuple[np.ndarray, ...]] = []
    while playing.any():
        masks = info["action_mask"]
        with torch.no_grad():
            chances = distribution(policy, seen, masks)
            drawn = chances.probs.argmax(1) if greedy else chances.sample()
        actions, games = drawn.numpy(), np.flatnonzero(playing)
        rows.append((seen[games], masks[games], actions[games], games))
        seen, rewards, ended, _, info = envs.step(actions)
        paid += rewards * playing  # a hand pays at its end; what follows it is not looked at
        playing &= ~ended
    observations, masks, actions, games = map(np.concatenate, zip(*rows, strict=True))
    return observations, masks, actions, games, paid


def learn(
    policy: nn.Module, optimizer: torch.optim.Optimizer, hands: tuple[np.ndarray, ...]
) -> None:
    """One step up the gradient of the mean return."""
    observations, masks, actions, games, paid = hands
    advantages = torch.from_numpy((paid - paid.mean()) / (paid.std() + 1e-6)).float()
    chances = distribution(policy, observations, masks)
    gain = (chances.log_prob(torch.from_numpy(actions)) * advantages[games]).mean()
    loss = -gain - ENTROPY * chances.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def points(policy: nn.Module, n_hands: int) -> tuple[float, float]:
    """Mean points a hand of its likeliest actions on decks that training does not see, and half of its 95 % interval."""
    paid = play(make_envs(n_hands, seed=1_000_000), policy, greedy=True)[-1]
    return 100 * float(paid.mean()), 196 * float(paid.std()) / n_hands**0.5


def train(args: argparse.Namespace) -> tuple[float, float]:
    """Trains and prints; returns points a hand against `simple` before and after."""
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # small networks: threads would wait for each other
    envs = make_envs(args.games, args.seed)
    n_in = gym.spaces.flatdim(envs.single_observation_space)
    policy = nn.Sequential(nn.Linear(n_in, 128), nn.ReLU(), nn.Linear(128, 108))
    optimizer = torch.optim.Adam(policy.parameters(), args.learning_rate)
    before, error = points(policy, args.hands)
    after = before
    print(f"{0:>9,} hands: {before:+6.1f} ± {error:.1f} points a hand against simple")
    for look in range(1, LOOKS + 1):
        for _ in range(args.updates // LOOKS):
            learn(policy, optimizer, play(envs, policy, greedy=False))
        after, error = points(policy, args.hands)
        n_hands = look * (args.updates // LOOKS) * args.games
        print(f"{n_hands:>9,} hands: {after:+6.1f} ± {error:.1f} points a hand against simple")
    print(f"untrained {before:+.1f}, trained {after:+.1f} points a hand")
    return before, after


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m agents.reinforce", description=__doc__)
    add = made.add_argument
    add("--updates", type=int, default=200, help="steps of learning (default: 200)")
    add("--games", type=int, default=512, help="hands of each of them (default: 512)")
    add("--learning-rate", type=float, default=2e-3, help="of Adam (default: 0.002)")
    add("--hands", type=int, default=2000, help="hands of each evaluation (default: 2000)")
    add("--seed", type=int, default=0, help="of everything (default: 0)")
    return made


if __name__ == "__main__":
    train(parser().parse_args())
