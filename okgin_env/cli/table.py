"""A game that a person plays: entries can be taken back, hints asked for, and every ended hand is kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env.engine.decisions import answer, ask, view_of
from okgin_env.engine.infos import hand_info
from okgin_env.env import OklahomaGinEnv
from okgin_env.kernel.batch import MATCH
from okgin_env.kernel.state import as_records
from okgin_env.layout import DRAW_TOP
from okgin_env.players.base import Player
from okgin_env.rules import Rules
from okgin_env.view import SeatView

YOU = 0  # the person's seat
_ONE = np.zeros(1, np.int64)  # the indices of the one game there is


class Table:
    """The environment with a person in seat 0.

    Args:
        rules: The rules of the table.
        opponents: The players in the other seats, in turn order.
        episode: "match" or "hand".

    Attributes:
        env: The environment that is played.
        is_match: Whether a match is played.
        over: Whether the episode is over.
        drawn: The card the last move brought from the stock.
        n_undone: Entries taken back so far.
        barrier: Why `undo` can go no further back, where it cannot.

    Raises:
        ValueError: Rules, opponents and episode do not fit.
    """

    def __init__(self, rules: Rules, opponents: Sequence[Player], episode: str) -> None:
        self.rules = rules
        self.env = OklahomaGinEnv(rules, opponents, episode, illegal="raise", seat=YOU)
        self.env.games.recorder = self._keep
        self.is_match = self.env.games.episode == MATCH
        self.over = False
        self.drawn: str | None = None
        self.n_undone = 0
        self.barrier = "nothing has been played yet"
        self._ended: list[NDArray[np.void]] = []
        self._before: list[bytes] = []  # states that `undo` goes back to, the latest last
        self._record = as_records(rules.to_record())

    def start(self, seed: int) -> None:
        """Deals, and plays on to the person's first decision."""
        self.env.reset(seed=seed)

    def view(self) -> SeatView:
        """The person's view."""
        return self.env.view()

    def act(self, action: int) -> None:
        """Plays a legal action of the person, and the others' answers."""
        view = self.view()
        self._before.append(self.env.state())
        self.env.games.decisions(_ONE)  # the person's random stream goes on, as for any player
        _, _, self.over, _, _ = self.env.step(action)
        came = [card for card in self.view().hand if card not in view.hand]
        self.drawn = None
        if self._ended:
            self._bar("a hand has ended since")
        elif came and action != DRAW_TOP:
            self.drawn = came[0]
            self._bar(f"you have seen {came[0]} from the stock")

    def undo(self) -> bool:
        """Goes back to before the person's last action, random streams and all.

        Returns:
            Whether it could: not past a card seen from the stock, nor past the end of a hand.
        """
        if not self._before:
            return False
        self.env.reset(options={"state": self._before.pop()})
        self.drawn = None
        self.n_undone += 1
        return True

    def _bar(self, why: str) -> None:
        self._before.clear()
        self.barrier = why

    def advice(self, hinter: Player) -> int:
        """A player's move in the person's place: an action id. The game stays as it is.

        Raises:
            ValueError: It does not fit the table, or its answer is illegal here.
        """
        games = self.env.games
        seats = np.array([YOU])
        seen = ask(games.states.copy(), _ONE, self.rules, self._record, seats, games.episode)
        action = int(answer(hinter, seen)[0])
        if action not in seen.view(0).legal:
            raise ValueError(f"{hinter.name} answers {action}, which is illegal here")
        return action

    # --- hands that have ended ---------------------------------------------------------------------

    def _keep(self, final: NDArray[np.void]) -> None:
        """The games' recorder: only copies, so that no error can break a step in two."""
        self._ended.append(final.copy())

    def ended(self) -> list[NDArray[np.void]]:
        """The (1,) `STATE` records of hands that have ended since this was last called."""
        ended, self._ended = self._ended, []
        return ended

    def view_of(self, final: NDArray[np.void]) -> SeatView:
        """The person's view of a hand that has ended."""
        return view_of(final, self.rules, self._record, YOU)

    def last_info(self) -> dict[str, Any]:
        """`info.hand_info` of the last hand."""
        return hand_info(self.env.games.finals[0], self.rules.players, self.is_match, YOU)


class Saver:
    """Adds hands to an ``.okgin`` file as they end; what a full disk refuses is tried again with the next one.

    Args:
        path: The file, or None for none.
        rules: The rules of the table.
        names: The players by seat.
        seed: The seed of the episode.

    Attributes:
        n_saved: Hands in the file.
        waiting: Hands that are not in it yet.

    Raises:
        ValueError: A bad file name.
        OSError: The file cannot be written.
    """

    def __init__(self, path: Path | None, rules: Rules, names: Sequence[str], seed: int) -> None:
        self.path, self.n_saved = path, 0
        self.waiting: list[NDArray[np.void]] = []
        self._recorder = None
        if path is not None:
            from okgin_env.wrappers import HandRecorder  # only who saves needs it

            self._recorder = HandRecorder(path, rules, names)
            self._recorder.seed = seed

    def add(self, finals: Sequence[NDArray[np.void]]) -> str:
        """Writes hands; returns what went wrong on one line, or nothing."""
        if self._recorder is None:
            return ""
        self.waiting += finals
        try:
            while self.waiting:
                self._recorder(self.waiting[0])
                self.waiting.pop(0)
                self.n_saved += 1
        except OSError as error:
            return f"not saved yet: {error}"
        return ""
