"""Dealing, legal actions, steps, and the hand after: rules.md as transitions of one record."""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.jit import compiled, lowest, popcount
from okgin_env.kernel.melds import ONE, PIPS, ZERO, bit, deadwood, discard_table
from okgin_env.kernel.rng import deal_below
from okgin_env.kernel.showdown import settle
from okgin_env.layout import (
    BIG_GIN,
    BIG_GIN_END,
    DISCARD,
    DRAW,
    DRAW_STOCK,
    DRAW_TOP,
    FORFEIT_POINTS,
    ILLEGAL,
    KNOCK,
    LOSER_DEALS,
    MAX_LOG,
    MAX_PLAYERS,
    N_CARDS,
    N_RANKS,
    NONE,
    OFFER,
    OVER,
    PASS,
    POINTS_PER_REWARD,
    REWARD_MATCH,
    REWARD_POINTS,
    SHED,
    VOID,
    WINNER_DEALS,
)

STOCK_AT_VOID = 2  # Turns 4
_ALL_CARDS = np.uint64((1 << N_CARDS) - 1)


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
def new_match(s):
    """Clears all that outlives a hand but the random streams."""
    for p in range(MAX_PLAYERS):
        s.scores[p] = 0
        s.match_points[p] = 0
        s.hands_won[p] = 0
    s.n_hands = 0
    s.match_winner = -1
    s.unpaid = 0.0


@compiled
def first_dealer(s, rules):
    """The dealer of a first hand: the rules' seat, or one drawn from the dealing stream."""
    if rules.first_dealer >= 0:
        return rules.first_dealer
    return deal_below(s, rules.players)


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
        rest = s.hands[s.seat] & ~locked_mask(s)
        while rest != ZERO:
            card = lowest(rest)
            rest &= rest - ONE
            mask[DISCARD + card] = 1
            if table[card] <= s.limit:
                mask[KNOCK + card] = 1
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
def _finish(s, rules):
    """Books a hand that has ended: the winner of the hand, the scores, the winner of the match."""
    n = rules.players
    s.phase = OVER
    s.n_hands += 1
    best = 0
    start = np.int64(s.knocker) if s.knocker >= 0 else np.int64(s.seat)
    for k in range(n):
        p = (start + k) % n
        s.scores[p] += s.points[p]
        if s.points[p] > best:
            best = np.int64(s.points[p])
            s.hand_winner = p
    if s.hand_winner >= 0:
        s.hands_won[s.hand_winner] += 1
    _judge_match(s, rules)


@compiled
def _judge_match(s, rules):
    """Names the winner of the match once a total has reached the target (The match)."""
    n = rules.players
    leader, n_leaders = 0, 1
    for p in range(1, n):
        if s.scores[p] > s.scores[leader]:
            leader, n_leaders = p, 1
        elif s.scores[p] == s.scores[leader]:
            n_leaders += 1
    if rules.target == 0 or s.scores[leader] < rules.target or n_leaders > 1:
        return
    s.match_winner = leader
    shutout = rules.shutout != 0
    for p in range(n):
        s.match_points[p] = s.scores[p] + rules.box_bonus * s.hands_won[p]
        if p != leader and s.scores[p] > 0:
            shutout = False
    s.match_points[leader] += rules.game_bonus
    if shutout:
        s.match_points[leader] += s.scores[leader] + rules.game_bonus


@compiled
def _forfeit(s, rules):
    """Ends the hand on an illegal action: no card moves, every other seat is paid."""
    s.ending = ILLEGAL
    for p in range(rules.players):
        if p != s.seat:
            s.points[p] = FORFEIT_POINTS
    _finish(s, rules)


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
        _finish(s, rules)
    elif action >= KNOCK:
        _shed(s, action - KNOCK)
        s.knocker = s.seat
        settle(s, rules, False)
        _finish(s, rules)
    else:
        _shed(s, action)
        if stock_left(s) <= STOCK_AT_VOID or s.n_turns >= rules.max_turns:
            s.ending = VOID  # Turns 4
            _finish(s, rules)
        else:
            s.seat = (s.seat + 1) % n
            s.phase = DRAW


@compiled
def _loser(s, rules):
    """The loser of a hand: fewest points, then most deadwood, then first after the knocker."""
    n = rules.players
    start = (np.int64(s.knocker) if s.knocker >= 0 else np.int64(s.seat)) + 1
    loser = start % n
    for k in range(1, n):
        p = (start + k) % n
        fewer = s.points[p] < s.points[loser]
        if fewer or (s.points[p] == s.points[loser] and s.deadwood[p] > s.deadwood[loser]):
            loser = p
    return loser


@compiled
def next_dealer(s, rules):
    """Who deals after the hand that has just ended (Presets: next dealer, void hand)."""
    following = (np.int64(s.dealer) + 1) % rules.players
    if s.hand_winner < 0:
        return np.int64(s.dealer) if rules.void_dealer == 0 else following
    if rules.next_dealer == WINNER_DEALS:
        return np.int64(s.hand_winner)
    if rules.next_dealer == LOSER_DEALS:
        return _loser(s, rules)
    return following


@compiled
def hand_reward(s, rules, kind, seat):
    """Reward of one seat for a hand that has ended.

    All kinds are own value minus the mean of the others': of points (divided by 100), of 1 for the hand's winner
    ("win"), of 1 for the match's winner ("match"). An illegal action costs its seat 1 in every kind.
    """
    others = rules.players - 1
    if s.ending == ILLEGAL:
        return -1.0 if s.seat == seat else 1.0 / others
    if kind == REWARD_POINTS:
        total = 0
        for p in range(rules.players):
            total += s.points[p]
        own = np.int64(s.points[seat])
        return (own - (total - own) / others) / POINTS_PER_REWARD
    winner = s.match_winner if kind == REWARD_MATCH else s.hand_winner
    if winner < 0:
        return 0.0
    return 1.0 if winner == seat else -1.0 / others


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
        out.hands_won[p] = s.hands_won[p]
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
