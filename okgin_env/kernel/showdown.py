"""Arrangements, layoffs and settlement (rules.md, The showdown)."""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.jit import compiled, lowest, popcount
from okgin_env.kernel.melds import (
    NOT_ACE,
    NOT_KING,
    ONE,
    RANK_ACE,
    ZERO,
    bit,
    deadwood,
    pips_of,
)
from okgin_env.layout import BIG_GIN_END, GIN, KNOCKED, MAX_PLAYERS, N_RANKS, UNDERCUT

MAX_MELDS = 3  # of eleven cards
MAX_FOUND = 64  # melds that can be found in eleven cards: at most 45, in a run of eleven; one more
MAX_LAYOFFS = 40  # ways to lay off on one run: at most 6 * 6 pairs of extents with ten cards


@compiled
def _is_set(meld_mask):
    """Whether a meld is a set (its two lowest cards share a rank); False for no meld."""
    if meld_mask == ZERO:
        return False
    first = lowest(meld_mask)
    return lowest(meld_mask & (meld_mask - ONE)) != first + 1


@compiled
def open_cards(meld_mask):
    """Mask of the cards that could be laid off at once on a meld."""
    if _is_set(meld_mask):
        return (RANK_ACE << np.uint64(lowest(meld_mask) % N_RANKS)) & ~meld_mask
    return (((meld_mask & NOT_KING) << ONE) | ((meld_mask & NOT_ACE) >> ONE)) & ~meld_mask


@compiled
def _exposure(melds, n_melds, hand_mask):
    """Pips of the cards outside the own hand that could be laid off at once on the melds."""
    exposed = ZERO
    for k in range(n_melds):
        exposed |= open_cards(melds[k])
    return pips_of(exposed & ~hand_mask)


@compiled
def _before(a_mask, b_mask):
    """Whether the sorted card ids of one meld come before another's (as Python tuples do)."""
    first = (a_mask ^ b_mask) & (~(a_mask ^ b_mask) + ONE)
    if a_mask & first != ZERO:
        return b_mask > first  # the other goes on with a higher card; if it has ended it is less
    return not a_mask > first


@compiled
def _list_melds(hand_mask, found):
    """Writes every set and run of a hand into `found`, in order of their lowest card.

    Args:
        hand_mask: Up to eleven cards.
        found: (MAX_FOUND,) uint64, card masks.

    Returns:
        How many there are.
    """
    n = 0
    rest = hand_mask
    while rest != ZERO:
        card = lowest(rest)
        run = bit(card)
        upper = card + 1
        while upper % N_RANKS != 0 and rest & bit(upper) != ZERO:
            run |= bit(upper)
            if upper - card >= 2:
                found[n] = run
                n += 1
            upper += 1
        # Sets of which this card is the lowest: lower suits of its rank are gone from `rest`.
        group = (RANK_ACE << np.uint64(card % N_RANKS)) & rest
        if popcount(group) >= 3:
            found[n] = group
            n += 1
        if popcount(group) == 4:
            others = group ^ bit(card)
            while others != ZERO:
                found[n] = group ^ bit(lowest(others))
                n += 1
                others &= others - ONE
        rest ^= bit(card)
    return n


@compiled
def _comes_first(melds, n_melds, exposure, best, n_best, best_exposure):
    """Whether one arrangement is to be shown rather than another: exposure, then lower card ids."""
    if exposure != best_exposure:
        return exposure < best_exposure
    for k in range(min(n_melds, n_best)):
        if melds[k] != best[k]:
            return _before(melds[k], best[k])
    return n_melds < n_best


@compiled
def arrange(hand_mask, best):
    """The arrangement a knocker shows: least deadwood, least exposure, lowest ids (Showdown 1).

    Up to eleven cards make at most three melds, so all arrangements are three nested loops.

    Args:
        hand_mask: The cards held.
        best: (MAX_MELDS,) uint64, filled with the masks of the melds, lowest card first.

    Returns:
        The number of melds.
    """
    found = np.zeros(MAX_FOUND, np.uint64)
    n_found = _list_melds(hand_mask, found)
    melds = np.zeros(MAX_MELDS, np.uint64)
    least = deadwood(hand_mask)
    n_best, best_exposure = 0, 1000
    for k in range(MAX_MELDS):
        best[k] = ZERO
    # Index n_found stands for "no further meld" (its mask is empty).
    for i in range(n_found + 1):
        for j in range(min(i + 1, n_found), n_found + 1):
            if found[i] & found[j] != ZERO:
                continue
            for k in range(min(j + 1, n_found), n_found + 1):
                if (found[i] | found[j]) & found[k] != ZERO:
                    continue
                rest = hand_mask & ~(found[i] | found[j] | found[k])
                if pips_of(rest) != least:
                    continue
                melds[0], melds[1], melds[2] = found[i], found[j], found[k]
                n_melds = np.int64(i < n_found) + np.int64(j < n_found) + np.int64(k < n_found)
                exposure = _exposure(melds, n_melds, hand_mask)
                if _comes_first(melds, n_melds, exposure, best, n_best, best_exposure):
                    n_best, best_exposure = n_melds, exposure
                    best[0], best[1], best[2] = melds[0], melds[1], melds[2]
    return n_best


@compiled
def _list_layoffs(hand_mask, meld_mask, options):
    """Writes every way to lay cards of a hand off on one meld, the empty way first.

    Args:
        hand_mask: The opponent's cards.
        meld_mask: The meld; 0: none, which leaves the empty way.
        options: (MAX_LAYOFFS,) uint64, masks of the cards laid off.

    Returns:
        How many ways there are.
    """
    options[0] = ZERO
    if meld_mask == ZERO:
        return 1
    if _is_set(meld_mask):
        options[1] = open_cards(meld_mask) & hand_mask
        return 1 if options[1] == ZERO else 2
    # A run takes any number of cards at either end: every pair of extents.
    n = 0
    below = meld_mask
    while True:
        extended = below
        while True:
            options[n] = extended ^ meld_mask
            n += 1
            above = ((extended & NOT_KING) << ONE) & ~extended & hand_mask
            if above == ZERO:
                break
            extended |= above
        lower = ((below & NOT_ACE) >> ONE) & ~below & hand_mask
        if lower == ZERO:
            return n
        below |= lower


@compiled
def lay_off(hand_mask, melds):
    """Makes an opponent's best layoff: least deadwood left (Showdown 3).

    Ties, which only matter to the next opponent: the fewest cards, then the lowest card ids, then on runs rather than
    on sets, since a run can be gone on with.

    Args:
        hand_mask: The opponent's cards.
        melds: (MAX_MELDS,) uint64, the knocker's melds with earlier layoffs; extended in place.

    Returns:
        The deadwood that remains, in pips.
    """
    least = deadwood(hand_mask)
    inviting = ZERO
    for k in range(MAX_MELDS):
        if melds[k] != ZERO:
            inviting |= open_cards(melds[k])
    if least == 0 or inviting & hand_mask == ZERO:
        return least
    options = np.zeros((MAX_MELDS, MAX_LAYOFFS), np.uint64)
    n_options = np.zeros(MAX_MELDS, np.int64)
    for k in range(MAX_MELDS):
        n_options[k] = _list_layoffs(hand_mask, melds[k], options[k])
    best_a, best_b, best_c = ZERO, ZERO, ZERO
    fewest, fewest_on_sets = 0, 0
    on_set_a, on_set_b, on_set_c = _is_set(melds[0]), _is_set(melds[1]), _is_set(melds[2])
    for i in range(n_options[0]):
        a = options[0, i]
        for j in range(n_options[1]):
            b = options[1, j]
            for k in range(n_options[2]):
                c = options[2, k]
                if a & b != ZERO or (a | b) & c != ZERO:
                    continue
                laid = a | b | c
                left = deadwood(hand_mask & ~laid)
                n_laid = popcount(laid)
                n_on_sets = popcount(a) * on_set_a + popcount(b) * on_set_b + popcount(c) * on_set_c
                best = best_a | best_b | best_c
                if left != least:
                    better = left < least
                elif n_laid != fewest:
                    better = n_laid < fewest
                elif laid != best:
                    better = _before(laid, best)
                else:
                    better = n_on_sets < fewest_on_sets
                if better:
                    least, fewest, fewest_on_sets = left, n_laid, n_on_sets
                    best_a, best_b, best_c = a, b, c
    melds[0] |= best_a
    melds[1] |= best_b
    melds[2] |= best_c
    return least


@compiled
def settle(s, rules, big_gin):
    """Settles a hand that ended with a knock: sets `ending`, `deadwood` and `points`.

    Args:
        s: Game record; `s.knocker` and the hands are read.
        rules: Rules record.
        big_gin: Whether all eleven cards are melded without a discard.
    """
    n = rules.players
    knocker = np.int64(s.knocker)
    own = 0 if big_gin else deadwood(s.hands[knocker])
    s.deadwood[knocker] = own
    s.ending = KNOCKED
    if own == 0:
        s.ending = BIG_GIN_END if big_gin else GIN
        bonus = rules.big_gin_bonus if big_gin else rules.gin_bonus
        s.points[knocker] = bonus
        for p in range(n):
            if p != knocker:
                s.deadwood[p] = deadwood(s.hands[p])
                s.points[knocker] += s.deadwood[p]
    else:
        melds = np.zeros(MAX_MELDS, np.uint64)
        arrange(s.hands[knocker], melds)
        for k in range(1, n):
            p = (knocker + k) % n
            left = lay_off(s.hands[p], melds)
            s.deadwood[p] = left
            if left > own:
                s.points[knocker] += left - own
            elif left < own or rules.undercut_on_tie != 0:
                s.points[p] = own - left + rules.undercut_bonus
                s.ending = UNDERCUT
    if rules.spades_double != 0 and s.upcard < N_RANKS:
        for p in range(MAX_PLAYERS):
            s.points[p] *= 2
