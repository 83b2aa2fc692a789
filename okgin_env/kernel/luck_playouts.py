"""The luck of the draw by playouts: from each card that could have come, reference players play the hand on to its end."""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.jit import compiled
from okgin_env.kernel.luck import N_LOOKS, deal_again, draw_value, drawing_seat
from okgin_env.kernel.play import step, stock_left
from okgin_env.kernel.policies import choose
from okgin_env.kernel.rng import mix
from okgin_env.layout import MAX_PLAYERS, N_CARDS, OVER

_STEP = np.uint64(0x9E3779B97F4A7C15)
_S32 = np.uint64(32)


@compiled
def deck_word(s):
    """A random word that hangs on the deck alone."""
    word = _STEP
    for k in range(N_CARDS):
        word = mix(word ^ np.uint64(s.deck[k] + 1))
    return word


@compiled
def _shuffle_stock(s, word):
    """Shuffles the stock by a random word; returns the next word."""
    top = np.int64(s.next_card)
    for last in range(N_CARDS - 1, top, -1):
        word = word + _STEP
        other = top + np.int64(((mix(word) >> _S32) * np.uint64(last - top + 1)) >> _S32)
        card = s.deck[last]
        s.deck[last] = s.deck[other]
        s.deck[other] = card
    return word + _STEP


@compiled
def _play_on(w, rules, seat, reference, horizon, values, table):
    """Plays a hand on, to its end or for some draws, and returns what it comes to for a seat.

    Args:
        w: Game record.
        rules: Rules record.
        seat: Whose points count, minus the mean of the others'.
        reference: (4,) int64: policies of the seat and of the others; which value stands for a draw by either.
        horizon: Draws from the stock, of which the last is valued and the hand left; 0: none.
        values: (first, second, work), see `kernel.luck.draw_value`.
        table: (52,) int16, work space.
    """
    first, second, work = values
    n_draws = 0
    while w.phase != OVER:
        mine = w.seat == seat
        action = choose(w, rules, reference[0] if mine else reference[1], table)
        drawing = drawing_seat(w, rules, action)
        if drawing >= 0:
            n_draws += 1
            if n_draws == horizon:
                card = np.int64(w.deck[w.next_card])
                v = reference[2] if drawing == seat else reference[3]
                value = draw_value(w, rules, drawing, card, v, first, second, work)
                return value if drawing == seat else -value / (rules.players - 1)
        step(w, rules, action)
    total = 0
    for p in range(rules.players):
        total += np.int64(w.points[p])
    points = np.int64(w.points[seat])
    return points - (total - points) / (rules.players - 1)


@compiled
def _gain(s, r, action, seat, reference, horizon, values, n_playouts, word, base, w, table):
    """What the top card of the stock gives a seat beyond what any card of it gives on average.

    In a playout every card is tried in turn by changing places with the top one, in one order of the stock and with the same random
    words: what these bring falls on all alike.
    """
    n = stock_left(s)
    top = np.int64(s.next_card)
    came = np.int64(s.deck[top])
    drawn, everything = 0.0, 0.0
    base[0] = s
    for _ in range(n_playouts):
        word = _shuffle_stock(base[0], word)
        for p in range(MAX_PLAYERS):
            base[0].seat_rng[p] = mix(word + np.uint64(p))
        for c in range(top, top + n):
            w[0] = base[0]
            card = np.int64(w[0].deck[c])
            w[0].deck[c] = w[0].deck[top]
            w[0].deck[top] = card
            step(w[0], r, action)
            points = _play_on(w[0], r, seat, reference, horizon, values, table)
            everything += points
            if card == came:
                drawn += points
    return (drawn - everything / n) / n_playouts


@compiled
def luck_by_playouts(
    finals, rules, seat_of_a, references, first, second, horizon, n_playouts, s, base, w, luck
):
    """Replays hands and adds up the luck of their draws for player a, by every two reference players.

    Args:
        finals: (N,) `STATE`, hands as they ended, all cards in them.
        rules: (1,) `RULES_DTYPE`.
        seat_of_a: (N,) int64.
        references: (V, 4) int64, policy ids for player a and for the others, and values as in `_play_on`.
        first: The network of the values, see `kernel.luck`.
        second: The same.
        horizon: As in `_play_on`.
        n_playouts: From every card that could have come, see `_gain`.
        s: (1,) `STATE`, to replay in.
        base: (1,) `STATE`, work space.
        w: (1,) `STATE`, work space.
        luck: (N, V) float64, all are written: points of a.
    """
    r = rules[0]
    table = np.empty(N_CARDS, np.int16)
    work = (
        np.empty(N_LOOKS), np.empty(3), np.empty(3), table, np.empty(first.shape[1]), np.empty(second.shape[1]),
    )  # fmt: skip
    values = (first, second, work)
    for g in range(len(finals)):
        final = finals[g]
        luck[g] = 0.0
        deal_again(s[0], r, final)
        word = deck_word(s[0])
        for k in range(final.n_log):
            action = np.int64(final.log[k])
            if drawing_seat(s[0], r, action) >= 0:
                word = mix(word)
                for v in range(len(references)):
                    luck[g, v] += _gain(
                        s[0], r, action, seat_of_a[g], references[v], horizon, values,
                        n_playouts, word, base, w, table,
                    )  # fmt: skip
            step(s[0], r, action)
