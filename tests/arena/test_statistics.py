"""The arena's statistics on known answers."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("statsmodels")
pytest.importorskip("choix")

from okgin_env.arena import statistics

ROCK_PAPER_SCISSORS = np.array([[0.0, 1, -1], [-1, 0, 1], [1, -1, 0]])


def test_sign_test_counts_deals_not_hands() -> None:
    """8 deals of 10 for one player: p = 2 (1 + 10 + 45) / 1024; even deals do not count."""
    values = np.zeros((14, 2))
    values[:8] = [5, -1]
    values[8:10] = [1, -3]
    assert statistics.sign_test(values) == pytest.approx(2 * 56 / 1024)
    assert statistics.sign_test(np.zeros((5, 2))) == 1


def test_t_test_known_answer() -> None:
    """Mean 1, standard error 1/√3, 3 degrees of freedom: t = √3, p = 0.1817."""
    values = np.array([[0.0], [0.0], [2.0], [2.0]])
    t = 1 / (values.std(ddof=1) / 2)
    assert t == pytest.approx(1.7320508)
    assert statistics.no_difference(values) == pytest.approx(0.181690, abs=1e-6)
    assert statistics.no_difference(np.zeros((4, 2))) == 1
    assert statistics.no_difference(np.full((4, 2), 3.0)) == 0


def test_even_deals_of_four_seats_are_even() -> None:
    """Thirds of points do not add up to 0 in floating point; no statistic may take that for a difference."""
    points = np.random.default_rng(0).integers(0, 100, (300, 4))
    values = points - (points.sum(axis=1, keepdims=True) - points) / 3
    assert values.sum(axis=1).any()
    assert statistics.sign_test(values) == 1
    assert statistics.no_difference(values) == 1
    assert statistics.clustered_mean(values) == (0, 0, 0)


def test_holm_known_answer() -> None:
    """Least times 3, next times 2, the last as it is, never falling."""
    assert statistics.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert statistics.holm([]) == []


def test_resampled_wins_keep_deals_whole() -> None:
    """Two rotations that always fall together stay together; the mean is that of the sample."""
    winner = np.array([[0, 0]] * 30 + [[1, 1]] * 10, np.int8)
    rng = np.random.default_rng(0)
    drawn = [statistics.counted_wins([statistics.tally(0, 1, winner)], 2, rng) for _ in range(500)]
    assert all(wins[0, 1] % 2 == 0 and wins.sum() == 80 for wins in drawn)
    won = np.array([wins[0, 1] for wins in drawn])
    assert won.mean() == pytest.approx(60, abs=1)
    assert won.std() == pytest.approx(2 * np.sqrt(40 * 0.75 * 0.25), rel=0.15)


def test_wins_are_counted_a_seat() -> None:
    """Three equal players at a table of three: one against two wins a third of the hands, and is no worse for it."""
    winner = np.array([[0, 1, 1]] * 40, np.int8)
    tallied = [statistics.tally(0, 1, winner)]
    wins = statistics.counted_wins(tallied, 2)
    assert wins[0, 1] == wins[1, 0] == 40
    assert statistics.bradley_terry(wins) == pytest.approx([0, 0])
    rng = np.random.default_rng(0)
    assert statistics.counted_wins(tallied, 2, rng) == pytest.approx(wins)


def test_nash_average_known_answers() -> None:
    assert statistics.nash_average(ROCK_PAPER_SCISSORS) == pytest.approx([1 / 3] * 3, abs=1e-4)
    ladder = np.array([[0.0, 1, 2], [-1, 0, 1], [-2, -1, 0]])
    assert statistics.nash_average(ladder) == pytest.approx([1, 0, 0], abs=1e-4)
    # a second rock takes half of rock's share and nothing of the others'
    copied = ROCK_PAPER_SCISSORS[np.ix_([0, 0, 1, 2], [0, 0, 1, 2])]
    assert statistics.nash_average(copied) == pytest.approx([1 / 6, 1 / 6, 1 / 3, 1 / 3], abs=1e-3)


def test_cyclicity_known_answers() -> None:
    assert statistics.cyclicity(ROCK_PAPER_SCISSORS) == pytest.approx(1)
    strength = np.array([3.0, 1, 0.5, -2])
    assert statistics.cyclicity(strength[:, None] - strength) == pytest.approx(0, abs=1e-12)
    assert statistics.cyclicity(np.zeros((3, 3))) == 0


def test_log_odds_are_antisymmetric_and_finite() -> None:
    odds = statistics.log_odds(np.array([[0, 30, 5], [10, 0, 0], [5, 0, 0]]))
    assert odds == pytest.approx(-odds.T)
    assert odds[0, 1] == pytest.approx(np.log(30.5 / 10.5))
