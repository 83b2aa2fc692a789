"""Players are asked so that none can take the tournament with it: what goes wrong is that player's forfeit."""

from __future__ import annotations

import logging
import time

import numpy as np
from numpy.typing import NDArray

from okgin_env.layout import N_ACTIONS
from okgin_env.players.base import FAULTS, Decisions, Player, fault_action
from okgin_env.view import SeatView

_log = logging.getLogger("okgin_env.arena")
_ACTIONS = np.arange(N_ACTIONS)
_FAULTS = N_ACTIONS + np.arange(len(FAULTS))  # answers of `fault_action`
_MOST_SAID = 5  # troubles of a player that are logged
_said: dict[str, set[str]] = {}  # what has been logged, by player's name


def forget_troubles() -> None:
    """Begins to log anew: a tournament tells a player's first troubles, not those of each of its tasks."""
    _said.clear()


class Contained:
    """A player at the arena's table.

    Attributes:
        player: The player.
        seconds: How long it has thought.
        decisions: About how many decisions.
    """

    def __init__(self, player: Player) -> None:
        self.player = player
        self.seconds = 0.0
        self.decisions = 0

    def answer(self, decisions: Decisions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Asks for M decisions.

        Returns:
            (M,) action ids, with any number outside 0 to 107 for a forfeit, and (M,) indices into `FAULTS`, -1 where
            the move is legal.
        """
        allowed = decisions.masks != 0  # before the player can write into them
        start = time.perf_counter()
        actions = self._asked(decisions)
        self.seconds += time.perf_counter() - start
        self.decisions += len(decisions)
        inside = np.isin(actions, _ACTIONS)
        legal = inside & allowed[np.arange(len(actions)), np.where(inside, actions, 0)]
        fault = np.where(np.isin(actions, _FAULTS), actions - N_ACTIONS, FAULTS.index("illegal"))
        if not legal.all() and (trouble := self.player.last_trouble):
            self._say(trouble)
        return np.where(legal, actions, N_ACTIONS), np.where(legal, -1, fault)

    def _asked(self, decisions: Decisions) -> NDArray[np.int64]:
        """The player's answers; if it fails for a batch it is asked for each decision alone."""
        try:
            actions = np.asarray(self.player.act(decisions))
        except (Exception, SystemExit) as error:
            if len(decisions) > 1:
                return np.concatenate(
                    [self._asked(decisions[k : k + 1]) for k in range(len(decisions))]
                )
            self._say(f"{type(error).__name__}: {error}")
            return np.array([fault_action("crash")])
        if actions.shape != (len(decisions),) or actions.dtype.kind not in "iu":
            self._say(f"act() returned shape {actions.shape} of {actions.dtype}")
            return np.full(len(decisions), fault_action("nonsense"))
        return actions.astype(np.int64)

    def tell(self, hook: str, *what: SeatView) -> None:
        """Calls a hook that has no answer: `hand_over` or `close`."""
        try:
            getattr(self.player, hook)(*what)
        except (Exception, SystemExit) as error:
            self._say(f"{hook}(): {type(error).__name__}: {error}")

    def _say(self, trouble: str) -> None:
        """Logs each of the first troubles once."""
        line = f"player {self.player.name}: {trouble}".splitlines()[0][:300]
        said = _said.setdefault(self.player.name, set())
        if line not in said and len(said) < _MOST_SAID:
            said.add(line)
            _log.warning("%s", line)
