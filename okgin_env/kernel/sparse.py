"""A linear layer on observations of 0s and 1s, forward and backward: sums over those features that are there.

An observation has some hundred of its features, so this is a fraction of the matrix product. Gradients are summed for some rows at
once, so that what is read again and again stays in the processor's cache.
"""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.jit import compiled

ROWS = 256  # of observations, worked on together


@compiled
def _features(row, there):
    """Writes the places of the 1s of a row into `there`, which has a place more; returns how many there are."""
    n = 0
    for i in range(len(row)):  # branchless: a place is overwritten unless its feature is there
        there[n] = i
        n += row[i]
    return n


@compiled
def _add(total, rows, first, end, table):
    """Adds rows of a table to a row: four at once, so that it is read and written a quarter as often."""
    n = len(total)
    even = end - (end - first) % 4
    for j in range(first, even, 4):
        a, b, c, d = table[rows[j]], table[rows[j + 1]], table[rows[j + 2]], table[rows[j + 3]]
        for k in range(n):
            total[k] += (a[k] + b[k]) + (c[k] + d[k])
    for j in range(even, end):
        a = table[rows[j]]
        for k in range(n):
            total[k] += a[k]


@compiled
def add_rows(observations, chosen, weights, bias, outputs):
    """Writes the outputs of the layer.

    Args:
        observations: (N, D) int8 of 0s and 1s.
        chosen: (B,) int64, the rows to read.
        weights: (D, H) float32, a row for each feature.
        bias: (H,) float32.
        outputs: (B, H) float32.
    """
    there = np.empty(len(weights) + 1, np.int64)
    for b in range(len(chosen)):
        n = _features(observations[chosen[b]], there)
        out = outputs[b]
        for k in range(len(bias)):
            out[k] = bias[k]
        _add(out, there, 0, n, weights)


@compiled
def add_gradients(observations, chosen, gradients, sums):
    """Adds up the gradients of the layer's weights.

    Args:
        observations: (N, D) int8 of 0s and 1s.
        chosen: (B,) int64, the rows that were read.
        gradients: (B, H) float32, of the outputs.
        sums: (D, H) float32, of the weights; added to.
    """
    n_features = len(sums)
    there = np.empty((ROWS, n_features + 1), np.int64)
    counts = np.empty(ROWS, np.int64)
    having = np.empty(ROWS * n_features, np.int64)  # rows, in order of their features
    for begin in range(0, len(chosen), ROWS):
        n_rows = min(ROWS, len(chosen) - begin)
        ends = np.zeros(n_features + 1, np.int64)
        for b in range(n_rows):
            counts[b] = _features(observations[chosen[begin + b]], there[b])
            for j in range(counts[b]):
                ends[there[b, j] + 1] += 1
        for i in range(n_features):
            ends[i + 1] += ends[i]
        for b in range(n_rows):
            for j in range(counts[b]):
                i = there[b, j]
                having[ends[i]] = begin + b
                ends[i] += 1
        first = 0
        for i in range(n_features):
            _add(sums[i], having, first, ends[i], gradients)
            first = ends[i]
