"""Conditions that the results of hands and matches meet, whoever played them (rules.md): made-up ones seldom do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env.arena.outcome import Results
from okgin_env.kernel.play import STOCK_AT_VOID
from okgin_env.layout import (
    BIG_GIN_END,
    FORFEIT_POINTS,
    GIN,
    ILLEGAL,
    KNOCKED,
    MAX_MATCH_HANDS,
    N_CARDS,
    UNDERCUT,
    VOID,
)
from okgin_env.rules import MOST_PIPS, Rules

_ROUNDING = 1e-6  # thirds of points are not exact
Condition = tuple[
    str, Any, str
]  # a field, whether it is as it must be (a (D, R) array), and how that is


def check(results: Results, knocks: NDArray[np.int64], rules: Rules, kind: str) -> None:
    """Checks that results can have come about under the rules.

    Args:
        results: Those of some deals.
        knocks: As in `Pair.knocks`.
        rules: The rules of the table.
        kind: "hands" or "matches".

    Raises:
        ValueError: They cannot, naming the field that does not agree with the others.
    """
    of_kind = _of_hands if kind == "hands" else _of_matches
    for field, good, allowed in (*_of_endings(results, rules), *of_kind(results, rules)):
        if not np.all(good):
            raise ValueError(f"{field}; allowed: {allowed}")
    _check_knocks(knocks, results, kind)


def _of_endings(results: Results, rules: Rules) -> Iterator[Condition]:
    """Conditions on how a hand ended; of a match its last."""
    ending, turns = results.ending, results.turns
    possible = [GIN, VOID, ILLEGAL]
    possible += [KNOCKED, UNDERCUT] if rules.most_knocked else []
    possible += [BIG_GIN_END] if rules.big_gin_bonus else []
    yield "ending", np.isin(ending, possible), "one that the rules have"
    nobody = results.ended_by < 0
    yield "ended_by", nobody == (ending == VOID), "a player, or nobody where the hand is void"
    # The last turn has no discard where it is a big gin or illegal; a void hand has used up its stock or its turns.
    undone = np.isin(ending, [BIG_GIN_END, ILLEGAL])
    stock = N_CARDS - rules.players * rules.hand_size - 1
    least = np.where(ending == VOID, min(rules.max_turns, stock - STOCK_AT_VOID), 1 - undone)
    within = (turns >= least) & (turns <= rules.max_turns - undone)
    yield "turns", within, "as many as such a hand can have"


def _of_hands(results: Results, rules: Rules) -> Iterator[Condition]:
    """Conditions on single hands."""
    n, points, winner, by = rules.players, results.points, results.winner, results.ended_by
    ending = results.ending
    illegal = ending == ILLEGAL
    yield "hands", results.hands == 1, "1"
    forfeits = illegal[..., None] & (by[..., None] == [0, 1])
    yield "faults", results.faults.sum(axis=3) == forfeits, "one by who forfeited the hand"
    alone = _scores_alone(ending, n)
    own = np.where(by == 0, points, -points * (n - 1))  # of who ended the hand
    expected = np.where(by == 0, -FORFEIT_POINTS, FORFEIT_POINTS / (n - 1))
    good = np.where(illegal, np.abs(points - expected) < _ROUNDING, _is_whole(points, n))
    good &= (ending != VOID) | (points == 0)
    good &= ~alone | _is_worth(own, ending, rules)
    good &= np.abs(points) <= rules.most_points
    yield "points", good, "what a hand that ended so is worth"
    somebody = np.where(points == 0, -1, by)
    good = ~alone | (winner == somebody)
    good &= (ending != VOID) | (winner == -1)
    good &= ~illegal | (winner == 1 - by) | ((n > 2) & (by == 1) & (winner == 1))
    good &= _leads(points, winner, n) & ((winner >= 0) | (points == 0))
    yield "winner", good, "who has most points"


def _of_matches(results: Results, rules: Rules) -> Iterator[Condition]:
    """Conditions on matches."""
    n, points, winner, by = rules.players, results.points, results.winner, results.ended_by
    ending, hands, most = results.ending, results.hands, rules.most_points
    target, decided, illegal = rules.target or 0, results.winner >= 0, results.ending == ILLEGAL
    good = (hands >= 1) & (hands <= MAX_MATCH_HANDS)
    good &= np.where(decided, hands * most >= target, hands == MAX_MATCH_HANDS)
    yield "hands", good, f"1 to {MAX_MATCH_HANDS}, and enough for the target"
    found = results.faults.sum(axis=3)
    good = (found >= (illegal[..., None] & (by[..., None] == [0, 1]))).all(axis=2)
    good &= found.sum(axis=2) <= hands - ~illegal
    yield "faults", good, "at most one a hand, and the last hand's"
    good = _is_whole(points, n) & _leads(points, winner, n) & (np.abs(points) <= hands * most)
    if n == 2:  # only one seat scores in a hand, so nobody is beyond the target before the last
        good &= np.abs(points) <= np.where(decided, target - 1 + most, target - 1)
    yield "points", good, "the winner's lead, in reach of the target"
    good = ~decided | (ending != VOID)
    good &= ~(decided & _scores_alone(ending, n)) | (winner == by)
    good &= ~(decided & illegal) | (winner == 1 - by) | ((n > 2) & (by == 1))
    yield "winner", good, "who scored in the last hand"


def _scores_alone(ending: NDArray[np.int8], n_seats: int) -> NDArray[np.bool_]:
    """Whether nobody scores but the seat that `ended_by` tells the player of."""
    return np.isin(ending, [KNOCKED, GIN, BIG_GIN_END]) | ((ending == UNDERCUT) & (n_seats == 2))


def _is_worth(
    own: NDArray[np.float64], ending: NDArray[np.int8], rules: Rules
) -> NDArray[np.bool_]:
    """Whether a hand can bring that many points to a seat that scores alone."""
    others, pips = rules.players - 1, rules.hand_size * MOST_PIPS
    tie = int(not rules.undercut_on_tie)  # who knocks and ties
    worth = {
        KNOCKED: (others * (1 - tie), others * (pips - 1)),
        GIN: (rules.gin_bonus, rules.gin_bonus + others * pips),
        BIG_GIN_END: (rules.big_gin_bonus, rules.big_gin_bonus + others * pips),
        UNDERCUT: (rules.undercut_bonus + tie, rules.undercut_bonus + rules.most_knocked),
    }
    good = np.zeros(own.shape, bool)
    for factor in (1, 2) if rules.spades_double else (1,):
        for kind, (least, most) in worth.items():
            value = own / factor
            within = (value >= least - _ROUNDING) & (value <= most + _ROUNDING)
            good |= (ending == kind) & within & (np.abs(value - np.rint(value)) < _ROUNDING)
    return good


def _is_whole(points: NDArray[np.float64], n_seats: int) -> NDArray[np.bool_]:
    """Whether they can be a seat's points minus the mean of the others'."""
    parts = points * (n_seats - 1)
    return np.abs(parts - np.rint(parts)) < _ROUNDING


def _leads(
    points: NDArray[np.float64], winner: NDArray[np.int8], n_seats: int
) -> NDArray[np.bool_]:
    """Whether the winner can be who has most: player a is above the others' mean; so is b, of two seats."""
    return ((winner != 0) | (points > 0)) & ((winner != 1) | (points < 0) | (n_seats > 2))


def _check_knocks(knocks: NDArray[np.int64], results: Results, kind: str) -> None:
    """Checks the counts of knocks against the endings; those of matches are not kept."""
    could, did = knocks[:, 0], knocks[:, 1]
    ended = [(results.ending == e).sum() for e in (KNOCKED, GIN, UNDERCUT, BIG_GIN_END)]
    least = 0 if kind == "matches" else sum(ended[:3])
    most = (
        0 if kind == "matches" else sum(ended)
    )  # a big gin is one only if a discard keeps the melds
    turns = 0 if kind == "matches" else results.turns.sum() + ended[3]
    limits, deadwood = np.indices((could.shape[1], could.shape[3]))
    beyond = could.swapaxes(2, 3)[:, deadwood > limits]
    good = (did >= 0).all() and (did <= could).all() and not beyond.any()
    if not (good and least <= did.sum() <= most and could.sum() <= turns):
        raise ValueError("knocks; allowed: as many as hands ended by a knock, under their limits")
