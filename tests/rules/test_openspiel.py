"""Lock-step hands against OpenSpiel's gin_rummy, and each of its known differences by name.

`tools/lockstep_openspiel.py` runs the same comparison over any number of hands.
"""

# ruff: noqa: E402  (without OpenSpiel everything below is skipped)
from __future__ import annotations

import dataclasses
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from benchmarks import peers
from okgin_env import analysis
from okgin_env.cards import card_id, ids
from okgin_env.layout import DRAW_STOCK, DRAW_TOP, KNOCK, OFFER, PASS, SHED
from okgin_env.rules import Rules
from tests.helpers import twin
from tests.helpers.follow import deck_of
from tests.helpers.openspiel_oracle import (
    CLASSES,
    OPENSPIEL,
    OS_KNOCK,
    OS_PASS,
    OS_STOCK,
    OS_TAKE,
    UTILS,
    Mismatch,
    Mover,
    play_hand,
    play_seed,
    replay,
)
from tests.helpers.random_tables import random_deck

KNOCK_10 = dataclasses.replace(OPENSPIEL, knock_limit=10)
MELDED = "4s 5s 6s 7s 9c Tc Jc Qc"  # two runs, for hands that are nearly melded
JUNK = "2d 4d 7d 9d Jd Kd 3h 5h 8h Th"  # a hand without a meld


def _differences(counts: Counter[str]) -> dict[str, int]:
    return {name: counts[name] for name in CLASSES if counts[name]}


def _peer(deck: list[int]) -> Any:
    """OpenSpiel's game with the hands and the upcard of a deck dealt."""
    state = pyspiel.load_game("gin_rummy", {"oklahoma": True}).new_initial_state()
    for card in deck[:21]:
        state.apply_action(card)
    return state


def _dull(take: bool) -> Mover:
    """Never knocks; draws always from the pile or always from the stock, throws the lowest id."""

    def move(s: np.void, legal: list[int], left: np.ndarray) -> int:
        if s["phase"] == OFFER:
            return PASS
        if s["phase"] == SHED:
            drawn = int(s["deck"][s["next_card"] - 1])
            return legal[0] if take or drawn not in legal else drawn
        return DRAW_TOP if take else DRAW_STOCK

    return move


def _play(n_hands: int, rules: Rules) -> Counter[str]:
    counts: Counter[str] = Counter()
    for hand in range(n_hands):
        play_seed(7, hand, counts, rules)
    return counts


# --- the comparison -----------------------------------------------------------------------------------
@pytest.mark.parametrize(("rules", "n_hands"), [(OPENSPIEL, 1000), (KNOCK_10, 500)])
def test_lock_step(rules: Rules, n_hands: int) -> None:
    counts = _play(n_hands, rules)
    # Every kind of ending, and differences of most kinds, must have come up.
    for name in ("knock", "gin", "undercut", "tie", "void", "layoff_hands", "wall_knock"):
        assert counts[name] > 0, (name, counts)
    for name in ("taken_discard", "taken_knock_discard", "taken_knock_only", "eleven_overstated"):
        assert counts[name] > 0, (name, counts)


@pytest.mark.parametrize(
    "change",
    [{"undercut_on_tie": True}, {"gin_bonus": 20}, {"undercut_bonus": 10}, {"ace_limit": 1}],
)
def test_a_changed_rule_is_found(change: dict[str, int]) -> None:
    with pytest.raises(Mismatch, match=r"seed 7, hand \d+: "):
        _play(1000, dataclasses.replace(OPENSPIEL, **change))


def test_deadwood_of_ten_cards() -> None:
    rng = Random(5)
    for _ in range(2500):
        deck = random_deck(rng, ("suits", "ranks"))
        for hand in (deck[:10], deck[10:20]):
            assert UTILS.min_deadwood(hand) == analysis.deadwood(hand), hand


def test_the_benchmark_counts_the_decisions_of_players() -> None:
    game = peers._game()
    bots = [pyspiel.make_uniform_random_bot(seat, seat) for seat in range(2)]
    for seed in range(50):
        state = game.new_initial_state()
        pyspiel.evaluate_bots(state, bots, seed)
        assert peers._decisions(state) == sum(move.player >= 0 for move in state.full_history())


# --- its errors -----------------------------------------------------------------------------------------
def test_error_knock_refused() -> None:
    """Of eleven cards it arranges the most pips, then drops the dearest loose card.

    Here 30 pips can be melded in two ways; it takes the one that leaves two aces, one of which stays.
    """
    eleven = ids("2s Ac 2c 3c 4c 5c Ad 2d 3d 4d 5d")
    assert UTILS.min_deadwood(eleven) == 1
    rests = {gone: [card for card in eleven if card != gone] for gone in eleven}
    assert min(map(twin.deadwood, rests.values())) == 0
    assert twin.deadwood(rests[card_id("2s")]) == 0
    assert UTILS.legal_discards(eleven, 0) == [card_id("2s")]  # its own discards of a gin knock

    deck = deck_of("2s 2c 3c 4c 5c Ad 2d 3d 4d 5d", "6s 7s 9s Ts 6h 7h 9h Th Kc Kd", upcard="Ac")
    peer = _peer(deck)
    peer.apply_action(OS_TAKE)
    assert OS_KNOCK not in peer.legal_actions()
    counts: Counter[str] = Counter()
    gin = KNOCK + card_id("2s")
    with pytest.raises(Mismatch, match=f"the mover chose {gin}, which is not legal in both"):
        play_hand(deck, replay([DRAW_TOP, gin]), counts)
    assert counts["knock_refused"] == 1
    assert analysis.knock_discards(eleven, 0, "Ac") == "2s"


def test_error_third_layoff_is_not_offered() -> None:
    """On `4s 5s 6s` it takes 7s and 8s, but never 9s, at either end alike."""
    low, high = ids("4s 5s 6s"), ids("Ts Js Qs")
    meld = [UTILS.meld_to_int(low)]
    assert UTILS.all_layoffs(meld, []) == ids("3s 7s")
    assert UTILS.all_layoffs(meld, ids("7s")) == ids("3s 8s")
    assert card_id("9s") not in UTILS.all_layoffs(meld, ids("7s 8s"))
    meld = [UTILS.meld_to_int(high)]
    assert UTILS.all_layoffs(meld, ids("9s")) == ids("8s Ks")
    assert card_id("7s") not in UTILS.all_layoffs(meld, ids("9s 8s"))
    assert analysis.layoff(["4s 5s 6s"], "7s 8s 9s Ts") == (
        0,
        "",
    )  # the opponent's own run is as good

    hand = f"7s 8s 9s {' '.join(JUNK.split()[:7])}"
    deck = deck_of("4s 5s 6s Ac 2c 3c Qd Qh Qc Ad", hand, upcard="Tc")
    counts: Counter[str] = Counter()
    play_hand(deck, replay([DRAW_TOP, KNOCK + card_id("Ad")]), counts, KNOCK_10)
    assert counts["third_layoff"] == 1
    assert counts["knock"] == 1


def test_equal_deadwood_pays_nobody() -> None:
    """Matched by the preset's `undercut_on_tie=False`; by docs/rules.md it is an undercut elsewhere."""
    knocker = "As 2s 3s 4c 5c 6c Kd Kh 5h"
    other = "7d 8d 9d Th Jh Qh 2h 2d 2c 5d"
    deck = deck_of(f"{knocker} Jc", other, upcard="Ks")
    actions = [DRAW_TOP, KNOCK + card_id("Jc")]
    counts: Counter[str] = Counter()
    play_hand(deck, replay(actions), counts)
    assert counts["tie"] == 1
    assert _differences(counts) == {"taken_discard": 1}
    hands = [f"{knocker} Ks", other]
    assert analysis.settle(OPENSPIEL, 0, hands) == [0, 0]
    assert analysis.settle(Rules.preset("eaai"), 0, hands) == [0, 25]
    with pytest.raises(Mismatch, match="returns"):
        play_hand(
            deck, replay(actions), counts, dataclasses.replace(OPENSPIEL, undercut_on_tie=True)
        )


# --- the card just taken (Turns 2) ------------------------------------------------------------------------
def test_taken_card_may_be_thrown_back() -> None:
    deck = deck_of(f"{MELDED} Kc 2h", JUNK, upcard="Kh")
    counts: Counter[str] = Counter()
    play_hand(deck, replay([DRAW_TOP, KNOCK + card_id("2h")]), counts)
    # Throwing back Kh would leave 2, also a knock.
    assert _differences(counts) == {"taken_discard": 1, "taken_knock_discard": 1}


def test_taken_card_is_all_it_could_knock_with() -> None:
    """Loose As and 2h are within the limit of 3, but not together with the 3d that set it."""
    deck = deck_of(f"{MELDED} As 2h", JUNK, upcard="3d")
    with pytest.raises(Mismatch, match="not legal in both"):
        play_hand(deck, replay([DRAW_TOP, KNOCK + card_id("2h")]), Counter())
    counts: Counter[str] = Counter()
    with pytest.raises(StopIteration):
        play_hand(deck, replay([DRAW_TOP, card_id("4s")]), counts)
    assert counts["taken_knock_only"] == 1
    peer = _peer(deck)
    for action in (OS_TAKE, OS_KNOCK):
        peer.apply_action(action)
    assert peer.legal_actions() == [card_id("3d")]


def test_same_card_thrown_back_by_both_ends_the_hand() -> None:
    peer = _peer(deck_of(f"{MELDED} As 2h", JUNK, upcard="3d"))
    thrown = card_id("As")
    for action in (OS_PASS, OS_PASS, OS_STOCK, card_id("Ks"), thrown):
        peer.apply_action(action)
    for ends in (False, True):
        peer.apply_action(OS_TAKE)
        assert thrown in peer.legal_actions()
        peer.apply_action(thrown)
        assert peer.is_terminal() == ends
    assert peer.returns() == [0, 0]


# --- how it ends a hand --------------------------------------------------------------------------------------
def test_a_knock_after_the_last_draw() -> None:
    """Two cards left: we are void, it lets a further player knock with the top card."""
    deck = deck_of(f"{MELDED} As 2h", "8s 9s Ts 4c 5c 6c Ad 2d 3d Ah", upcard="Kh")
    counts: Counter[str] = Counter()
    play_hand(deck, _dull(take=False), counts)
    assert counts["void"] == counts["wall_knock"] == 1


def test_nobody_can_knock_after_the_last_draw() -> None:
    deck = deck_of(JUNK, "3s 5s 8s Js Ks 2c 4c 7c 9c Qc", upcard="As")
    counts: Counter[str] = Counter()
    play_hand(deck, _dull(take=False), counts)
    assert counts["void"] == counts["wall_pass"] == 1


def test_the_fiftieth_card_taken_from_the_pile_ends_the_hand() -> None:
    deck = deck_of(JUNK, "3s 5s 8s Js Ks 2c 4c 7c 9c Qc", upcard="As")
    counts: Counter[str] = Counter()
    play_hand(deck, _dull(take=True), counts)
    assert counts["cut"] == counts["fifty_draws"] == 1
