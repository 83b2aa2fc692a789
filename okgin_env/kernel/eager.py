"""The scripted players that knock as soon as they may (`simple`, `knocker`), and those that do as chance will have it."""

from __future__ import annotations

from okgin_env.kernel.jit import compiled, lowest, popcount
from okgin_env.kernel.lanes import at_most, least
from okgin_env.kernel.melds import (
    ONE,
    PIPS,
    ZERO,
    bit,
    deadwood,
    discard_table,
    least_discard,
    melded,
)
from okgin_env.kernel.play import locked_mask, may_big_gin, top_card
from okgin_env.kernel.rng import seat_below
from okgin_env.layout import BIG_GIN, DRAW_STOCK, DRAW_TOP, KNOCK, OFFER, PASS, SHED


@compiled
def draw(s, take):
    """The action before the discard: takes the top card, or refuses it."""
    if take:
        return DRAW_TOP
    return PASS if s.phase == OFFER else DRAW_STOCK


@compiled
def prefers_big_gin(s, rules):
    """Whether big gin is there and pays no less than gin."""
    return may_big_gin(s, rules) and rules.big_gin_bonus >= rules.gin_bonus


@compiled
def lowers(s):
    """Whether taking the top card lowers the best deadwood after a discard."""
    hand = s.hands[s.seat]
    return least_discard(hand | bit(top_card(s))) < deadwood(hand)


@compiled
def fewest_mask(s, table):
    """Mask of the discards that leave the least deadwood; fills `table` as `discard_table` does."""
    discard_table(s.hands[s.seat], table)
    free = s.hands[s.seat] & ~locked_mask(s)
    return free & at_most(table, least(table, free))


@compiled
def _pick(s, cards_mask):
    """A uniformly random card of a set that is not empty."""
    rest = cards_mask
    for _ in range(seat_below(s, s.seat, popcount(cards_mask))):
        rest &= rest - ONE
    return lowest(rest)


@compiled
def _highest(cards_mask):
    """The card of most pips in a set that is not empty; of equals the lowest id."""
    best = lowest(cards_mask)
    rest = cards_mask
    while rest != ZERO:
        card = lowest(rest)
        rest &= rest - ONE
        if PIPS[card] > PIPS[best]:
            best = card
    return best


@compiled
def _knock_if_allowed(s, card, table):
    """Knocks with a discard where that is legal."""
    return KNOCK + card if table[card] <= s.limit else card


@compiled
def random_move(s, rules, table):
    """Uniform over the legal actions."""
    if s.phase != SHED:
        return draw(s, seat_below(s, s.seat, 2) == 0)
    discard_table(s.hands[s.seat], table)
    free = s.hands[s.seat] & ~locked_mask(s)
    knocks = free & at_most(table, s.limit)
    n_free, n_knocks = popcount(free), popcount(knocks)
    n_big = 1 if may_big_gin(s, rules) else 0
    k = seat_below(s, s.seat, n_free + n_knocks + n_big)
    if k == n_free + n_knocks:
        return BIG_GIN
    rest = free if k < n_free else knocks
    for _ in range(k if k < n_free else k - n_free):
        rest &= rest - ONE
    return lowest(rest) if k < n_free else KNOCK + lowest(rest)


@compiled
def novice_move(s, rules, table):
    """Draws at random, discards for least deadwood, goes gin, else knocks at random."""
    if s.phase != SHED:
        return draw(s, seat_below(s, s.seat, 2) == 0)
    if prefers_big_gin(s, rules):
        return BIG_GIN
    fewest = fewest_mask(s, table)
    if table[lowest(fewest)] > 0:
        knocks = s.hands[s.seat] & ~locked_mask(s) & at_most(table, s.limit)
        return KNOCK + _pick(s, knocks) if knocks != ZERO else _pick(s, fewest)
    return KNOCK + _pick(s, fewest)


@compiled
def simple_move(s, rules, table):
    """Takes what lies in any meld, discards at random for least deadwood, knocks as soon as it may."""
    if s.phase != SHED:
        top = bit(top_card(s))
        return draw(s, melded(s.hands[s.seat] | top) & top != ZERO)
    if prefers_big_gin(s, rules):
        return BIG_GIN
    return _knock_if_allowed(s, _pick(s, fewest_mask(s, table)), table)


@compiled
def knocker_move(s, rules, table):
    """Takes what lowers its deadwood, discards the highest card for least deadwood, knocks as soon as it may."""
    if s.phase != SHED:
        return draw(s, lowers(s))
    if prefers_big_gin(s, rules):
        return BIG_GIN
    return _knock_if_allowed(s, _highest(fewest_mask(s, table)), table)
