"""Scripted players as compiled policies.

A policy reads of the record only what its seat may see (own hand, pile, known cards, scores, rules) and draws
from its seat's own random stream. A test runs each on the concealed record and asks for the same moves.
"""

from __future__ import annotations

from okgin_env.kernel.camper import camper_sheds, camper_takes, careful_sheds
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

EXTERNAL = -1  # a seat whose moves come from outside the kernel
RANDOM = 0
NOVICE = 1
SIMPLE = 2
KNOCKER = 3
CAREFUL = 4
CAMPER = 5
HUNTER = 6
POLICIES = ("random", "novice", "simple", "knocker", "careful", "camper", "hunter")  # by policy id


@compiled
def _pick(s, cards_mask):
    """A uniformly random card of a set that is not empty."""
    rest = cards_mask
    for _ in range(seat_below(s, s.seat, popcount(cards_mask))):
        rest &= rest - ONE
    return lowest(rest)


@compiled
def _random(s, rules, table):
    """Uniform over the legal actions."""
    refuse = PASS if s.phase == OFFER else DRAW_STOCK
    if s.phase != SHED:
        return DRAW_TOP if seat_below(s, s.seat, 2) == 0 else refuse
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
def _wants_top(s, policy):
    """Whether a scripted player takes the top card (or the offered upcard)."""
    hand = s.hands[s.seat]
    top = top_card(s)
    if policy == NOVICE:
        return seat_below(s, s.seat, 2) == 0
    if policy == SIMPLE:
        return melded(hand | bit(top)) & bit(top) != ZERO
    if policy == CAMPER or policy == HUNTER:
        return camper_takes(s)
    return least_discard(hand | bit(top)) < deadwood(hand)


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
def _scripted_shed(s, policy, table):
    """Discard or knock of novice, simple and knocker."""
    discard_table(s.hands[s.seat], table)
    free = s.hands[s.seat] & ~locked_mask(s)
    fewest = free & at_most(table, least(table, free))
    if policy == NOVICE and table[lowest(fewest)] > 0:
        knocks = free & at_most(table, s.limit)
        return KNOCK + _pick(s, knocks) if knocks != ZERO else _pick(s, fewest)
    card = _highest(fewest) if policy == KNOCKER else _pick(s, fewest)
    return KNOCK + card if table[card] <= s.limit else card


@compiled
def choose(s, rules, policy, table):
    """The action of a scripted player for the seat to move.

    Args:
        s: Game record (its seat's random stream moves on).
        rules: Rules record.
        policy: Policy id, an index into `POLICIES`.
        table: (52,) int16 work space.
    """
    if policy == RANDOM:
        return _random(s, rules, table)
    if s.phase == SHED:
        if may_big_gin(s, rules) and rules.big_gin_bonus >= rules.gin_bonus:
            return BIG_GIN
        if policy == CAREFUL:
            return careful_sheds(s, rules, table)
        if policy >= CAMPER:
            return camper_sheds(s, policy == CAMPER, table)
        return _scripted_shed(s, policy, table)
    if _wants_top(s, policy):
        return DRAW_TOP
    return PASS if s.phase == OFFER else DRAW_STOCK
