"""Who sits where: players that could remember a deal have a life of their own for each time that it is played."""

from __future__ import annotations

import copy

from okgin_env.arena.contained import Contained
from okgin_env.arena.double import Double
from okgin_env.players import ExpertPlayer, NetworkPlayer, ScriptedPlayer, SearchPlayer
from okgin_env.players.base import Player

_OURS = (ScriptedPlayer, NetworkPlayer, ExpertPlayer, SearchPlayer)


def keeps_nothing(player: Player) -> bool:
    """Whether a player is one of the package's own that keep nothing between decisions.

    Nobody else can say so of a class, by a property or by deriving it from one of these: it may be wrong.
    """
    if type(player) is Double:
        return keeps_nothing(player.player)
    return type(player) in _OURS


def seated(pair: tuple[Player, Player], n_seats: int) -> list[list[Contained]]:
    """(R, R) players: the k-th row plays the k-th game of each deal, player a first, then who sits after it, in turn order.

    A player that keeps nothing is the same everywhere; of any other each seat of each row is a life of its own, a copy of the
    player as it was before any game: it remembers no deal that comes again, and does not know another seat's cards.

    Raises:
        ValueError: A player that cannot be copied.
    """
    rows = zip(*(_lives(player, n_seats, n) for player, n in zip(pair, (1, n_seats - 1), strict=True)), strict=True)  # fmt: skip
    return [[*a, *b] for a, b in rows]


def _lives(player: Player, n_rows: int, n_seats: int) -> list[list[Contained]]:
    if keeps_nothing(player):
        return [[Contained(player)] * n_seats] * n_rows
    return [[Contained(copied(player)) for _ in range(n_seats)] for _ in range(n_rows)]


def copied(player: Player) -> Player:
    """A life of a player: a copy of it as it is.

    Raises:
        ValueError: It cannot be copied.
    """
    try:
        return copy.deepcopy(player)
    except Exception as error:
        raise ValueError(
            f"player {player.name} cannot be copied: {type(error).__name__}: {error}; allowed: one that copy.deepcopy "
            "copies, since each game of a deal is played by another copy, or a program ('cmd:okgin serve …')"
        ) from error
