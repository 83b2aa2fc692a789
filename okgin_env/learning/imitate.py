"""A head start: the policy first copies a scripted player's moves, and the value network its results.

Random play in gin almost never ends with a knock, so the first millions of steps from scratch go into finding out that one can
score at all. Half a million moves of a scripted player teach that in seconds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from okgin_env.learning.fast_ppo import ILLEGAL, FastMaskablePPO
from okgin_env.players.base import Player
from okgin_env.sb3 import OklahomaGinVecEnv

PASSES = 6
BATCH = 2048
LEARNING_RATE = 1e-3
SMOOTHING = (
    0.15  # of the probability goes to all legal moves alike, so that training goes on exploring
)


def imitate(
    model: FastMaskablePPO,
    env: OklahomaGinVecEnv,
    teacher: Player,
    n_moves: int,
    progress: Callable[[int, int], None],
) -> float:
    """Trains policy and value network on a teacher's games in the environment.

    Args:
        model: Its policy is changed; its optimizer is not.
        env: Where the teacher takes the learner's place. It is left in mid-game.
        teacher: Whose moves are copied.
        n_moves: Moves to play, rounded down to whole steps of all games.
        progress: Called with minibatches done and in all.

    Returns:
        Share of the teacher's moves that the policy then plays.

    Raises:
        ValueError: So few moves that no game comes to its end.
    """
    data = _play(env, teacher, max(1, n_moves // env.num_envs))
    observations, masks, actions, returns = data
    n = len(actions)
    if n == 0:
        raise ValueError(
            f"imitate_moves={n_moves}; allowed: more, in so few none of {env.num_envs} games comes to an end"
        )
    optimizer = torch.optim.Adam(model.policy.parameters(), LEARNING_RATE, fused=True)
    n_batches = PASSES * max(1, n // BATCH)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, n_batches)
    rng = np.random.default_rng(model.seed)
    order, matched, seen = rng.permutation(n), 0, 0
    for k in range(n_batches):
        if k % max(1, n // BATCH) == 0:
            order, matched, seen = rng.permutation(n), 0, 0
        rows = order[(k * BATCH) % n :][:BATCH]
        legal = torch.from_numpy(masks[rows]).to(model.device)
        taken = torch.from_numpy(actions[rows]).to(model.device)
        target = torch.from_numpy(returns[rows]).to(model.device)
        logits, values = model.outputs(observations, rows)
        log_probs = functional.log_softmax(torch.where(legal, logits, ILLEGAL), dim=1)
        log_prob = log_probs.gather(1, taken[:, None]).flatten()
        spread = (log_probs * legal).sum(1) / legal.sum(1)
        likelihood = (1 - SMOOTHING) * log_prob + SMOOTHING * spread
        loss = -likelihood.mean() + model.vf_coef * functional.mse_loss(values, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        matched += int((log_probs.argmax(1) == taken).sum())
        seen += len(rows)
        progress(k + 1, n_batches)
    return matched / max(seen, 1)


def _play(
    env: OklahomaGinVecEnv, teacher: Player, n_steps: int
) -> tuple[NDArray[np.int8], NDArray[np.bool_], NDArray[np.int64], NDArray[np.float32]]:
    """The teacher's decisions: observations, masks, actions, and what each hand then paid."""
    n, d = env.num_envs, env.games.layout.size
    observations = np.zeros((n_steps, n, d), np.int8)
    masks = np.zeros((n_steps, n, 108), np.bool_)
    actions = np.zeros((n_steps, n), np.int64)
    rewards = np.zeros((n_steps, n), np.float32)
    dones = np.zeros((n_steps, n), np.bool_)
    current = env.reset()
    everyone = np.arange(n)
    for t in range(n_steps):
        observations[t], masks[t] = current, env.action_masks()
        actions[t] = teacher.act(env.games.decisions(everyone))
        env.step_async(actions[t])
        stepped, rewards[t], dones[t], _ = env.step_wait()
        current = np.asarray(stepped)
    returns = np.zeros_like(rewards)
    finished = np.zeros((n_steps, n), np.bool_)  # hands cut off at the end pay nothing yet
    later, known = np.zeros(n, np.float32), np.zeros(n, np.bool_)
    for t in reversed(range(n_steps)):
        later = np.where(dones[t], rewards[t], rewards[t] + later)
        known = known | dones[t]
        returns[t], finished[t] = later, known
    return observations[finished], masks[finished], actions[finished], returns[finished]
