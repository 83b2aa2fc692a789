"""`expert`: the trained networks that come with the package, played by compiled code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from okgin_env.players.base import Decisions, Player
from okgin_env.players.network import NetworkPlayer
from okgin_env.rules import Rules

EXPERT = "expert"
FOLDER = Path(__file__).with_name("expert")
UPCARD, FIXED = FOLDER / "classic.npz", FOLDER / "eaai.npz"


@dataclass(frozen=True)
class ExpertPlayer(Player):
    """Two networks: one was trained where the upcard sets the knock limit (classic), one where it is fixed (eaai).

    They were trained for two seats and play by points, so variants of bonuses and scores of a match leave their moves as
    they are. How they were made and how strong they are: docs/expert.md.
    """

    name: str = EXPERT

    @property
    def fingerprint_files(self) -> tuple[Path, ...]:
        """The files that decide its moves, besides the kernel."""
        return UPCARD, FIXED

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """The move of the network for these rules in each decision."""
        return self.network(decisions.rules).act(decisions)

    def network(self, rules: Rules) -> NetworkPlayer:
        """The network that plays under these rules."""
        return _loaded(UPCARD if rules.knock_limit == "upcard" else FIXED)

    def check_rules(self, rules: Rules) -> None:
        """Checks that there are two seats.

        Raises:
            ValueError: There are more.
        """
        if rules.players != 2:
            raise ValueError(f"expert: players={rules.players}; allowed: 2")


@lru_cache
def _loaded(path: Path) -> NetworkPlayer:
    return NetworkPlayer.load(path, EXPERT)
