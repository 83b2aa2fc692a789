"""A multi-layer perceptron's forward pass from an observation of 0s and 1s to its best legal action.

The first layer adds up the rows of the features that are there, and later layers skip the neurons that ReLU has silenced, so a decision
costs a fraction of the matrix products. Sums go feature by feature over whole rows, which compiles to vector instructions.
"""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.jit import compiled
from okgin_env.layout import N_ACTIONS

RELU = 0
TANH = 1
BLOCK = 16  # observations worked on together


@compiled
def _activate(row, n, activation):
    """Applies the activation to the first n entries."""
    if activation == RELU:
        for k in range(n):
            row[k] = max(row[k], np.float32(0.0))
    else:
        for k in range(n):
            row[k] = np.tanh(row[k])


@compiled
def _add(row, weights, at, n, factor):
    """Adds n weights from index `at`, times a factor, to a row."""
    added = weights[at : at + n]  # indexed from 0, which compiles to vector instructions
    for k in range(n):
        row[k] += factor * added[k]


@compiled
def _score_block(observations, first, n, weights, sizes, activation, rows):
    """Writes the scores of n observations from index `first` into `rows`.

    They are worked on together, so that each weight is fetched once for all; each comes out the same as alone.

    Args:
        observations: (M, D) int8 of 0s and 1s; features beyond the network's inputs are ignored, missing ones are 0.
        first: The first of them.
        n: How many, at most BLOCK.
        weights: (W,) float32: of each layer the biases, then the weights input by input.
        sizes: (L + 1,) int64, entries of the input and of every layer.
        activation: RELU or TANH, between layers.
        rows: (2, BLOCK, most) float32, work space.

    Returns:
        Which half of `rows` holds the scores.
    """
    at, into = 0, 0
    n_layers = len(sizes) - 1
    for layer in range(n_layers):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        for b in range(n):
            rows[into, b, :n_out] = np.float32(0.0)
            _add(rows[into, b], weights, at, n_out, np.float32(1.0))
        at += n_out
        n_used = min(n_in, observations.shape[1]) if layer == 0 else n_in
        for i in range(n_used):
            for b in range(n):
                value = (
                    np.float32(observations[first + b, i]) if layer == 0 else rows[1 - into, b, i]
                )
                if value != np.float32(0.0):
                    _add(rows[into, b], weights, at + i * n_out, n_out, value)
        at += n_in * n_out
        if layer < n_layers - 1:
            for b in range(n):
                _activate(rows[into, b], n_out, activation)
            into = 1 - into
    return into


@compiled
def score_all(observations, weights, sizes, activation, scores):
    """Writes (M, A) float32 action scores of (M, D) observations; see `_score_block`."""
    rows = np.empty((2, BLOCK, sizes[1:].max()), np.float32)
    for first in range(0, len(observations), BLOCK):
        n = min(BLOCK, len(observations) - first)
        into = _score_block(observations, first, n, weights, sizes, activation, rows)
        for b in range(n):
            for a in range(scores.shape[1]):
                scores[first + b, a] = rows[into, b, a]


@compiled
def best_actions(observations, masks, weights, sizes, activation, actions):
    """Writes the legal action of highest score for each observation.

    Args:
        observations: (M, D) int8.
        masks: (M, 108) int8, at least one action legal in each.
        weights: As in `_score_block`.
        sizes: As in `_score_block`.
        activation: As in `_score_block`.
        actions: (M,) int64.
    """
    rows = np.empty((2, BLOCK, sizes[1:].max()), np.float32)
    for first in range(0, len(observations), BLOCK):
        n = min(BLOCK, len(observations) - first)
        into = _score_block(observations, first, n, weights, sizes, activation, rows)
        for b in range(n):
            best = -1
            for a in range(N_ACTIONS):
                if masks[first + b, a] != 0 and (
                    best < 0 or rows[into, b, a] > rows[into, b, best]
                ):
                    best = a
            actions[first + b] = best
