"""The scripted players: names for the compiled policies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from okgin_env.kernel.batch import choose_games
from okgin_env.kernel.policies import POLICY_IDS
from okgin_env.kernel.state import as_records
from okgin_env.players.base import Decisions, Player


@dataclass(frozen=True)
class ScriptedPlayer(Player):
    """A compiled policy. Adapters and the arena run it inside the kernel and need not ask `act`.

    Attributes:
        name: That of a row of `kernel.policies.POLICIES`.
    """

    name: str

    @property
    def kernel_policy(self) -> int:
        """Policy id in the kernel."""
        return POLICY_IDS[self.name]

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Answers from the concealed records alone, with the same moves as in the kernel."""
        actions = np.zeros(len(decisions), np.int64)
        rules = as_records(decisions.rules.to_record())
        choose_games(decisions.records.copy(), rules, self.kernel_policy, decisions.words, actions)
        return actions
