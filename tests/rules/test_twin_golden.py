"""The plain twin against the worked examples of docs/rules.md (Showdown 4), file by file."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from okgin_env.cards import card_id, ids
from okgin_env.rules import Rules
from tests.helpers.paths import DATA
from tests.helpers.twin import (
    Arrangement,
    TwinHand,
    arrangements,
    deadwood,
    knock_discards,
    layoff,
    settle,
    shown,
)

Case = dict[str, Any]


def _melds(texts: list[str]) -> Arrangement:
    """Melds of a golden case as the twin writes an arrangement."""
    return tuple(sorted(tuple(sorted(ids(text))) for text in texts))


def check_deadwood(case: Case) -> None:
    """Deadwood; with a card too many also the best discard and the discards to knock with."""
    hand = set(ids(case["hand"]))
    assert deadwood(hand) == case["deadwood"]
    if "limit" in case:
        taken = None if case["taken"] is None else card_id(case["taken"])
        # The best discard is the best of all cards here: the taken card counts as one of them.
        assert min(deadwood(hand - {card}) for card in hand) == case["after_best_discard"]
        assert knock_discards(hand, case["limit"], taken) == set(ids(case["knock_discards"]))


def check_layoff(case: Case) -> None:
    """What the knocker shows, and the opponent's deadwood before and after layoffs."""
    knocker, opponent = ids(case["knocker"]), ids(case["opponent"])
    assert shown(knocker) == _melds(case["shown"])
    assert deadwood(opponent) == case["deadwood_before"]
    after, laid, melds = layoff(shown(knocker), opponent)
    assert after == case["deadwood_after"] == deadwood(set(opponent) - laid)
    assert sorted(sum(melds, ())) == sorted({*sum(shown(knocker), ()), *laid})


def check_settle(case: Case) -> None:
    """What the knocker shows, whether it is gin, and everybody's points."""
    hands = [ids(hand) for hand in case["hands"]]
    rules = Rules.preset(case["rules"], len(hands))
    hand = hands[case["knocker"]]
    assert shown(hand) == _melds(case["shown"])
    assert shown(hand) in arrangements(hand)
    ending, points, _ = settle(rules, case["knocker"], hands)
    assert (ending == "gin") == case["gin"]
    assert points == case["points"]


def check_hand(case: Case) -> None:
    """A whole hand: who moves, with which choices, at every decision; and how it ends."""
    rules = Rules.preset(case["rules"], case["players"])
    hand = TwinHand(rules, ids(case["deck"]), case["dealer"])
    assert hand.limit == case["limit"]
    moves = zip(case["seats"], case["legal"], case["actions"], strict=True)
    for turn, (seat, legal, action) in enumerate(moves):
        assert (hand.seat, hand.legal()) == (seat, legal), f"at decision {turn}"
        hand.step(action)
    assert (hand.ending, hand.points) == (case["ending"], case["points"])


@pytest.mark.parametrize(
    ("file", "check"),
    [
        ("deadwood.json", check_deadwood),
        ("layoff.json", check_layoff),
        ("settle.json", check_settle),
        ("hands.json", check_hand),
    ],
)
def test_the_twin_agrees_with_the_golden_file(file: str, check: Callable[[Case], None]) -> None:
    """One test a file; it names the first case that fails."""
    cases = json.loads((DATA / file).read_text())
    assert cases
    for index, case in enumerate(cases):
        try:
            check(case)
        except AssertionError as error:
            raise AssertionError(f"{file}[{index}]: {error}\n{case}") from error
