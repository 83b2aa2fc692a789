"""The whole state of a hand (and of its match) as one NumPy record.

Copying the record clones the game, an array of them is a batch, `tobytes()` saves it. All cards are in it; what one
seat may see of it is made by `conceal.conceal`.
"""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.jit import PLAIN
from okgin_env.layout import MAX_LOG, MAX_PLAYERS, N_CARDS

STATE = np.dtype(
    [
        ("rng", np.uint64),  # dealing stream
        ("seat_rng", np.uint64, MAX_PLAYERS),  # stream of the player in each seat
        ("hands", np.uint64, MAX_PLAYERS),  # card masks
        ("known", np.uint64, MAX_PLAYERS),  # cards held that all others saw taken from the pile
        ("discards", np.uint64, MAX_PLAYERS),  # every card the seat discarded in this hand
        ("declined", np.uint64, MAX_PLAYERS),  # cards the seat could have taken and did not
        ("unpaid", np.float64),  # reward not yet paid to the learner
        ("scores", np.int32, MAX_PLAYERS),  # match points so far
        ("points", np.int32, MAX_PLAYERS),  # of the hand, once it is over
        ("match_points", np.int32, MAX_PLAYERS),  # scores and match bonuses, once it is over
        ("n_hands", np.int32),  # hands of the match that are over
        ("boxes", np.int16, MAX_PLAYERS),  # of the match so far: a hand won is one or more
        ("deadwood", np.int16, MAX_PLAYERS),  # that counted in the showdown, after layoffs
        ("n_turns", np.int16),  # discards of all seats
        ("n_log", np.int16),
        ("n_sheds", np.int16, MAX_PLAYERS),  # discards of each seat
        ("n_acts", np.int16, MAX_PLAYERS),  # decisions of each seat
        ("phase", np.int8),
        ("first_seat", np.int8),  # that took the first action in `log`
        ("seat", np.int8),  # to move
        ("dealer", np.int8),
        ("upcard", np.int8),
        ("limit", np.int8),  # knock limit in pips; 0: gin only
        ("taken", np.int8),  # card taken from the pile in this turn, or -1
        ("n_passes", np.int8),
        ("n_pile", np.int8),
        ("next_card", np.int8),  # index in `deck` of the top of the stock
        ("knocker", np.int8),  # seat, or -1
        ("ending", np.int8),
        ("hand_winner", np.int8),  # seat, or -1
        ("match_winner", np.int8),  # seat, or -1
        ("pile", np.int8, N_CARDS),  # card ids, the top last
        ("deck", np.int8, N_CARDS),  # as dealt: hands by seat, upcard, stock top first; -1: hidden
        ("log", np.int8, MAX_LOG),  # every action of the hand: public, for draws hide their card
    ],
    align=True,
)


# Copies do not carry padding, so equal games would not have equal bytes.
assert STATE.itemsize == sum(STATE[name].itemsize for name in STATE.names or ())


def new_states(n_games: int) -> np.ndarray:
    """(n_games,) array of blank `STATE` records."""
    return as_records(np.zeros(n_games, STATE))


def as_records(array: np.ndarray) -> np.ndarray:
    """A structured array as kernel functions take it (uncompiled, `record.field` needs a recarray)."""
    return array.view(np.recarray) if PLAIN else array
