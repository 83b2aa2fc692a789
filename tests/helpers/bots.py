"""Players that are asked from outside the kernel; at the top of a module, so that other processes can unpickle them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from okgin_env import players
from okgin_env.arena import lives
from okgin_env.layout import BIG_GIN, DRAW_STOCK, KNOCK
from okgin_env.players import Bot, Decisions
from okgin_env.players.base import Player
from okgin_env.view import SeatView


class Named(Bot):
    """A bot that prints as its name, so that test ids are the same in every process."""

    def __repr__(self) -> str:
        return type(self).__name__


class Bungler(Named):
    """Plays as badly as it may: always the last of its legal actions below a knock."""

    def choose(self, view: SeatView, rng: np.random.Generator) -> int:
        """Draws, then throws away the highest card id."""
        return max(action for action in view.legal if not KNOCK <= action < DRAW_STOCK)


class Cheater(Named):
    """Answers its third decision of a hand with something illegal."""

    def __init__(self, answer: int = BIG_GIN) -> None:
        self.answer = answer

    def choose(self, view: SeatView, rng: np.random.Generator) -> int:
        """Legal, until it has discarded once."""
        return self.answer if view.discards[view.seat] else view.legal[0]


class Outside(Player):
    """A scripted player that the kernel does not know of, so that adapters must ask it."""

    def __init__(self, inner: str) -> None:
        self.name = f"outside {inner}"
        self._inner = players.make(inner)

    def __repr__(self) -> str:
        return self.name

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """What the scripted player answers."""
        return self._inner.act(decisions)


def shown_as_it_is(kind: type[Player], monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the arena ask players of a class as it asks the package's own: at once, with the table's suits."""
    monkeypatch.setattr(lives, "_OURS", (*lives._OURS, kind))
