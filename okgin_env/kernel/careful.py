"""`careful`: as `knocker`, but it minds what it gives away and the score of the match."""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.eager import draw, lowers, prefers_big_gin
from okgin_env.kernel.jit import compiled, lowest, popcount
from okgin_env.kernel.melds import ONE, PIPS, RANK_ACE, ZERO, bit, least_free_discard
from okgin_env.kernel.outlook import theirs_mask, unseen_mask
from okgin_env.kernel.play import locked_mask
from okgin_env.layout import BIG_GIN, KNOCK, MAX_PLAYERS, N_RANKS, SHED


@compiled
def _careful_danger(s, card, theirs, unseen):
    """Danger of a discard: 2 for each neighbour known to be theirs, 1 unseen, -2 if they gave it up."""
    refused = ZERO
    for p in range(MAX_PLAYERS):
        if p != s.seat:
            refused |= s.discards[p] | s.declined[p]
    suit, rank = card // N_RANKS, card % N_RANKS
    near = (RANK_ACE << np.uint64(rank)) & ~bit(card)
    for step in range(-2, 3):
        if step != 0 and 0 <= rank + step < N_RANKS:
            near |= bit(N_RANKS * suit + rank + step)
    known = near & theirs
    return 2 * popcount(known) + popcount(near & unseen) - 2 * popcount(near & refused & ~known)


@compiled
def _shed(s, rules, table):
    """Discard or knock of `careful`: least deadwood, then least danger, then most pips."""
    hand = s.hands[s.seat]
    best = least_free_discard(hand, locked_mask(s), table)
    theirs, unseen = theirs_mask(s, s.seat), unseen_mask(s, s.seat)
    chosen, least_danger = -1, 0
    rest = hand & ~locked_mask(s)
    while rest != ZERO:
        card = lowest(rest)
        rest &= rest - ONE
        if table[card] != best:
            continue
        danger = _careful_danger(s, card, theirs, unseen)
        first = chosen < 0 or danger < least_danger
        if first or (danger == least_danger and PIPS[card] > PIPS[chosen]):
            chosen, least_danger = card, danger
    return KNOCK + chosen if best <= _careful_limit(s, rules) else chosen


@compiled
def _careful_limit(s, rules):
    """The deadwood `careful` knocks with: 4, more when it leads the match, less when it trails."""
    own, theirs = np.int64(s.scores[s.seat]), 0
    for p in range(rules.players):
        if p != s.seat:
            theirs = max(theirs, np.int64(s.scores[p]))
    if rules.target == 0:
        return min(4, np.int64(s.limit))
    to_go = max(1, rules.target - max(own, theirs))
    wanted = 4 + int(np.floor(40 * (own - theirs) / to_go))
    return min(np.int64(s.limit), max(0, wanted))


@compiled
def careful_move(s, rules, table):
    """Takes what lowers its deadwood, discards for least deadwood, then least danger; knocks by the score."""
    if s.phase != SHED:
        return draw(s, lowers(s))
    return BIG_GIN if prefers_big_gin(s, rules) else _shed(s, rules, table)
