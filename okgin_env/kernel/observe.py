"""The observation of one seat, written feature by feature at the places of `layout.FEATURES`."""

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
    AT,
    DEADWOOD_STEPS,
    DRAW,
    N_SCORE_STEPS,
    N_STOCK_STEPS,
    OFFER,
    OPPONENT_AT,
    OVER,
    SHED,
)

# Steps of the deadwood thermometer below each deadwood: (128,) int64.
_N_DEADWOOD_STEPS = np.array([sum(d > step for step in DEADWOOD_STEPS) for d in range(128)])


@compiled
def _own_prospects(s, hand, observation, table):
    """Writes what a good player sees at a glance in the own hand: derived, exact, from own cards only; returns its deadwood."""
    plane(melded(hand), observation, AT.melded)
    if s.phase == SHED:
        free = hand & ~locked_mask(s)
        best = least(table, free)
        plane(free & at_most(table, best), observation, AT.best_discards)
        return best
    own = deadwood(hand)
    top = top_card(s)
    if (s.phase == OFFER or s.phase == DRAW) and top >= 0:
        with_top = least_discard(hand | bit(top))  # `own` at most: the top card may go again
        if melded(hand | bit(top)) & bit(top) != ZERO:
            observation[AT.top_melds] = 1
        if with_top < own:
            observation[AT.top_lowers] = 1
        if own <= s.limit:  # then only another discard tells
            with_top = least_free_discard(hand | bit(top), bit(top), table)
        if with_top <= s.limit:
            observation[AT.top_knocks] = 1
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
    plane(hand, observation, AT.hand)
    top = top_card(s)
    if top >= 0:
        observation[AT.top + top] = 1
        plane(pile_mask(s) ^ bit(top), observation, AT.under)
    if s.taken >= 0:
        observation[AT.taken + np.int64(s.taken)] = 1
    plane(s.discards[seat], observation, AT.own_discards)
    plane(s.known[seat], observation, AT.own_known)
    observation[AT.limit + np.int64(s.limit)] = 1
    if s.phase < OVER:
        observation[AT.phase + np.int64(s.phase)] = 1
    n_draws = min(max(stock_left(s) - STOCK_AT_VOID, 0), N_STOCK_STEPS)
    observation[AT.stock : AT.stock + n_draws] = 1
    observation[AT.dealer + (s.dealer - seat + n) % n] = 1
    if seat == s.seat:
        own = _own_prospects(s, hand, observation, table)
    else:
        plane(melded(hand), observation, AT.melded)
        own = deadwood(hand)
    observation[AT.deadwood : AT.deadwood + _N_DEADWOOD_STEPS[own]] = 1
    at = AT.end
    for k in range(1, n):
        p = (seat + k) % n
        plane(s.known[p], observation, at + OPPONENT_AT.known)
        plane(s.discards[p], observation, at + OPPONENT_AT.discards)
        plane(s.declined[p], observation, at + OPPONENT_AT.declined)
        at += OPPONENT_AT.end
    if match:
        for k in range(n):
            score = np.int64(s.scores[(seat + k) % n])
            for step in range(N_SCORE_STEPS):
                if score * N_SCORE_STEPS > step * rules.target:
                    observation[at + step] = 1
            at += N_SCORE_STEPS
    if len(observation) > at and s.phase < OVER and seat == s.seat:
        outlook(s, own, observation[at:], table)
