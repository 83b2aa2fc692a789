"""`search`: its worlds, its table of match chances, and what it does with them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from benchmarks.belief import gain, imagined, positions
from benchmarks.hand_results import results
from okgin_env import Rules, players
from okgin_env.cards import mask
from okgin_env.engine.games import Games
from okgin_env.kernel import batch, belief
from okgin_env.kernel.conceal import conserved
from okgin_env.kernel.melds import deadwood
from okgin_env.kernel.policies import POLICY_IDS
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import BIG_GIN, KNOCK, N_CARDS, OVER, PASS, SHED
from okgin_env.players.equity import NO_EQUITY, equity_table, hand_results, solve
from okgin_env.players.search import SearchPlayer
from okgin_env.positions import position

CLASSIC = Rules.preset("classic")


def decisions_of(rules: Rules, n_steps: int, n_games: int = 40, seed: int = 0):
    """A batch of `camper`'s decisions some steps into hands."""
    games = Games(n_games, rules, opponent="simple")
    everyone, camper = np.arange(n_games), players.make("camper")
    games.seed(everyone, np.arange(seed, seed + n_games, dtype=np.uint64))
    games.reset(everyone)
    for _ in range(n_steps):
        games.step(camper.act(games.decisions(everyone)), everyone, autoreset=True)
    return games.decisions(everyone), games


# --- imagined worlds ----------------------------------------------------------------------------------
@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("swaps", [0, belief.SWAPS])
def test_worlds_are_whole_games_that_look_the_same_from_the_seat(seats: int, swaps: int) -> None:
    rules = Rules.preset("french", seats)
    decisions, _ = decisions_of(rules, 7)
    record, worlds = as_records(rules.to_record()), new_states(20)
    words, again = np.arange(20, dtype=np.uint64), new_states(20)
    for k in range(10):
        view, seat = decisions.records[k], int(decisions.seats[k])
        for into in (worlds, again):
            belief.imagine_all(
                view, record[0], seat, words, belief.PULL, belief.REGRET, swaps, into
            )
        assert worlds.tobytes() == again.tobytes()
        for world in worlds:
            assert conserved(world, record[0])
            assert world["hands"][seat] == view["hands"][seat]
            for p in range(seats):
                assert world["hands"][p] & view["known"][p] == view["known"][p]
            for name in ("pile", "known", "discards", "declined", "log", "upcard", "scores"):
                assert np.array_equal(world[name], view[name])
        others = {int(world["hands"][(seat + 1) % seats]) for world in worlds}
        assert len(others) > 5


def test_worlds_come_as_often_as_stated() -> None:
    """Near the end of the stock all hands can be listed; enough swaps bring each as often as its weight says."""
    pull, regret, n = 0.2, 1.5, 20_000
    deck = [f"{rank}{suit}" for suit in "shdc" for rank in "A23456789TJQK"]
    own, hidden, stock, pile = deck[:10], deck[10:40:3], deck[11:20:3], set(deck)
    pile -= {*own, *hidden, *stock}
    games, one = Games(1, CLASSIC), np.zeros(1, np.int64)
    state = position(CLASSIC, hands=[own, hidden], pile=sorted(pile), stock=stock, seat=0)
    given_up = mask([card for card in sorted(pile) if card[0] in "7Q"])
    state["discards"][0, 1] = given_up
    games.reset(one, {"state": state})
    words, worlds = np.arange(n, dtype=np.uint64), new_states(n)
    belief.imagine_all(
        games.decisions(one).records[0], as_records(CLASSIC.to_record())[0], 0, words, np.array([pull]), regret, 600, worlds,
    )  # fmt: skip
    hands = [np.uint64(mask(cards)) for cards in combinations([*hidden, *stock], 10)]
    weights = np.exp([-belief._energy(hand, pull, regret, np.uint64(given_up)) for hand in hands])
    expected = n * weights / weights.sum()
    found = Counter(worlds["hands"][:, 1].tolist())
    seen = np.array([found[int(hand)] for hand in hands])
    assert seen.sum() == n
    often = expected > 20
    spread = (seen - expected)[often] / np.sqrt(expected[often])
    assert often.sum() > 30
    assert (spread**2).mean() < 1.5


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_worlds_are_whole_to_the_last_card_of_the_stock(seats: int) -> None:
    rules, n = Rules.preset("french", seats), 10
    record, world = as_records(rules.to_record()), new_states(1)
    games, everyone = Games(n, rules, opponent="random"), np.arange(n)
    games.seed(everyone, everyone.astype(np.uint64))
    games.reset(everyone)
    left = []
    for word in range(40):
        decisions, moves = games.decisions(everyone), np.zeros(n, np.int64)
        for k in everyone:
            legal, view = np.flatnonzero(decisions.masks[k]), decisions.records[k]
            moves[k] = legal[0] if legal[-1] != PASS else PASS  # draws from the stock, never knocks
            belief.imagine_all(
                view, record[0], 0, np.full(1, word, np.uint64), belief.PULL, belief.REGRET, 20, world
            )  # fmt: skip
            assert conserved(world[0], record[0])
            left.append(N_CARDS - int(view["next_card"]))
        games.step(moves, everyone, autoreset=True)
    assert min(left) <= 4


def test_developed_worlds_tell_more_than_uniform_ones() -> None:
    """On other hands than those the sampler was fitted to."""
    record, worlds = as_records(CLASSIC.to_record()), new_states(64)
    for opponent in ("camper", "simple"):
        gains, apart = [], []
        for view, true in positions(opponent, CLASSIC, 40, seed=99):
            n_hidden = 10 - int(view["known"][0, 1]).bit_count()
            hands = imagined(view, record, worlds, belief.SWAPS, belief.PULL, belief.REGRET)
            gains.append(gain(hands, true, view, n_hidden))
            uniform = imagined(view, record, worlds, 0, belief.PULL, belief.REGRET)
            truth = deadwood(np.uint64(true))
            near, far = (np.mean([deadwood(h) for h in hs]) - truth for hs in (hands, uniform))
            apart.append((abs(near), abs(far)))
        assert np.mean(gains) > 1.0
        near, far = np.mean(apart, axis=0)
        assert near < 0.6 * far


# --- chances to win the match -------------------------------------------------------------------------
def test_equity_known_answers() -> None:
    """Hands worth one point, equally often to either: two to go against one is won one time in four."""
    rules = dataclasses.replace(CLASSIC, target=3)
    for void in (0.0, 0.3):
        half = (1 - void) / 2
        table = solve(rules, np.array([[void / 2, half], [void / 2, half]]))
        assert table[2, 2] == pytest.approx([0.5, 0.5])
        assert table[1, 2] == pytest.approx([0.25, 0.25])
        assert table[0, 2] == pytest.approx([0.125, 0.125])
        assert table[0, 0] == pytest.approx([0.5, 0.5])
    # the dealer wins every hand and deals on: who deals wins, unless the deal alternates
    always = np.array([[0.0, 1.0], [0.0, 0.0]])
    assert solve(rules, always)[0, 0] == pytest.approx([0, 1])
    alternates = dataclasses.replace(rules, next_dealer="alternates")
    assert solve(alternates, always)[2, 2] == pytest.approx([0, 1])
    assert solve(alternates, always)[1, 2] == pytest.approx([0, 0])


@pytest.mark.parametrize("preset", ["classic", "french", "gin", "eaai"])
def test_equity_tables_are_fair_and_monotone(preset: str) -> None:
    table = equity_table(Rules.preset(preset))
    assert table.shape == (*(Rules.preset(preset).target,) * 2, 2)
    assert table[:, :, 0] + table[:, :, 1].T == pytest.approx(np.ones(table.shape[:2]))
    assert (np.diff(table, axis=0) >= -1e-9).all()
    assert (np.diff(table, axis=1) <= 1e-9).all()


@pytest.mark.parametrize("preset", ["classic", "eaai"])
@pytest.mark.parametrize("scores", [(0, 0), (60, 30), (20, 85)])
def test_equity_is_what_matches_come_to(preset: str, scores: tuple[int, int]) -> None:
    """`camper` against itself from a score, with other seeds than the table's."""
    rules, n = Rules.preset(preset), 1500
    tables, games = Games(n, rules, no_learner=batch.NOBODY, episode="match"), np.arange(n)
    tables.seed(games, np.arange(10_000, 10_000 + n, dtype=np.uint64))
    tables.reset(games)
    states = tables.states
    states["scores"][:, :2] = scores
    told = equity_table(rules)[(*scores, (states["dealer"] == 0).astype(int))]
    tables.policies[:] = POLICY_IDS["camper"]
    tables.step(np.full(n, batch.NO_ACTION), games, False)
    won = states["match_winner"] == 0
    assert (states["phase"] == OVER).all()
    assert won.mean() == pytest.approx(told.mean(), abs=3.5 * 0.5 / np.sqrt(n))


@pytest.mark.parametrize("preset", sorted(hand_results()))
def test_stored_hand_results_are_those_of_new_hands(preset: str) -> None:
    stored = np.array(hand_results()[preset])
    new = results(Rules.preset(preset), "camper", 20_000, seed=5)
    assert stored.sum() == pytest.approx(1, abs=1e-5)
    assert 2 * new[0, 0] == pytest.approx(2 * stored[0, 0], abs=0.01)
    for row in range(2):
        mean_stored, mean_new = (r[row] @ np.arange(r.shape[1]) for r in (stored, new))
        assert mean_new == pytest.approx(mean_stored, abs=0.5)


def test_rules_without_a_table_go_by_points() -> None:
    assert equity_table(Rules.preset("openspiel")) is NO_EQUITY
    assert equity_table(Rules.preset("french", 3)) is NO_EQUITY
    assert equity_table(dataclasses.replace(CLASSIC, gin_bonus=20)) is NO_EQUITY


# --- the player ---------------------------------------------------------------------------------------
def test_same_answer_on_any_number_of_threads() -> None:
    decisions, _ = decisions_of(CLASSIC, 5)
    one, two = (SearchPlayer(worlds=96, threads=n) for n in (1, 2))
    chosen = one.act(decisions)
    assert np.array_equal(chosen, two.act(decisions))
    assert (decisions.masks[np.arange(len(chosen)), chosen] == 1).all()
    assert not np.array_equal(chosen, players.make("camper").act(decisions))


def test_it_sees_only_what_its_seat_sees() -> None:
    """The truth behind a view is swapped: concealed, it is the same view, so the same worlds and the same move."""
    decisions, games = decisions_of(CLASSIC, 6)
    player = SearchPlayer(worlds=64)
    chosen = player.act(decisions)
    for g, s in enumerate(games.states):
        at = int(s["next_card"])
        hidden = int(s["hands"][1]) & ~int(s["known"][1])
        card, deep = (hidden & -hidden).bit_length() - 1, int(s["deck"][at + 1])
        games.states["hands"][g, 1] ^= np.uint64(1 << card | 1 << deep)
        games.states["deck"][g, at + 1] = card
    swapped = dataclasses.replace(games.decisions(np.arange(40)), words=decisions.words)
    assert np.array_equal(chosen, player.act(swapped))


def test_single_hands_go_by_points_and_matches_by_the_match() -> None:
    """At a score where one more hand decides, points and chances are told apart by their size."""
    found = {}
    for episode in ("hand", "match"):
        games, everyone = Games(20, CLASSIC, opponent="simple", episode=episode), np.arange(20)
        games.seed(everyone, everyone.astype(np.uint64))
        games.reset(everyone)
        decisions = games.decisions(everyone)
        moves = np.flatnonzero(decisions.masks[0])
        found[episode] = SearchPlayer(worlds=64).values(decisions, 0, moves)
    assert np.abs(found["hand"]).max() > 1
    assert found["match"].min() >= 0
    assert found["match"].max() <= 1


def test_gin_is_played_at_once() -> None:
    decisions, games = decisions_of(CLASSIC, 15, n_games=200)
    masks, n_gins = decisions.masks, 0
    for k in np.flatnonzero(
        (games.states["phase"] == SHED) & masks[:, KNOCK : KNOCK + 52].any(axis=1)
    ):
        view = decisions.view(k)
        gins = [a for a in view.legal if a >= KNOCK and view.deadwood_without(a - KNOCK) == 0]
        if gins:
            assert SearchPlayer(worlds=1).act(decisions[k : k + 1])[0] in gins
            n_gins += 1
    assert n_gins > 0


def test_positions_past_the_target_go_by_points() -> None:
    """Even scores there do not decide the match, and no table has them."""
    games, one = Games(1, CLASSIC, episode="match"), np.zeros(1, np.int64)
    games.seed(one, np.ones(1, np.uint64))
    games.reset(one)
    state = games.states.copy()
    state["scores"][0, :2], state["n_turns"] = 1_000_000, CLASSIC.max_turns - 1  # one turn to play
    games.reset(one, {"state": state})
    decisions = games.decisions(one)
    values = SearchPlayer(worlds=32).values(decisions, 0, np.flatnonzero(decisions.masks[0]))
    assert (values == np.round(values)).all()


def test_big_gin_is_played_at_once() -> None:
    rules = dataclasses.replace(CLASSIC, big_gin_bonus=31)
    hand = "As 2s 3s 4s 5c 6c 7c 8s 8d 8h 8c"
    given = {"hands": [hand, "2d 4d 7d 9d Jd Kd 3h 5h Th Qh"], "pile": "Qs Kc", "seat": 0}
    games, one = Games(1, rules), np.zeros(1, np.int64)
    games.reset(one, {"state": {**given, "phase": "discard"}})
    decisions = games.decisions(one)
    assert SearchPlayer(worlds=1).act(decisions) == BIG_GIN
    for word in range(20):  # of a base that may do anything
        asked = dataclasses.replace(decisions, words=np.full(1, word, np.uint64))
        assert SearchPlayer(worlds=1, base="random").act(asked) >= KNOCK


def test_milliseconds_end_it_early() -> None:
    decisions, _ = decisions_of(CLASSIC, 6)
    hurried = SearchPlayer(worlds=1 << 20, milliseconds=1.0)
    moves = np.flatnonzero(decisions.masks[0])[:2]
    assert len(hurried.values(decisions, 0, moves)) < 1 << 14


def test_spec() -> None:
    assert players.make("search") == SearchPlayer()
    made = players.make("search:64,theirs=knocker,gate=1,equity=False")
    assert made == SearchPlayer(worlds=64, theirs="knocker", gate=1.0, equity=False)
    assert players.make(made.name) == made


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("search:0", "worlds=0; allowed: 1 to"),
        ("search:many", "'many'; allowed: a value for worlds"),
        ("search:64,speed=3", "'speed=3'; allowed: each once: worlds"),
        ("search:64,worlds=3", "'worlds=3'; allowed: each once"),
        ("search:64,base=expert9", "base='expert9'; allowed: random, novice"),
        ("search:64,theirs=camper+", "theirs='camper+'; allowed: random, novice"),
        ("search:64,gate=-1", "gate=-1.0; allowed: 0 to 1000"),
        ("search:64,gate=inf", "gate=inf; allowed: 0 to 1000"),
        ("search:64,develop=nan", "develop=nan; allowed: 0 to 10"),
        ("search:64,milliseconds=0", "milliseconds=0.0; allowed: above 0"),
    ],
)
def test_bad_specs_are_one_line(spec: str, said: str) -> None:
    with pytest.raises(ValueError, match="search: ") as caught:
        players.make(spec)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seats", [2, 3])
def test_it_is_better_than_what_it_starts_from(seats: int) -> None:
    """A few dozen worlds are enough against `simple`."""
    from okgin_env.arena.match import play

    rules = Rules.preset("french", seats)
    won = play(SearchPlayer(worlds=48), players.make("simple"), rules, 150, seed=3).points.mean()
    assert won > 1.5  # +4.5 ± 2 were seen
