"""One 64-bit random stream per game (splitmix64), kept in the game's record.

Two kinds of stream never mix: `rng` deals the cards, `seat_rng[p]` is what the player in seat p draws from. So a
different player at the table leaves the deck of the next hand as it was.
"""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.jit import compiled

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_A = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B = np.uint64(0x94D049BB133111EB)
_S27 = np.uint64(27)
_S30 = np.uint64(30)
_S31 = np.uint64(31)
_S32 = np.uint64(32)


@compiled
def mix(word):
    """The splitmix64 output of a state word: a well-stirred 64-bit number."""
    z = np.uint64(word)
    z = (z ^ (z >> _S30)) * _MIX_A
    z = (z ^ (z >> _S27)) * _MIX_B
    return z ^ (z >> _S31)


@compiled
def fill_words(word, first, words):
    """Fills a (W,) uint64 array with random words that follow from one, from number `first` (0, 1, ...) on."""
    for k in range(len(words)):
        words[k] = mix(np.uint64(word) + _STEP * np.uint64(first + k + 1))


@compiled
def seed_streams(s, seed):
    """Starts all streams of a game record from one 64-bit seed."""
    s.rng = mix(np.uint64(seed))
    for p in range(len(s.seat_rng)):
        s.seat_rng[p] = mix(s.rng + _STEP * np.uint64(p + 1)) ^ np.uint64(seed)


@compiled
def _below(word, n):
    """A number from 0 to n-1 out of a random word (multiply-shift; the bias is below n / 2**32)."""
    return np.int64(((word >> _S32) * np.uint64(n)) >> _S32)


@compiled
def deal_below(s, n):
    """A number from 0 to n-1 from the game's dealing stream."""
    s.rng = s.rng + _STEP
    return _below(mix(s.rng), n)


@compiled
def seat_word(s, seat):
    """A random 64-bit word from the stream of the player in `seat`."""
    s.seat_rng[seat] = s.seat_rng[seat] + _STEP
    return mix(s.seat_rng[seat])


@compiled
def seat_below(s, seat, n):
    """A number from 0 to n-1 from the stream of the player in `seat`."""
    return _below(seat_word(s, seat), n)
