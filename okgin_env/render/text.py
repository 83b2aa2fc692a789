"""A seat's view as text of at most 80 columns: cards in a grid of suits and ranks, and what matters beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from okgin_env import analysis
from okgin_env.cards import RANKS, SUITS
from okgin_env.layout import N_CARDS
from okgin_env.render.words import last_line, name_of
from okgin_env.view import SeatView

NAME_WIDTH = 11
_COLUMN = NAME_WIDTH + 3  # of headings: a seat's number and name, and a space
_SUIT_NAMES = {"s": "spades", "c": "clubs", "d": "diamonds", "h": "hearts"}
_SUIT_STYLES = {"s": "1", "c": "32", "d": "36", "h": "31"}  # bold, green, cyan, red
_HEADING, _FAINT, _GOOD = "1", "2", "33"
_CARD = re.compile(rf"\b[{RANKS}][{SUITS}]\b")
_LEGEND = (
    "# own, in a meld     + own, loose",
    "",  # who is known to hold what
    "^ top of the pile    . in the pile",
    "- not seen",
)
_PILE_SHOWN = 18  # cards of the pile that fit on its line


def draw(view: SeatView, colour: bool = False, names: Sequence[str] = ()) -> str:
    """The view as lines of text.

    Args:
        view: What one seat may see.
        colour: Whether to colour suits and headings with ANSI escapes.
        names: What to call the seats; empty: "you" and "seat 1".
    """
    return _Page(view, colour, names).text()


def own_cards(view: SeatView, colour: bool = False) -> str:
    """The own cards alone: melds, then loose cards, with their deadwood and what others know."""
    return "\n".join(_Page(view, colour, ()).own())


def paint(text: str, style: str) -> str:
    """Text between the ANSI escapes of a style, such as "1" for bold."""
    return f"\x1b[{style}m{text}\x1b[0m" if text else text


def paint_cards(text: str) -> str:
    """Plain text with every card in it in the colour of its suit."""
    return _CARD.sub(lambda found: paint(found[0], _SUIT_STYLES[found[0][1]]), text)


class _Page:
    """One view, drawn from top to bottom. Lines are put together plain and then coloured."""

    def __init__(self, view: SeatView, colour: bool, names: Sequence[str]) -> None:
        self.view, self.colour, self.names = view, colour, names

    def text(self) -> str:
        over = self.view.knocker is not None
        body = self._showdown() if over else self._table()
        lines = [*self._headline(), "", *body, "", f"  {self._last()}"]
        return "\n".join(line.rstrip() for line in lines)

    # --- parts ------------------------------------------------------------------------------------

    def _name(self, seat: int) -> str:
        width = NAME_WIDTH if self.view.rules.players < 4 else 9  # four scores stand on a line
        return name_of(self.view, seat, self.names)[:width].rstrip()

    def _style(self, text: str, style: str) -> str:
        return paint(text, style) if self.colour else text

    def _row(self, label: str, text: str, style: str = _HEADING) -> str:
        """A line with a heading; `text` is plain."""
        shown = paint_cards(text) if self.colour else text
        return f"  {self._style(f'{label:{_COLUMN}}', style)}{shown}"

    def _headline(self) -> list[str]:
        view = self.view
        limit = f"knock limit {view.limit or 'gin only'}"
        scores = "   ".join(f"{self._name(seat)} {score}" for seat, score in enumerate(view.scores))
        to = f" to {view.rules.target}" if view.rules.target else ""
        return [
            self._row("upcard", f"{view.upcard}   {limit}   dealer: {self._name(view.dealer)}"),
            self._row(f"score{to}", scores),
        ]

    def _table(self) -> list[str]:
        view = self.view
        melded = set(" ".join(analysis.arrange(view.hand)).split())
        lines = [f"  {'':{_COLUMN}}{self._style(' '.join(RANKS), _HEADING)}"]
        for suit, legend in zip(SUITS, _LEGEND, strict=True):
            marks = " ".join(self._mark(rank + suit, melded) for rank in RANKS)
            label = self._style(f"{_SUIT_NAMES[suit]:{_COLUMN}}", _SUIT_STYLES[suit])
            words = self._style(legend or self._seats_legend(), _FAINT)
            lines.append(f"  {label}{marks}     {words}")
        pile = " ".join(view.pile[-_PILE_SHOWN:]) or "empty"
        if len(view.pile) > _PILE_SHOWN:
            pile = f"… {pile}"
        stock = f"{view.stock_left} cards (void when a discard leaves 2)"
        lines += ["", self._row("stock", stock), self._row("pile", pile)]
        lines += [self._other(seat) for seat in self._others()]
        return [*lines, *self.own()]

    def _others(self) -> list[int]:
        n = self.view.rules.players
        return [(self.view.seat + k) % n for k in range(1, n)]

    def _seats_legend(self) -> str:
        seats = sorted(self._others())
        return f"{' '.join(str(seat) for seat in seats)} known to be that seat's"

    def _other(self, seat: int) -> str:
        view = self.view
        hidden = view.rules.hand_size - len(view.hands[seat])
        if seat == view.to_move:  # all other cards lie elsewhere: it may hold one more
            n_held = N_CARDS - view.stock_left - len(view.pile)
            hidden += n_held - view.rules.players * view.rules.hand_size
        cards = f"{hidden} hidden cards"
        if known := view.hands[seat]:  # all of them where the view is revealed
            cards = f"{' '.join(known)} and {cards}" if hidden else _groups(known)
        return self._row(f"{seat} {self._name(seat)}", cards)

    def own(self) -> list[str]:
        view = self.view
        lines = [self.hand()]
        if view.known[view.seat]:
            stays = f"; {view.taken} stays this turn" if view.taken in view.hand else ""
            lines.append(self._row("", f"seen by all: {' '.join(view.known[view.seat])}{stays}"))
        return lines

    def hand(self) -> str:
        view = self.view
        return self._row("hand", f"{_groups(view.hand)}   deadwood {view.deadwood}")

    def _mark(self, card: str, melded: set[str]) -> str:
        view = self.view
        if card in view.hand:
            mark, style = ("#" if card in melded else "+"), _SUIT_STYLES[card[1]]
        elif card in view.pile:
            mark, style = ("^", _GOOD) if card == view.top else (".", _FAINT)
        else:
            holders = [seat for seat in self._others() if card in view.hands[seat]]
            mark, style = (str(holders[0]), _GOOD) if holders else ("-", _FAINT)
        return self._style(mark, style)

    def _showdown(self) -> list[str]:
        view = self.view
        lines = []
        for seat, shown in enumerate(analysis.showdown(view.knocker or 0, view.hands)):
            role = ""
            if seat == view.knocker:
                role = {"gin": "gin", "big_gin": "big gin"}.get(view.ending, "knocks")
            elif (
                view.ending == "undercut" and view.counted[seat] <= view.counted[view.knocker or 0]
            ):
                role = "undercuts" if view.points[seat] else ""
            sums = f"{role:10} deadwood {view.counted[seat]:2}   points {view.points[seat]}"
            lines.append(self._row(self._name(seat), sums))
            groups = [*shown.melds, shown.loose] if shown.loose else [*shown.melds]
            if shown.laid_off:
                groups.append(f"laid off: {shown.laid_off}")
            lines.append(self._row("", " | ".join(groups)))
        return lines

    def _last(self) -> str:
        last = last_line(self.view, self._name)
        return paint_cards(last) if self.colour else last


def _groups(hand: list[str]) -> str:
    """Own cards: the melds, then the rest."""
    melds = analysis.arrange(hand)
    used = " ".join(melds).split()
    rest = " ".join(card for card in hand if card not in used)
    return " | ".join([*melds, rest] if rest else melds)
