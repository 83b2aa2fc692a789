"""Intervals clustered by deal, tests, ratings: scipy's, statsmodels' and choix's formulas on the arena's arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import choix
import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

ELO_PER_NAT = 400 / np.log(10)
PRIOR = 0.01  # keeps ratings finite where somebody never lost
DIGITS = 9  # of points that count: thirds, as of four seats, do not add up to 0 in floating point


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
    if np.ptp(residuals) < 10.0**-DIGITS:
        even = round(mean, DIGITS)
        return even, even, even
    low, high = stats.ttest_1samp(residuals, 0.0).confidence_interval(0.95)
    return mean, mean + float(low), mean + float(high)


def sign_test(values: NDArray[np.floating]) -> float:
    """The chance that deals split at least so unevenly between two equal players (two-sided p-value).

    Args:
        values: (D, R) points, one row a deal. A deal counts for whoever has more points in it over all rotations;
            deals that are even do not count.
    """
    sums = _deal_sums(values)
    won, lost = int((sums > 0).sum()), int((sums < 0).sum())
    return float(stats.binomtest(won, won + lost).pvalue) if won + lost else 1.0


def _deal_sums(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """(D,) what each deal's row comes to: exactly 0 where it is even."""
    return np.round(values.sum(axis=1), DIGITS)


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values corrected for that there are several (Holm's method)."""
    from statsmodels.stats.multitest import multipletests  # takes a second to import

    corrected: Any = multipletests(p_values, method="holm")[1] if len(p_values) else np.array([])
    return corrected.tolist()


def bradley_terry(wins: NDArray[np.integer | np.floating]) -> NDArray[np.float64]:
    """Ratings on the Elo scale from a table of wins, with mean zero.

    Args:
        wins: (P, P) how often the row's player beat the column's.

    Returns:
        (P,) ratings. A slight prior keeps them finite where somebody never lost.
    """
    if not wins.any():
        return np.zeros(len(wins))
    params = choix.ilsr_pairwise_dense(wins.astype(np.float64), alpha=PRIOR)
    return (params - params.mean()) * ELO_PER_NAT


class Tally(NamedTuple):
    """The deals of two players, as many of each kind.

    Attributes:
        i: The first player's index.
        j: The second's.
        kinds: (K, 2) how many games of a deal each of them won.
        counts: (K,) deals of each kind.
        n_seats: Games of a deal.
    """

    i: int
    j: int
    kinds: NDArray[np.int64]
    counts: NDArray[np.int64]
    n_seats: int


def tally(i: int, j: int, winner: NDArray[np.int8]) -> Tally:
    """The deals of two players by kind, from their (D, R) `Results.winner`."""
    n_seats = winner.shape[1]
    codes = (winner == 0).sum(axis=1) * (n_seats + 1) + (winner == 1).sum(axis=1)
    counts = np.bincount(codes, minlength=(n_seats + 1) ** 2)
    found = np.flatnonzero(counts)
    return Tally(i, j, np.stack(np.divmod(found, n_seats + 1), axis=1), counts[found], n_seats)


def counted_wins(
    tallies: Sequence[Tally], n_players: int, rng: np.random.Generator | None = None
) -> NDArray[np.float64]:
    """(P, P) how often the row's player beat the column's, a seat.

    Args:
        tallies: The deals of each pair. With R seats the second player of a pair takes R - 1 of them, so its wins are divided
            by as many: equal players come out equal.
        n_players: P.
        rng: Draws one bootstrap sample, with whole deals, and counts that; None: counts what was played.
    """
    wins = np.zeros((n_players, n_players))
    for i, j, kinds, counts, n_seats in tallies:
        if rng is not None:  # as resampling deals, but short
            counts = rng.multinomial(counts.sum(), counts / counts.sum())
        won, lost = counts @ kinds
        wins[i, j] += won
        wins[j, i] += lost / (n_seats - 1)
    return wins


def log_odds(wins: NDArray[np.integer | np.floating]) -> NDArray[np.float64]:
    """(P, P) antisymmetric log odds of the row's player beating the column's; half a win is added to each side."""
    return np.log((wins + 0.5) / (wins.T + 0.5))


def nash_average(payoff: NDArray[np.float64]) -> NDArray[np.float64]:
    """(P,) the evaluation game's equilibrium of greatest entropy (Balduzzi et al. 2018, Re-evaluating evaluation).

    Args:
        payoff: (P, P) antisymmetric, such as `log_odds`: what the row's player wins from the column's.

    Returns:
        Weights that sum to 1: a mix of players that none beats; copies of a player share its weight.
    """
    n = len(payoff)
    simplex = optimize.LinearConstraint(np.ones((1, n)), 1, 1)
    unbeaten = optimize.LinearConstraint(payoff, ub=0)  # no row gains against the mix
    start = optimize.linprog(np.zeros(n), payoff, np.zeros(n), np.ones((1, n)), [1]).x

    def negative_entropy(mix: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Also its gradient."""
        log = np.log(np.maximum(mix, 1e-12))
        return float((mix * log).sum()), log + 1

    found = optimize.minimize(
        negative_entropy, start, jac=True, bounds=[(0, 1)] * n, method="SLSQP", constraints=[simplex, unbeaten]
    )  # fmt: skip
    mix = np.clip(found.x if found.success else start, 0, None)
    return mix / mix.sum()


def cyclicity(payoff: NDArray[np.float64]) -> float:
    """The share of the results that no rating can explain: 0 for a ladder, 1 for rock, paper, scissors.

    Args:
        payoff: (P, P) antisymmetric. Its best transitive part is the difference of row means; this is the norm of the
            rest over the norm of the whole.
    """
    means = payoff.mean(axis=1)
    rest = payoff - (means[:, None] - means[None, :])
    whole = np.linalg.norm(payoff)
    return float(np.linalg.norm(rest) / whole) if whole > 0 else 0.0


def no_difference(values: NDArray[np.floating]) -> float:
    """The chance of means at least so far from zero between equal players (t-test over deals, two-sided p-value).

    Args:
        values: (D, R) points, one row a deal.
    """
    means = _deal_sums(values) / values.shape[1]
    if len(means) < 2 or np.ptp(means) == 0:
        return 1.0 if len(means) < 2 or means[0] == 0 else 0.0
    found: Any = stats.ttest_1samp(means, 0.0)
    return float(found.pvalue)
