"""A person at the table: the loop behind ``okgin play``.

What goes in and out are two functions, so a test, a notebook or a chat can sit in for the terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from okgin_env.cli.entry import (
    help_lines,
    knocks,
    moves,
    prompt,
    reason,
    result,
    score,
    typed,
    understand,
    unique,
    verdict,
)
from okgin_env.cli.table import Saver, Table
from okgin_env.players.base import Player
from okgin_env.render.text import draw, own_cards, paint, paint_cards
from okgin_env.rules import Rules
from okgin_env.view import SeatView, action_text


class Session:
    """One match, or one hand, of a person against players.

    Args:
        rules: The rules of the table.
        opponents: The players in the other seats, in turn order.
        hinter: The player that hints come from.
        episode: "match" or "hand".
        seed: Seed of the cards and of the players' random streams.
        read: Asks for an entry, as `input` does; it may raise EOFError or KeyboardInterrupt.
        say: Shows lines, as `print` does.
        colour: Whether to use ANSI colours.
        save: A file that every hand is added to as it ends, see `okgin_env.histories`.

    Attributes:
        table: The game that is played.
        names: What the seats are called; the person is "you".
        saver: The file of hands.

    Raises:
        ValueError: Rules, opponents and episode do not fit, or a bad file name.
        OSError: The file cannot be written.
    """

    def __init__(
        self,
        rules: Rules,
        opponents: Sequence[Player],
        hinter: Player,
        *,
        episode: str = "match",
        seed: int = 0,
        read: Callable[[str], str] = input,
        say: Callable[[str], Any] = print,
        colour: bool = False,
        save: Path | None = None,
    ) -> None:
        self.table = Table(rules, opponents, episode)
        self.names = ("you", *unique([player.name for player in opponents]))
        self.saver = Saver(save, rules, ("human", *self.names[1:]), seed)
        self._hinter, self._seed = hinter, seed
        self._read, self._write, self._colour = read, say, colour
        self._results: list[str] = []  # a line for each hand
        self._n_told = 0  # moves of the hand that have been shown
        self._n_opened = 0  # hands that have been announced

    def run(self) -> str:
        """Plays to the end.

        Returns:
            How it ended: "over", "quit", "eof" (no more input) or "interrupted" (Ctrl-C).

        Raises:
            ValueError: A player that does not fit the table.
        """
        try:
            how = self._play()
        except EOFError:
            how = "eof"
        except KeyboardInterrupt:
            how = "interrupted"
        finally:  # also where a player raises
            self._save()
        self._goodbye(how)
        return how

    def advice(self) -> int:
        """The hint player's move in the person's place: an action id. Errors as in `Table.advice`."""
        return self.table.advice(self._hinter)

    # --- the loop ----------------------------------------------------------------------------------

    def _play(self) -> str:
        table = self.table
        whole = "a match" if table.is_match else "a hand"
        self._say(f"Oklahoma Gin, {whole} against {', '.join(self.names[1:])}", heading=True)
        self._say(f"rules {table.rules.label}, seed {self._seed}; help says what you can type")
        table.start(self._seed)
        self._report()
        show = True
        while not table.over:
            view = table.view()
            if show:
                self._show(view, whole=view.phase != "discard")
            entry = self._entry(view)
            if entry == "quit":
                return "quit"
            show = True
            if isinstance(entry, int):
                table.act(entry)
                self._report()
            else:
                show = self._undo()
        said = verdict(table.last_info(), self.names, len(self._results))
        self._say(said, heading=True)
        return "over"

    def _entry(self, view: SeatView) -> int | str:
        """The next entry that is a move, undo or quit; what only asks is answered on the way."""
        while True:
            try:
                entry = understand(self._read(prompt(view)), view)
            except ValueError as error:
                self._say(str(error))
                continue
            if isinstance(entry, int) or entry == "undo":
                return entry
            if entry != "quit":
                self._answer(entry, view)
            elif self._read("leave the game? (y/n) ").strip().lower() in ("y", "yes"):
                return "quit"

    def _answer(self, command: str, view: SeatView) -> None:
        if command == "help":
            self._say("\n".join(help_lines(view)))
        elif command == "hint":
            self._say(self._hint(view))
        elif command == "show":
            self._show(view)
        elif command == "history":
            told = moves(view, self.names, self.table.drawn)
            self._say("\n".join(f"  {line}" for line in told) or "  no moves yet")
        else:
            self._say("\n".join([*self._results, f"  {score(view.scores, self.names)}"]))

    def _undo(self) -> bool:
        """Takes the last entry back; returns whether that could be done."""
        if not self.table.undo():
            self._say(f"nothing to take back: {self.table.barrier}")
            return False
        self._n_told = len(moves(self.table.view(), self.names))
        self._say("taken back, and what the others answered too")
        return True

    def _hint(self, view: SeatView) -> str:
        try:
            action = self.advice()
        except (ValueError, TypeError) as error:
            return f"no hint: {error}"
        words = f"{self._hinter.name} would {action_text(action)} (type {typed(action)})"
        return f"{words}:\n  {reason(action, view)}"

    # --- showing -----------------------------------------------------------------------------------

    def _say(self, text: str, heading: bool = False) -> None:
        """Shows plain text, its cards in the colours of their suits."""
        if self._colour:
            text = paint(text, "1") if heading else paint_cards(text)
        self._write(text)

    def _show(self, view: SeatView, whole: bool = True) -> None:
        """The table, or in the middle of a turn the own cards, and what could be knocked with."""
        page = draw(view, self._colour, self.names) if whole else own_cards(view, self._colour)
        self._write(f"\n{page}\n" if whole else page)
        if may := knocks(view):
            self._say(f"  {may}")

    def _tell(self, view: SeatView) -> None:
        """The moves that have not been shown yet."""
        lines = moves(view, self.names, self.table.drawn)
        for line in lines[self._n_told :]:
            self._say(f"  {line}")
        self._n_told = len(lines)

    def _report(self) -> None:
        """Saves and tells what has happened: the ends of hands, and moves of the one that goes on."""
        for view in self._save():
            self._tell(view)
            self._n_told = 0
            self._write(f"\n{draw(view, self._colour, self.names)}\n")
            self._results.append(f"  hand {len(self._results) + 1}: {result(view, self.names)}")
            self._say(self._results[-1].strip(), heading=True)
            if self.table.is_match:
                self._say(f"match: {score(view.scores, self.names)}", heading=True)
        if self.table.over:
            return
        view = self.table.view()
        if self._n_opened == len(self._results):
            self._n_opened += 1
            dealt = f"{self.names[view.dealer]} dealt, the upcard is {view.upcard}"
            self._say(f"\nhand {self._n_opened}: {dealt}", heading=True)
        self._tell(view)

    def _save(self) -> list[SeatView]:
        """Adds the hands that have ended to the file; returns what the person may see of them."""
        finals = self.table.ended()
        if failure := self.saver.add(finals):
            self._say(failure)
        return [self.table.view_of(final) for final in finals]

    def _goodbye(self, how: str) -> None:
        if how != "over":
            self._say("The game ends here." if how == "quit" else "\nThe game ends here.")
        if self.table.n_undone:
            self._say(f"Entries taken back: {self.table.n_undone}.")
        if self.saver.path is not None:
            waiting = len(self.saver.waiting)
            failed = f", not saved: {waiting}" if waiting else ""
            rest = "" if how == "over" else "; the hand that was not finished is not among them"
            self._say(f"Hands saved in {self.saver.path}: {self.saver.n_saved}{failed}{rest}.")
