"""The view of one seat, as readable objects: all that it may see.

A `SeatView` is made from a concealed record (`kernel.conceal.conceal`), never from the full state, so neither a bot nor a
picture can know more than the seat it stands for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from okgin_env import cards
from okgin_env.kernel.melds import deadwood
from okgin_env.kernel.play import legal
from okgin_env.kernel.state import as_records
from okgin_env.layout import (
    BIG_GIN,
    DRAW_STOCK,
    DRAW_TOP,
    ENDINGS,
    KNOCK,
    N_ACTIONS,
    N_CARDS,
    OVER,
    PASS,
    PHASES,
)
from okgin_env.rules import Rules


def action_text(action: int) -> str:
    """An action id in words, such as "discard Td" or "knock Td".

    Raises:
        ValueError: The id is not 0 to 107.
    """
    if not 0 <= action < N_ACTIONS:
        raise ValueError(f"action={action!r}; allowed: 0 to {N_ACTIONS - 1}")
    named = {DRAW_STOCK: "draw", DRAW_TOP: "take", PASS: "pass", BIG_GIN: "big gin"}
    if action in named:
        return named[action]
    verb = "discard" if action < KNOCK else "knock"
    return f"{verb} {cards.card_text(action % N_CARDS)}"


_renderers: dict[str, Callable[..., str]] = {}


def register_renderer(kind: str, draw: Callable[..., str]) -> None:
    """Says who draws views: `okgin_env.render` does it for "text" and "svg" when it is imported."""
    _renderers[kind] = draw


def _renderer(kind: str) -> Callable[..., str]:
    """The function that draws views of a kind.

    Raises:
        RuntimeError: Nobody has registered one.
    """
    if kind not in _renderers:
        raise RuntimeError(f"no renderer for {kind!r}; allowed after: import okgin_env.render")
    return _renderers[kind]


@lru_cache(1024)  # the same few hands are looked at from move to move
def _texts(mask: int) -> tuple[str, ...]:
    return tuple(cards.text(mask).split())


class SeatView:
    """A hand as one seat sees it. Cards are texts such as "Td"; seats are numbers from 0.

    Attributes:
        rules: The rules of the table.
        seat: The seat that looks.
        record: The concealed (1,) `kernel.state.STATE` array it is read from.
        revealed: Whether it was made from the whole state instead, on purpose, for somebody who looks on.
    """

    def __init__(
        self, record: NDArray[np.void], rules: Rules, seat: int, revealed: bool = False
    ) -> None:
        self.rules = rules
        self.seat = seat
        self.record = record
        self.revealed = revealed

    def _int(self, name: str) -> int:
        return int(self.record[name][0])

    def _row(self, name: str) -> list[int]:
        return [int(value) for value in self.record[name][0][: self.rules.players]]

    @staticmethod
    def _texts(mask: int) -> list[str]:
        return [*_texts(mask)]

    @property
    def phase(self) -> str:
        """The phase: offer, draw, discard or over."""
        return PHASES[self._int("phase")]

    @property
    def to_move(self) -> int:
        """The seat to move."""
        return self._int("seat")

    @property
    def dealer(self) -> int:
        """The dealer's seat."""
        return self._int("dealer")

    @property
    def upcard(self) -> str:
        """The card that was turned up and set the limit."""
        return cards.card_text(self._int("upcard"))

    @property
    def limit(self) -> int:
        """Knock limit in pips; 0: gin only."""
        return self._int("limit")

    @property
    def hand(self) -> list[str]:
        """The own cards, in order of suit and rank."""
        return self._texts(self._row("hands")[self.seat])

    @property
    def hands(self) -> list[list[str]]:
        """The cards of every seat as far as this seat knows them: all of them after a knock."""
        return [self._texts(mask) for mask in self._row("hands")]

    @property
    def known(self) -> list[list[str]]:
        """Cards of every seat that all others know, because they saw them taken from the pile."""
        return [self._texts(mask) for mask in self._row("known")]

    @property
    def discards(self) -> list[list[str]]:
        """Every card each seat has discarded in this hand, in order of suit and rank."""
        return [self._texts(mask) for mask in self._row("discards")]

    @property
    def declined(self) -> list[list[str]]:
        """Cards each seat could have taken from the pile and did not."""
        return [self._texts(mask) for mask in self._row("declined")]

    @property
    def pile(self) -> list[str]:
        """The discard pile, the top last."""
        return [
            cards.card_text(int(card)) for card in self.record["pile"][0][: self._int("n_pile")]
        ]

    @property
    def top(self) -> str | None:
        """The top of the discard pile."""
        return self.pile[-1] if self._int("n_pile") else None

    @property
    def taken(self) -> str | None:
        """The card taken from the pile in this turn, which may not be discarded."""
        card = self._int("taken")
        return cards.card_text(card) if card >= 0 else None

    @property
    def stock_left(self) -> int:
        """Cards in the stock; the hand is void when a discard leaves two."""
        return N_CARDS - self._int("next_card")

    @property
    def n_turns(self) -> int:
        """Discards of all seats so far."""
        return self._int("n_turns")

    @property
    def scores(self) -> list[int]:
        """Match score of every seat before this hand, or after it once it is over."""
        return self._row("scores")

    @property
    def deadwood(self) -> int:
        """Least deadwood of the own cards, in pips."""
        return int(deadwood(np.uint64(self.record["hands"][0][self.seat])))

    def deadwood_without(self, card: int) -> int:
        """Least deadwood of the own cards but one, given by its id, in pips."""
        return int(deadwood(np.uint64(self.record["hands"][0][self.seat] & ~np.uint64(1 << card))))

    @cached_property
    def legal(self) -> list[int]:
        """Legal action ids of this seat; empty when it is not to move."""
        if self._int("phase") == OVER or self.to_move != self.seat:
            return []
        mask, table = np.zeros(N_ACTIONS, np.int8), np.zeros(N_CARDS, np.int16)
        legal(self.record[0], as_records(self.rules.to_record())[0], mask, table)
        return [int(action) for action in np.flatnonzero(mask)]

    @property
    def history(self) -> list[tuple[int, int]]:
        """Every action of the hand as (seat, action id), in order."""
        n = self.rules.players
        seat = self._int("first_seat")
        found: list[tuple[int, int]] = []
        for action in self.record["log"][0][: self._int("n_log")].tolist():
            found.append((seat, action))
            if action not in (DRAW_STOCK, DRAW_TOP):
                seat = (seat + 1) % n
        return found

    @property
    def ending(self) -> str:
        """The ending of the hand: knock, gin, big_gin, undercut, void, illegal; "none" while it lasts."""
        return ENDINGS[self._int("ending")]

    @property
    def knocker(self) -> int | None:
        """The seat that knocked."""
        seat = self._int("knocker")
        return seat if seat >= 0 else None

    @property
    def points(self) -> list[int]:
        """Points of every seat for this hand, once it is over."""
        return self._row("points")

    @property
    def counted(self) -> list[int]:
        """The deadwood of every seat that counted in the showdown, after layoffs, in pips."""
        return self._row("deadwood")

    def svg(self, theme: str = "light", four_colours: bool = False) -> str:
        """The view as an SVG document: theme "light" or "dark"; `four_colours` gives each suit its own."""
        return _renderer("svg")(self, theme, four_colours)

    def _repr_svg_(self) -> str:
        """The picture that a notebook shows."""
        return self.svg()

    def __str__(self) -> str:
        return _renderer("text")(self)
