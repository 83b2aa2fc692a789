"""Means with the luck taken out: the same expectation, the same digits from anywhere, kept and shown beside the raw ones."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rich")
pytest.importorskip("statsmodels")

from okgin_env import Rules, players
from okgin_env.arena import luck, statistics, summary
from okgin_env.arena.double import Double
from okgin_env.arena.luck import Gauge, Luck
from okgin_env.arena.match import play_deals
from okgin_env.arena.plan import Plan
from okgin_env.arena.replay import replay
from okgin_env.arena.report import tables
from okgin_env.arena.store.store import Store
from okgin_env.arena.tournament import run
from tests.arena.test_tournament import Outside, plan, tournament, untimed

CLASSIC = Rules.preset("classic")


def synthetic(rng: np.random.Generator, n_deals: int, mean: float) -> tuple[np.ndarray, Luck]:
    """Points and columns of mean zero, of which a third have nothing to do with the points, and all have heavy tails."""
    columns = rng.standard_t(4, (n_deals, 2, 12)).astype(np.float32)
    weights = np.where(np.arange(12) % 3, 1.0, 0.0)
    points = mean + columns @ weights + rng.standard_t(4, (n_deals, 2))
    return points, Luck("fast 0123456789abcdef", 2, columns, points.size)


@pytest.mark.parametrize("n_deals", [10, 40, 300])
def test_means_stay_where_they_are_whatever_is_fitted(n_deals: int) -> None:
    rng = np.random.default_rng(n_deals)
    means = [luck.adjusted(*synthetic(rng, n_deals, 3.0)).mean() for _ in range(400)]
    assert abs(np.mean(means) - 3.0) < 4 * np.std(means) / 20


def test_intervals_cover_and_are_narrower() -> None:
    rng = np.random.default_rng(1)
    n_covered, factors = 0, []
    for _ in range(400):
        points, found = synthetic(rng, 200, 3.0)
        rest = luck.adjusted(points, found)
        _, low, high = statistics.clustered_mean(rest)
        n_covered += low <= 3.0 <= high
        factors.append(points.mean(axis=1).var() / rest.mean(axis=1).var())
    assert 365 <= n_covered <= 393  # 380 are expected
    assert np.mean(factors) > 3


def test_nothing_known_takes_nothing_off() -> None:
    rng = np.random.default_rng(2)
    points, found = synthetic(rng, 30, 0.0)
    assert luck.adjusted(points, None) is points
    none = dataclasses.replace(found, columns=np.zeros_like(found.columns))
    np.testing.assert_array_equal(luck.adjusted(points, none), points)


def test_of_two_ways_to_measure_the_one_with_most_deals_counts() -> None:
    rng = np.random.default_rng(3)
    _, few = synthetic(rng, 4, 0.0)
    _, many = synthetic(rng, 6, 0.0)
    other = dataclasses.replace(few, how="deep 0123456789abcdef")
    found = luck.joined([(4, other), (6, many), (5, None)], 2)
    assert found is not None
    assert (found.how, found.hands, found.columns.shape) == (many.how, 12, (15, 2, 12))
    assert not found.columns[:4].any()
    assert not found.columns[10:].any()
    assert luck.joined([(5, None)], 2) is None


@pytest.mark.parametrize("names", [("camper", "simple"), ("camper", "knocker")])
def test_fast_luck_explains_a_third_of_the_variance(names: tuple[str, str]) -> None:
    a, b = (players.make(name) for name in names)
    played = play_deals(a, b, CLASSIC, 5, 0, 1000, gauge=Gauge("fast", 1))
    assert summary.luck_part(played.results, CLASSIC.most_points)["luck"]["factor"] > 1.4


def test_deep_luck_explains_two_thirds() -> None:
    a, b = players.make("camper"), players.make("knocker")
    played = play_deals(a, b, CLASSIC, 5, 0, 150, gauge=Gauge("deep", 8))
    assert summary.luck_part(played.results, CLASSIC.most_points)["luck"]["factor"] > 3


def test_equal_players_are_told_apart_as_often_as_they_may() -> None:
    """A player against its double, 60 seeds: 3 are expected beyond 95 %."""
    simple = players.make("simple")
    flagged = 0
    for seed in range(60):
        played = play_deals(simple, Double(simple), CLASSIC, seed, 0, 100, gauge=Gauge("fast", 1))
        rest = luck.adjusted(played.results.points, played.results.luck)
        flagged += statistics.no_difference(rest) < 0.05
    assert flagged <= 9  # P = 0.001


def test_the_same_digits_from_workers_and_from_a_store(tmp_path: Path) -> None:
    names = ("camper", "simple")
    whole = untimed(tournament(names, luck="fast", n_hands=600).content)
    assert whole["pairs"][0]["luck"]["tier"] == "fast"
    assert whole == untimed(tournament(names, luck="fast", n_hands=600, workers=2).content)
    store = Store(tmp_path / "r.sqlite", CLASSIC)
    tournament(names, store, luck="fast", n_hands=200)
    store.close()
    resumed = tournament(names, Store(tmp_path / "r.sqlite"), luck="fast", n_hands=600)
    assert untimed(resumed.content) == whole
    merged = Store(tmp_path / "m.sqlite", CLASSIC)
    merged.merge(Store(tmp_path / "r.sqlite"))
    assert untimed(tournament(names, merged, luck="none", n_hands=600).content) == whole
    raw = untimed(tournament(names, n_hands=600).content)
    assert raw["results"] == whole["results"]  # the digest is of raw results
    assert {**whole["pairs"][0], "luck": None} == {**raw["pairs"][0], "luck": None}


def test_a_damaged_measure_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path / "r.sqlite", CLASSIC)
    tournament(("camper", "simple"), store, luck="fast", n_hands=40, n_matches=0, check=False)
    for field, value in (
        ("how", "'fast x'"), ("columns", "7"), ("values", "0"), ("seconds", "'a'"), ("seconds", "1.0"), ("how", "NULL"),
    ):  # fmt: skip
        store._db.execute("BEGIN")
        store._db.execute(f"UPDATE played SET luck_{field} = {value}")
        with pytest.raises(ValueError, match=r"'camper' against 'simple'.* is damaged"):
            store.get(store.tasks()[0])
        store._db.execute("ROLLBACK")
    store.get(store.tasks()[0])


def test_made_up_luck_is_found_by_playing_again(tmp_path: Path) -> None:
    """Columns without mean zero would shift the mean, whatever the digest of their row says."""
    for shift in (0.0, 1.0):
        store = Store(tmp_path / f"{shift}.sqlite", CLASSIC)
        names = ("camper", "simple")
        tournament(names, store, luck="fast", n_hands=40, n_matches=0, check=False)
        task = store.tasks()[0]
        played = store.get(task)
        assert played.results.luck is not None
        luck = dataclasses.replace(played.results.luck, columns=played.results.luck.columns + shift)
        store.drop(task)
        results = dataclasses.replace(played.results, luck=luck)
        store.add(task, dataclasses.replace(played, results=results))
        if shift:
            with pytest.raises(ValueError, match="come out otherwise"):
                replay(store, 1)
        else:
            assert replay(store, 1) == 1


def test_who_is_asked_from_outside_gets_it_by_default() -> None:
    entries = tournament(("simple", "knocker", Outside()), n_hands=40, n_matches=0).content["pairs"]
    assert [entry["b"] for entry in entries if "luck" in entry] == ["outside", "outside"]
    text = tables.table(entries)
    assert "without luck (95 %)" in text
    off = tournament(("simple", Outside()), n_hands=40, n_matches=0, luck="none").content["pairs"]
    assert "luck" not in off[0]
    assert "without luck" not in tables.table(off)


def test_until_looks_at_the_narrower_interval() -> None:
    names = ("camper", "simple")
    wide = {"n_hands": 20_000, "n_matches": 0, "until": 2.0, "check": False}
    hands = [tournament(names, luck=tier, **wide).content["pairs"][0] for tier in ("none", "fast")]
    assert hands[1]["hands"] < hands[0]["hands"]
    low, high = hands[1]["luck"]["ci95"]
    assert high - low <= 2.0


@pytest.mark.parametrize("change", [{"luck": "some"}, {"playouts": 0}])
def test_a_plan_refuses_what_is_not_allowed(change: dict) -> None:
    with pytest.raises(ValueError, match="allowed"):
        plan(**change)
    assert Plan().luck is None


def test_three_seats_and_forfeits() -> None:
    """Any rules, any ending."""
    seated = [Outside(), players.make("simple")]
    found = run(
        seated,
        plan(rules="french", seats=3, n_hands=60, n_matches=0, check=False),
        show_progress=False,
    )
    assert np.isfinite(found.content["pairs"][0]["luck"]["points_per_hand"])
