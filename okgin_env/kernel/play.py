"""Dealing, legal actions and steps: rules.md as transitions of one record."""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.jit import compiled
from okgin_env.kernel.lanes import at_most, spread
from okgin_env.kernel.match import finish_hand
from okgin_env.kernel.melds import PIPS, ZERO, bit, deadwood, discard_table
from okgin_env.kernel.rng import deal_below
from okgin_env.kernel.showdown import settle
from okgin_env.layout import (
    BIG_GIN,
    DISCARD,
    DRAW,
    DRAW_STOCK,
    DRAW_TOP,
    FORFEIT_POINTS,
    ILLEGAL,
    KNOCK,
    MAX_PLAYERS,
    N_CARDS,
    N_RANKS,
    NONE,
    OFFER,
    PASS,
    SHED,
    VOID,
)

STOCK_AT_VOID = 2  # Turns 4


@compiled
def shuffle(s):
    """Puts the 52 cards into `s.deck` in an order drawn from the dealing stream."""
    for card in range(N_CARDS):
        s.deck[card] = card
    for last in range(N_CARDS - 1, 0, -1):
        other = deal_below(s, last + 1)
        card = s.deck[last]
        s.deck[last] = s.deck[other]
        s.deck[other] = card


@compiled
def deal(s, rules, dealer):
    """Deals `s.deck` and opens the upcard offer (The deal)."""
    n = rules.players
    at = 0
    for p in range(MAX_PLAYERS):
        s.hands[p] = ZERO
        s.known[p] = ZERO
        s.discards[p] = ZERO
        s.declined[p] = ZERO
        s.points[p] = 0
        s.deadwood[p] = 0
        s.n_sheds[p] = 0
        s.n_acts[p] = 0
        if p < n:
            for _ in range(rules.hand_size):
                s.hands[p] |= bit(s.deck[at])
                at += 1
    s.upcard = s.deck[at]
    s.next_card = at + 1
    s.pile[:] = -1
    s.pile[0] = s.upcard
    s.n_pile = 1
    s.limit = rules.knock_limit
    if rules.knock_limit < 0:
        s.limit = rules.ace_limit if s.upcard % N_RANKS == 0 else PIPS[s.upcard]
    s.dealer = dealer
    s.seat = (dealer + 1) % n
    s.first_seat = s.seat
    s.phase = OFFER
    s.taken = -1
    s.n_passes = 0
    s.n_turns = 0
    s.n_log = 0
    s.knocker = -1
    s.ending = NONE
    s.hand_winner = -1


@compiled
def stock_left(s):
    """Cards in the stock."""
    return N_CARDS - np.int64(s.next_card)


@compiled
def top_card(s):
    """Card id of the top of the discard pile, or -1."""
    return np.int64(s.pile[s.n_pile - 1]) if s.n_pile > 0 else -1


@compiled
def pile_mask(s):
    """Mask of the cards in the discard pile."""
    found = ZERO
    for k in range(s.n_pile):
        found |= bit(s.pile[k])
    return found


@compiled
def locked_mask(s):
    """Mask of the card that may not be discarded in this turn (Turns 2)."""
    return ZERO if s.taken < 0 else bit(s.taken)


@compiled
def may_big_gin(s, rules):
    """Whether all cards held are melded and the rules pay for it."""
    return rules.big_gin_bonus > 0 and deadwood(s.hands[s.seat]) == 0


@compiled
def plane(cards_mask, array, at):
    """Writes a card set as 52 int8 from index `at`."""
    array[at + N_CARDS - 1] = 0  # checked under NUMBA_BOUNDSCHECK, which `spread` is not
    spread(cards_mask, array, at)


@compiled
def legal(s, rules, mask, table):
    """Writes the legal actions of the seat to move.

    Args:
        s: Game record.
        rules: Rules record.
        mask: (108,) int8, all entries are written.
        table: (52,) int16 work space; in the discard phase filled as by `discard_table`.
    """
    mask[:] = 0
    if s.phase == OFFER:
        mask[PASS] = 1
        mask[DRAW_TOP] = 1
    elif s.phase == DRAW:
        mask[DRAW_STOCK] = 1
        mask[DRAW_TOP] = 1
    elif s.phase == SHED:
        discard_table(s.hands[s.seat], table)
        free = s.hands[s.seat] & ~locked_mask(s)
        plane(free, mask, DISCARD)
        plane(free & at_most(table, s.limit), mask, KNOCK)
        if may_big_gin(s, rules):
            mask[BIG_GIN] = 1


@compiled
def is_legal(s, rules, action):
    """Whether the seat to move may take an action (the same rules as `legal`, one action only)."""
    if s.phase == OFFER:
        return action == PASS or action == DRAW_TOP
    if s.phase == DRAW:
        return action == DRAW_STOCK or action == DRAW_TOP
    if s.phase != SHED or action < 0:
        return False
    if action == BIG_GIN:
        return may_big_gin(s, rules)
    if action >= KNOCK + N_CARDS:
        return False
    card = action if action < KNOCK else action - KNOCK
    allowed = s.hands[s.seat] & ~locked_mask(s) & bit(card)
    if allowed == ZERO:
        return False
    return action < KNOCK or deadwood(s.hands[s.seat] ^ bit(card)) <= s.limit


@compiled
def _take_stock(s):
    """Draws the top of the stock into the hand of the seat to move."""
    s.hands[s.seat] |= bit(s.deck[s.next_card])
    s.next_card += 1
    s.taken = -1
    s.phase = SHED


@compiled
def _take_top(s):
    """Takes the top of the discard pile into the hand of the seat to move, for all to see."""
    s.n_pile -= 1
    card = s.pile[s.n_pile]
    s.hands[s.seat] |= bit(card)
    s.known[s.seat] |= bit(card)
    s.taken = card
    s.phase = SHED


@compiled
def _shed(s, card):
    """Moves a card from the hand to the top of the discard pile."""
    s.hands[s.seat] ^= bit(card)
    s.known[s.seat] &= ~bit(card)
    s.discards[s.seat] |= bit(card)
    s.pile[s.n_pile] = card
    s.n_pile += 1
    s.n_turns += 1
    s.n_sheds[s.seat] += 1
    s.taken = -1


@compiled
def _forfeit(s, rules):
    """Ends the hand on an illegal action: no card moves, every other seat is paid."""
    s.ending = ILLEGAL
    for p in range(rules.players):
        if p != s.seat:
            s.points[p] = FORFEIT_POINTS
    finish_hand(s, rules)


@compiled
def step(s, rules, action):
    """Takes one action for the seat to move; an illegal one forfeits the hand.

    Args:
        s: Game record, not OVER.
        rules: Rules record.
        action: Action id; any integer is safe.
    """
    n = rules.players
    s.n_acts[s.seat] += 1
    if not is_legal(s, rules, action):
        _forfeit(s, rules)
        return
    s.log[s.n_log] = action
    s.n_log += 1
    if action == PASS:
        s.declined[s.seat] |= bit(s.upcard)
        s.n_passes += 1
        s.seat = (s.seat + 1) % n
        if s.n_passes == n:
            _take_stock(s)  # forced, so nobody is asked (Turns 1)
    elif action == DRAW_STOCK:
        s.declined[s.seat] |= bit(top_card(s)) if s.n_pile > 0 else ZERO
        _take_stock(s)
    elif action == DRAW_TOP:
        _take_top(s)
    elif action == BIG_GIN:
        s.knocker = s.seat
        settle(s, rules, True)
        finish_hand(s, rules)
    elif action >= KNOCK:
        _shed(s, action - KNOCK)
        s.knocker = s.seat
        settle(s, rules, False)
        finish_hand(s, rules)
    else:
        _shed(s, action)
        if stock_left(s) <= STOCK_AT_VOID or s.n_turns >= rules.max_turns:
            s.ending = VOID  # Turns 4
            finish_hand(s, rules)
        else:
            s.seat = (s.seat + 1) % n
            s.phase = DRAW
