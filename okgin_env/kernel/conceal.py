"""Conceals in a record everything that one seat may not see, and checks that a record is whole."""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.jit import compiled, popcount
from okgin_env.kernel.melds import ZERO, bit
from okgin_env.layout import BIG_GIN_END, ILLEGAL, MAX_LOG, MAX_PLAYERS, N_CARDS, SHED

_ALL_CARDS = np.uint64((1 << N_CARDS) - 1)


@compiled
def conceal(s, rules, seat, out):
    """Copies into `out` what one seat may see: all else is zero, and hidden deck places are -1.

    Others' hands become the cards they are known to hold; once a knock has ended the hand, all hands lie open.

    Args:
        s: Game record.
        rules: Rules record.
        seat: The seat that looks.
        out: Game record to overwrite.
    """
    out.rng = ZERO
    out.unpaid = 0.0
    out.n_hands = s.n_hands
    out.n_turns = s.n_turns
    out.n_log = s.n_log
    out.phase = s.phase
    out.seat = s.seat
    out.first_seat = s.first_seat
    out.dealer = s.dealer
    out.upcard = s.upcard
    out.limit = s.limit
    out.taken = s.taken
    out.n_passes = s.n_passes
    out.n_pile = s.n_pile
    out.next_card = s.next_card
    out.knocker = s.knocker
    out.ending = s.ending
    out.hand_winner = s.hand_winner
    out.match_winner = s.match_winner
    for k in range(N_CARDS):
        out.pile[k] = s.pile[k]
        out.deck[k] = -1
    for k in range(MAX_LOG):
        out.log[k] = s.log[k] if k < s.n_log else 0
    for p in range(MAX_PLAYERS):
        shown = p == seat or s.knocker >= 0
        out.seat_rng[p] = s.seat_rng[p] if p == seat else ZERO
        out.hands[p] = s.hands[p] if shown else s.known[p]
        out.known[p] = s.known[p]
        out.discards[p] = s.discards[p]
        out.declined[p] = s.declined[p]
        out.scores[p] = s.scores[p]
        out.points[p] = s.points[p]
        out.match_points[p] = s.match_points[p]
        out.boxes[p] = s.boxes[p]
        out.deadwood[p] = s.deadwood[p]
        out.n_sheds[p] = s.n_sheds[p]
        out.n_acts[p] = s.n_acts[p]


@compiled
def conserved(s, rules):
    """Whether the 52 cards are all there, each once, and hands have their sizes (for tests)."""
    seen = ZERO
    total = 0
    for p in range(rules.players):
        seen |= s.hands[p]
        total += popcount(s.hands[p])
        extra = 1 if p == s.seat and (s.phase == SHED or s.ending == BIG_GIN_END) else 0
        if s.ending != ILLEGAL and popcount(s.hands[p]) != rules.hand_size + extra:
            return False
    for k in range(s.n_pile):
        seen |= bit(s.pile[k])
        total += 1
    for k in range(s.next_card, N_CARDS):
        seen |= bit(s.deck[k])
        total += 1
    return seen == _ALL_CARDS and total == N_CARDS
