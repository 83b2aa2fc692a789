"""Who plays in the seats that are not the learner's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from okgin_env.engine.decisions import OpponentLike, seat_opponents
from okgin_env.kernel.policies import EXTERNAL
from okgin_env.layout import MAX_PLAYERS
from okgin_env.players.base import Player, check_rules, kernel_policy
from okgin_env.rules import Rules
from okgin_env.utils.errors import shown


class Opponents:
    """The opponents of N games: those of game i are `pool[i % len(pool)]`.

    Args:
        pool: Each one player, or one for each seat but the learner's in turn order.
        n_games: N.
        seat: The learner's seat.
        rules: The rules of all tables.

    Attributes:
        policies: (N, 4) int8, which compiled player sits in each seat; EXTERNAL: one that is asked from outside.

    Raises:
        ValueError: An unknown player, one that cannot play by the rules, or a wrong number of them.
    """

    def __init__(self, pool: Sequence[OpponentLike], n_games: int, seat: int, rules: Rules) -> None:
        if isinstance(pool, str) or not isinstance(pool, Sequence):
            raise ValueError(f"pool={shown(pool)}; allowed: a list of opponents")
        tables = [seat_opponents(entry, rules.players) for entry in pool]
        for player in chain.from_iterable(tables):
            check_rules(player, rules)
        self._table = np.arange(n_games) % len(tables)  # whom each game is played against
        self.policies = np.full((n_games, MAX_PLAYERS), EXTERNAL, np.int8)
        self.outside: list[tuple[int, int, Player]] = []  # table, seat, player
        for t, opponents in enumerate(tables):
            for k, player in enumerate(opponents, start=1):
                at = (seat + k) % rules.players
                policy = kernel_policy(player)
                self.policies[self._table == t, at] = policy
                if policy == EXTERNAL:
                    self.outside.append((t, at, player))

    def asked(
        self, games: NDArray[np.int64], seats: NDArray[np.int8]
    ) -> Iterator[tuple[Player, NDArray[np.int64]]]:
        """Each player from outside with those of `games` in which it sits in `seats`, the seats to move."""
        for table, at, player in self.outside:
            asked = games[(seats == at) & (self._table[games] == table)]
            if len(asked):
                yield player, asked
