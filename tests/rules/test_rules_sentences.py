"""The sentences of docs/rules.md, one small test each, through what users call.

Golden cases (`tests/rules/test_golden.py`) and lock-step runs (`tests/rules/test_twin.py`) compare whole hands; here a sentence that is
broken has a name. Sections are those of docs/rules.md.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from okgin_env import PRESETS, Rules, analysis, cards
from okgin_env.env import OklahomaGinEnv
from okgin_env.layout import DRAW_STOCK, KNOCK, MAX_TURNS, layout
from okgin_env.positions import position
from okgin_env.rules import as_rules
from tests.helpers.follow import ACTIONS, Played, deck_of, follow

GIN = "As 2s 3s 4s 5c 6c 7c 8s 8d 8h"  # no deadwood
NEAR = "As 2s 3s 4s 5c 6c 7c 8s 8d 9h"  # 25; the 8h or 8c makes it a nine
JUNK = "2d 4d 7d 9d Jd Kd 3h 5h Th Qh"  # not one meld
JUNK_2 = "2c 4c 9c Jc Kc 3d 5d Td Qd 7h"  # nor here
CLASSIC = Rules.preset("classic")
FIELDS = {field.name: field.default for field in dataclasses.fields(Rules)}


def _texts(actions: list[int]) -> list[str]:
    words = {action: word for word, action in ACTIONS.items()}
    return [words[action] for action in actions]


def _knock(
    rules: Rules,
    hands: list[str],
    discard: str,
    *,
    upcard: str,
    seat: int = 0,
    dealer: int = 0,
    scores: list[int] | None = None,
    **more: Any,
) -> Played:
    """A seat, in its discard phase with `discard` in hand, knocks; `more` is for `follow`."""
    held = [f"{hand} {discard}" if at == seat else hand for at, hand in enumerate(hands)]
    setting = {"pile": upcard, "seat": seat, "dealer": dealer, "scores": scores}
    state = position(rules, hands=held, phase="discard", **setting)
    return follow(rules, f"knock {discard}", state=state, **more)


# --- Cards and notation ----------------------------------------------------------------------------------
def test_card_ids_are_thirteen_times_suit_plus_rank() -> None:
    deck = [rank + suit for suit in "scdh" for rank in "A23456789TJQK"]
    assert [cards.card_id(card) for card in deck] == list(range(52))
    assert cards.text(list(range(52))).split() == deck


def test_pips() -> None:
    assert [cards.pips(card) for card in range(13)] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]
    assert [analysis.deadwood(card) for card in ("As", "9h", "Td", "Kc")] == [1, 9, 10, 10]


def test_the_ace_is_always_low() -> None:
    assert analysis.arrange("As 2s 3s") == ["As 2s 3s"]
    assert analysis.arrange("Qs Ks As") == []
    assert analysis.deadwood("Qs Ks As") == 21


def test_no_run_goes_around_the_corner() -> None:
    assert analysis.arrange("Ks As 2s") == []
    assert analysis.arrange("Js Qs Ks As 2s") == ["Js Qs Ks"]


def test_no_run_goes_from_one_suit_to_the_next() -> None:
    """The king of a suit and the ace of the next have neighbouring ids."""
    assert analysis.arrange("Qs Ks Ac 2c") == []
    assert analysis.arrange("Ks Ac 2c") == []


def test_sets_have_three_or_four_cards_runs_three_or_more() -> None:
    assert analysis.arrange("7s 7c") == analysis.arrange("7s 8s") == []
    assert analysis.arrange("7s 7c 7d") == ["7s 7c 7d"]
    assert analysis.arrange("7s 7c 7d 7h") == ["7s 7c 7d 7h"]
    assert analysis.deadwood("3d 4d 5d 6d 7d 8d 9d Td Jd Qd") == 0


def test_a_card_belongs_to_one_meld() -> None:
    assert analysis.deadwood("7d 7s 7c 8d 9d") == 14
    assert analysis.deadwood("7d 7s 7c 7h 8d 9d") == 0


def test_deadwood_is_the_least_over_all_arrangements() -> None:
    """Taking the largest or the dearest melds first would leave more."""
    assert analysis.deadwood("5s 5c 5d 5h 3s 4s 6s 7s 6c 7c") == 10  # not the set of four
    assert analysis.deadwood("As 2s 3s 4s 4c 4d") == 0
    assert analysis.deadwood("8s 9s Ts Tc Td Js") == 20  # the run 8 9 T J, not the three tens


# --- Presets ---------------------------------------------------------------------------------------------
TABLE: dict[str, dict[str, Any]] = {
    "classic": {},
    "french": {"ace_limit": 0, "undercut_bonus": 20},
    "gin": {"knock_limit": 10, "undercut_bonus": 25, "next_dealer": "loser"},
    "eaai": {"knock_limit": 10, "undercut_bonus": 25, "next_dealer": "alternates"},
    "openspiel": {
        "ace_limit": 0,
        "undercut_bonus": 25,
        "undercut_on_tie": False,
        "first_dealer": 1,
        "next_dealer": "alternates",
        "target": None,
    },
}


@pytest.mark.parametrize("name", PRESETS)
def test_preset_table(name: str) -> None:
    common = {
        "players": 2, "hand_size": 10, "knock_limit": "upcard", "ace_limit": 1, "gin_bonus": 25,
        "undercut_bonus": 10, "undercut_on_tie": True, "big_gin_bonus": 0, "spades_double": False,
        "first_dealer": "random", "next_dealer": "winner", "void_dealer": "same", "target": 100,
        "game_bonus": 0, "box_bonus": 0, "gin_boxes": 1, "undercut_boxes": 1, "shutout": False,
        "max_turns": 100,
    }  # fmt: skip
    assert dataclasses.asdict(Rules.preset(name)) == common | TABLE[name]
    assert set(TABLE) == set(PRESETS)
    for players in (3, 4):
        dealt = {"players": players, "hand_size": 7}
        assert dataclasses.asdict(Rules.preset(name, players)) == common | TABLE[name] | dealt


def test_presets_are_the_same_where_names_are_taken() -> None:
    assert as_rules("french", 3) == Rules.preset("french", 3)
    with pytest.raises(ValueError, match=r"preset 'bridge'; allowed: classic, french, gin, eaai"):
        Rules.preset("bridge")
    with pytest.raises(ValueError, match=r"players=5; allowed: 2 to 4"):
        Rules.preset("french", 5)
    with pytest.raises(ValueError, match=r"players=3; allowed: 2, as in the given Rules"):
        as_rules(CLASSIC, 3)
    with pytest.raises(ValueError, match=r"rules=7; allowed: a preset's name or a Rules object"):
        as_rules(7)  # pyright: ignore[reportArgumentType]


BAD_FIELDS: list[tuple[str, Any, str]] = [
    ("players", 1, "2 to 4"),
    ("players", 5, "2 to 4"),
    ("players", "2", "2 to 4"),
    ("players", True, "2 to 4"),
    ("hand_size", 4, "5 to 10"),
    ("hand_size", 11, "5 to 10"),
    ("hand_size", 7.0, "5 to 10"),
    ("knock_limit", -1, "0 to 10 or 'upcard'"),
    ("knock_limit", 11, "0 to 10 or 'upcard'"),
    ("knock_limit", "Upcard", "0 to 10 or 'upcard'"),
    ("knock_limit", None, "0 to 10 or 'upcard'"),
    ("ace_limit", 2, "0 to 1"),
    ("ace_limit", False, "0 to 1"),
    ("gin_bonus", -1, "0 to 1000"),
    ("gin_bonus", 1001, "0 to 1000"),
    ("undercut_bonus", -1, "0 to 1000"),
    ("undercut_bonus", 1001, "0 to 1000"),
    ("undercut_on_tie", 1, "True or False"),
    ("undercut_on_tie", "yes", "True or False"),
    ("big_gin_bonus", -1, "0 to 1000"),
    ("big_gin_bonus", 1001, "0 to 1000"),
    ("spades_double", 2, "True or False"),
    ("spades_double", None, "True or False"),
    ("first_dealer", -1, "0 to 1 or 'random'"),
    ("first_dealer", 2, "0 to 1 or 'random'"),
    ("first_dealer", "me", "0 to 1 or 'random'"),
    ("next_dealer", "random", "one of winner, loser, alternates"),
    ("next_dealer", 0, "one of winner, loser, alternates"),
    ("void_dealer", "winner", "one of same, alternates"),
    ("target", 0, "1 to 100000 or None"),
    ("target", 100_001, "1 to 100000 or None"),
    ("target", "100", "1 to 100000 or None"),
    ("game_bonus", -1, "0 to 10000"),
    ("game_bonus", 10_001, "0 to 10000"),
    ("box_bonus", -1, "0 to 1000"),
    ("box_bonus", 1001, "0 to 1000"),
    ("gin_boxes", -1, "0 to 10"),
    ("gin_boxes", 11, "0 to 10"),
    ("undercut_boxes", 1.0, "0 to 10"),
    ("undercut_boxes", 11, "0 to 10"),
    ("shutout", "no", "True or False"),
    ("shutout", 0, "True or False"),
    ("max_turns", 0, "1 to 120"),
    ("max_turns", MAX_TURNS + 1, "1 to 120"),
    ("max_turns", float("nan"), "1 to 120"),
]


@pytest.mark.parametrize(("name", "value", "allowed"), BAD_FIELDS)
def test_a_bad_field_is_named_with_its_value_and_what_is_allowed(
    name: str, value: Any, allowed: str
) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole text is compared
        Rules(**{name: value})
    assert str(error.value) == f"rules: {name}={value!r}; allowed: {allowed}"
    with pytest.raises(ValueError, match=f"rules: {name}="):
        dataclasses.replace(CLASSIC, **{name: value})


def test_every_field_has_a_checked_range() -> None:
    assert {name for name, _, _ in BAD_FIELDS} == set(FIELDS)


def test_the_ends_of_the_ranges_are_allowed() -> None:
    for name, value in [
        ("players", 2), ("players", 4), ("hand_size", 5), ("hand_size", 10), ("knock_limit", 0),
        ("knock_limit", 10), ("ace_limit", 0), ("gin_bonus", 0), ("gin_bonus", 1000),
        ("undercut_bonus", 0), ("undercut_bonus", 1000), ("big_gin_bonus", 1000), ("target", 1),
        ("target", 100_000), ("target", None), ("game_bonus", 10_000), ("box_bonus", 1000),
        ("first_dealer", 1), ("max_turns", 1), ("max_turns", MAX_TURNS),
        ("gin_bonus", np.int64(20)), ("shutout", np.True_),
    ]:  # fmt: skip
        assert getattr(Rules(**{name: value}), name) == value


def test_rules_are_frozen_and_given_by_name() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        CLASSIC.gin_bonus = 20  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(TypeError):
        Rules(2)  # pyright: ignore[reportCallIssue]
    assert hash(Rules()) == hash(CLASSIC)


def test_label_names_the_preset_and_what_differs() -> None:
    for name in PRESETS:
        assert Rules.preset(name).label == name
    assert Rules(gin_bonus=20).label == "classic(gin_bonus=20)"
    assert "players=3" in Rules.preset("french", 3).label


# --- The deal --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("players", [2, 3, 4])
def test_cards_go_one_hand_at_a_time_then_the_upcard_then_the_stock(players: int) -> None:
    rules = Rules.preset("french", players)
    size = rules.hand_size
    deck = [int(card) for card in np.random.default_rng(5).permutation(52)]
    for seat in range(players):
        env = OklahomaGinEnv(rules, "random", seat=seat)
        env.reset(options={"deck": deck, "dealer": (seat - 1) % players})
        view = env.view()
        assert cards.ids(" ".join(view.hand)) == sorted(deck[seat * size : (seat + 1) * size])
        assert view.pile == [cards.card_text(deck[players * size])] == [view.upcard]
        assert view.stock_left == 52 - players * size - 1
    stock = [cards.card_text(card) for card in deck[players * size + 1 :]]
    moves = ["pass"] * players + [f"discard {stock[0]}"]
    for card in stock[1:8]:
        moves += ["draw", f"discard {card}"]  # legal only if it has been drawn
    played = follow(rules, moves, deck=deck, dealer=players - 1)
    assert played.last.pile == [played.last.upcard, *stock[:8]]


@pytest.mark.parametrize("upcard", cards.text(list(range(52))).split())
def test_the_upcards_pips_set_the_limit(upcard: str) -> None:
    deck = [card for card in range(52) if card != cards.card_id(upcard)]
    deck.insert(20, cards.card_id(upcard))
    pips = cards.pips(cards.card_id(upcard))
    for preset, ace in {"classic": 1, "french": 0, "openspiel": 0, "gin": 10, "eaai": 10}.items():
        env = OklahomaGinEnv(preset, "random")
        observation, _ = env.reset(options={"deck": deck, "dealer": 1})
        limit = 10 if Rules.preset(preset).knock_limit == 10 else ace if pips == 1 else pips
        assert env.view().limit == limit
        assert layout(2).decode(observation)["limit"] == limit


@pytest.mark.parametrize("first", ["take", "pass"])
def test_the_limit_holds_for_the_whole_hand(first: str) -> None:
    """Also after the upcard is taken, and whatever lies on the pile."""
    deck = deck_of(JUNK, JUNK_2, upcard="5s", stock="Ks As Qs 6s")
    moves = {
        "take": "take, discard Kd, draw, discard Ks, draw, discard As, draw",
        "pass": "pass, pass, discard Kd, draw, discard As, draw, discard Qs, draw",
    }[first]
    played = follow("classic", moves, deck=deck, dealer=1)
    assert [view.limit for view in played.views] == [5] * len(played.views)
    assert played.last.top != "5s"
    assert played.last.n_turns == 3


def test_a_fixed_limit_knows_no_ace() -> None:
    for limit in (0, 7, 10):
        env = OklahomaGinEnv(dataclasses.replace(CLASSIC, knock_limit=limit, ace_limit=1))
        env.reset(options={"deck": deck_of(JUNK, JUNK_2, upcard="As"), "dealer": 1})
        assert env.view().limit == limit


# --- Turns 1: the offer ------------------------------------------------------------------------------------
@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_offer_goes_round_from_the_dealers_left_the_dealer_last(players: int) -> None:
    rules = Rules.preset("french", players)
    for dealer in range(players):
        played = follow(rules, ["pass"] * (players - 1), deck=list(range(52)), dealer=dealer)
        assert played.seats == [(dealer + 1 + k) % players for k in range(players)]
        assert played.seats[-1] == dealer
        for view in played.views:
            assert (view.phase, _texts(view.legal)) == ("offer", ["take", "pass"])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_who_takes_the_upcard_discards_and_the_next_player_goes_on(players: int) -> None:
    rules = Rules.preset("french", players)
    deck = [int(card) for card in np.random.default_rng(6).permutation(52)]
    for n_passes in range(players):
        taker = n_passes  # seat 0 is asked first
        own = cards.card_text(deck[taker * rules.hand_size])
        moves = ["pass"] * n_passes + ["take"]
        played = follow(rules, moves, deck=deck, dealer=players - 1)
        assert (played.last.seat, played.last.phase) == (taker, "discard")
        assert played.last.upcard in played.last.hand
        played = follow(rules, [*moves, f"discard {own}"], deck=deck, dealer=players - 1)
        assert (played.last.seat, played.last.phase) == ((taker + 1) % players, "draw")
        assert played.last.pile == [own]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_if_all_pass_the_first_player_is_made_to_draw_the_stock(players: int) -> None:
    """That draw is forced: the next decision is the discard."""
    rules = Rules.preset("french", players)
    deck = [int(card) for card in np.random.default_rng(7).permutation(52)]
    drawn = cards.card_text(deck[players * rules.hand_size + 1])
    for dealer in range(players):
        played = follow(rules, ["pass"] * players, deck=deck, dealer=dealer)
        first = (dealer + 1) % players
        assert (played.last.seat, played.last.phase) == (first, "discard")
        assert drawn in played.last.hand
        assert played.last.stock_left == 52 - players * rules.hand_size - 2
        assert played.last.pile == [played.last.upcard]
        assert f"discard {drawn}" in _texts(played.last.legal)


# --- Turns 2: a normal turn ----------------------------------------------------------------------------------
def test_a_turn_is_a_draw_from_stock_or_pile_and_a_discard() -> None:
    deck = deck_of(JUNK, JUNK_2, upcard="Ks", stock="6c 6s")
    played = follow("classic", "pass, pass, discard 6c", deck=deck, dealer=1)
    assert (played.last.seat, _texts(played.last.legal)) == (1, ["draw", "take"])
    played = follow("classic", "pass, pass, discard 6c, draw", deck=deck, dealer=1)
    assert _texts(played.last.legal) == [f"discard {card}" for card in played.last.hand]
    assert "6s" in played.last.hand
    played = follow("classic", "pass, pass, discard 6c, take, discard Kc", deck=deck, dealer=1)
    assert played.last.pile == ["Ks", "Kc"]  # face up, on top
    assert played.last.known[1] == ["6c"]


def test_the_card_just_taken_may_not_be_discarded() -> None:
    deck = deck_of(JUNK, JUNK_2, upcard="Ks", stock="6c 6s")
    for moves, taken in (("take", "Ks"), ("pass, pass, discard 6c, take", "6c")):
        view = follow("classic", moves, deck=deck, dealer=1).last
        assert view.taken == taken
        others = [card for card in view.hand if card != taken]
        assert _texts(view.legal) == [f"discard {card}" for card in others]
        assert len(others) == 10


def test_the_card_just_taken_may_not_be_knocked_with() -> None:
    """Thrown back it would leave gin; drawn from the stock it may be."""
    taken = follow("classic", "take", deck=deck_of(GIN, JUNK, upcard="Kc"), dealer=1).last
    knocks = [text for text in _texts(taken.legal) if text.startswith("knock")]
    assert "knock Kc" not in knocks
    assert knocks == ["knock As", "knock 4s"]  # ten pips are the limit: a run of three is left
    deck = deck_of(GIN, JUNK, upcard="Qs", stock="Kc")
    drawn = follow("classic", "pass, pass", deck=deck, dealer=1).last
    assert "knock Kc" in _texts(drawn.legal)
    assert analysis.knock_discards(f"{GIN} Kc", 0) == "Kc"
    assert analysis.knock_discards(f"{GIN} Kc", 0, taken="Kc") == ""


def test_in_a_later_turn_the_taken_card_may_be_discarded() -> None:
    deck = deck_of(JUNK, JUNK_2, upcard="Ks", stock="6c 6s")
    played = follow("classic", "take, discard Kd, draw, discard 6c, draw", deck=deck, dealer=1)
    assert played.last.taken is None
    assert "discard Ks" in _texts(played.last.legal)


# --- Turns 3: the knock ----------------------------------------------------------------------------------------
def test_a_knock_needs_deadwood_of_at_most_the_limit() -> None:
    hand = "As 2s 3s 5c 6c 7c 8s 8d 8h 4d Kc"  # without the king 4
    assert analysis.knock_discards(hand, 3) == ""
    assert analysis.knock_discards(hand, 4) == "Kc"
    for upcard, may in (("3d", False), ("4c", True), ("5d", True)):
        deck = deck_of("As 2s 3s 5c 6c 7c 8s 8d 8h 4d", JUNK_4, upcard=upcard, stock="Kc")
        view = follow("classic", "pass, pass", deck=deck, dealer=1).last
        assert ("knock Kc" in _texts(view.legal)) == may


@pytest.mark.parametrize("moves", ["take", "pass, pass"])
def test_a_knock_is_allowed_on_the_very_first_turn(moves: str) -> None:
    deck = deck_of(GIN, JUNK, upcard="8c", stock="Kc")
    discard = {"take": "8h", "pass, pass": "Kc"}[moves]
    played = follow("classic", f"{moves}, knock {discard}", deck=deck, dealer=1)
    assert (played.info["ending"], played.info["turns"]) == ("gin", 1)


def test_a_knock_is_never_forced() -> None:
    """Each discard that may be knocked with may be made without, gin included."""
    deck = deck_of(GIN, JUNK, upcard="Qs", stock="Kc")
    view = follow("classic", "pass, pass", deck=deck, dealer=1).last
    legal = set(view.legal)
    assert {action - KNOCK for action in legal if action >= KNOCK} <= legal
    assert len([action for action in legal if action < KNOCK]) == 11
    played = follow("classic", "pass, pass, discard Kc", deck=deck, dealer=1)
    assert (played.terminated, played.last.seat) == (False, 1)


@pytest.mark.parametrize("preset", PRESETS)
def test_deadwood_zero_is_gin_whatever_the_limit(preset: str) -> None:
    for upcard in ("Ad", "Qs"):  # under the ace the limit is 0, 1 or 10
        junk = JUNK if upcard != "Ad" else JUNK_2
        deck = deck_of(GIN, junk, upcard=upcard, stock="Kh")
        played = follow(preset, "pass, pass, knock Kh", deck=deck, dealer=1)
        assert played.info["ending"] == "gin"
        assert played.info["knocker"] == 0
        points = analysis.deadwood(junk) + 25
        assert played.info["points"].tolist() == [points, 0]
        assert played.reward == points / 100


# --- Turns 4: void -------------------------------------------------------------------------------------------------
def _drawing(stock: list[str], n_turns: int) -> list[str]:
    """Moves in which everybody throws away what it has just drawn from the stock."""
    moves = [f"discard {stock[0]}"]
    for card in stock[1:n_turns]:
        moves += ["draw", f"discard {card}"]
    return moves


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_hand_is_void_when_a_discard_leaves_two_cards_in_the_stock(players: int) -> None:
    rules = Rules.preset("french", players)
    deck = [int(card) for card in np.random.default_rng(8).permutation(52)]
    stock = cards.text(deck[players * rules.hand_size + 1 :]).split()
    n_turns = len(stock) - 2
    moves = ["pass"] * players + _drawing(stock, n_turns)
    played = follow(rules, moves[:-2], deck=deck, dealer=players - 1)
    assert (played.last.stock_left, played.last.phase) == (3, "draw")
    played = follow(rules, moves[:-1], deck=deck, dealer=players - 1)
    assert (played.last.stock_left, played.last.phase) == (2, "discard")
    played = follow(rules, moves, deck=deck, dealer=players - 1)
    assert played.terminated
    assert played.info["ending"] == "void"
    assert played.info["knocker"] == -1
    assert played.info["points"].tolist() == [0] * players
    assert played.info["deadwood"].tolist() == [0] * players
    assert (played.reward, played.info["turns"]) == (0.0, n_turns)


def test_the_last_draw_may_still_be_knocked_with() -> None:
    deck = deck_of(GIN, JUNK, upcard="Qs")
    stock = cards.text(deck[21:]).split()
    moves = ["pass", "pass", *_drawing(stock, 29)]
    assert follow("classic", moves, deck=deck, dealer=1).info["ending"] == "void"
    moves[-1] = moves[-1].replace("discard", "knock")
    assert follow("classic", moves, deck=deck, dealer=1).info["ending"] == "gin"


def test_the_hand_is_void_after_max_turns() -> None:
    """Of all seats together; a knock in the last of them counts."""
    rules = dataclasses.replace(CLASSIC, max_turns=3)
    deck = deck_of(GIN, JUNK, upcard="Qs")
    stock = cards.text(deck[21:]).split()
    moves = ["pass", "pass", *_drawing(stock, 3)]
    assert not follow(rules, moves[:-1], deck=deck, dealer=1).terminated
    played = follow(rules, moves, deck=deck, dealer=1)
    assert (played.info["ending"], played.info["turns"]) == ("void", 3)
    moves[-1] = moves[-1].replace("discard", "knock")
    assert follow(rules, moves, deck=deck, dealer=1).info["ending"] == "gin"


def test_two_players_may_take_each_others_discards_for_a_hundred_turns() -> None:
    """No card leaves the stock: only `max_turns` ends that."""
    deck = deck_of(JUNK, JUNK_2, upcard="Ks")
    hands = [JUNK.split(), JUNK_2.split()]
    moves = []
    for turn in range(100):  # the upcard and two other cards go round
        thrown = hands[turn % 2].pop(0)
        hands[1 - turn % 2].append(thrown)  # who takes it next
        moves += ["take", f"discard {thrown}"]
    played = follow("classic", moves, deck=deck, dealer=1)
    assert (played.info["ending"], played.info["turns"]) == ("void", 100)


@pytest.mark.parametrize(("void_dealer", "following"), [("same", 1), ("alternates", 0)])
def test_after_a_void_hand_the_same_dealer_deals(void_dealer: Any, following: int) -> None:
    """In every preset; a variant alternates."""
    rules = dataclasses.replace(CLASSIC, max_turns=1, void_dealer=void_dealer)
    deck = deck_of(JUNK, JUNK_2, upcard="Ks", stock="6c")
    played = follow(rules, "pass, pass, discard 6c", deck=deck, dealer=1, episode="match")
    assert played.info["ending"] in ("", "void")
    assert (played.last.n_turns, played.last.dealer) == (0, following)
    assert all(Rules.preset(name).void_dealer == "same" for name in PRESETS)


# --- The showdown ----------------------------------------------------------------------------------------------
KNOCKER = "2s 3s 4s 5c 6c 7c 8s 8d 8h 4h"  # four
JUNK_4 = "2d 9d Jd Kd 3h 5h Th Qh 6s Jc"
EQUAL = "9d Td Jd Qd 9h Th Jh Qh 2h 2c"  # four as well
UNDER = "9d Td Jd Qd 9h Th Jh Qh As 2h"  # two, once the ace is laid off


def test_the_knocker_scores_the_difference() -> None:
    played = _knock(CLASSIC, [KNOCKER, JUNK], "Kc", upcard="Ks")
    assert played.info["ending"] == "knock"
    assert played.info["deadwood"].tolist() == [4, 70]
    assert played.info["points"].tolist() == [66, 0]


@pytest.mark.parametrize(("preset", "bonus"), [("classic", 10), ("french", 20), ("eaai", 25)])
def test_less_deadwood_than_the_knocker_is_an_undercut(preset: str, bonus: int) -> None:
    played = _knock(Rules.preset(preset), [KNOCKER, UNDER], "Kc", upcard="Ks")
    assert played.info["ending"] == "undercut"
    assert played.info["knocker"] == 0
    assert played.info["deadwood"].tolist() == [4, 2]
    assert played.info["points"].tolist() == [0, 2 + bonus]
    assert played.reward == -(2 + bonus) / 100


def test_equal_deadwood_is_an_undercut() -> None:
    played = _knock(CLASSIC, [KNOCKER, EQUAL], "Kc", upcard="Ks")
    assert (played.info["ending"], played.info["points"].tolist()) == ("undercut", [0, 10])
    played = _knock(Rules.preset("openspiel"), [KNOCKER, EQUAL], "Kc", upcard="Ks")
    assert (played.info["ending"], played.info["points"].tolist()) == ("knock", [0, 0])


def test_of_equal_arrangements_the_least_open_to_layoffs_is_shown() -> None:
    """Then the lowest sorted card ids."""
    assert analysis.arrange("3s 3c 3d 4s 5s 6s 3h") == ["3s 3c 3d 3h", "4s 5s 6s"]
    # Tie of deadwood 7: 7s in the run (open: 3s 8s) or in the set (open: 3s 7h).
    shown = analysis.arrange("4s 5s 6s 7s 7c 7d 7h")
    assert shown in (["4s 5s 6s", "7s 7c 7d 7h"], ["4s 5s 6s 7s", "7c 7d 7h"])
    assert shown == ["4s 5s 6s", "7s 7c 7d 7h"]  # 3s is open (7s is held); else 3s, 8s
    # The same cards are open in both, 2s and 9s: the first meld of the one has the lower ids.
    assert analysis.arrange("3s 4s 5s 6s 7s 8s") == ["3s 4s 5s", "6s 7s 8s"]


def test_against_gin_nothing_is_laid_off() -> None:
    other = "8c 2d 4d 7d 9d Jd Kd 3h Th Qh"
    assert analysis.layoff(["8s 8d 8h"], "8c") == (0, "8c")
    assert analysis.settle("classic", 0, [GIN, other]) == [25 + 73, 0]


def test_gin_pays_the_bonus_once_and_nobody_else() -> None:
    gin, no_deadwood = "As 2s 3s 4s 8s 8d 8h", "9c Tc Jc Kc Kd Kh Ks"
    assert analysis.settle("classic", 0, [gin, "2d 4d 7d 9d Jd Qd 3h", no_deadwood]) == [70, 0, 0]
    junk, junk_2 = "2d 4d 7d 9d Jd Kd 3h", "2c 4c 9c Jc Kc 3d 5d"
    assert analysis.settle("french", 1, [junk, gin, junk_2]) == [0, 25 + 45 + 43, 0]


def test_a_fourth_card_goes_on_a_set_and_any_number_on_either_end_of_a_run() -> None:
    assert analysis.layoff(["8s 8d 8h"], "8c Kd") == (10, "8c")
    assert analysis.layoff(["5c 6c 7c"], "4c 8c") == (0, "4c 8c")
    assert analysis.layoff(["5c 6c 7c"], "3c 4c 8c 9c Kd") == (10, "3c 4c 8c 9c")
    assert analysis.layoff(["5c 6c 7c"], "2c 3c 9c Tc") == (24, "")  # not next to it
    assert analysis.layoff(["As 2s 3s"], "Ks Ac") == (11, "")  # not around the corner
    assert analysis.layoff(["Js Qs Ks"], "As Ac") == (2, "")
    # Three in a row would be a run of their own; then they count without being laid off.
    assert analysis.layoff(["5s 6s 7s"], "8s 9s Ts Js Kd") == (10, "")
    # Here two of the four are needed in sets, so the row is laid off as far as it goes.
    assert analysis.layoff(["5s 6s 7s"], "8s 9s Ts Tc Td") == (0, "8s 9s")


def test_the_best_layoff_may_break_up_an_own_meld() -> None:
    assert analysis.layoff(["4s 5s 6s"], "7s 7c 7d 7h 8s") == (0, "7s 8s")
    assert analysis.deadwood("As 2s 3s 2c 2d") == 4  # the run, or the set
    assert analysis.layoff(["4s 5s 6s"], "As 2s 3s 2c 2d") == (1, "3s")


def test_nothing_is_laid_off_where_that_would_cost() -> None:
    assert analysis.layoff(["8s 8d 8h"], "7c 8c 9c") == (0, "")


def test_opponents_lay_off_in_turn_order_also_on_earlier_layoffs() -> None:
    knocker, first, then = "4s 5s 6s Jc Jd Jh 2h", "7s 8s Kd Qc Th 5c Ad", "9s Kh Qd Td 6c 3c Ac"
    assert analysis.settle("french", 1, [then, knocker, first]) == [0, (36 - 2) + (40 - 2), 0]
    assert analysis.settle("french", 2, [then, first, knocker]) == [0, 0, (49 - 2) + (36 - 2)]


def test_nothing_is_laid_off_on_another_opponents_melds() -> None:
    knocker, other, holder = "4s 5s 6s Jc Jd Jh 2h", "9c 9d 9h Kd Kc Kh Qs", "9s Ks 2c 4c 6d 8d Th"
    assert analysis.deadwood(other) == 10
    assert analysis.deadwood(holder) == 49
    assert analysis.settle("french", 0, [knocker, other, holder]) == [8 + 47, 0, 0]


def test_each_pair_settles_on_its_own() -> None:
    """One undercut names the ending; the knocker still scores from the other."""
    rules = Rules.preset("french", 3)
    knocker = "4s 5s 6s Jc Jd Jh 4h"
    under, loser = "7c 8c 9c Kc Kd Kh 2c", "2d 3d 4d 5d Qh 9s 6h"
    played = _knock(rules, [knocker, under, loser], "Th", upcard="Qs", dealer=2)
    assert played.info["ending"] == "undercut"
    assert played.info["deadwood"].tolist() == [4, 2, 25]
    assert played.info["points"].tolist() == [21, 22, 0]
    assert played.reward == pytest.approx((21 - 11) / 100)


@pytest.mark.parametrize(("upcard", "times"), [("Ks", 2), ("Kd", 1), ("Kh", 1), ("Qc", 1)])
def test_a_spade_upcard_doubles_all_points(upcard: str, times: int) -> None:
    rules = dataclasses.replace(CLASSIC, spades_double=True, big_gin_bonus=31)
    junk = "2d 4d 7d 9d Jd 3h 5h 6h Th Qh"
    gin = _knock(rules, [GIN, junk], "Kc", upcard=upcard)
    assert gin.info["points"].tolist() == [times * (25 + 66), 0]
    undercut = _knock(rules, [KNOCKER, UNDER], "Kc", upcard=upcard)
    assert undercut.info["points"].tolist() == [0, times * 12]
    knock = _knock(rules, [KNOCKER, junk], "Kc", upcard=upcard)
    assert knock.info["points"].tolist() == [times * 62, 0]
    for rule in (CLASSIC, rules):
        points = analysis.settle(rule, 0, [GIN, junk], upcard)
        assert points == [(times if rule is rules else 1) * 91, 0]
    with pytest.raises(ValueError, match="upcard=None; allowed: a card"):
        analysis.settle(rules, 0, [GIN, junk])


def test_big_gin_is_all_eleven_cards_melded_where_the_rules_have_it() -> None:
    rules = dataclasses.replace(CLASSIC, big_gin_bonus=31)
    state = {"hands": [f"{GIN} 8c", JUNK], "pile": "Qs", "seat": 0, "phase": "discard"}
    played = follow(rules, "big gin", state=state)
    assert played.info["ending"] == "big_gin"
    assert played.info["points"].tolist() == [31 + 70, 0]
    assert played.info["deadwood"].tolist() == [0, 70]
    assert len(played.env.view().hands[0]) == 11  # no discard
    assert "big gin" not in _texts(follow(CLASSIC, "", state=state).last.legal)
    ten = state | {"hands": [f"{GIN} Kc", JUNK]}
    assert "big gin" not in _texts(follow(rules, "", state=ten).last.legal)
    taken = state | {"hands": [f"{GIN} 8c", JUNK], "taken": "8c"}
    assert "big gin" in _texts(follow(rules, "", state=taken).last.legal)
    assert analysis.settle(rules, 0, [f"{GIN} 8c", JUNK]) == [31 + 70, 0]
    with pytest.raises(ValueError, match="seat 0: 11 cards; allowed: 10"):
        analysis.settle(CLASSIC, 0, [f"{GIN} 8c", JUNK])


# --- The match -------------------------------------------------------------------------------------------------
def test_the_first_dealer_is_random_or_the_rules_seat() -> None:
    def dealers(rules: Rules | str) -> set[int]:
        env = OklahomaGinEnv(rules, "random")
        found = set()
        for seed in range(40):
            env.reset(seed=seed)
            found.add(env.view().dealer)
        return found

    for preset in ("classic", "french", "gin", "eaai"):
        assert dealers(preset) == {0, 1}
    assert dealers("openspiel") == {1}
    assert dealers(Rules.preset("french", 4)) == {0, 1, 2, 3}
    assert dealers(dataclasses.replace(CLASSIC, first_dealer=0)) == {0}


@pytest.mark.parametrize(
    ("preset", "after_win", "after_loss"),
    [
        ("classic", lambda dealer: 0, lambda dealer: 1),
        ("french", lambda dealer: 0, lambda dealer: 1),
        ("gin", lambda dealer: 1, lambda dealer: 0),
        ("eaai", lambda dealer: 1 - dealer, lambda dealer: 1 - dealer),
    ],
)
@pytest.mark.parametrize("dealer", [0, 1])
def test_who_deals_the_next_hand(
    preset: str, after_win: Callable[[int], int], after_loss: Callable[[int], int], dealer: int
) -> None:
    rules = Rules.preset(preset)
    for other, following in ((JUNK, after_win), (UNDER, after_loss)):
        played = _knock(rules, [KNOCKER, other], "Kc", upcard="Ks", episode="match", dealer=dealer)
        assert not played.terminated
        assert played.last.dealer == following(dealer)
        assert played.last.n_turns == 0


def test_single_hands_have_no_match() -> None:
    with pytest.raises(ValueError, match="episode='match'; allowed: rules with a target"):
        OklahomaGinEnv("openspiel", episode="match")


def test_the_first_of_equal_hand_winners_is_nearest_to_the_knocker_in_turn_order() -> None:
    rules = Rules.preset("french", 3)
    knocker, equal = "4s 5s 6s Jc Jd Jh 4h", "7c 8c 9c Kc Kd Kh 4c"
    other, equal_2 = "2d 3d 4d 5d Qh 9s 5h", "8d 9d Td Ac Ad Ah 4d"
    both = _knock(rules, [knocker, equal, other], "Th", upcard="Qs", episode="match", dealer=2)
    assert both.final["points"] == [20, 20, 0]
    assert both.last.dealer == 0  # the knocker itself comes first
    for seat, winner in ((0, 1), (1, 2), (2, 0)):
        hands = [equal, equal_2]
        hands.insert(seat, knocker)
        two = _knock(rules, hands, "Th", upcard="Qs", episode="match", seat=seat)
        assert sorted(two.last.scores) == [0, 20, 20]
        assert two.last.dealer == winner


@pytest.mark.parametrize(("score", "ends"), [(33, False), (34, True), (35, True)])
def test_hands_are_dealt_until_a_total_reaches_the_target(score: int, ends: bool) -> None:
    rules, hands = Rules.preset("gin"), [KNOCKER, JUNK]
    match = {"episode": "match", "reward": "match"}
    played = _knock(rules, hands, "Kc", upcard="Ks", scores=[score, 99], **match)
    assert played.final["scores"] == [score + 66, 99]
    assert played.final["match_winner"] == (0 if ends else -1)
    assert (played.terminated, played.reward) == (ends, float(ends))
    if not ends:
        assert (played.last.scores, played.last.n_turns) == ([99, 99], 0)


def test_the_highest_total_wins_not_the_winner_of_the_hand() -> None:
    rules = Rules.preset("french", 3)
    hands = ["4s 5s 6s Jc Jd Jh 4h", "7c 8c 9c Kc Kd Kh 2c", "2d 3d 4d 5d Qh 9s 6h"]
    played = _knock(
        rules, hands, "Th", upcard="Qs", scores=[85, 10, 107], episode="match", reward="match"
    )
    assert played.info["scores"].tolist() == [106, 32, 107]
    assert (played.info["match_winner"], played.reward) == (2, -0.5)


def test_equal_highest_totals_play_one_more_hand() -> None:
    rules, hands = Rules.preset("gin"), [KNOCKER, JUNK]
    match = {"episode": "match", "reward": "match"}
    played = _knock(rules, hands, "Kc", upcard="Ks", scores=[34, 100], **match)
    assert played.final["scores"] == [100, 100]
    assert (played.terminated, played.reward) == (False, 0.0)
    assert played.final["match_winner"] == -1
    assert played.last.scores == [100, 100]
    played = _knock(rules, hands, "Kc", upcard="Ks", scores=[100, 100], **match)
    assert (played.terminated, played.reward, played.final["match_winner"]) == (True, 1.0, 0)


@pytest.mark.parametrize(
    ("bonuses", "scores", "match_points"),
    [
        ({}, [50, 20], [116, 20]),
        ({"game_bonus": 100}, [50, 20], [216, 20]),
        ({"box_bonus": 20}, [50, 20], [136, 20]),  # one hand was won in this match so far
        ({"game_bonus": 100, "shutout": True}, [50, 20], [216, 20]),
        ({"game_bonus": 100, "shutout": True}, [50, 0], [432, 0]),
        ({"game_bonus": 100, "box_bonus": 20, "shutout": True}, [50, 0], [452, 0]),
    ],
)
def test_match_bonuses(bonuses: dict[str, Any], scores: list[int], match_points: list[int]) -> None:
    """Game for the winner, a box for each hand won; a shutout doubles score and game bonus."""
    rules = dataclasses.replace(CLASSIC, **bonuses)
    played = _knock(rules, [KNOCKER, JUNK], "Kc", upcard="Ks", scores=scores, episode="match")
    assert played.terminated
    assert played.final["match_points"] == match_points


@pytest.mark.parametrize(("upcard", "times"), [("Ks", 2), ("Kd", 1)])
@pytest.mark.parametrize("doubling", [False, True])
def test_boxes_for_gin_and_undercuts_are_doubled_where_the_points_are(
    upcard: str, times: int, doubling: bool
) -> None:
    """Of rule sheets: a box for each hand won, two for gin, one (here: three) for an undercut, all doubled under a spade."""
    rules = dataclasses.replace(
        CLASSIC, box_bonus=20, gin_boxes=2, undercut_boxes=3, spades_double=doubling, target=1000
    )
    times = times if doubling else 1
    scores, junk = [990, 990], "2d 4d 7d 9d Jd 3h 5h 6h Th Qh"
    for hands, winner, points, boxes in (
        ([GIN, junk], 0, 25 + 66, 2),
        ([KNOCKER, UNDER], 1, 12, 3),
        ([KNOCKER, junk], 0, 62, 1),
    ):
        played = _knock(rules, hands, "Kc", upcard=upcard, scores=scores, episode="match")
        expected = [990, 990]
        expected[winner] += times * (points + 20 * boxes)
        assert played.final["match_winner"] == winner
        assert played.final["match_points"] == expected


def test_the_knocker_that_wins_a_hand_in_which_it_is_undercut_has_one_box() -> None:
    """With three players the ending is named an undercut, but the hand is the knocker's."""
    boxes = {"box_bonus": 20, "gin_boxes": 2, "undercut_boxes": 3}
    rules = dataclasses.replace(Rules.preset("classic", 3), target=10, **boxes)
    hands = ["4s 5s 6s Jc Jd Jh 4h", "7c 8c 9c Kc Kd Kh 2c", "2d 3d 4d 5d Qh 9s 6h"]
    played = _knock(rules, hands, "Th", upcard="Qs", dealer=2, episode="match")
    assert played.info["ending"] == "undercut"
    assert played.info["points"].tolist() == [21, 12, 0]
    assert played.final["match_points"] == [21 + 20, 12, 0]


def test_a_forfeited_hand_pays_every_other_seat() -> None:
    """docs/environment.md, Rewards: no card moves; what it costs is the same in every reward."""
    rules = Rules.preset("french", 3)
    env = OklahomaGinEnv(rules, "random")
    env.reset(options={"deck": list(range(52)), "dealer": 2})
    before = env.view().hand
    _, reward, terminated, _, info = env.step(DRAW_STOCK)  # in the offer
    assert (reward, terminated, info["ending"]) == (-1.0, True, "illegal")
    assert info["points"].tolist() == [0, 100, 100]
    assert env.view().hand == before
