"""The chance to win a match from any score, solved from how hands of these rules end (two seats).

Exact for two equal players whose hands end as in the histogram: a hand moves one of the two scores up, so the scores
are solved from the target downwards; where a void hand leaves the scores, the two dealers' chances are two linear equations.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from okgin_env.rules import Rules

FILE = Path(__file__).parent / "hand_results.json"
NO_EQUITY = np.zeros((0, 0, 2))


@lru_cache
def equity_table(rules: Rules) -> NDArray[np.float64]:
    """The chance to win the match from any score.

    Args:
        rules: The rules of the table.

    Returns:
        (target, target, 2) float64, by own score, the other's score, and whether one deals the next hand; `NO_EQUITY`
        for more than two seats, single hands, or rules whose hand results are not stored.
    """
    results = hand_results().get(rules.label)
    if results is None or rules.target is None or rules.players != 2:
        return NO_EQUITY
    return solve(rules, np.array(results))


@lru_cache
def hand_results() -> dict[str, list[list[list[float]]]]:
    """Endings of hands of `camper` against itself, by rules' label; made by `benchmarks/hand_results.py`."""
    return json.loads(FILE.read_text())


def solve(rules: Rules, results: NDArray[np.float64]) -> NDArray[np.float64]:
    """The table for given hand results.

    Args:
        rules: Rules with a target, for two seats.
        results: (2, P) probabilities that a hand brings the dealer (row 0) or the other seat (row 1) k points; both
            entries for 0 points are halves of the probability that nobody scores.
    """
    target, n = rules.target or 0, results.shape[1]
    table = np.zeros((target + n, target + n, 2))  # beyond the target the match is won or lost
    table[target:, :target] = 1.0
    void = results[0, 0] + results[1, 0]
    next_deals = _next_deals(rules)
    for total in range(2 * (target - 1), -1, -1):
        for own in range(max(0, total - target + 1), min(total, target - 1) + 1):
            other = total - own
            base = np.zeros(2)  # by whether one deals this hand
            for deals in range(2):
                mine, theirs = results[1 - deals], results[deals]
                won = table[own + 1 : own + n, other, next_deals[deals][1]]
                lost = table[own, other + 1 : other + n, next_deals[deals][0]]
                base[deals] = mine[1:] @ won + theirs[1:] @ lost
            table[own, other] = _with_voids(base, void, rules.void_dealer == "same")
    return np.ascontiguousarray(table[:target, :target])


def _next_deals(rules: Rules) -> list[list[int]]:
    """Whether one deals the next hand (1), by whether one deals this one and whether one wins it."""
    if rules.next_dealer == "alternates":
        return [[1, 1], [0, 0]]
    return [[0, 1], [0, 1]] if rules.next_dealer == "winner" else [[1, 0], [1, 0]]


def _with_voids(base: NDArray[np.float64], void: float, same: bool) -> NDArray[np.float64]:
    """Chances by dealer where a share of the hands is void: x = base + void * (x, or x of the other dealer)."""
    if same:
        return base / (1 - void)
    return (base + void * base[::-1]) / (1 - void * void)
