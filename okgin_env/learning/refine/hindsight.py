"""Plays out every likely move with the cards as they lie: labels to learn from, never for a player to see.

A policy plays; at each of its decisions the moves that it considers are played out to the end of the hand from the true cards, the others'
seats by whoever sits there, its own by `hunter`, who is quick, but where a knock is possible by the policy itself; or all by the policy,
which is truer and takes twice as long. Over many hands the true cards are a fair sample of what a seat can
believe of them, so a network that prefers what came out best learns what is best on average. One decision tells of
six moves under the same luck, and what it tells does not depend on the network: it can be used many times.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from okgin_env import Rules
from okgin_env.kernel.jit import compiled
from okgin_env.kernel.match import hand_reward
from okgin_env.kernel.network import best_actions
from okgin_env.kernel.observe import observe
from okgin_env.kernel.play import legal, step
from okgin_env.kernel.policies import EXTERNAL, HUNTER, choose
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import KNOCK, N_ACTIONS, N_CARDS, OVER, REWARD_POINTS, SHED
from okgin_env.learning.refine.config import HUNTER_PLAYS_ON, LEAST, POLICY_PLAYS_ON
from okgin_env.players.network import NetworkPlayer
from okgin_env.sb3 import OklahomaGinVecEnv
from okgin_env.utils.files import write_bytes

N_TRIED = 6  # moves of a decision that are played out, at most
GAMES = 1024
KEYS = ("features", "masks", "moves", "values")


@dataclass(frozen=True)
class Positions:
    """Decisions with what their moves came to.

    Attributes:
        features: (N, ceil(D / 8)) uint8, observations packed eight features a byte.
        masks: (N, 14) uint8, legal actions packed.
        moves: (N, 6) int8, the moves played out, the likeliest first; -1 where there are fewer.
        values: (N, 6) float16, what they came to: points of the own seat less the mean of the others', in hundreds.
    """

    features: NDArray[np.uint8]
    masks: NDArray[np.uint8]
    moves: NDArray[np.int8]
    values: NDArray[np.float16]

    def __len__(self) -> int:
        return len(self.moves)

    def save(self, path: Path) -> None:
        """Writes them, whole or not at all."""
        packed = io.BytesIO()
        np.savez(packed, **{key: getattr(self, key) for key in KEYS})
        write_bytes(path, packed.getvalue())

    @classmethod
    def load(cls, paths: list[Path]) -> Positions:
        """Reads one or more files."""
        files = [np.load(path, allow_pickle=False) for path in paths]
        return cls(**{key: np.concatenate([file[key] for file in files]) for key in KEYS})


@compiled
def value_moves(states, rules, policies, moves, work, network, always, observation, values):
    """Plays moves out to the end of the hand; all moves of a decision meet the same cards and the same random words.

    Args:
        states: (M,) `STATE`, games at a decision; they are left as they are.
        rules: (1,) `RULES_DTYPE`.
        policies: (M, 4) int8, who plays on in each seat; EXTERNAL: the network, or `hunter` where it is not asked.
        moves: (M, K) int64, legal moves; -1: none.
        work: (1,) `STATE`, work space.
        network: Weights, sizes and activation, as `kernel.network` takes them.
        always: Whether it is asked at every decision, not only where it may knock.
        observation: (1, D) int8, work space.
        values: (M, K) float32, written where there is a move: the reward for points, in hundreds.
    """
    table = np.empty(N_CARDS, np.int16)
    mask = np.empty((1, N_ACTIONS), np.int8)
    w, r = work[0], rules[0]
    for i in range(len(states)):
        seat = np.int64(states[i].seat)
        for k in range(moves.shape[1]):
            if moves[i, k] < 0:
                continue
            work[0] = states[i]
            step(w, r, moves[i, k])
            while w.phase != OVER:
                policy = np.int64(policies[i, w.seat])
                if policy == EXTERNAL:
                    move = _own_move(w, r, network, always, observation, mask, table)
                else:
                    move = choose(w, r, policy, table)
                step(w, r, move)
            values[i, k] = hand_reward(w, r, REWARD_POINTS, seat)


@compiled
def _own_move(s, rules, network, always, observation, mask, table):
    """The policy's own seat as it plays on."""
    if always or s.phase == SHED:
        legal(s, rules, mask[0], table)
        if always or mask[0, KNOCK : KNOCK + N_CARDS].any():
            weights, sizes, activation = network
            move = np.empty(1, np.int64)
            observe(s, rules, s.seat, False, observation[0], table)
            best_actions(observation, mask, weights, sizes, activation, move)
            return move[0]
    return choose(s, rules, HUNTER, table)


def gather(
    player: NetworkPlayer,
    rules: Rules,
    opponents: tuple[str, ...],
    n_positions: int,
    seed: tuple[int, ...],
    plays_on: str = HUNTER_PLAYS_ON,
) -> Positions:
    """Plays a policy as it would explore, and tries its likely moves wherever it considers more than one.

    Args:
        player: The policy.
        rules: The rules.
        opponents: Scripted players, each in an equal share of the games.
        n_positions: Positions at least.
        seed: Seed of the run, and which positions of it these are.
        plays_on: Who plays its seat on: a key of `LEAST`.

    Returns:
        The positions.
    """
    rng = np.random.default_rng(seed)
    env = OklahomaGinVecEnv(
        GAMES, rules, pool=opponents, seed=int(rng.integers(1 << 31)), outlook=True
    )
    record, work = as_records(rules.to_record()), new_states(1)
    observations, found, n_found = np.asarray(env.reset()), [], 0
    seen = np.empty((1, observations.shape[1]), np.int8)
    while n_found < n_positions:
        masks = env.action_masks()
        chances = _chances(player.forward(observations), masks)
        order = np.argsort(-chances, axis=1, kind="stable")[:, :N_TRIED]
        likely = np.take_along_axis(chances, order, 1) > LEAST[plays_on]
        rows = np.flatnonzero(likely[:, 1])
        moves = np.where(likely, order, -1)[rows]
        values = np.zeros(moves.shape, np.float32)
        value_moves(
            env.games.states[rows], record, env.games.policies[rows], moves, work, player.compiled,
            plays_on == POLICY_PLAYS_ON, seen, values,
        )  # fmt: skip
        found.append(
            (np.packbits(observations[rows], axis=1), np.packbits(masks[rows], axis=1),
             moves.astype(np.int8), values.astype(np.float16))
        )  # fmt: skip
        n_found += len(rows)
        drawn = chances.cumsum(1) > rng.random((GAMES, 1))
        env.step_async(np.where(drawn.any(1), drawn.argmax(1), order[:, 0]))
        observations = np.asarray(env.step_wait()[0])
    return Positions(*map(np.concatenate, zip(*found, strict=True)))


def _chances(scores: NDArray[np.float32], masks: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(N, 108) probabilities of the legal actions."""
    allowed = np.where(masks, scores, -np.inf).astype(np.float64)
    weights = np.exp(allowed - allowed.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def unpack(packed: NDArray[np.uint8], n: int) -> torch.Tensor:
    """(M, n) uint8 tensor of 0s and 1s."""
    return torch.from_numpy(np.unpackbits(packed, axis=1, count=n))


def unpack_masks(positions: Positions, rows: NDArray[np.intp] | slice) -> torch.Tensor:
    """(M, 108) bool tensor of the legal actions."""
    return unpack(positions.masks[rows], N_ACTIONS).bool()
