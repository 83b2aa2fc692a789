"""The arena: paired deals, intervals with known answers, the command line, camper's check figures."""

from __future__ import annotations

import dataclasses
import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("choix")

from okgin_env import Rules, players
from okgin_env.arena.deals import Tables
from okgin_env.arena.decks import Decks, deal_streams
from okgin_env.arena.match import play, play_deals
from okgin_env.arena.outcome import Pair
from okgin_env.arena.report.tables import as_text, table, write_json
from okgin_env.arena.statistics import bradley_terry, clustered_mean
from okgin_env.arena.summary import ratings, speeds, summary
from okgin_env.cli import evaluate
from okgin_env.layout import UNDERCUT
from tests.helpers.bots import Outside, shown_as_it_is
from tests.helpers.paths import ROOT

NAMES = ("first", "second", "third", "fourth")


def summarised(a, b, rules: Rules, n_deals: int, seed: int, n_matches: int = 0) -> dict:
    """The summary of two players on some deals."""
    hands = play_deals(a, b, rules, seed, 0, n_deals)
    matches = play(a, b, rules, n_matches, seed, matches=True) if n_matches else None
    pair = Pair(hands.results, matches, hands.knocks, hands.shown)
    return summary(pair, speeds([pair], [a, b], rules))


def test_same_player_on_paired_deals_is_exactly_even() -> None:
    """A deterministic player against itself: what one rotation gives the other takes."""
    knocker = players.make("knocker")
    results = play(knocker, knocker, Rules.preset("classic"), 300, seed=3)
    assert results.points.shape == (300, 2)
    assert np.array_equal(results.points[:, 0], -results.points[:, 1])
    assert clustered_mean(results.points)[0] == 0


@pytest.mark.parametrize(("rules", "seats"), [("classic", 2), ("french", 3), ("french", 4)])
def test_outside_player_plays_the_same_hands_as_in_the_kernel(
    rules: str, seats: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It chooses between equal cards by their suits, so it is shown them as they are, like one of the package's own."""
    shown_as_it_is(Outside, monkeypatch)
    table_rules = Rules.preset(rules, seats)
    a, b = players.make("knocker"), players.make("knocker")
    inside = play(a, b, table_rules, 60, seed=1)
    outside = play(Outside("knocker"), b, table_rules, 60, seed=1)
    assert np.array_equal(inside.points, outside.points)
    assert np.array_equal(inside.ending, outside.ending)
    matches = [play(p, b, table_rules, 5, seed=1, matches=True) for p in (a, Outside("knocker"))]
    assert np.array_equal(matches[0].points, matches[1].points)
    assert np.array_equal(matches[0].winner, matches[1].winner)


def test_same_seed_same_results_and_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = players.make("novice"), players.make("random")
    whole = play(a, b, Rules.preset("gin"), 50, seed=9)
    monkeypatch.setattr("okgin_env.arena.match.CHUNK", 7)
    again = play(a, b, Rules.preset("gin"), 50, seed=9)
    assert np.array_equal(whole.points, again.points)
    other = play(a, b, Rules.preset("gin"), 50, seed=10)
    assert not np.array_equal(whole.points, other.points)


@pytest.mark.parametrize("seed", [0, 7, 1 << 90])
@pytest.mark.parametrize("first", [0, 1, 1234, 1 << 40])
def test_streams_of_deals_are_numpys_words(seed: int, first: int) -> None:
    """Making all the words before them took a second for a million deals, again and again."""
    made = deal_streams(seed, first, 77)
    if first < 1 << 20:
        words = np.random.SeedSequence(seed).generate_state(first + 77, np.uint64)
        assert made.dtype == words.dtype
        assert (made == words[first:]).all()
    assert (made[40:] == deal_streams(seed, first + 40, 37)).all()


def test_illegal_player_loses_its_hands_and_is_counted() -> None:
    class Cheat(players.Bot):
        def choose(self, view, rng):
            return 107  # big gin, which these rules do not have

    found = summarised(Cheat(), players.make("simple"), Rules.preset("classic"), 20, 0)
    assert found["illegal"] == 40
    assert found["faults"] == {"Cheat": {"illegal": 40}, "simple": {}}
    assert found["by_a"]["illegal"] == 1.0
    assert found["points_per_hand"] == -100
    assert found["hand_win_rate"] == 0


def test_interval_is_clustered_by_deal() -> None:
    """Known answer: two perfectly dependent columns carry the information of one."""
    column = np.random.default_rng(0).normal(size=(400, 1))
    mean, low, high = clustered_mean(column)
    both = clustered_mean(np.repeat(column, 2, axis=1))
    assert both == pytest.approx((mean, low, high))
    half_width = 1.9659 * column.std(ddof=1) / 20  # Student's t with 399 degrees of freedom
    assert high - mean == pytest.approx(half_width, rel=1e-3)
    weights = np.zeros((400, 1))
    weights[:100] = 1
    assert clustered_mean(column, weights)[0] == pytest.approx(column[:100].mean())


def test_interval_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(400):
        values = rng.normal(size=(60, 1)) + rng.normal(size=(60, 2))
        _, low, high = clustered_mean(values)
        hits += low <= 0 <= high
    assert 0.92 < hits / 400 < 0.98


def test_checks_flag_one_in_a_thousand() -> None:
    from okgin_env.arena.summary import _check

    assert _check("", "", 0.30, 0.04, 0.56)["ok"]  # outside of 95 %, as one check in twenty is
    assert not _check("", "", 0.50, 0.24, 0.76)["ok"]
    assert _check("", "", 0.0, 0.0, 0.0)["ok"]
    assert not _check("", "", 0.1, 0.1, 0.1)["ok"]


def test_bradley_terry_known_answer() -> None:
    """Three wins of four are odds of 3: 190.8 points on the Elo scale."""
    elo = bradley_terry(np.array([[0, 300], [100, 0]]))
    assert elo[0] - elo[1] == pytest.approx(190.8, abs=0.5)


def test_camper_check_figures() -> None:
    """Known figures: against simple under eaai +6.0 ± 0.3 points a hand, 44.6 % of decided hands, 78 % of matches."""
    camper, simple = players.make("camper"), players.make("simple")
    eaai = Rules.preset("eaai")
    found = summarised(camper, simple, eaai, 5000, 1, n_matches=500)
    assert found["points_per_hand"] == pytest.approx(6.0, abs=0.8)
    assert found["hand_win_rate"] == pytest.approx(0.446, abs=0.02)
    assert found["match_win_rate"] == pytest.approx(0.78, abs=0.05)
    shares = {**{f"a {k}": v for k, v in found["by_a"].items()}, **found["by_b"]}
    published = {"a knock": 1667, "a undercut": 5471, "a gin": 1751, "knock": 10634, "gin": 406}
    for name, count in published.items():
        assert shares[name] == pytest.approx(count / 20000, abs=0.02), name


def test_camper_against_itself() -> None:
    """Known figures: 77 % gins, 18 % knocks, 5 % void."""
    camper = players.make("camper")
    results = play(camper, camper, Rules.preset("eaai"), 3000, seed=2)
    shares = np.bincount(results.ending.ravel(), minlength=7) / results.ending.size
    assert shares[2] == pytest.approx(0.77, abs=0.03)
    assert shares[1] + shares[4] == pytest.approx(0.18, abs=0.03)
    assert shares[5] == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize("seats", [3, 4])
def test_an_undercut_is_the_undercutters_even_where_the_knocker_scores_most(seats: int) -> None:
    pytest.importorskip("jinja2")
    from okgin_env.arena.report.hands import shown_hand

    pair = (players.make("simple"), players.make("camper"))
    rules = Rules.preset("french", seats)
    tables = Tables(pair, rules, Decks(0).chance(rules, "", 0, 300), matches=False)
    tables.play()
    results, n_knockers_won, n_shown = tables.played().results, 0, 0
    for g, state in enumerate(tables.states):
        if state["ending"] != UNDERCUT:
            continue
        points, knocker = state["points"].tolist(), int(state["knocker"])
        others = [(knocker + k) % seats for k in range(1, seats)]
        by = max(others, key=points.__getitem__)
        assert points[by] > 0
        assert results.ended_by.flat[g] == tables.who[g, by]
        if state["hand_winner"] == knocker:
            n_knockers_won += 1
        if n_shown < 20 or points[knocker] == points[by]:
            n_shown += 1
            shown = shown_hand(1, dataclasses.replace(tables._history(g), names=NAMES[:seats]))
            assert (shown.by, shown.winner) == (NAMES[by], NAMES[int(state["hand_winner"])])
    assert n_knockers_won > 5


def test_json_and_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "deep" / "result.json"
    assert (
        evaluate.main(["simple", "knocker", "novice", "--hands", "400", "--json", str(path)]) == 0
    )
    printed = capsys.readouterr().out
    content = json.loads(path.read_text())
    assert {"rules", "seed", "pairs", "ratings", "checks", "nash", "results"} <= set(content)
    assert [(p["a"], p["b"]) for p in content["pairs"]] == [
        ("simple", "knocker"),
        ("simple", "novice"),
        ("knocker", "novice"),
    ]
    wanted = {"a", "b", "hands", "points_per_hand", "ci95", "hand_win_rate", "turns_per_hand"}
    wanted |= {"matches", "match_win_rate", "match_ci95", "illegal", "ms_per_decision"}
    wanted |= {"knock", "gin", "undercut", "void"}
    for pair in content["pairs"]:
        assert wanted <= set(pair)
        assert pair["ci95"][0] <= pair["points_per_hand"] <= pair["ci95"][1]
        assert pair["knock"] + pair["gin"] + pair["undercut"] + pair["void"] == pytest.approx(1)
    assert printed.count("\n| ") == 4  # a heading and three pairs
    assert next(r["elo"] for r in content["ratings"] if r["player"] == "simple") == 0
    assert not list(tmp_path.rglob(".result*"))


def test_single_hand_rules_have_no_matches() -> None:
    simple, random, rules = (
        players.make("simple"),
        players.make("random"),
        Rules.preset("openspiel"),
    )
    found = summarised(simple, random, rules, 5, 0)
    assert found["matches"] == 0
    assert "| - |" in table([found])
    hands = play_deals(simple, random, rules, 0, 0, 5)
    rated = ratings([Pair(hands.results, None, hands.knocks)])
    assert rated[0]["player"] == "simple"
    with pytest.raises(ValueError, match="rules with a target"):
        play(
            players.make("simple"),
            players.make("simple"),
            Rules.preset("openspiel"),
            5,
            0,
            matches=True,
        )


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["simple"], "one player; allowed: two or more"),
        (["simple", "nobody"], "player 'nobody'; allowed: random, novice"),
        (["simple", "lost.zip"], "model file 'lost.zip' does not exist"),
        (["simple", "README.md:Bot"], "player 'README.md:Bot' cannot be made"),
        (["simple", "random", "--rules", "poker"], "preset 'poker'; allowed: classic"),
        (["simple", "random", "--seats", "9"], "players=9; allowed: 2 to 4"),
        (["simple", "random", "--hands", "0"], "hands=0; allowed"),
        (["simple", "random", "--matches", "-5"], "matches=-5; allowed: 0 or more"),
        (["simple", "random", "--rules", "openspiel", "--matches", "9"], "openspiel has single"),
        (["simple", "random", "--seed", "-1"], "seed=-1; allowed: 0 or more"),
        (["simple", "random", "--json", "/proc/x/y.json"], "/proc/x"),
        (["simple", "random", "--json", "tests"], "'tests'; allowed: a file"),
        (["simple", "random", "--until", "0"], "until=0.0; allowed: above 0"),
        (["simple", "random", "--workers", "0"], "workers=0; allowed: 1 or more"),
        (["simple", "random", "--address", "here:1"], "address='here:1'; allowed: with engine ray"),
        (
            ["simple", "random", "--store", "new.sqlite", "--json", "./new.sqlite"],
            "--json new.sqlite; allowed: another file than --store",
        ),
        (["simple", "random", "--engine", "slurm"], "engine 'slurm'; allowed: local, ray"),
        (["simple", "random", "--store", "README.md"], "results file 'README.md'"),
        (["simple", "random", "--merge", "a.sqlite"], "--merge; allowed: with --store"),
        (["simple", "random", "--rules", "classic(gin=2)"], "field 'gin'; allowed: players"),
        (
            ["simple", "simple", "random"],
            "players simple, simple, random; allowed: different names",
        ),
    ],
)
def test_bad_arguments_are_one_line(
    args: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert evaluate.main(args) == 2
    complaint = capsys.readouterr().err
    assert said in complaint
    assert len(complaint.strip().splitlines()) == 1


def test_bars_in_names_do_not_end_cells() -> None:
    found = summarised(Outside("knocker"), players.make("simple"), Rules.preset("classic"), 4, 0)
    found |= {"a": "a|b", "ms_per_decision": {"a|b": 0.0}}
    assert "| a\\|b | simple |" in table([found])


def test_single_deal_rates_nobody() -> None:
    hands = play_deals(
        players.make("simple"), players.make("random"), Rules.preset("classic"), 0, 0, 1
    )
    for rated in ratings([Pair(hands.results, None, hands.knocks)]):
        if rated["player"] == "simple":
            assert (rated["elo"], rated["note"]) == (0, "fixed")
        else:
            assert (rated["low"], rated["high"]) == (-np.inf, np.inf)


def test_a_player_against_itself_has_no_rating_of_width_nothing() -> None:
    knocker = players.make("knocker")
    played = play_deals(knocker, knocker, Rules.preset("classic"), 0, 0, 20)
    [rated] = ratings([Pair(played.results, None, played.knocks)])
    assert (rated["elo"], rated["low"], rated["high"]) == (0, -np.inf, np.inf)


def test_who_won_everything_is_rated_at_least(tmp_path: Path) -> None:
    """One end, in JSON and in words; the anchor has none."""
    rules, names = Rules.preset("classic"), ("simple", "random", "knocker")
    pairs = []
    for a, b in combinations(map(players.make, names), 2):
        played = play_deals(a, b, rules, 0, 0, 100)
        matches = played.results
        if "random" in (a.name, b.name):  # as matches are: the other wins them all
            won = np.full_like(matches.winner, a.name == "random")
            matches = dataclasses.replace(matches, winner=won)
        pairs.append(Pair(played.results, matches, played.knocks))
    rated = {entry["player"]: entry for entry in ratings(pairs)}
    assert rated["random"]["note"] == "lost everything"
    assert rated["random"]["low"] == -np.inf
    exact = -400 * np.log10(1 / (1 - 0.025 ** (1 / 200)) - 1)
    assert rated["random"]["elo"] < rated["random"]["high"] == pytest.approx(exact, abs=120)
    assert rated["knocker"]["low"] < rated["knocker"]["elo"] < rated["knocker"]["high"]
    content = {"rules": rules.label, "seed": 0, "ratings": list(rated.values())}
    content["pairs"] = [summary(p, dict.fromkeys(names, 0.0), rules.most_points) for p in pairs]
    for entry in content["pairs"]:
        entry["p_holm"] = entry["p_points"]
    write_json(tmp_path / "a.json", content)
    stored = {e["player"]: e for e in json.loads((tmp_path / "a.json").read_text())["ratings"]}
    assert stored["random"]["low"] is None is stored["simple"]["low"]
    said = as_text(content)
    assert "simple 0 (fixed)" in said
    assert f"random at most {rated['random']['high']:+.0f} (lost everything)" in said
    assert "| 100.0 % (96.4 % to 100.0 %) |" in said
    assert "| 0.0 % (0.0 % to 3.6 %) |" in said


def test_broken_model_files_are_one_line(tmp_path: Path) -> None:
    for name in ("a.zip", "b.safetensors"):
        (tmp_path / name).write_bytes(b"not a model" * 100)
        with pytest.raises(ValueError, match=name) as caught:
            players.make(str(tmp_path / name))
        assert "\n" not in str(caught.value)
