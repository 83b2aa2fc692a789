"""Beliefs about the cards that a seat does not see: whole worlds drawn from its view, with developed opponents' hands.

The cards that are not in the own hand, the pile or known to be held are dealt to the others' hands and the stock at random. Then hands
are developed: cards are swapped with the stock in a Markov chain that favours hands of little deadwood, the more the later it is, and
hands into which none of the cards fit that their owner has discarded or refused. What a hand is worth in the chain:
exp(-(pull of the turn) * deadwood - REGRET * (cards given up that would be in a meld of it)).
"""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.jit import compiled, lowest, popcount
from okgin_env.kernel.melds import ONE, ZERO, bit, deadwood, melded
from okgin_env.kernel.outlook import unseen_mask
from okgin_env.kernel.rng import mix
from okgin_env.layout import MAX_PLAYERS, N_CARDS

SWAPS = 120  # offered to each hidden hand
REGRET = 1.5  # of having given up a card that would now be in a meld
# Of the deadwood, by the owner's discards so far: what tells most about 750 hands of camper, simple and knocker
# (the gain of `benchmarks/belief.py`).
PULL = np.array([0.03, 0.10, 0.15, 0.18, 0.21, 0.25, 0.29, 0.31, 0.33, 0.36, 0.38, 0.40])
_STEP = np.uint64(0x9E3779B97F4A7C15)
_UNIT = 1.0 / 2.0**53
_S11, _S32 = np.uint64(11), np.uint64(32)


@compiled
def _word(stream):
    """The next word of a stream kept in a (1,) uint64 array."""
    stream[0] = stream[0] + _STEP
    return mix(stream[0])


@compiled
def _number(stream, n):
    """A number from 0 to n - 1."""
    return np.int64(((_word(stream) >> _S32) * np.uint64(n)) >> _S32)


@compiled
def _regrets(hand, given_up):
    """The number of cards given up that would lie in a meld with the hand."""
    n = 0
    rest = given_up
    while rest != ZERO:
        card = rest & (~rest + ONE)
        rest ^= card
        if melded(hand | card) & card != ZERO:
            n += 1
    return n


@compiled
def _energy(hand, pull, regret, given_up):
    """The energy of a hand: minus its log weight."""
    return pull * deadwood(hand) + (regret * _regrets(hand, given_up) if regret > 0.0 else 0.0)


@compiled
def _deal_hidden(w, rules, seat, stream, cards):
    """Deals the unseen cards: hidden places of the other hands first, then the stock.

    Args:
        w: `STATE`, the seat's view; hands and deck are filled in.
        rules: Rules record.
        seat: The seat that looks.
        stream: (1,) uint64, random stream.
        cards: (52,) int64, filled with the unseen cards in the order in which they are dealt.

    Returns:
        How many unseen cards there are.
    """
    n = 0
    rest = unseen_mask(w, seat)
    while rest != ZERO:
        cards[n] = lowest(rest)
        rest &= rest - ONE
        other = _number(stream, n + 1)
        cards[n], cards[other] = cards[other], cards[n]
        n += 1
    at = 0
    for p in range(rules.players):
        if p == seat:
            continue
        w.hands[p] = w.known[p]
        for _ in range(rules.hand_size - popcount(w.known[p])):
            w.hands[p] |= bit(cards[at])
            at += 1
    return n


@compiled
def imagine(w, rules, seat, word, pulls, regret, swaps):
    """Fills in what a seat does not see: other hands and the stock. The seat to move is to be `seat`.

    Args:
        w: `STATE`, the seat's concealed view; becomes a whole game.
        rules: Rules record.
        seat: The seat that looks.
        word: Random word: same view and word, same world.
        pulls: (T,) float64 as `PULL`.
        regret: As `REGRET`.
        swaps: As `SWAPS`; 0: hands are uniform.
    """
    stream = np.empty(1, np.uint64)
    stream[0] = word
    cards = np.empty(N_CARDS, np.int64)
    n = _deal_hidden(w, rules, seat, stream, cards)
    n_hidden = n - (N_CARDS - np.int64(w.next_card))
    at = 0
    for p in range(rules.players):
        if p == seat:
            continue
        n_own = rules.hand_size - popcount(w.known[p])
        pull = pulls[min(np.int64(w.n_sheds[p]), len(pulls) - 1)]
        given_up = (w.discards[p] | w.declined[p]) & ~w.hands[p]
        if n_own > 0 and n > n_hidden and swaps > 0:
            _develop(w, p, cards, at, n_own, n_hidden, n, stream, pull, regret, given_up, swaps)
        at += n_own
    for k in range(n_hidden, n):
        w.deck[np.int64(w.next_card) + k - n_hidden] = cards[k]
    w.rng = _word(stream)
    for p in range(MAX_PLAYERS):
        w.seat_rng[p] = _word(stream)


@compiled
def _develop(w, p, cards, at, n_own, n_hidden, n, stream, pull, regret, given_up, swaps):
    """Offers swaps of hidden cards of one hand with the stock (Metropolis)."""
    hand = w.hands[p]
    energy = _energy(hand, pull, regret, given_up & ~hand)
    for _ in range(swaps):
        i = at + _number(stream, n_own)
        j = n_hidden + _number(stream, n - n_hidden)
        swapped = (hand ^ bit(cards[i])) | bit(cards[j])
        new = _energy(swapped, pull, regret, given_up & ~swapped)
        if new <= energy or np.float64(_word(stream) >> _S11) * _UNIT < np.exp(energy - new):
            cards[i], cards[j] = cards[j], cards[i]
            hand, energy = swapped, new
    w.hands[p] = hand


@compiled
def imagine_all(view, rules, seat, words, pulls, regret, swaps, worlds):
    """Draws a world for each word from one view into `worlds` (W,) `STATE`."""
    for k in range(len(words)):
        worlds[k] = view
        imagine(worlds[k], rules, seat, words[k], pulls, regret, swaps)
