"""What a hand may become: the deadwood that the next draw promises, and the discards that leave most of it.

This is the own-hand half of what `camper` weighs, and part of the observation, where it says more than any other feature.
"""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.jit import compiled, lowest, popcount
from okgin_env.kernel.melds import ONE, PIPS, RANK_ACE, ZERO, bit, deadwood, fitting, least_discard
from okgin_env.kernel.play import pile_mask
from okgin_env.layout import (
    HOPE_STEPS,
    MAX_PLAYERS,
    N_CARDS,
    N_OUTLOOKS,
    N_RANKS,
    O_HOPE,
    O_OUTLOOK,
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
    """What a point of hope weighs against a point of deadwood, by own discards so far."""
    return HOPE_WEIGHT * HOPE_DECAY**n_sheds


@compiled
def _observe_hope(value, observation):
    """Writes the thermometer of hope."""
    for k in range(len(_HOPE_STEPS)):
        if value > _HOPE_STEPS[k]:
            observation[O_HOPE + k] = 1


@compiled
def observe_hand(s, seat, observation):
    """Writes what the next draw promises a hand of ten cards."""
    counts = np.empty(128, np.int16)
    _observe_hope(hope(s.hands[seat], unseen_mask(s, seat), counts), observation)


@compiled
def observe_discards(s, free, best, table, observation):
    """Writes the discards of the best outlook and the least hope that a discard leaves.

    Args:
        s: Game record in the discard phase.
        free: Mask of the cards that may be discarded.
        best: Least deadwood after a discard; discards that leave over `SLACK` more are not weighed.
        table: (52,) int16, deadwood after each discard.
        observation: (D,) int8, zeros where this writes.
    """
    unseen = unseen_mask(s, s.seat)
    weight = hope_weight(np.int64(s.n_sheds[s.seat]))
    counts = np.empty(128, np.int16)
    scores = np.full(N_OUTLOOKS, np.inf)
    cards = np.full(N_OUTLOOKS, -1)
    most_hope = np.inf
    rest = free
    while rest != ZERO:
        card = lowest(rest)
        rest &= rest - ONE
        if table[card] > best + SLACK:
            continue
        hoped = hope(s.hands[s.seat] ^ bit(card), unseen, counts)
        most_hope = min(most_hope, hoped)
        score = table[card] + weight * hoped
        k = N_OUTLOOKS  # the best are kept in order, of equals the lowest id first
        while k > 0 and score < scores[k - 1]:
            k -= 1
            if k + 1 < N_OUTLOOKS:
                scores[k + 1], cards[k + 1] = scores[k], cards[k]
        if k < N_OUTLOOKS:
            scores[k], cards[k] = score, card
    for k in range(N_OUTLOOKS):
        if cards[k] >= 0:
            observation[O_OUTLOOK + k * N_CARDS + cards[k]] = 1
    _observe_hope(most_hope, observation)
