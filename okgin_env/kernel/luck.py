"""The luck of the draw: the value of each card that was drawn from the stock, minus its mean over all that could have come.

Given both hands and the pile, the next card is any of the stock, each as likely as another, whatever the players do. So each
difference has mean zero exactly, and its sum over a hand says how lucky the hand was: the idea of AIVAT (Burch et al. 2018).
Values come from a small network that is fixed beforehand, so nothing is fitted on the hands that it judges.
"""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.jit import compiled, lowest, popcount
from okgin_env.kernel.melds import (
    ONE,
    PIPS,
    ZERO,
    bit,
    deadwood,
    discard_table,
    fitting,
    least_discard,
)
from okgin_env.kernel.play import deal, step, stock_left
from okgin_env.kernel.showdown import MAX_MELDS, arrange, lay_off
from okgin_env.layout import DRAW_STOCK, N_CARDS, N_RANKS, PASS

N_LOOKS = 22  # what the value of a drawn card hangs on, see `_look`
N_PLAIN = 4  # of these, which count as they are, too: deadwood, may knock, gin, points of a knock
_PLAIN = np.array([0, 1, 2, 17])
_PIPS_SCALE = 1 / 30
_POINTS_SCALE = 1 / 50


@compiled
def drawing_seat(s, rules, action):
    """The seat that an action makes draw from the stock, or -1."""
    if action == DRAW_STOCK:
        return np.int64(s.seat)
    if action == PASS and s.n_passes + 1 == rules.players:
        return (np.int64(s.seat) + 1) % np.int64(rules.players)  # forced (Turns 1)
    return -1


@compiled
def stock_mask(s):
    """Mask of the cards in the stock."""
    found = ZERO
    for k in range(s.next_card, N_CARDS):
        found |= bit(s.deck[k])
    return found


@compiled
def _nearest(s, rules, seat):
    """The other seat with the least deadwood."""
    nearest, least = -1, 0
    for k in range(1, rules.players):
        p = (seat + k) % rules.players
        own = deadwood(s.hands[p])
        if nearest < 0 or own < least:
            nearest, least = p, own
    return nearest


@compiled
def _promise(hand_mask, stock, limit, sums):
    """Adds up, over the cards of the stock, what a hand of ten comes to by drawing one.

    Args:
        hand_mask: The hand.
        stock: Mask of the cards that may be drawn.
        limit: Knock limit.
        sums: (3,) float64: least deadwood, how many draws let the hand knock, how many make gin.
    """
    own = deadwood(hand_mask)
    without_one = least_discard(hand_mask)  # of nine cards
    fits = fitting(hand_mask)
    sums[:] = 0.0
    rest = stock
    while rest != ZERO:
        card = lowest(rest)
        rest &= rest - ONE
        if fits & bit(card) != ZERO:
            left = least_discard(hand_mask | bit(card))
        else:  # stays loose or goes again
            left = min(own, without_one + PIPS[card])
        sums[0] += left
        sums[1] += 1.0 if left <= limit else 0.0
        sums[2] += 1.0 if left == 0 else 0.0


@compiled
def _knock_points(rules, kept, theirs, left):
    """Points of knocking at once with a hand of ten, by the other hand; negative where it is undercut."""
    if left == 0:
        return rules.gin_bonus + deadwood(theirs)
    melds = np.zeros(MAX_MELDS, np.uint64)
    arrange(kept, melds)
    other = lay_off(theirs, melds)
    if other > left:
        return other - left
    if other < left or rules.undercut_on_tie != 0:
        return other - left - rules.undercut_bonus
    return 0


@compiled
def _look(s, rules, seat, other, card, stock, theirs, sums, table, looks):
    """Writes what the value of a drawn card hangs on.

    Args:
        s: Game record, before the draw.
        rules: Rules record.
        seat: Who draws.
        other: Who is nearest to knocking among the others.
        card: The card.
        stock: Mask of the stock, the card among it.
        theirs: (3,) float64, `_promise` of the other's hand over the stock.
        sums: (3,) float64, work space.
        table: (52,) int16, work space.
        looks: (N_LOOKS,) float64, all are written.
    """
    hand = s.hands[seat] | bit(card)
    limit = np.int64(s.limit)
    discard_table(hand, table)
    left, shed = np.int64(1000), -1
    rest = hand
    while rest != ZERO:  # of the best discards, that of most pips
        held = lowest(rest)
        rest &= rest - ONE
        if table[held] < left or (table[held] == left and PIPS[held] > PIPS[shed]):
            left, shed = np.int64(table[held]), held
    kept = hand ^ bit(shed)
    after = stock ^ bit(card)
    n = max(popcount(after), 1)
    _promise(kept, after, limit, sums)
    looks[0] = left * _PIPS_SCALE
    looks[1] = 1.0 if left <= limit else 0.0
    looks[2] = 1.0 if left == 0 else 0.0
    looks[3] = max(limit - left, 0) * 0.1
    looks[4] = sums[0] / n * _PIPS_SCALE
    looks[5] = sums[1] / n
    looks[6] = sums[2] / n
    own = deadwood(s.hands[other])
    looks[7] = own * _PIPS_SCALE
    looks[8] = 1.0 if own <= limit else 0.0
    looks[9] = max(limit - own, 0) * 0.1
    drawn = least_discard(s.hands[other] | bit(card))  # had the card gone there
    looks[10] = (theirs[0] - drawn) / n * _PIPS_SCALE
    looks[11] = (theirs[1] - (1.0 if drawn <= limit else 0.0)) / n
    looks[12] = (theirs[2] - (1.0 if drawn == 0 else 0.0)) / n
    looks[13] = n / 31.0
    looks[14] = limit * 0.1
    looks[15] = min(np.int64(s.n_sheds[seat]), 6) / 6.0
    looks[16] = 1.0 if s.n_sheds[seat] < 3 else 0.0
    looks[17] = 0.0
    if left <= limit:
        looks[17] = _knock_points(rules, kept, s.hands[other], left) * _POINTS_SCALE
    looks[18] = 1.0 if drawn < own else 0.0  # better not given away
    looks[19] = rules.gin_bonus * _POINTS_SCALE
    looks[20] = rules.undercut_bonus * _POINTS_SCALE
    looks[21] = 1.0 if shed == card else 0.0


@compiled
def _evaluate(looks, first, second, hidden, values):
    """Writes the (V,) values of a drawn card into `values`: a network with one layer of ReLU neurons.

    Args:
        looks: (N_LOOKS,) float64.
        first: (N_LOOKS + 1, H) float64, weights of the first layer, its biases last.
        second: (H + 1, V) float64, the same of the second.
        hidden: (H,) float64, work space.
        values: (V,) float64.
    """
    n_hidden, n_values = first.shape[1], second.shape[1]
    for h in range(n_hidden):
        hidden[h] = first[N_LOOKS, h]
    for i in range(N_LOOKS):
        x = looks[i]
        if x != 0.0:
            for h in range(n_hidden):
                hidden[h] += x * first[i, h]
    for v in range(n_values):
        values[v] = second[n_hidden, v]
    for h in range(n_hidden):
        x = hidden[h]
        if x > 0.0:
            for v in range(n_values):
                values[v] += x * second[h, v]


@compiled
def factor_of(s, rules):
    """By how much a spade upcard multiplies all points."""
    return 2.0 if rules.spades_double != 0 and s.upcard < N_RANKS else 1.0


@compiled
def draw_value(s, r, seat, card, v, first, second, work):
    """One of the values of a card that a seat is about to draw.

    Args:
        s: Game record, before the draw.
        r: Rules record.
        seat: Who draws.
        card: The card.
        v: Which value.
        first: As in `_evaluate`.
        second: As in `_evaluate`.
        work: (looks, theirs, sums, table, hidden, values).
    """
    looks, theirs, sums, table, hidden, values = work
    stock, other = stock_mask(s), _nearest(s, r, seat)
    _promise(s.hands[other], stock, np.int64(s.limit), theirs)
    _look(s, r, seat, other, card, stock, theirs, sums, table, looks)
    _evaluate(looks, first, second, hidden, values)
    return factor_of(s, r) * values[v]


@compiled
def deal_again(s, rules, final):
    """Deals the deck of a hand that is over, to replay it."""
    for k in range(N_CARDS):
        s.deck[k] = final.deck[k]
    deal(s, rules, np.int64(final.dealer))


@compiled
def _add_draw(s, r, seat, first, second, gains, work):
    """Writes what the top card of the stock gives a seat, value by value, beyond what any card of it gives on average.

    Args:
        s: Game record, before the draw.
        r: Rules record.
        seat: Who draws.
        first: As in `_evaluate`.
        second: As in `_evaluate`.
        gains: (V + N_PLAIN,) float64.
        work: (looks, theirs, sums, table, hidden, values).
    """
    looks, theirs, sums, table, hidden, values = work
    n_values = second.shape[1]
    stock, drawn = stock_mask(s), np.int64(s.deck[s.next_card])
    other = _nearest(s, r, seat)
    _promise(s.hands[other], stock, np.int64(s.limit), theirs)
    n = stock_left(s)
    gains[:] = 0.0
    rest = stock
    while rest != ZERO:
        card = lowest(rest)
        rest &= rest - ONE
        _look(s, r, seat, other, card, stock, theirs, sums, table, looks)
        _evaluate(looks, first, second, hidden, values)
        share = (1.0 if card == drawn else 0.0) - 1.0 / n
        for v in range(n_values):
            gains[v] += share * values[v]
        for k in range(N_PLAIN):
            gains[n_values + k] += share * looks[_PLAIN[k]]


@compiled
def luck_games(finals, rules, seat_of_a, first, second, mirrored, s, luck):
    """Replays hands and adds up the luck of their draws, from player a's side.

    Args:
        finals: (N,) `STATE`, hands as they ended, all cards in them.
        rules: (1,) `RULES_DTYPE`.
        seat_of_a: (N,) int64.
        first: As in `_evaluate`.
        second: As in `_evaluate`.
        mirrored: (V,) int64, which value of a draw by another player stands where a's stands: that of the same two players.
        s: `STATE`, one record to replay in.
        luck: (N, V + 2 * N_PLAIN) float64, all are written: for each value what a's draws gave it minus what their draws gave
            the others (of several, the mean); then for each plain look a's draws, then the others'.
    """
    r = rules[0]
    n_values = second.shape[1]
    work = (
        np.empty(N_LOOKS), np.empty(3), np.empty(3), np.empty(N_CARDS, np.int16),
        np.empty(first.shape[1]), np.empty(n_values),
    )  # fmt: skip
    gains = np.empty(n_values + N_PLAIN)
    for g in range(len(finals)):
        final = finals[g]
        luck[g] = 0.0
        deal_again(s, r, final)
        factor = factor_of(s, r)
        for k in range(final.n_log):
            action = np.int64(final.log[k])
            seat = drawing_seat(s, r, action)
            if seat >= 0:
                _add_draw(s, r, seat, first, second, gains, work)
                own = seat == seat_of_a[g]
                sign = factor if own else -factor / (r.players - 1)
                for v in range(n_values):
                    luck[g, v] += sign * gains[v if own else mirrored[v]]
                at = n_values if own else n_values + N_PLAIN
                for p in range(N_PLAIN):
                    luck[g, at + p] += sign * gains[n_values + p]
            step(s, r, action)


@compiled
def look_at_draws(finals, rules, s, seats, games, looks):
    """Writes what the values of all cards that were drawn hang on, for fitting the network.

    Args:
        finals: (N,) `STATE`, hands as they ended.
        rules: (1,) `RULES_DTYPE`.
        s: `STATE`, one record to replay in.
        seats: (M,) int64, who drew.
        games: (M,) int64, in which hand.
        looks: (M, N_LOOKS) float64; M is enough for all draws.

    Returns:
        How many draws there were.
    """
    r = rules[0]
    theirs, sums, table = np.empty(3), np.empty(3), np.empty(N_CARDS, np.int16)
    n = 0
    for g in range(len(finals)):
        final = finals[g]
        deal_again(s, r, final)
        for k in range(final.n_log):
            action = np.int64(final.log[k])
            seat = drawing_seat(s, r, action)
            if seat >= 0:
                stock, other = stock_mask(s), _nearest(s, r, seat)
                _promise(s.hands[other], stock, np.int64(s.limit), theirs)
                card = np.int64(s.deck[s.next_card])
                _look(s, r, seat, other, card, stock, theirs, sums, table, looks[n])
                seats[n], games[n] = seat, g
                n += 1
            step(s, r, action)
    return n
