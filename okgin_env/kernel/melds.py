"""Exact deadwood of a card set, in nanoseconds (rules.md, Cards and notation).

Per suit, a 13-bit mask indexes a table of the pips that runs cannot cover. Ranks held three or four times are at
most three in eleven cards: each way to make sets of them (none, all, each three of four) is tried and the rest
looked up per suit. That is exact.
"""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.jit import compiled, lowest, popcount
from okgin_env.kernel.lanes import least, lower
from okgin_env.layout import N_CARDS, N_RANKS, N_SUITS

ZERO = np.uint64(0)
ONE = np.uint64(1)
TWO = np.uint64(2)
_SUIT = np.uint64((1 << N_RANKS) - 1)
_W1, _W2, _W3 = np.uint64(N_RANKS), np.uint64(2 * N_RANKS), np.uint64(3 * N_RANKS)
RANK_ACE = np.uint64(sum(1 << N_RANKS * suit for suit in range(N_SUITS)))  # the four aces
NOT_ACE = np.uint64((1 << N_CARDS) - 1) ^ RANK_ACE
NOT_KING = np.uint64((1 << N_CARDS) - 1) ^ np.uint64(int(RANK_ACE) << 12)
PIPS = np.array([min(card % N_RANKS + 1, 10) for card in range(N_CARDS)], np.int64)  # (52,), pips


def _loose_table() -> np.ndarray:
    """(8192,) int8: the least pips of a one-suit mask that runs leave uncovered."""
    table = np.zeros(1 << N_RANKS, np.int8)
    for mask in range(1, 1 << N_RANKS):
        top = mask.bit_length() - 1
        best = int(table[mask ^ 1 << top]) + min(top + 1, 10)  # the highest card stays loose
        run = 1 << top
        for low in range(top - 1, -1, -1):  # or ends a run of three or more
            run |= 1 << low
            if mask & run != run:
                break
            if top - low >= 2:
                best = min(best, int(table[mask ^ run]))
        table[mask] = best
    return table


LOOSE = _loose_table()
NOT_HELD = 127  # in tables of discards: more than any deadwood that a discard leaves


def _relief_table() -> np.ndarray:
    """(8192 * 13 + 3,) int8: of each one-suit mask in turn, by how much discarding each rank changes `LOOSE`.

    `NOT_HELD` stands where the rank is not there, and in three entries after the end, for whoever reads by sixteens.
    """
    masks = np.arange(1 << N_RANKS)[:, None]
    bits = 1 << np.arange(N_RANKS)
    rows = LOOSE[masks & ~bits] - LOOSE[masks]
    rows[masks & bits == 0] = NOT_HELD
    return np.append(rows.ravel(), np.full(3, NOT_HELD, np.int8))


_RELIEF = _relief_table()
_BEST_RELIEF = _RELIEF[:-3].reshape(-1, N_RANKS).min(axis=1)  # (8192,) int8


@compiled
def bit(card):
    """Mask of one card id."""
    return ONE << np.uint64(card)


@compiled
def pips_of(cards_mask):
    """Sum of the pips of a card set."""
    total = 0
    rest = cards_mask
    while rest != ZERO:
        total += PIPS[lowest(rest)]
        rest &= rest - ONE
    return total


@compiled
def _loose(cards_mask):
    """Pips left when only runs are made."""
    return (
        np.int64(LOOSE[np.int64(cards_mask & _SUIT)])
        + np.int64(LOOSE[np.int64((cards_mask >> _W1) & _SUIT)])
        + np.int64(LOOSE[np.int64((cards_mask >> _W2) & _SUIT)])
        + np.int64(LOOSE[np.int64(cards_mask >> _W3)])
    )


@compiled
def triples(cards_mask):
    """13-bit mask of the ranks held three or four times."""
    s = cards_mask & _SUIT
    c = (cards_mask >> _W1) & _SUIT
    d = (cards_mask >> _W2) & _SUIT
    h = cards_mask >> _W3
    return (s & c & (d | h)) | (d & h & (s | c))


@compiled
def _group(cards_mask, ranks_mask):
    """The cards of the lowest rank of `ranks_mask`, or none."""
    if ranks_mask == ZERO:
        return ZERO
    return (RANK_ACE << np.uint64(lowest(ranks_mask))) & cards_mask


@compiled
def _n_options(group_mask):
    """In how many ways cards of one rank can be used as a set: not at all, all, each three of four."""
    if group_mask == ZERO:
        return 1
    return 6 if popcount(group_mask) == 4 else 2


@compiled
def _option(group_mask, k):
    """The k-th way: no card, all cards, or all but that of suit k - 2."""
    if k == 0:
        return ZERO
    return group_mask if k == 1 else group_mask & ~(_SUIT << np.uint64(N_RANKS * (k - 2)))


@compiled
def deadwood(cards_mask):
    """Least deadwood of up to eleven cards over all their arrangements, in pips."""
    ranks = triples(cards_mask)
    if ranks == ZERO:
        return _loose(cards_mask)
    a = _group(cards_mask, ranks)
    ranks &= ranks - ONE
    b = _group(cards_mask, ranks)
    ranks &= ranks - ONE if ranks != ZERO else ZERO
    c = _group(cards_mask, ranks)
    best = 1000
    for i in range(_n_options(a)):
        without_a = cards_mask & ~_option(a, i)
        for j in range(_n_options(b)):
            without_b = without_a & ~_option(b, j)
            for k in range(_n_options(c)):
                best = min(best, _loose(without_b & ~_option(c, k)))
    return best


@compiled
def _lower_discards(rest_mask, table):
    """Lowers the entries of all cards that are in no set: what discarding each leaves, runs made."""
    total = _loose(rest_mask)
    for suit in range(N_SUITS):
        own = (rest_mask >> np.uint64(N_RANKS * suit)) & _SUIT
        lower(table, N_RANKS * suit, _RELIEF, np.int64(own) * N_RANKS, total)


@compiled
def discard_table(hand_mask, table):
    """Writes for every card of the hand the least deadwood that discarding it leaves.

    An arrangement of what is left is one of the hand in which the card is in no meld, so the ways to make sets are tried once
    for all discards together.

    Args:
        hand_mask: Up to eleven cards.
        table: (52,) int16, pips; `NOT_HELD` or more for cards that are not held.
    """
    for card in range(N_CARDS):
        table[card] = NOT_HELD
    ranks = triples(hand_mask)
    if ranks == ZERO:
        _lower_discards(hand_mask, table)
        return
    a = _group(hand_mask, ranks)
    ranks &= ranks - ONE
    b = _group(hand_mask, ranks)
    ranks &= ranks - ONE if ranks != ZERO else ZERO
    c = _group(hand_mask, ranks)
    for i in range(_n_options(a)):
        without_a = hand_mask & ~_option(a, i)
        for j in range(_n_options(b)):
            without_b = without_a & ~_option(b, j)
            for k in range(_n_options(c)):
                _lower_discards(without_b & ~_option(c, k), table)


@compiled
def least_free_discard(hand_mask, locked_mask, table):
    """Least deadwood over the discards of a hand but the locked card; fills `table` as `discard_table` does."""
    discard_table(hand_mask, table)
    return least(table, hand_mask & ~locked_mask)


@compiled
def _least_loose_discard(rest_mask):
    """Least deadwood after discarding one of some cards, when only runs are made."""
    best = NOT_HELD
    for suit in range(N_SUITS):
        own = np.int64((rest_mask >> np.uint64(N_RANKS * suit)) & _SUIT)
        best = min(best, np.int64(_BEST_RELIEF[own]))
    return _loose(rest_mask) + best


@compiled
def least_discard(hand_mask):
    """Least deadwood over the discards of a hand of up to eleven cards."""
    ranks = triples(hand_mask)
    if ranks == ZERO:
        return _least_loose_discard(hand_mask)
    a = _group(hand_mask, ranks)
    ranks &= ranks - ONE
    b = _group(hand_mask, ranks)
    ranks &= ranks - ONE if ranks != ZERO else ZERO
    c = _group(hand_mask, ranks)
    best = 1000
    for i in range(_n_options(a)):
        without_a = hand_mask & ~_option(a, i)
        for j in range(_n_options(b)):
            without_b = without_a & ~_option(b, j)
            for k in range(_n_options(c)):
                best = min(best, _least_loose_discard(without_b & ~_option(c, k)))
    return best


@compiled
def melded(cards_mask):
    """Mask of the cards that lie in at least one set or run of the card set."""
    ranks = triples(cards_mask)
    in_sets = (ranks | (ranks << _W1) | (ranks << _W2) | (ranks << _W3)) & cards_mask
    tops = cards_mask & ((cards_mask & NOT_KING) << ONE)
    tops &= (((cards_mask & NOT_KING) << ONE) & NOT_KING) << ONE  # top cards of three in a row
    return in_sets | tops | (tops >> ONE) | (tops >> TWO)


@compiled
def fitting(cards_mask):
    """Mask of the cards that would lie in a set or run together with a card set (some of them may be in it)."""
    above = (cards_mask & NOT_KING) << ONE  # cards whose lower neighbour is there
    below = (cards_mask & NOT_ACE) >> ONE
    runs = (
        (above & below)
        | (above & ((above & NOT_KING) << ONE))
        | (below & ((below & NOT_ACE) >> ONE))
    )
    s = cards_mask & _SUIT
    c = (cards_mask >> _W1) & _SUIT
    d = (cards_mask >> _W2) & _SUIT
    h = cards_mask >> _W3
    pairs = (s & c) | (d & h) | ((s | c) & (d | h))
    return runs | pairs | (pairs << _W1) | (pairs << _W2) | (pairs << _W3)
