"""A player's double: the same decisions with other random numbers, for a check whose answer is known."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from okgin_env.arena.store.fingerprints import fingerprint
from okgin_env.kernel.policies import EXTERNAL
from okgin_env.players.base import Decisions, Player
from okgin_env.players.network import NetworkPlayer

_DOUBLE = np.uint64(0x9E3779B97F4A7C15)  # what its random words differ by


class Double(Player):
    """A player that decides as another does, with other random numbers."""

    def __init__(self, player: Player) -> None:
        self.player, self.name = player, double_name(player.name)

    @property
    def fingerprint(self) -> str:
        """The other's, with a mark."""
        return f"double of {fingerprint(self.player)}"

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """The other's answers."""
        return self.player.act(dataclasses.replace(decisions, words=decisions.words ^ _DOUBLE))


def double_name(name: str) -> str:
    """The name of a player's double."""
    return f"{name} (double)"


def quick_double(player: Player) -> Double | None:
    """A player's double, if it is quick: compiled, or asked in batches without thinking long."""
    quick = player.kernel_policy != EXTERNAL or isinstance(player, NetworkPlayer)
    return Double(player) if quick else None
