"""Our players at OpenSpiel's table: its engine says what is legal and pays; `spiel_hand` plays the hands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from okgin_env import players
from okgin_env.peers.spiel_hand import DIFFERENCES, OWN_BOT, Hand, Seated, Table, name_of
from okgin_env.players.base import Player


@dataclass(frozen=True)
class TableResults:
    """The results of D decks at OpenSpiel's table, each played twice.

    Attributes:
        a: Player a's name.
        b: Player b's name.
        points: (D, 2) a's points (b's are the same with the other sign); in the first column a starts.
        ending: (D, 2) int8 index into `layout.ENDINGS`: knock (also with equal deadwood), gin, undercut, void.
        ended_by: (D, 2) int8: 0 or 1, the player who knocked or undercut; -1: nobody.
        differences: Key of `DIFFERENCES` to (2,) int64 counts for a and b.
    """

    a: str
    b: str
    points: NDArray[np.float64]
    ending: NDArray[np.int8]
    ended_by: NDArray[np.int8]
    differences: dict[str, NDArray[np.int64]]


def play_at_openspiel(
    player_a: str | Path | Player,
    player_b: str | Path | Player,
    n_hands: int,
    seed: int,
    oklahoma: bool = True,
    progress: Callable[[int], object] = lambda n: None,
) -> TableResults:
    """Plays hands with OpenSpiel's gin_rummy as the referee, every deck from both seats.

    Args:
        player_a: A spec as for `players.make`, a player, or "openspiel" for OpenSpiel's own.
        player_b: Another, or the same.
        n_hands: Hands, two for each deck (an odd one is left out).
        seed: Same seed, same hands: decks, and what the players draw, are those of `arena.match.play`.
        oklahoma: Whether the upcard sets the knock limit (an ace: gin only); else it is 10.
        progress: Called with the number of hands that are done.

    Raises:
        ImportError: OpenSpiel is not installed.
        ValueError: An unknown player, fewer than two hands, a negative seed, or a player's illegal action.
    """
    check(n_hands, seed)
    table = Table.of(oklahoma)
    pair = (seated(player_a), seated(player_b))
    streams = np.random.SeedSequence(seed).generate_state(n_hands // 2, np.uint64)
    points = np.zeros((len(streams), 2))
    ending, ended_by = np.zeros((2, len(streams), 2), np.int8)
    counts = {name: np.zeros(2, np.int64) for name in DIFFERENCES}
    for d, stream in enumerate(streams):
        for first in range(2):  # the player in seat 0, which starts
            who = (first, 1 - first)
            hand = Hand(table, (pair[who[0]], pair[who[1]]), stream)
            hand.run()
            points[d, first] = hand.peer.returns()[who.index(0)]
            ending[d, first], by = hand.ended()
            ended_by[d, first] = -1 if by is None else who[by]
            for seat, name in hand.differences:
                counts[name][who[seat]] += 1
        progress(2)
    return TableResults(name_of(pair[0]), name_of(pair[1]), points, ending, ended_by, counts)


def check(n_hands: int, seed: int) -> None:
    """Checks what `play_at_openspiel` is asked for.

    Raises:
        ValueError: Fewer than two hands, or a negative seed.
    """
    if n_hands < 2:
        raise ValueError(f"hands={n_hands}; allowed: 2 or more")
    if seed < 0:
        raise ValueError(f"seed={seed}; allowed: 0 or more")


def seated(spec: str | Path | Player) -> Seated:
    """A player from its spec, or OpenSpiel's own.

    Raises:
        ValueError: An unknown player.
    """
    return OWN_BOT if spec == OWN_BOT else players.make(spec)
