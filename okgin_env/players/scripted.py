"""The scripted players: names for the compiled policies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from okgin_env.kernel.batch import choose_games
from okgin_env.kernel.policies import POLICIES
from okgin_env.kernel.state import as_records
from okgin_env.players.base import Decisions

DESCRIPTIONS = {
    "random": "uniform over the legal actions: the floor",
    "novice": "draws at random, discards for least deadwood, knocks at random",
    "simple": "takes what makes a meld, knocks as soon as it may: the field's yardstick",
    "knocker": "takes what lowers its deadwood, knocks as soon as it may",
    "careful": "as knocker, but minds what it gives away and the score of the match",
    "camper": "waits for gin after its third turn: the strongest public player",
    "hunter": "as camper, but knocks with gin only",
}


@dataclass(frozen=True)
class ScriptedPlayer:
    """A compiled policy. Adapters and the arena run it inside the kernel and need not ask `act`.

    Attributes:
        name: One of `kernel.policies.POLICIES`.
    """

    name: str

    @property
    def kernel_policy(self) -> int:
        """Policy id in the kernel."""
        return POLICIES.index(self.name)

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Answers from the concealed records alone, with the same moves as in the kernel."""
        actions = np.zeros(len(decisions), np.int64)
        rules = as_records(decisions.rules.to_record())
        choose_games(decisions.records.copy(), rules, self.kernel_policy, decisions.words, actions)
        return actions
