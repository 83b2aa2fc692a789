"""`camper`, the strongest scripted player, and its extreme `hunter`.

`camper` waits: it knocks in its first three turns or with gin, never in between, and discards by what a card is worth to
its own hand two draws on and how dangerous it is to give away.
"""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.eager import draw, prefers_big_gin
from okgin_env.kernel.jit import compiled, lowest, popcount
from okgin_env.kernel.melds import (
    ONE,
    PIPS,
    RANK_ACE,
    ZERO,
    bit,
    deadwood,
    least_discard,
    least_free_discard,
)
from okgin_env.kernel.outlook import SLACK, hope, hope_weight, theirs_mask, unseen_mask
from okgin_env.kernel.play import locked_mask, pile_mask, top_card
from okgin_env.kernel.rng import seat_below
from okgin_env.layout import BIG_GIN, KNOCK, N_RANKS, SHED

EARLY_TURNS = 3  # in which camper knocks
MOST_EARLY = 10  # deadwood it then knocks with at most


@compiled
def _takes(s):
    """Takes the top card iff it is melded in the best arrangement and the deadwood drops."""
    hand = s.hands[s.seat]
    top = top_card(s)
    own = deadwood(hand)
    if deadwood(hand | bit(top)) >= own + PIPS[top]:
        return False
    return least_discard(hand | bit(top)) < own


@compiled
def _has(cards_mask, suit, rank, beyond):
    """Whether a set holds a card of a suit; `beyond` is the answer for ranks that do not exist."""
    if rank < 0 or rank >= N_RANKS:
        return beyond
    return cards_mask & bit(N_RANKS * suit + rank) != ZERO


@compiled
def _run_danger(card, gone, theirs):
    """The danger that a discard helps a run of theirs."""
    suit, rank = card // N_RANKS, card % N_RANKS
    gone_l1, gone_l2 = _has(gone, suit, rank - 1, True), _has(gone, suit, rank - 2, True)
    gone_r1, gone_r2 = _has(gone, suit, rank + 1, True), _has(gone, suit, rank + 2, True)
    if (gone_l1 and (gone_r1 or gone_r2)) or (gone_r1 and gone_l2):
        danger = -10
    else:
        danger = -5 * (int(gone_l1) + int(gone_r1)) - 3 * (int(gone_l2) + int(gone_r2))
    l1, l2 = _has(theirs, suit, rank - 1, False), _has(theirs, suit, rank - 2, False)
    r1, r2 = _has(theirs, suit, rank + 1, False), _has(theirs, suit, rank + 2, False)
    if (l1 and l2) or (l1 and r1) or (r1 and r2):
        return danger + 20
    return danger + 5 * (int(l1) + int(r1)) + 3 * (int(l2) + int(r2))


@compiled
def _rank_danger(card, gone, theirs):
    """The danger that a discard helps a set of theirs."""
    rank = RANK_ACE << np.uint64(card % N_RANKS)
    n_gone = popcount((gone | bit(card)) & rank)
    danger = 4
    if n_gone >= 3:
        danger = -10
    elif n_gone == 2:
        danger = -4
    return danger + 20 if popcount(theirs & rank) >= 2 else danger


@compiled
def _candidates(hand_mask, free_mask, table):
    """Discards that camper weighs: loose in a least-deadwood arrangement, high, and not too dear."""
    whole = deadwood(hand_mask)
    loose, highest, best = ZERO, 0, 1000
    rest = free_mask
    while rest != ZERO:
        card = lowest(rest)
        rest &= rest - ONE
        best = min(best, np.int64(table[card]))
        if table[card] + PIPS[card] == whole:
            loose |= bit(card)
    if loose == ZERO:
        loose = free_mask
    rest = loose
    while rest != ZERO:
        highest = max(highest, PIPS[lowest(rest)])
        rest &= rest - ONE
    kept = ZERO
    rest = loose
    while rest != ZERO:
        card = lowest(rest)
        rest &= rest - ONE
        if PIPS[card] >= highest - SLACK and table[card] <= best + SLACK:
            kept |= bit(card)
    return kept if kept != ZERO else free_mask


@compiled
def _shed(s, early_knocks, table):
    """Discard or knock of `camper` (with early knocks) and `hunter` (without).

    Args:
        s: Game record in the discard phase.
        early_knocks: Whether to knock in the first turns.
        table: (52,) int16 work space.
    """
    hand = s.hands[s.seat]
    free = hand & ~locked_mask(s)
    best = least_free_discard(hand, locked_mask(s), table)
    turn = np.int64(s.n_sheds[s.seat]) + 1
    if best == 0 or (early_knocks and turn <= EARLY_TURNS and best <= min(MOST_EARLY, s.limit)):
        rest = free
        while np.int64(table[lowest(rest)]) != best:
            rest &= rest - ONE
        return KNOCK + lowest(rest)
    rest = _candidates(hand, free, table)
    theirs = theirs_mask(s, s.seat)
    gone = hand | pile_mask(s)
    unseen = unseen_mask(s, s.seat)
    weight = hope_weight(turn - 1)
    chosen, lowest_score, n_equal = lowest(rest), np.inf, 0
    counts = np.empty(128, np.int16)
    while rest != ZERO:
        card = lowest(rest)
        rest &= rest - ONE
        danger = _run_danger(card, gone, theirs) + _rank_danger(card, gone, theirs)
        score = table[card] + weight * hope(hand ^ bit(card), unseen, counts) + danger
        if score < lowest_score:
            chosen, lowest_score, n_equal = card, score, 1
        elif score == lowest_score:
            n_equal += 1
            if seat_below(s, s.seat, n_equal) == 0:
                chosen = card
    return chosen


@compiled
def camper_move(s, rules, table):
    """Waits: knocks in its first turns or with gin, never in between."""
    if s.phase != SHED:
        return draw(s, _takes(s))
    return BIG_GIN if prefers_big_gin(s, rules) else _shed(s, True, table)


@compiled
def hunter_move(s, rules, table):
    """As camper, but knocks with gin only."""
    if s.phase != SHED:
        return draw(s, _takes(s))
    return BIG_GIN if prefers_big_gin(s, rules) else _shed(s, False, table)
