"""The observation of one seat, written feature by feature at the indices of `layout`."""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.jit import compiled
from okgin_env.kernel.lanes import at_most, least
from okgin_env.kernel.melds import ZERO, bit, deadwood, least_discard, least_free_discard, melded
from okgin_env.kernel.outlook import outlook
from okgin_env.kernel.play import (
    STOCK_AT_VOID,
    locked_mask,
    pile_mask,
    plane,
    stock_left,
    top_card,
)
from okgin_env.layout import (
    DEADWOOD_STEPS,
    DRAW,
    N_CARDS,
    N_SCORE_STEPS,
    N_STOCK_STEPS,
    O_BEST_DISCARDS,
    O_DEADWOOD,
    O_DEALER,
    O_HAND,
    O_LIMIT,
    O_MELDED,
    O_OPPONENTS,
    O_OWN_DISCARDS,
    O_OWN_KNOWN,
    O_PER_OPPONENT,
    O_PHASE,
    O_STOCK,
    O_TAKEN,
    O_TOP,
    O_TOP_KNOCKS,
    O_TOP_LOWERS,
    O_TOP_MELDS,
    O_UNDER,
    OFFER,
    OVER,
    SHED,
)

# Steps of the deadwood thermometer below each deadwood: (128,) int64.
_N_DEADWOOD_STEPS = np.array([sum(d > step for step in DEADWOOD_STEPS) for d in range(128)])


@compiled
def _own_prospects(s, hand, observation, table):
    """What a good player sees at a glance in the own hand: derived, exact, from own cards only."""
    plane(melded(hand), observation, O_MELDED)
    if s.phase == SHED:
        free = hand & ~locked_mask(s)
        best = least(table, free)
        plane(free & at_most(table, best), observation, O_BEST_DISCARDS)
        return best
    own = deadwood(hand)
    top = top_card(s)
    if (s.phase == OFFER or s.phase == DRAW) and top >= 0:
        with_top = least_discard(hand | bit(top))  # `own` at most: the top card may go again
        if melded(hand | bit(top)) & bit(top) != ZERO:
            observation[O_TOP_MELDS] = 1
        if with_top < own:
            observation[O_TOP_LOWERS] = 1
        if own <= s.limit:  # then only another discard tells
            with_top = least_free_discard(hand | bit(top), bit(top), table)
        if with_top <= s.limit:
            observation[O_TOP_KNOCKS] = 1
    return own


@compiled
def observe(s, rules, seat, match, observation, table):
    """Writes the observation of a seat.

    Args:
        s: Game record.
        rules: Rules record.
        seat: The seat that looks.
        match: Whether scores are part of the observation.
        observation: (D,) int8, all entries are written; where there is room for it, with the outlook.
        table: (52,) int16 work space; in the discard phase of the seat to move it must have been
            filled by `play.legal`.
    """
    observation[:] = 0
    n = rules.players
    hand = s.hands[seat]
    plane(hand, observation, O_HAND)
    top = top_card(s)
    if top >= 0:
        observation[O_TOP + top] = 1
        plane(pile_mask(s) ^ bit(top), observation, O_UNDER)
    if s.taken >= 0:
        observation[O_TAKEN + np.int64(s.taken)] = 1
    plane(s.discards[seat], observation, O_OWN_DISCARDS)
    plane(s.known[seat], observation, O_OWN_KNOWN)
    observation[O_LIMIT + np.int64(s.limit)] = 1
    if s.phase < OVER:
        observation[O_PHASE + np.int64(s.phase)] = 1
    n_draws = min(max(stock_left(s) - STOCK_AT_VOID, 0), N_STOCK_STEPS)
    observation[O_STOCK : O_STOCK + n_draws] = 1
    observation[O_DEALER + (s.dealer - seat + n) % n] = 1
    if seat == s.seat:
        own = _own_prospects(s, hand, observation, table)
    else:
        plane(melded(hand), observation, O_MELDED)
        own = deadwood(hand)
    observation[O_DEADWOOD : O_DEADWOOD + _N_DEADWOOD_STEPS[own]] = 1
    at = O_OPPONENTS
    for k in range(1, n):
        p = (seat + k) % n
        plane(s.known[p], observation, at)
        plane(s.discards[p], observation, at + N_CARDS)
        plane(s.declined[p], observation, at + 2 * N_CARDS)
        at += O_PER_OPPONENT
    if match:
        for k in range(n):
            score = np.int64(s.scores[(seat + k) % n])
            for step in range(N_SCORE_STEPS):
                if score * N_SCORE_STEPS > step * rules.target:
                    observation[at + step] = 1
            at += N_SCORE_STEPS
    if len(observation) > at and s.phase < OVER and seat == s.seat:
        outlook(s, own, observation[at:], table)
