"""The linear layer on observations of 0s and 1s is the matrix product, forward and backward."""

from __future__ import annotations

import numpy as np
import pytest

from okgin_env.kernel import sparse


@pytest.mark.parametrize("n_rows", [1, 5, sparse.ROWS, 2 * sparse.ROWS + 3])
@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_outputs_and_gradients_are_those_of_the_matrix_product(n_rows: int, share: float) -> None:
    rng = np.random.default_rng(n_rows)
    n_features, n_out = 37, 10
    observations = (rng.random((50, n_features)) < share).astype(np.int8)
    chosen = rng.integers(0, 50, n_rows)
    weights = rng.standard_normal((n_features, n_out)).astype(np.float32)
    bias = rng.standard_normal(n_out).astype(np.float32)
    outputs = np.full((n_rows, n_out), np.nan, np.float32)
    sparse.add_rows(observations, chosen, weights, bias, outputs)
    read = observations[chosen].astype(np.float64)
    np.testing.assert_allclose(outputs, read @ weights + bias, atol=1e-4)
    gradients = rng.standard_normal((n_rows, n_out)).astype(np.float32)
    sums = np.ones((n_features, n_out), np.float32)
    sparse.add_gradients(observations, chosen, gradients, sums)
    np.testing.assert_allclose(sums, 1 + read.T @ gradients.astype(np.float64), atol=1e-3)
