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
    values = 1 + np.sqrt(2) * np.array([[-1.0], [0.0], [0.0], [1.0]])
    t = 1 / (values.std(ddof=1) / 2)
    assert t == pytest.approx(1.7320508)
    assert statistics.no_difference(values) == pytest.approx(0.181690, abs=1e-6)
    assert statistics.no_difference(np.zeros((4, 2))) == 1


@pytest.mark.parametrize("n_deals", [1, 2, 5, 40, 2000])
def test_no_p_value_below_what_a_sign_test_gives(n_deals: int) -> None:
    """Two forfeited deals say little, and thousands do not make a chance of nothing."""
    least = max(2 * 0.5**n_deals, statistics.LEAST_P)
    for values in (np.full((n_deals, 2), 3.0), np.linspace(3, 3.001, n_deals)[:, None]):
        assert statistics.no_difference(values) == min(1, least) > 0
        assert statistics.sign_test(values) == pytest.approx(min(1, least))
    even = np.concatenate([np.full((n_deals, 1), 3.0), np.zeros((1, 1))])
    assert statistics.no_difference(even) >= min(1, least)


def test_even_deals_of_four_seats_are_even() -> None:
    """Thirds of points do not add up to 0 in floating point; no statistic may take that for a difference."""
    points = np.random.default_rng(0).integers(0, 100, (300, 4))
    values = points - (points.sum(axis=1, keepdims=True) - points) / 3
    assert values.sum(axis=1).any()
    assert statistics.sign_test(values) == 1
    assert statistics.no_difference(values) == 1
    assert statistics.clustered_mean(values)[0] == 0


def test_deals_that_agree_leave_room_for_others() -> None:
    """Of 100 deals all lie at 5: one in forty times, 3.6 % of all deals lie elsewhere, at the worst at a bound."""
    others = 1 - 0.025 ** (1 / 100)
    assert others == pytest.approx(0.0362, abs=1e-4)
    mean, low, high = statistics.clustered_mean(np.full((100, 2), 5.0), most=125)
    assert (mean, low, high) == pytest.approx((5, 5 - 130 * others, 5 + 120 * others))
    assert statistics.clustered_mean(np.full((9, 2), -100.0), most=100)[1] == -100
    assert statistics.clustered_mean(np.zeros((9, 2)))[1:] == (-np.inf, np.inf)  # no bound is known
    assert statistics.clustered_mean(np.full((1, 2), 5.0), most=125)[2] == pytest.approx(122)


@pytest.mark.parametrize("most", [1.0, 100.0])
def test_agreeing_deals_do_not_hide_rare_others(most: float) -> None:
    """A deal in thirty is otherwise, as far away as can be; where none of 40 is, the interval still covers the mean."""
    rng, hits = np.random.default_rng(4), 0
    for _ in range(1000):
        values = np.where(rng.random((40, 1)) < 1 / 30, -most, 0.0)
        if not values.any():
            _, low, high = statistics.clustered_mean(values, most=most)
            hits += low <= -most / 30 <= high
        else:
            hits += 1
    assert hits == 1000


def games(rng: np.random.Generator, n_deals: int, share: float, kind: str) -> np.ndarray:
    """(D, 2) games won: those of a deal alike, independent, half of each, or as different as can be."""
    first = rng.random((n_deals, 2))
    second = {
        "alike": first[:, :1],
        "independent": first[:, 1:],
        "half": np.where(rng.random((n_deals, 1)) < 0.5, first[:, :1], first[:, 1:]),
        "opposed": 1 - first[:, :1],
    }[kind]
    return 1.0 * (np.hstack([first[:, :1], second]) < share)


@pytest.mark.parametrize("kind", ["alike", "independent", "half", "opposed"])
@pytest.mark.parametrize("n_matches", [4, 20, 200])
def test_share_covers_as_often_as_it_says(n_matches: int, kind: str) -> None:
    """At least 94 % (less the chance of 1,500 trials), at the edges, too; never of width 0."""
    for share in (0.5, 0.9, 0.99, 1.0, 0.01, 0.0):
        rng = np.random.default_rng(1)
        hits = 0
        for _ in range(1500):
            _, low, high = statistics.clustered_share(games(rng, n_matches // 2, share, kind))
            assert low < high
            hits += low - 1e-12 <= share <= high + 1e-12
        assert hits / 1500 >= 0.94 - 0.012, (share, hits)


def test_shares_known_answers() -> None:
    """Clopper and Pearson's limits of 5 successes in 5 and of 9 in 10."""
    assert statistics.clustered_share(np.ones((5, 2))) == pytest.approx((1, 0.4782, 1), abs=1e-4)
    nine = np.ones((10, 2))
    nine[0] = 0
    assert statistics.clustered_share(nine) == pytest.approx((0.9, 0.5550, 0.9975), abs=1e-4)
    many = np.repeat([[1.0, 0.0], [1.0, 1.0]], 100, axis=0)
    assert statistics.clustered_share(many) == statistics.clustered_mean(many)


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


def tallied(*shares: tuple[int, int, float], n_deals: int = 100) -> list[statistics.Tally]:
    """Pairs of which the first player won a share of the deals, both games of each."""
    return [
        statistics.tally(i, j, np.repeat([0, 1], [n := round(n_deals * share), n_deals - n])[:, None].repeat(2, 1).astype(np.int8))
        for i, j, share in shares
    ]  # fmt: skip


def test_who_won_everything_may_have_lost_some() -> None:
    """With 0 of 100 deals lost, 0.7 % is the middle of what is possible; over two opponents it is half as much."""
    wins = statistics.possible_wins(tallied((0, 1, 1.0)), 2)
    assert wins[1, 0] / wins.sum() == pytest.approx(1 - 0.5 ** (1 / 100))
    wins = statistics.possible_wins(tallied((0, 1, 1.0), (0, 2, 1.0), (1, 2, 0.5)), 3)
    assert wins[1, 0] / wins[0, 1] == pytest.approx(2 ** (1 / 200) - 1)
    assert wins[1, 2] == wins[2, 1] == 100
    even = tallied((0, 1, 0.5))
    assert (statistics.possible_wins(even, 2) == statistics.counted_wins(even, 2)).all()


def test_deals_that_are_all_alike_are_resampled_otherwise() -> None:
    """Each deal one win for each: nothing to resample, and yet other deals could be otherwise."""
    alike = [statistics.tally(0, 1, np.array([[0, 1]] * 50, np.int8))]
    rng = np.random.default_rng(0)
    wins = np.array([statistics.possible_wins(alike, 2, rng) for _ in range(400)])
    assert wins.sum(axis=(1, 2)) == pytest.approx(100)
    low, high = np.percentile(wins[:, 0, 1] / 100, [2.5, 97.5])
    assert low < 0.48
    assert high > 0.52


def test_ratings_have_no_end_where_no_game_bounds_them() -> None:
    def wins(*beats: tuple[int, int]) -> np.ndarray:
        table = np.zeros((3, 3))
        for winner, loser in beats:
            table[winner, loser] = 1
        return table

    chain, ring = wins((0, 1), (1, 2)), wins((0, 1), (1, 2), (2, 0))
    assert not statistics.unbounded(ring, None).any()
    assert statistics.unbounded(chain, 1).tolist() == [[False, False, True], [True, False, False]]
    assert statistics.unbounded(chain, None).tolist() == [[False, True, True], [True, True, False]]
    assert not statistics.unbounded(wins((0, 1), (1, 0), (0, 2), (2, 1)), 2).any()


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
