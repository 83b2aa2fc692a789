"""One list of drawing instructions for a seat's view, from which all pictures are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from okgin_env import analysis, cards
from okgin_env.layout import N_CARDS
from okgin_env.render.pieces import (
    CARD_W,
    Back,
    Card,
    Instruction,
    Piece,
    Rect,
    Suit,
    Text,
    instructions,
)
from okgin_env.render.style import FOUR_COLOURS, SUIT_SIGNS, THEMES, Theme
from okgin_env.render.words import last_line, name_of
from okgin_env.view import SeatView

WIDTH = 900
STEP, GAP = 40, 16
ROW_H = 112
LEFT = 150
LAST_LINE = 42  # its height


@dataclass(frozen=True)
class Scene:
    """A picture to be drawn: its size and its instructions, the first at the bottom."""

    width: float
    height: float
    parts: tuple[Instruction, ...]
    title: str


def compose(
    view: SeatView, theme: str = "light", four_colours: bool = False, names: Sequence[str] = ()
) -> Scene:
    """The scene of a view: everything that its pictures show.

    Args:
        view: What one seat may see.
        theme: Key of `THEMES`.
        four_colours: Whether every suit has a colour of its own.
        names: What to call the seats, in a few letters each; empty: "you" and "seat 1" ….

    Raises:
        ValueError: An unknown theme.
    """
    if theme not in THEMES:
        raise ValueError(f"theme={theme!r}; allowed: {', '.join(THEMES)}")
    composer = _Composer(view, THEMES[theme], four_colours, names)
    composer.rows()
    title = f"Oklahoma Gin: {composer.last_line()}"
    parts = tuple(part for piece in composer.pieces for part in instructions(piece))
    return Scene(WIDTH, composer.y, (composer.background(), *parts), title)


def table(view: SeatView, theme: Theme, names: Sequence[str] = ()) -> tuple[float, list[Piece]]:
    """A picture's height, and the pieces of it without its last line; its suits have four colours."""
    composer = _Composer(view, theme, True, names)
    composer.rows()
    composer.y += LAST_LINE
    return composer.y, [composer.background(), *composer.pieces]


def table_height(players: int) -> float:
    """Height of the picture of a table, which is the highest there is: a row for each seat and one for the middle."""
    return 48 + (players + 1) * ROW_H + 16 + LAST_LINE


class _Composer:
    """Collects pieces from top to bottom."""

    def __init__(
        self, view: SeatView, theme: Theme, four_colours: bool, names: Sequence[str]
    ) -> None:
        self.view, self.theme, self.names = view, theme, names
        self.suits = FOUR_COLOURS if four_colours else theme.suits
        self.pieces: list[Piece] = []
        self.y = 0.0

    def rows(self) -> None:
        """Draws all but the last line."""
        self._headline()
        if self.view.knocker is not None:
            self._showdown()
        else:
            others = range(1, self.view.rules.players)
            for k in others:
                self._opponent((self.view.seat + k) % self.view.rules.players)
            self._middle()
            self._own_hand()

    def last_line(self) -> str:
        """Draws what happened last and who is to move, and says it."""
        last = last_line(self.view, self._name, lambda card: _pretty(cards.card_text(card)))
        self._text(20, self.y + 26, last, self.theme.ink)
        self.y += LAST_LINE
        return last

    def background(self) -> Rect:
        """The paper that all of it lies on."""
        return Rect(0, 0, WIDTH, self.y, self.theme.paper, radius=10)

    # --- rows -----------------------------------------------------------------------------------------

    def _headline(self) -> None:
        view, ink = self.view, self.theme.ink
        limit = "gin only" if view.limit == 0 else f"knock with {view.limit} or less"
        self._text(20, 32, limit, ink, 19, bold=True)
        rank, suit = view.upcard
        # Fonts differ in width, so nothing is placed after a text.
        self._text(372, 32, "upcard", self.theme.faint, anchor="end")
        self.pieces.append(Suit(388, 26, suit, 8, self._suit_ink(suit)))
        self._text(401, 32, "10" if rank == "T" else rank, ink, 17, bold=True)
        scores = " · ".join(f"{self._name(s)}: {score}" for s, score in enumerate(view.scores))
        self._text(WIDTH - 20, 32, scores, self.theme.faint, anchor="end")
        self.y = 48

    def _opponent(self, seat: int) -> None:
        view = self.view
        self._seat_label(seat)
        known = view.known[seat]
        n_hidden = view.rules.hand_size - len(known)
        if seat == view.to_move:  # all other cards lie elsewhere: it may hold one more
            n_held = N_CARDS - view.stock_left - len(view.pile)
            n_hidden += n_held - view.rules.players * view.rules.hand_size
        if view.revealed:
            self._groups(_melds_then_rest(view.hands[seat]), LEFT, self.y + 18)
            self._text(28, self.y + 78, f"deadwood {analysis.deadwood(view.hands[seat])}", self.theme.faint, 13)  # fmt: skip
            self.y += ROW_H
            return
        x = float(LEFT)
        for _ in range(n_hidden):
            self._back(x, self.y + 18)
            x += 24
        x += CARD_W - 24 + GAP if n_hidden else 0
        for card in known:
            self._card(card, x, self.y + 18)
            x += STEP
        if known:
            self._text(x + CARD_W - STEP + 10, self.y + 60, "known", self.theme.faint, 13)
        self.y += ROW_H

    def _middle(self) -> None:
        view, y = self.view, self.y
        self.pieces.append(Rect(12, y, WIDTH - 24, ROW_H + 8, self.theme.felt, radius=10))
        self._text(28, y + 58, "table", self.theme.ink, bold=True)
        self._back(LEFT, y + 18)
        self._text(LEFT + CARD_W + 10, y + 50, f"stock {view.stock_left}", self.theme.ink)
        self._text(LEFT + CARD_W + 10, y + 70, "void at 2", self.theme.faint, 13)
        shown = view.pile[-14:]
        x = LEFT + 190.0
        self._text(x - 10, y + 58, "pile", self.theme.ink, anchor="end")
        if not shown:
            self._text(x, y + 58, "empty", self.theme.faint)
        for k, card in enumerate(shown):
            top = k == len(shown) - 1
            self._card(card, x, y + 18, edge=self.theme.mark if top else "")
            x += 34
        self.y += ROW_H + 16

    def _own_hand(self) -> None:
        view = self.view
        self._seat_label(view.seat)
        self._groups(_melds_then_rest(view.hand), LEFT, self.y + 18, view.taken)
        self._text(28, self.y + 78, f"deadwood {view.deadwood}", self.theme.faint, 13)
        if view.taken and view.taken in view.hand:  # another seat may have taken it, in its turn
            self._text(
                28, self.y + 95, f"keeps {_pretty(view.taken)} this turn", self.theme.mark, 12
            )
        self.y += ROW_H

    def _showdown(self) -> None:
        view = self.view
        for seat, shown in enumerate(analysis.showdown(view.knocker or 0, view.hands)):
            self._seat_label(seat)
            role = "knocks" if seat == view.knocker else ""
            if view.ending in ("gin", "big_gin") and seat == view.knocker:
                role = view.ending.replace("_", " ")
            self._text(28, self.y + 78, role, self.theme.mark, 14, bold=True)
            x = self._groups([meld.split() for meld in shown.melds], LEFT, self.y + 18)
            for card in shown.loose.split():
                self._card(card, x, self.y + 18)
                x += STEP
            if shown.loose:
                x += CARD_W - STEP + GAP
            if shown.laid_off:
                start = x
                for card in shown.laid_off.split():
                    self._card(card, x, self.y + 18, edge=self.theme.good)
                    x += STEP
                self._text(start, self.y + 107, "laid off", self.theme.good, 13, bold=True)
            counted = f"deadwood {view.counted[seat]}"
            self._text(WIDTH - 20, self.y + 50, f"{view.points[seat]} points", self.theme.ink, 17, bold=True, anchor="end")  # fmt: skip
            self._text(WIDTH - 20, self.y + 72, counted, self.theme.faint, 13, anchor="end")
            self.y += ROW_H + 6

    # --- pieces ----------------------------------------------------------------------------------------

    def _name(self, seat: int) -> str:
        return name_of(self.view, seat, self.names)

    def _seat_label(self, seat: int) -> None:
        moving = self.view.phase != "over" and seat == self.view.to_move
        colour = self.theme.mark if moving else self.theme.ink
        name = self._name(seat)
        size = 16 if len(name) <= 8 else 13  # it ends before the first card
        self._text(28, self.y + 48, ("▸ " if moving else "") + name, colour, size, bold=True)
        if seat == self.view.dealer:
            self._text(28, self.y + 63, "dealer", self.theme.faint, 12)

    def _groups(
        self, groups: list[list[str]], x: float, y: float, marked: str | None = None
    ) -> float:
        for group in groups:
            for card in group:
                self._card(card, x, y, edge=self.theme.mark if card == marked else "")
                x += STEP
            x += CARD_W - STEP + GAP
        return x

    def _card(self, card: str, x: float, y: float, edge: str = "") -> None:
        look = self.suits[card[1]], self.theme.face, edge or self.theme.edge, 3 if edge else 1
        self.pieces.append(Card(x, y, card, *look))

    def _back(self, x: float, y: float) -> None:
        self.pieces.append(Back(x, y, self.theme.back, self.theme.edge, self.theme.face))

    def _suit_ink(self, suit: str) -> str:
        """A suit's colour where it stands on paper and not on a card."""
        colour = self.suits[suit]
        return self.theme.ink if colour == "#1b1f24" else colour

    def _text(
        self, x: float, y: float, text: str, fill: str, size: float = 15, bold: bool = False, anchor: str = "start"
    ) -> None:  # fmt: skip
        if text:
            self.pieces.append(Text(x, y, text, fill, size, bold, anchor))


def _melds_then_rest(hand: list[str]) -> list[list[str]]:
    """A hand's melds, then its deadwood by rank."""
    return _groups_of(tuple(hand))


@lru_cache(1024)  # a hand lies as it is while the others move
def _groups_of(hand: tuple[str, ...]) -> list[list[str]]:
    groups = [meld.split() for meld in analysis.arrange(hand)]
    used = {card for group in groups for card in group}
    loose = [card for card in hand if card not in used]
    return [*groups, sorted(loose, key=lambda card: ("A23456789TJQK".index(card[0]), card[1]))]


def _pretty(card: str) -> str:
    """A card in words for people: 10♦."""
    return ("10" if card[0] == "T" else card[0]) + SUIT_SIGNS[card[1]] if card else ""
