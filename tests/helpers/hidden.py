"""Cards that a seat cannot see: their mask, and the same game with all of them in other places."""

from __future__ import annotations

from random import Random

import numpy as np
from numpy.typing import NDArray

from okgin_env.kernel import conceal
from okgin_env.kernel.state import as_records
from okgin_env.layout import N_CARDS
from okgin_env.rules import Rules

ALL_CARDS = (1 << N_CARDS) - 1
TABLES = [
    Rules.preset("classic"),
    Rules.preset("french", 3),
    Rules.preset("french", 4),
    Rules(players=3, hand_size=10, big_gin_bonus=50, knock_limit=4, spades_double=True),
    Rules(max_turns=8, knock_limit=0, big_gin_bonus=31),
]


def unseen_by(state: NDArray[np.void], rules: Rules, seat: int) -> int:
    """Mask of the cards a seat does not know the place of."""
    s = state[0]
    n_pile = int(s["n_pile"])
    seen = sum(1 << int(card) for card in s["pile"][:n_pile])
    for p in range(rules.players):
        open_hand = p == seat or s["knocker"] >= 0
        seen |= int(s["hands"][p] if open_hand else s["known"][p])
    return ALL_CARDS & ~seen


def swapped(state: NDArray[np.void], rules: Rules, seat: int, rng: Random) -> NDArray[np.void]:
    """The same game to a seat, with every card it cannot see in some other place."""
    other = as_records(state.copy())
    s = other[0]
    unseen = unseen_by(state, rules, seat)
    cards = [card for card in range(N_CARDS) if unseen >> card & 1]
    moved = dict(zip(cards, rng.sample(cards, len(cards)), strict=True))
    for p in range(rules.players):
        hand = int(s["hands"][p])
        s["hands"][p] = sum(
            1 << moved.get(card, card) for card in range(N_CARDS) if hand >> card & 1
        )
        if p != seat:
            s["seat_rng"][p] = np.uint64(rng.getrandbits(64))
    s["rng"] = np.uint64(rng.getrandbits(64))
    at = int(s["next_card"])
    dealt = [int(card) for card in s["deck"][:at]]  # what was drawn before is hidden, too
    s["deck"][:at] = rng.sample(dealt, at)
    s["deck"][at:] = [moved.get(int(card), int(card)) for card in s["deck"][at:]]
    assert conceal.conserved(s, as_records(rules.to_record())[0])
    return other
