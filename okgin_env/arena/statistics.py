"""Intervals clustered by deal, and ratings: scipy's and choix's formulas on the arena's arrays."""

from __future__ import annotations

import choix
import numpy as np
from numpy.typing import NDArray
from scipy import stats

ELO_PER_NAT = 400 / np.log(10)


def clustered_mean(
    values: NDArray[np.floating], weights: NDArray[np.floating] | None = None
) -> tuple[float, float, float]:
    """A mean with its 95 % interval, where the entries of a row stand or fall together.

    Args:
        values: (D, R) one row a deal, one column a rotation of the seats.
        weights: (D, R) 1 where an entry counts and 0 where it does not; None: all count.

    Returns:
        Mean, lower end, upper end; all nan when nothing counts. With weights the interval is that of a ratio
        estimator (the deal's residuals, linearised).
    """
    used = np.ones_like(values) if weights is None else weights
    total = used.sum()
    if total == 0:
        return float("nan"), float("nan"), float("nan")
    mean = float((values * used).sum() / total)
    if len(values) < 2:
        return mean, float("-inf"), float("inf")
    residuals = ((values - mean) * used).sum(axis=1) * len(values) / total
    if np.ptp(residuals) == 0:
        return mean, mean, mean
    low, high = stats.ttest_1samp(residuals, 0.0).confidence_interval(0.95)
    return mean, mean + float(low), mean + float(high)


def bradley_terry(wins: NDArray[np.int64]) -> NDArray[np.float64]:
    """Ratings on the Elo scale from a table of wins, with mean zero.

    Args:
        wins: (P, P) how often the row's player beat the column's.

    Returns:
        (P,) ratings. A slight prior keeps them finite where somebody never lost.
    """
    games = [(i, j) for i, j in zip(*np.nonzero(wins), strict=True)]
    data = [(i, j) for i, j in games for _ in range(int(wins[i, j]))]
    if not data:
        return np.zeros(len(wins))
    params = choix.ilsr_pairwise(len(wins), data, alpha=0.01)
    return (params - params.mean()) * ELO_PER_NAT
