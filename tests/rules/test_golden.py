"""The 1,350 worked examples of docs/rules.md against the compiled kernel."""

from __future__ import annotations

import json

import numpy as np

from okgin_env import analysis, cards
from okgin_env.kernel import batch, conceal, play
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import ENDINGS, N_ACTIONS, N_CARDS, OVER
from okgin_env.rules import Rules
from tests.helpers.paths import DATA


def _cases(name: str) -> list[dict]:
    return json.loads((DATA / f"{name}.json").read_text())


def test_deadwood_cases() -> None:
    cases = _cases("deadwood")
    assert len(cases) == 600
    for k, case in enumerate(cases):
        assert analysis.deadwood(case["hand"]) == case["deadwood"], (k, case)
        if "limit" in case:
            knocks = analysis.knock_discards(case["hand"], case["limit"], case["taken"])
            assert set(knocks.split()) == set(case["knock_discards"].split()), (k, case)
            # over all discards: this figure of the file leaves the taken card free
            least = min(
                analysis.deadwood(cards.mask(case["hand"]) & ~cards.mask(card))
                for card in case["hand"].split()
            )
            assert least == case["after_best_discard"], (k, case)


def test_layoff_cases() -> None:
    cases = _cases("layoff")
    assert len(cases) == 300
    for k, case in enumerate(cases):
        assert analysis.arrange(case["knocker"]) == _sorted(case["shown"]), (k, case)
        assert analysis.deadwood(case["opponent"]) == case["deadwood_before"], (k, case)
        after, laid_off = analysis.layoff(case["shown"], case["opponent"])
        assert after == case["deadwood_after"], (k, case)
        rest = cards.mask(case["opponent"]) & ~cards.mask(laid_off)
        assert analysis.deadwood(rest) == after, (k, case)


def test_settle_cases() -> None:
    cases = _cases("settle")
    assert len(cases) == 300
    for k, case in enumerate(cases):
        knocker_hand = case["hands"][case["knocker"]]
        assert analysis.arrange(knocker_hand) == _sorted(case["shown"]), (k, case)
        assert (analysis.deadwood(knocker_hand) == 0) == case["gin"], (k, case)
        points = analysis.settle(case["rules"], case["knocker"], case["hands"])
        assert points == case["points"], (k, case)


def test_whole_hands() -> None:
    """Seat, limit and all legal actions at every decision, then ending and points."""
    cases = _cases("hands")
    assert len(cases) == 150
    mask, table = np.zeros(N_ACTIONS, np.int8), np.zeros(N_CARDS, np.int16)
    for k, case in enumerate(cases):
        rules = as_records(Rules.preset(case["rules"], case["players"]).to_record())
        states = new_states(1)
        deck = np.array([cards.ids(case["deck"])], np.int8)
        batch.deal_games(states, np.arange(1), rules, deck, np.array([case["dealer"]]))
        s = states[0]
        assert s["limit"] == case["limit"], (k, case)
        for seat, action, legal in zip(case["seats"], case["actions"], case["legal"], strict=True):
            play.legal(s, rules[0], mask, table)
            assert s["seat"] == seat, (k, case)
            assert np.flatnonzero(mask).tolist() == legal, (k, case)
            play.step(s, rules[0], action)
            assert conceal.conserved(s, rules[0]), (k, case)
        assert s["phase"] == OVER, (k, case)
        assert ENDINGS[s["ending"]] == case["ending"], (k, case)
        assert s["points"][: case["players"]].tolist() == case["points"], (k, case)


def _sorted(melds: list[str]) -> list[str]:
    """Melds in the order of their lowest card."""
    return sorted(melds, key=lambda meld: min(cards.ids(meld)))
