"""The outlook of a hand: the deadwood that the next draw promises, and the discards with the best prospects.

This is the own-hand half of what `camper` weighs. As part of an observation it says more to a network than any other feature.
"""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.jit import compiled, lowest, popcount
from okgin_env.kernel.lanes import least
from okgin_env.kernel.melds import (
    ONE,
    PIPS,
    RANK_ACE,
    ZERO,
    bit,
    deadwood,
    discard_table,
    fitting,
    least_discard,
)
from okgin_env.kernel.play import locked_mask, pile_mask
from okgin_env.layout import (
    HOPE_STEPS,
    MAX_PLAYERS,
    N_CARDS,
    N_OUTLOOKS,
    N_RANKS,
    OVER,
    SHED,
)

_ALL = np.uint64((1 << N_CARDS) - 1)
N_HOPES = 7  # best draws that count
HOPE_WEIGHT = 18.0
HOPE_DECAY = 0.9  # a turn
SLACK = 5  # pips and deadwood within which discards are weighed against each other
_HOPE_STEPS = np.array(HOPE_STEPS)


@compiled
def theirs_mask(s, seat):
    """Mask of the cards that the other seats are known to hold."""
    found = ZERO
    for p in range(MAX_PLAYERS):
        if p != seat:
            found |= s.known[p]
    return found


@compiled
def unseen_mask(s, seat):
    """Mask of the cards of which a seat does not know where they are."""
    return _ALL & ~(s.hands[seat] | pile_mask(s) | theirs_mask(s, seat))


@compiled
def hope(hand_mask, unseen, counts):
    """Mean of the `N_HOPES` smallest values, over the unseen cards, of the best deadwood after drawing one.

    Args:
        hand_mask: Ten cards.
        unseen: Mask of the cards that may be drawn.
        counts: (128,) int16 work space: how many draws lead to each deadwood.
    """
    own = deadwood(hand_mask)
    without_one = least_discard(hand_mask)  # of nine cards
    counts[:] = 0
    fits = unseen & fitting(hand_mask)
    rest = fits
    while rest != ZERO:
        card = rest & (~rest + ONE)
        rest ^= card
        counts[min(own, least_discard(hand_mask | card))] += 1
    for rank in range(N_RANKS):  # a card that does not fit stays loose or goes again
        n = popcount(unseen & ~fits & (RANK_ACE << np.uint64(rank)))
        counts[min(own, without_one + PIPS[rank])] += n
    total, n_left, n_used = 0, N_HOPES, 0
    for value in range(own + 1):
        n = min(n_left, np.int64(counts[value]))
        total += n * value
        n_left -= n
        n_used += n
        if n_left == 0:
            break
    return total / n_used if n_used > 0 else float(own)


@compiled
def hope_weight(n_sheds):
    """The weight of a point of hope against a point of deadwood, by own discards so far."""
    return HOPE_WEIGHT * HOPE_DECAY**n_sheds


@compiled
def outlook(s, best, features, table):
    """Writes what the seat to move may hope for, and in the discard phase its discards of best outlook.

    Args:
        s: Game record, not OVER.
        best: In the discard phase the least deadwood after a discard; those that leave over `SLACK` more are not weighed.
        features: (OUTLOOK_SIZE,) int8 zeros.
        table: (52,) int16, in the discard phase the deadwood after each discard.
    """
    hand, unseen = s.hands[s.seat], unseen_mask(s, s.seat)
    counts = np.empty(128, np.int16)
    hoped = hope(hand, unseen, counts) if s.phase != SHED else np.inf
    if s.phase == SHED:
        weight = hope_weight(np.int64(s.n_sheds[s.seat]))
        scores = np.full(N_OUTLOOKS, np.inf)
        cards = np.full(N_OUTLOOKS, -1)
        rest = hand & ~locked_mask(s)
        while rest != ZERO:
            card = lowest(rest)
            rest &= rest - ONE
            if table[card] > best + SLACK:
                continue
            left = hope(hand ^ bit(card), unseen, counts)
            hoped = min(hoped, left)
            score = table[card] + weight * left
            k = N_OUTLOOKS  # the best are kept in order, of equals the lowest id first
            while k > 0 and score < scores[k - 1]:
                k -= 1
                if k + 1 < N_OUTLOOKS:
                    scores[k + 1], cards[k + 1] = scores[k], cards[k]
            if k < N_OUTLOOKS:
                scores[k], cards[k] = score, card
        for k in range(N_OUTLOOKS):
            if cards[k] >= 0:
                features[k * N_CARDS + cards[k]] = 1
    for k in range(len(_HOPE_STEPS)):
        if hoped > _HOPE_STEPS[k]:
            features[N_OUTLOOKS * N_CARDS + k] = 1


@compiled
def outlook_all(views, features):
    """Writes the (M, OUTLOOK_SIZE) int8 outlook of the seats to move of (M,) `STATE`."""
    table = np.empty(N_CARDS, np.int16)
    for k in range(len(views)):
        s = views[k]
        features[k] = 0
        if s.phase == OVER:
            continue
        best = 0
        if s.phase == SHED:
            discard_table(s.hands[s.seat], table)
            best = least(table, s.hands[s.seat] & ~locked_mask(s))
        outlook(s, best, features[k], table)
