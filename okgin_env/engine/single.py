"""A game by itself: the engine under the single environment, stepped in one short compiled call."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from okgin_env.engine.buffers import Outputs
from okgin_env.engine.games import Games
from okgin_env.kernel import batch
from okgin_env.kernel.arrays import Places
from okgin_env.layout import N_ACTIONS
from okgin_env.rules import RulesLike

_ONE = np.zeros(1, np.int64)  # the indices of the one game there is
GOES_ON, HAND_OVER, EPISODE_OVER = range(3)  # what `step_one` gives back


class SingleGame(Games):
    """One game with a learner in it.

    Args:
        rules: As of `Games`.
        more: Other arguments of `Games`.

    Attributes:
        observation: (D,) int8, rewritten at every step: to be copied.
        mask: (108,) int8, rewritten at every step; ones once the episode is over.
    """

    def __init__(self, rules: RulesLike, **more: Any) -> None:
        super().__init__(1, rules, **more)
        self.observation = np.zeros(self.layout.size, np.int8)
        self.mask = np.ones(N_ACTIONS, np.int8)
        self._reward, self._done = np.zeros(1), np.zeros(1, np.bool_)
        written = (self.observation, self.mask, self._reward, self._done)
        states, finals, _, *seating = self._tables
        self._places = Places(
            (states, finals, *seating, *written), (self.layout.size, self.episode, self.reward)
        )

    def begin(self, options: dict[str, Any] | None = None) -> None:
        """Starts an episode, as `Games.reset` does; where options are refused, nothing has changed."""
        kept = self.observation.copy(), self.mask.copy()
        try:
            outputs = self.reset(_ONE, options)
        except Exception:
            self.observation[:], self.mask[:] = kept
            raise
        self.observation[:], self.mask[:] = outputs.observations[0], outputs.masks[0]

    def play(self, action: int) -> int:
        """Takes the learner's action and plays on to its next decision, or the end.

        Args:
            action: Action id; any other number that fits 64 bits is illegal.

        Returns:
            GOES_ON, HAND_OVER (a match goes on, but a hand has ended) or EPISODE_OVER.
        """
        if not self._started:
            raise ResetNeeded("step() before the first reset()")
        if self.recorder is None and not self._opponents.outside:
            return batch.step_one(self.rules_record, self._places.table, action, True)
        n_hands = self.n_hands
        outputs = self.step(np.array([action]), _ONE, False)
        self._reward[:] = outputs.rewards
        self.observation[:], self.mask[:] = outputs.observations[0], outputs.masks[0]
        if outputs.dones[0]:
            return EPISODE_OVER
        return HAND_OVER if self.n_hands != n_hands else GOES_ON

    def _play(
        self,
        actions: NDArray[np.int64],
        games: NDArray[np.int64],
        outputs: Outputs,
        how: tuple[Any, ...],
    ) -> None:
        """As of `Games`, by the same short call where it will do: then there is one program to compile, not two."""
        _, _, pay, autoreset, pause = how
        if autoreset or pause:
            super()._play(actions, games, outputs, how)
            return
        batch.step_one(self.rules_record, self._places.table, actions[0], pay)
        written = self.observation, self.mask, self._reward[0], self._done[0]
        for array, value in zip(outputs[:4], written, strict=True):
            array[0] = value

    @property
    def n_hands(self) -> int:
        """Hands of the match that are over."""
        return int(self.states["n_hands"][0])

    @property
    def last_reward(self) -> float:
        """The learner's reward for the last step."""
        return self._reward.item()
