"""Trains a network to prefer the moves that came out best, from the positions of `okgin_env.learning.refine.hindsight`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from okgin_env.layout import layout
from okgin_env.learning.refine.hindsight import Positions, unpack, unpack_masks
from okgin_env.players.network import NetworkPlayer

BATCH = 8192
ENTROPY = 0.003
UNTRIED = 0.03  # what a move costs that was not thought worth playing out, in hundreds of points
SCALE = 0.15  # hundreds of points by which the moves of a decision differ, about
WARM_UP = 0.05  # part of the updates in which the learning rate rises


def as_network(player: NetworkPlayer) -> torch.nn.Sequential:
    """The player's layers in torch, ReLU between them."""
    parts: list[torch.nn.Module] = []
    for weight, bias in zip(player.weights, player.biases, strict=True):
        linear = torch.nn.Linear(weight.shape[1], weight.shape[0])
        linear.weight.data, linear.bias.data = torch.tensor(weight), torch.tensor(bias)
        parts += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1])


def policy_tensors(network: torch.nn.Sequential) -> dict[str, NDArray[np.float32]]:
    """Its layers by the names that they have in a policy file."""
    named, last = {}, str(len(network) - 1)
    for name, tensor in network.state_dict().items():
        layer, part = name.split(".")
        kind = "action_net" if layer == last else f"mlp_extractor.policy_net.{layer}"
        named[f"{kind}.{part}"] = tensor.numpy()
    return named


def gain(network: torch.nn.Module, held: Positions) -> float:
    """Points a decision, over positions that were not learned from, that the network's moves bring above the old policy's.

    A move that was not played out counts as the worst that was.
    """
    total = 0.0
    with torch.no_grad():
        for first in range(0, len(held), 16_384):
            rows = slice(first, first + 16_384)
            best = _log_chances(network, held, rows).argmax(1, keepdim=True)
            moves, values = _tried(held, rows)
            worst = torch.where(moves >= 0, values, torch.inf).min(1).values
            hit = moves == best
            got = torch.where(hit.any(1), (hit * values).sum(1), worst)
            total += float((got - values[:, 0]).sum())
    return 100 * total / len(held)


def fit(
    network: torch.nn.Module, learned: Positions, epochs: int, learning_rate: float, seed: int
) -> Iterator[tuple[int, int]]:
    """Trains the network in place; yields minibatches done and in all after each of them.

    Maximized is the mean outcome when moves are drawn by the network's probabilities: the policy gradient with the outcome of every
    likely move in place of the one that was drawn.

    Args:
        network: From features to action scores.
        learned: What to learn from.
        epochs: Passes over them.
        learning_rate: At its highest.
        seed: Of their order.
    """
    rng = np.random.default_rng(seed)
    optimizer = torch.optim.Adam(network.parameters(), learning_rate, eps=1e-5)
    size = min(BATCH, len(learned))
    n = epochs * (len(learned) // size)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: _rate(k / n))
    order = rng.permutation(len(learned))
    for k in range(n):
        at = size * (k % (len(learned) // size))
        if at == 0:
            order = rng.permutation(len(learned))
        rows = order[at : at + size]
        log_chances = _log_chances(network, learned, rows)
        chances = log_chances.exp()
        moves, values = _tried(learned, rows)
        tried = chances.gather(1, moves.clamp(min=0)) * (moves >= 0)
        of_tried = tried.sum(1, keepdim=True)
        mean = (tried * values).sum(1, keepdim=True) / of_tried.clamp(min=1e-6)
        outcome = (tried * (values - mean.detach())).sum(1) - UNTRIED * (1 - of_tried[:, 0])
        entropy = -(chances * log_chances).sum(1)
        loss = -(outcome / SCALE + ENTROPY * entropy).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 0.5)
        optimizer.step()
        schedule.step()
        yield k + 1, n


def _rate(done: float) -> float:
    """Share of the learning rate after a part of the updates: it rises quickly, then falls to a hundredth."""
    return min(max(done, 0.002) / WARM_UP, 1.01 - done)


def _log_chances(
    network: torch.nn.Module, positions: Positions, rows: NDArray[np.intp] | slice
) -> torch.Tensor:
    """(M, 108) log-probabilities of the actions, illegal ones far below zero."""
    x = unpack(positions.features[rows], layout(2, False, True).size).float()
    scores = network(x).masked_fill(~unpack_masks(positions, rows), -1e9)
    return torch.log_softmax(scores, 1)


def _tried(
    positions: Positions, rows: NDArray[np.intp] | slice
) -> tuple[torch.Tensor, torch.Tensor]:
    moves = torch.from_numpy(positions.moves[rows].astype(np.int64))
    return moves, torch.from_numpy(positions.values[rows].astype(np.float32))
