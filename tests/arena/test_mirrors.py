"""Mirrored games of a deal: played by separate lives, in an order drawn by lot, with suits by other names; and who remembers is flagged."""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rich")
pytest.importorskip("statsmodels")

from okgin_env import Rules, cards, players
from okgin_env.arena import summary
from okgin_env.arena.decks import Decks
from okgin_env.arena.double import Double
from okgin_env.arena.lives import keeps_nothing
from okgin_env.arena.match import play, play_deals, series
from okgin_env.arena.plan import Plan
from okgin_env.arena.statistics import no_difference
from okgin_env.arena.suits import at_the_table, rename_records, renamed
from okgin_env.arena.tournament import run
from okgin_env.engine.decisions import ask
from okgin_env.engine.games import Games
from okgin_env.kernel.batch import NOBODY
from okgin_env.kernel.policies import EXTERNAL
from okgin_env.layout import N_ACTIONS
from okgin_env.players import Decisions, Player
from okgin_env.players.subprocess.player import ProcessPlayer
from okgin_env.view import SeatView
from tests.helpers import cheats
from tests.helpers.bots import Outside

CLASSIC = Rules.preset("classic")
SPADES = Rules.from_label("classic(spades_double=True)")


class Witness(Outside):
    """Keeps what all its lives are shown, with the number of the life."""

    one_by_one = False
    shown: list[tuple[int, str, Decisions | SeatView]] = []  # noqa: RUF012

    def __init__(self, inner: str = "knocker") -> None:
        super().__init__(inner)
        self.shown.clear()

    def act(self, decisions: Decisions) -> np.ndarray:
        self.shown.append((id(self), "asked", decisions))
        return super().act(decisions)

    def hand_over(self, view: SeatView) -> None:
        self.shown.append((id(self), "over", view))


class OneByOne(Witness):
    one_by_one = True


@pytest.mark.parametrize("rules", [CLASSIC, Rules.preset("french", 4), SPADES])
@pytest.mark.parametrize("episode", ["hand", "match"])
def test_what_is_shown_is_what_a_table_with_those_cards_shows(rules: Rules, episode: str) -> None:
    """Whole records under other suits are games of their own; what they show is the same as what is renamed later."""
    games, every = Games(60, rules, no_learner=NOBODY, episode=episode), np.arange(60)
    games.policies[:] = EXTERNAL
    games.seed(every, np.arange(60, dtype=np.uint64))
    games.reset(every)
    suits = Decks(5).chance(rules, "", 0, 60).suits[:, 0]
    rng, phases = np.random.default_rng(1), Counter()
    for _ in range(40):
        going = every[~games.over(every)]
        if not len(going):
            break
        seats = games.states["seat"][going].astype(np.int64)
        other = games.states.copy()
        rename_records(other, suits)
        again = ask(other, going, rules, games.rules_record, seats, games.episode)
        decisions = games.decisions(going)
        shown = renamed(decisions, suits[going])
        for name in ("records", "observations", "masks", "words"):
            assert np.array_equal(getattr(shown, name), getattr(again, name)), name
        phases.update(decisions.records["phase"].tolist())
        actions = np.zeros(60, np.int64)
        answers = np.array([rng.choice(np.flatnonzero(mask)) for mask in shown.masks])
        actions[going] = at_the_table(answers, suits[going])
        assert decisions.masks[np.arange(len(going)), actions[going]].all()
        games.step(actions, going, False)
    assert set(phases) == {0, 1, 2}


def test_answers_that_are_no_actions_stay_none() -> None:
    suits = np.tile(np.array([1, 0, 3, 2], np.int8), (5, 1))
    answers = np.array([-1, N_ACTIONS, 1 << 40, 104, 0])
    assert at_the_table(answers, suits).tolist() == [-1, N_ACTIONS, 1 << 40, 104, 13]
    everything = np.arange(N_ACTIONS)
    back = at_the_table(everything, np.repeat(suits[:1], N_ACTIONS, 0))
    assert sorted(back.tolist()) == everything.tolist()


def test_suits_have_other_names_but_spades_where_they_count_double() -> None:
    made = Decks(0).chance(CLASSIC, "", 0, 500)
    assert len({tuple(row) for row in made.suits.reshape(-1, 4).tolist()}) == 24
    kept = Decks(0).chance(SPADES, "", 0, 500).suits
    assert (kept[:, :, 0] == 0).all()
    assert len({tuple(row) for row in kept.reshape(-1, 4).tolist()}) == 6


def test_only_the_packages_own_keep_nothing() -> None:
    class Claims(players.ScriptedPlayer):
        keeps_nothing = True

    for spec in ("camper", "expert", "search:8"):
        assert keeps_nothing(players.make(spec))
    assert keeps_nothing(Double(players.make("camper")))
    assert not keeps_nothing(Claims("camper"))
    assert not keeps_nothing(Double(Claims("camper")))
    assert not keeps_nothing(Outside("camper"))


@pytest.mark.parametrize("kind", [Witness, OneByOne])
@pytest.mark.parametrize("seats", [2, 3])
def test_a_life_plays_each_deal_once(kind: type[Witness], seats: int) -> None:
    rules = CLASSIC if seats == 2 else Rules.preset("french", 3)
    results = play_deals(players.make("simple"), kind(), rules, 0, 0, 12).results
    assert results.points.shape == (12, seats)
    lives: dict[int, int] = {}
    for life, what, shown in Witness.shown:
        if what == "asked":
            assert isinstance(shown, Decisions)
            n_first = int((shown.records["n_acts"][np.arange(len(shown)), shown.seats] == 0).sum())
            lives[life] = lives.get(life, 0) + n_first
            assert len(shown) <= 12
    assert len(lives) == seats * (seats - 1)  # one for each seat of each of a deal's games
    assert max(lives.values()) <= 12


def test_ends_are_shown_once_a_deal_will_not_come_again() -> None:
    play_deals(OneByOne(), players.make("simple"), CLASSIC, 0, 0, 6)
    order = [(life, what) for life, what, _ in Witness.shown]
    first, second = dict.fromkeys(life for life, _ in order)
    lives = [life for life, what in order if what == "over"]
    assert lives == [first, second] * 6
    places = [k for k, (_, what) in enumerate(order) if what == "over"]
    for before, after in zip(places[::2], places[1::2], strict=True):
        assert after == before + 1  # both hands of a deal have ended
    for life in (first, second):
        hands = [what for other, what in order if other == life]
        assert hands.count("over") == 6


def test_matches_show_their_hands_as_they_end() -> None:
    results = play_deals(OneByOne(), players.make("simple"), CLASSIC, 0, 0, 2, matches=True).results
    ends = [life for life, what, _ in Witness.shown if what == "over"]
    assert len(ends) == results.hands.sum()
    assert len(set(ends)) == 2
    counts = Counter(ends)
    order = Decks(0).chance(CLASSIC, "", 0, 2).order
    played = np.take_along_axis(results.hands, order, 1).sum(axis=0)
    assert [counts[life] for life in dict.fromkeys(ends)] == played.tolist()


def test_ends_have_the_suits_that_the_hand_had() -> None:
    play_deals(OneByOne(), players.make("simple"), CLASSIC, 0, 0, 8)
    asked: dict[int, Decisions] = {}
    for life, what, shown in Witness.shown:
        if what == "asked":
            assert isinstance(shown, Decisions)
            asked[life] = shown
        else:
            assert isinstance(shown, SeatView)
            if life in asked:
                last = asked.pop(life).view(0)
                assert shown.upcard == last.upcard
                assert len(set(shown.hands[shown.seat]) & set(last.hand)) >= 9
                assert sorted(cards.mask(hand).bit_count() for hand in shown.hands) == [10, 10]


def test_a_player_that_cannot_be_copied_is_one_line() -> None:
    class Locked(Outside):
        def __init__(self) -> None:
            super().__init__("knocker")
            self.lock = threading.Lock()

    with pytest.raises(ValueError, match=r"^player outside knocker cannot be copied: [^\n]*$"):
        play(Locked(), players.make("simple"), CLASSIC, 2, 0)
    with pytest.raises(ValueError, match="cannot be copied"):  # before anything is played
        run(["simple", "knocker", Locked()], Plan(n_hands=1 << 40), show_progress=False)


LOGS = """import json, os, sys
log = open(sys.argv[1], "a", buffering=1)
for line in sys.stdin:
    message = json.loads(line)
    kept = {k: message.get(k) for k in ("type", "number", "cards", "upcard", "hands")}
    log.write(json.dumps([os.getpid(), kept]) + chr(10))
    if message["type"] == "hello":
        print(json.dumps({"type": "hello"}), flush=True)
    elif message["type"] == "request":
        print(json.dumps({"type": "move", "id": message["id"], "move": message["legal"][0]}), flush=True)
"""


def test_a_programs_processes_see_each_deal_once_and_all_their_ends(tmp_path: Path) -> None:
    pytest.importorskip("psutil")
    script, log = tmp_path / "bot.py", tmp_path / "log"
    script.write_text(LOGS)
    bot = ProcessPlayer([sys.executable, "-S", str(script), str(log)], 30.0, 30.0)
    play_deals(bot, players.make("simple"), CLASSIC, 0, 0, 5)
    by_process: dict[int, list[dict]] = {}
    for line in log.read_text().splitlines():
        process, message = json.loads(line)
        by_process.setdefault(process, []).append(message)
    assert len(by_process) == 2
    for messages in by_process.values():
        kinds = [m["type"] for m in messages if m["type"] in ("hand", "end")]
        assert kinds == ["hand", "end"] * 5
        assert [m["number"] for m in messages if m["type"] == "hand"] == [1, 2, 3, 4, 5]


def _later(player: Player, decks: Decks, n_deals: int) -> tuple[np.ndarray, np.ndarray]:
    """Points, and in the order in which games were played."""
    points = play(player, players.make("simple"), CLASSIC, n_deals, decks).points
    of = series(player.name, "simple", False)
    order = decks.chance(CLASSIC, of, 0, n_deals).order
    return points, np.take_along_axis(points, order, axis=1)


def test_the_check_of_mirrors_flags_honest_players_as_seldom_as_it_says() -> None:
    """A hundred seeds, each at the 5 % level: over eleven are not to be expected (p = 0.004)."""
    found = 0
    for seed in range(100):
        _, points = _later(Outside("knocker"), Decks(seed), 30)
        found += no_difference(points[:, 1:] - points[:, :1]) < 0.05
    assert 0 < found <= 11


def test_who_knows_the_seed_gains_and_who_is_not_given_it_does_not() -> None:
    known, _ = _later(cheats.KnowsSeed(), Decks(0), 25)
    honest, _ = _later(cheats.Honest(), Decks(0), 25)
    assert known.mean() > honest.mean() + 15
    secret = Decks("5e" * 32)
    points, _ = _later(cheats.KnowsSeed(), secret, 25)
    assert points.mean() < known.mean() - 15


def test_who_remembers_in_one_life_plays_as_who_does_not() -> None:
    honest = play(cheats.Honest(), players.make("simple"), CLASSIC, 12, 3)
    remembers = play(cheats.Remembers(), players.make("simple"), CLASSIC, 12, 3)
    assert np.array_equal(honest.points, remembers.points)
    cheats.RemembersInClass.everything.clear()
    shares = play(cheats.RemembersInClass(), players.make("simple"), CLASSIC, 12, 3)
    assert not np.array_equal(honest.points, shares.points)  # else it would be no cheat


def test_who_knows_decks_that_come_again_is_flagged() -> None:
    cheats.KnowsAgain.met.clear()
    _, points = _later(cheats.KnowsAgain(), Decks(0), 40)
    found = summary.mirror_check("cheat", "simple", "hands", points, 135)
    assert not found["ok"]
    assert found["value"] > 10
    assert "cheat against simple" in found["name"]
    _, points = _later(cheats.Honest(), Decks(0), 40)
    assert summary.mirror_check("honest", "simple", "hands", points, 135)["ok"]
