"""The 1,350 worked examples of docs/rules.md against the compiled kernel and against its plain twin."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import pytest

from okgin_env import analysis, cards
from okgin_env.kernel import batch, conceal, play
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import ENDINGS, N_ACTIONS, N_CARDS, OVER
from okgin_env.rules import Rules
from tests.helpers import twin
from tests.helpers.paths import DATA
from tests.helpers.twin import TwinHand

Case = dict[str, Any]
Asked = tuple[int, list[int]]  # the seat to move, and its legal actions


class Kernel:
    """The compiled kernel, asked in text as users ask it."""

    deadwood = staticmethod(analysis.deadwood)
    layoff = staticmethod(analysis.layoff)
    arrange = staticmethod(analysis.arrange)
    settle = staticmethod(analysis.settle)

    @staticmethod
    def knock_discards(hand: str, limit: int, taken: str | None) -> str:
        return analysis.knock_discards(hand, limit, taken)

    @staticmethod
    def hand(case: Case, rules: Rules) -> Iterator[Asked]:
        """Every decision of a whole hand; its end is held against the case."""
        record, states = as_records(rules.to_record()), new_states(1)
        mask, table = np.zeros(N_ACTIONS, np.int8), np.zeros(N_CARDS, np.int16)
        deck, dealer = np.array([cards.ids(case["deck"])], np.int8), np.array([case["dealer"]])
        batch.deal_games(states, np.arange(1), record, deck, dealer)
        s = states[0]
        assert s["limit"] == case["limit"]
        for action in case["actions"]:
            play.legal(s, record[0], mask, table)
            yield int(s["seat"]), np.flatnonzero(mask).tolist()
            play.step(s, record[0], action)
            assert conceal.conserved(s, record[0])
        assert s["phase"] == OVER
        assert ENDINGS[s["ending"]] == case["ending"]
        assert s["points"][: rules.players].tolist() == case["points"]


class Twin:
    """The plain twin, asked in text."""

    @staticmethod
    def deadwood(hand: str) -> int:
        return twin.deadwood(cards.ids(hand))

    @staticmethod
    def arrange(hand: str) -> list[str]:
        shown = twin.shown(cards.ids(hand))
        assert shown in twin.arrangements(cards.ids(hand))
        return [cards.text(meld) for meld in shown]

    @staticmethod
    def knock_discards(hand: str, limit: int, taken: str | None) -> str:
        taken_id = None if taken is None else cards.card_id(taken)
        return cards.text(sorted(twin.knock_discards(cards.ids(hand), limit, taken_id)))

    @staticmethod
    def layoff(shown: list[str], hand: str) -> tuple[int, str]:
        melds = [cards.ids(meld) for meld in shown]
        after, laid, grown = twin.layoff(melds, cards.ids(hand))
        assert sorted(sum(grown, ())) == sorted([*chain(*melds), *laid])
        return after, cards.text(sorted(laid))

    @staticmethod
    def settle(rules: str, knocker: int, hands: list[str]) -> list[int]:
        preset = Rules.preset(rules, len(hands))
        ending, points, _ = twin.settle(preset, knocker, [cards.ids(hand) for hand in hands])
        assert (ending == "gin") == (Twin.deadwood(hands[knocker]) == 0)
        return points

    @staticmethod
    def hand(case: Case, rules: Rules) -> Iterator[Asked]:
        hand = TwinHand(rules, cards.ids(case["deck"]), case["dealer"])
        assert hand.limit == case["limit"]
        for action in case["actions"]:
            yield hand.seat, hand.legal()
            hand.step(action)
        assert (hand.ending, hand.points) == (case["ending"], case["points"])


def check_deadwood(judge: Any, case: Case) -> None:
    """Deadwood; with a card too many also the best discard and the discards to knock with."""
    assert judge.deadwood(case["hand"]) == case["deadwood"]
    if "limit" in case:
        knocks = judge.knock_discards(case["hand"], case["limit"], case["taken"])
        assert set(knocks.split()) == set(case["knock_discards"].split())
        # Over all discards: this figure of the file leaves the taken card free.
        held = case["hand"].split()
        rests = [" ".join(card for card in held if card != gone) for gone in held]
        assert min(map(judge.deadwood, rests)) == case["after_best_discard"]


def check_layoff(judge: Any, case: Case) -> None:
    """The melds that the knocker shows, and the opponent's deadwood before and after layoffs."""
    assert judge.arrange(case["knocker"]) == _sorted(case["shown"])
    assert judge.deadwood(case["opponent"]) == case["deadwood_before"]
    after, laid_off = judge.layoff(case["shown"], case["opponent"])
    rest = set(case["opponent"].split()) - set(laid_off.split())
    assert after == case["deadwood_after"] == judge.deadwood(" ".join(rest))


def check_settle(judge: Any, case: Case) -> None:
    """The melds that the knocker shows, whether it is gin, and everybody's points."""
    hand = case["hands"][case["knocker"]]
    assert judge.arrange(hand) == _sorted(case["shown"])
    assert (judge.deadwood(hand) == 0) == case["gin"]
    assert judge.settle(case["rules"], case["knocker"], case["hands"]) == case["points"]


def check_hand(judge: Any, case: Case) -> None:
    """A whole hand: seat and all legal actions at every decision, then ending and points."""
    asked = [*judge.hand(case, Rules.preset(case["rules"], case["players"]))]
    assert asked == [*zip(case["seats"], case["legal"], strict=True)]


FILES = {
    "deadwood": (check_deadwood, 600),
    "layoff": (check_layoff, 300),
    "settle": (check_settle, 300),
    "hands": (check_hand, 150),
}


@pytest.mark.parametrize("judge", [Kernel, Twin])
@pytest.mark.parametrize("name", FILES)
def test_worked_examples(name: str, judge: Any) -> None:
    check, n = FILES[name]
    cases = json.loads((DATA / f"{name}.json").read_text())
    assert len(cases) == n
    for k, case in enumerate(cases):
        try:
            check(judge, case)
        except AssertionError as error:
            raise AssertionError(f"{name}[{k}]: {error}\n{case}") from error


def _sorted(melds: list[str]) -> list[str]:
    """Melds in the order of their lowest card."""
    return sorted(melds, key=lambda meld: min(cards.ids(meld)))
