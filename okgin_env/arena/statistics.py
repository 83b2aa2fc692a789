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
TAIL = 0.025  # beyond either end of an interval
FEW_DEALS = 100  # with fewer of them, or
FEW_DECIDED = 10  # fewer won or lost, a share's interval is Clopper and Pearson's
LEAST_P = float(np.finfo(np.float64).tiny)  # chances are small, but not nothing
DIGITS = 9  # of points that count: thirds, as of four seats, do not add up to 0 in floating point


def clustered_mean(
    values: NDArray[np.floating],
    weights: NDArray[np.floating] | None = None,
    most: float = np.inf,
) -> tuple[float, float, float]:
    """A mean with its 95 % interval, where the entries of a row stand or fall together.

    Deals that all agree say nothing of how far others are from them. Of such others there can be a share that leaves a chance
    of one in forty to see none, and each is at most at one of the bounds.

    Args:
        values: (D, R) one row a deal, one column a rotation of the seats.
        weights: (D, R) 1 where an entry counts and 0 where it does not; None: all count.
        most: The mean of a deal lies between minus this and this (`Rules.most_points`).

    Returns:
        Mean, lower end, upper end; all nan when nothing counts. With weights the interval is that of a ratio
        estimator (the deal's residuals, linearised).
    """
    used = np.ones_like(values) if weights is None else weights
    total = used.sum()
    if total == 0:
        return float("nan"), float("nan"), float("nan")
    mean = float((values * used).sum() / total)
    residuals = ((values - mean) * used).sum(axis=1) * len(values) / total
    if np.ptp(residuals) < 10.0**-DIGITS:
        even = round(mean, DIGITS)
        others = unseen(int(used.any(axis=1).sum()))
        return even, even - others * (most + even), even + others * (most - even)
    low, high = stats.ttest_1samp(residuals, 0.0).confidence_interval(0.95)
    return mean, mean + float(low), mean + float(high)


def unseen(n_deals: int, chance: float = TAIL) -> float:
    """The share of deals of a kind of which that many deals have none with a given chance."""
    return 1.0 - chance ** (1.0 / n_deals)


def clustered_share(values: NDArray[np.floating]) -> tuple[float, float, float]:
    """A share with its 95 % interval: as `clustered_mean`, or where deals are few or nearly all agree Clopper and Pearson's.

    A deal counts as one trial that succeeds by its mean, since its rotations may stand or fall together; where they do not
    the interval is wider than it need be.

    Args:
        values: (D, R) from 0 to 1, one row a deal, one column a rotation of the seats.
    """
    means = values.mean(axis=1)
    n, won = len(means), float(means.sum())
    if n >= FEW_DEALS and min(won, n - won) >= FEW_DECIDED:
        return clustered_mean(values)
    low = float(stats.beta.ppf(TAIL, won, n - won + 1)) if won > 0 else 0.0
    high = float(stats.beta.ppf(1 - TAIL, won + 1, n - won)) if won < n else 1.0
    return won / n, low, high


def sign_test(values: NDArray[np.floating]) -> float:
    """The chance that deals split at least so unevenly between two equal players (two-sided p-value).

    Args:
        values: (D, R) points, one row a deal. A deal counts for whoever has more points in it over all rotations;
            deals that are even do not count.
    """
    sums = _deal_sums(values)
    won, lost = int((sums > 0).sum()), int((sums < 0).sum())
    return max(float(stats.binomtest(won, won + lost).pvalue), LEAST_P) if won + lost else 1.0


def no_difference(values: NDArray[np.floating]) -> float:
    """The chance of means at least so far from zero between equal players (t-test over deals, two-sided p-value).

    It is never below what the sign test gives where all deals go to one player: that needs no normal distribution.

    Args:
        values: (D, R) points, one row a deal. Deals that are even do not count among those that go to somebody.
    """
    means = _deal_sums(values) / values.shape[1]
    least = max(min(2 * 0.5 ** int(np.count_nonzero(means)), 1.0), LEAST_P)
    if np.ptp(means) == 0:
        return least
    found: Any = stats.ttest_1samp(means, 0.0)
    return max(float(found.pvalue), least)


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
        n_deals: All deals.
        won: Games that each of them won.
    """

    i: int
    j: int
    kinds: NDArray[np.int64]
    counts: NDArray[np.int64]
    n_seats: int
    n_deals: int
    won: tuple[int, int]

    @property
    def is_swept(self) -> bool:
        """Whether one of them won everything, and the other nothing."""
        return (self.won[0] == 0) != (self.won[1] == 0)


def tally(i: int, j: int, winner: NDArray[np.int8]) -> Tally:
    """The deals of two players by kind, from their (D, R) `Results.winner`."""
    n_seats = winner.shape[1]
    codes = (winner == 0).sum(axis=1) * (n_seats + 1) + (winner == 1).sum(axis=1)
    counts = np.bincount(codes, minlength=(n_seats + 1) ** 2)
    found = np.flatnonzero(counts)
    kinds = np.stack(np.divmod(found, n_seats + 1), axis=1)
    won = int((winner == 0).sum()), int((winner == 1).sum())
    return Tally(i, j, kinds, counts[found], n_seats, len(winner), won)


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
    for i, j, kinds, counts, n_seats, n_deals, (won, lost) in tallies:
        if rng is not None:  # as resampling deals, but short
            won, lost = rng.multinomial(n_deals, counts / n_deals) @ kinds
        wins[i, j] += won
        wins[j, i] += lost / (n_seats - 1)
    return wins


def possible_wins(
    tallies: Sequence[Tally], n_players: int, rng: np.random.Generator | None = None
) -> NDArray[np.float64]:
    """(P, P) as `counted_wins`, but where a pair's deals all agree some of them went to the other side.

    How many is what `unseen` says, with an even chance or (for a bootstrap sample) any: a share of Clopper and Pearson's kind. A
    player that won everything, or lost it, has one such chance for all its deals of that kind.

    Args:
        tallies: See `counted_wins`.
        n_players: P.
        rng: Draws one bootstrap sample; None: the middle of what is possible.
    """
    swept = _swept(tallies, n_players)
    chances = np.full(swept.shape, 0.5) if rng is None else rng.random(swept.shape)
    wins = np.zeros((n_players, n_players))
    for pair in tallies:
        i, j, kinds, counts, n_seats, n_deals, (won, lost) = pair
        share, to_first = 0.0, won == 0
        if pair.is_swept:
            places = ((i, 0), (j, 1)) if won else ((j, 0), (i, 1))
            place = max(places, key=lambda at: swept[at])
            share = unseen(int(swept[place]), chances[place])
        elif rng is not None and len(counts) == 1:
            share, to_first = unseen(n_deals, rng.random()), rng.random() < 0.5
        elif rng is not None:
            won, lost = rng.multinomial(n_deals, counts / n_deals) @ kinds
        other = share * n_deals * n_seats
        wins[i, j] += (1 - share) * won + other * to_first
        wins[j, i] += ((1 - share) * lost + other * (not to_first)) / (n_seats - 1)
    return wins


def _swept(tallies: Sequence[Tally], n_players: int) -> NDArray[np.int64]:
    """(P, 2) deals of the pairs in which each player won every game, and of those in which it lost every game."""
    swept = np.zeros((n_players, 2), np.int64)
    for pair in tallies:
        if pair.is_swept:
            swept[pair.i, int(pair.won[0] == 0)] += pair.n_deals
            swept[pair.j, int(pair.won[1] == 0)] += pair.n_deals
    return swept


def unbounded(wins: NDArray[np.floating], anchor: int | None) -> NDArray[np.bool_]:
    """(2, P) whether each player's rating has no lower end, and no upper one.

    It has an upper one if somebody beat the player whom somebody beat … whom the anchor beat; a lower one the other way round.

    Args:
        wins: (P, P) how often the row's player beat the column's.
        anchor: The player that ratings are distances from; None: the mean of all, each of whom then counts as the anchor.
    """
    reach = (wins > 0) | np.eye(len(wins), dtype=bool)
    for _ in range(len(wins).bit_length()):
        reach = reach @ reach
    anchors = slice(None) if anchor is None else [anchor]
    return np.stack([~reach[:, anchors].all(axis=1), ~reach[anchors].all(axis=0)])


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
