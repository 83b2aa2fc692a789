"""RLCard's rule player for gin rummy at our table.

python evaluate.py okgin_env.peers.rlcard:RLCardRule novice --hands 4000
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env import analysis, cards
from okgin_env.layout import DRAW_STOCK, DRAW_TOP, KNOCK, N_CARDS, N_RANKS, PASS
from okgin_env.peers import need
from okgin_env.players.base import Bot
from okgin_env.rules import Rules
from okgin_env.view import SeatView

_SUITS = (0, 3, 2, 1)  # its suits are s h d c, ours s c d h: the same swap both ways
DRAW, PICK_UP, GIN = 2, 3, 5
DISCARDS, KNOCKS = 6, 58  # its first discard and its first knock


class RLCardRule(Bot):
    """RLCard's ``GinRummyNoviceRuleAgent`` as a `Player`, for hands of ten cards and any number of players.

    It is asked for one of the moves that *our* table allows, with its hand: it goes gin or knocks whenever it
    may, else throws a card that leaves the least deadwood, and draws from stock or pile at random. What our
    table has and RLCard has not: the upcard's offer (it is asked as if it were to draw, a draw from the stock being
    a pass), a knock limit other than 10 (it gets the knocks that are legal here), big gin (it goes gin). Of several
    discards that leave gin it takes the lowest: RLCard's engine picks there, not its player.

    Its chance comes from the decision's own generator, and numpy's global generator is left as it was.

    Raises:
        ImportError: RLCard is not installed.
    """

    name = "rlcard-novice"

    def __init__(self) -> None:
        _agent()

    def check_rules(self, rules: Rules) -> None:
        """Raises a ValueError unless hands have ten cards, which is all that it can read."""
        if rules.hand_size != 10:
            raise ValueError(f"{self.name}: hands of {rules.hand_size} cards; allowed: 10")

    def choose(self, view: SeatView, rng: np.random.Generator) -> int:
        """The move of RLCard's player."""
        ours = _by_its_id(view)
        state = {"legal_actions": OrderedDict.fromkeys(ours), "obs": _planes(view)}
        with _global_random(int(rng.integers(2**32))):
            return ours[int(_agent().step(state))]


@lru_cache
def _agent() -> Any:
    return need("rlcard.models.gin_rummy_rule_models").GinRummyNoviceRuleAgent()


@contextmanager
def _global_random(seed: int) -> Iterator[None]:
    """The global generator of numpy, seeded for RLCard to draw from, then put back as it was."""
    before = np.random.get_state()  # noqa: NPY002  (RLCard knows no other)
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


def _by_its_id(view: SeatView) -> dict[int, int]:
    """RLCard's id of each move it would be offered, and the action id that it means at our table."""
    if view.phase == "offer":
        return {DRAW: PASS, PICK_UP: DRAW_TOP}
    if view.phase == "draw":
        return {DRAW: DRAW_STOCK, PICK_UP: DRAW_TOP}
    gins = cards.ids(analysis.knock_discards(view.hand, 0, view.taken))
    if gins:
        return {GIN: KNOCK + min(gins)}  # RLCard offers nothing else then
    found = {}
    for action in view.legal:
        first = DISCARDS if action < KNOCK else KNOCKS
        found[first + _its_card(action % KNOCK)] = action
    return found


def _its_card(card: int) -> int:
    return _SUITS[card // N_RANKS] * N_RANKS + card % N_RANKS


def _planes(view: SeatView) -> NDArray[np.int64]:
    """(5, 52) its observation, 0 or 1: own hand, top of the pile, the cards under it, known cards, unseen cards."""
    top = [view.top] if view.top is not None else []
    known = view.known[(view.seat + 1) % view.rules.players]
    planes = np.zeros((5, N_CARDS), np.int64)
    for k, held in enumerate((view.hand, top, view.pile[:-1], known)):
        planes[k, [_its_card(card) for card in cards.ids(held)]] = 1
    planes[4] = 1 - planes[:4].sum(axis=0)
    return planes
