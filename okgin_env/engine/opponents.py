"""The players in the seats that are not the learner's, game by game."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from okgin_env.engine.decisions import OpponentLike, seat_opponents
from okgin_env.kernel.policies import EXTERNAL
from okgin_env.layout import MAX_PLAYERS
from okgin_env.players.base import Player, check_rules
from okgin_env.rules import Rules
from okgin_env.utils.errors import shown


class _Pool(NamedTuple):
    """Opponents of all games at a time.

    Attributes:
        of_game: (N,) which opponents each game is played against.
        outside: Those that are asked from outside: whose game, seat, player.
    """

    of_game: NDArray[np.int64]
    outside: list[tuple[int, int, Player]]


class Opponents:
    """The opponents of N games: those of game i are `pool[i % len(pool)]`.

    Args:
        n_games: N.
        seat: The learner's seat; below 0: there is none, and no opponent.
        rules: The rules of all tables.

    Attributes:
        policies: (N, 4) int8, which compiled player sits in each seat; EXTERNAL: one that is asked from outside.
        coming: (N, 4) int8, the same from a game's next deal on, where it is
        changing: (N,) bool. The kernel lets them sit down when it deals.
        outside: The players that are asked from outside; every step looks whether there are any.
    """

    def __init__(self, n_games: int, seat: int, rules: Rules) -> None:
        self._seat, self._rules = seat, rules
        self.policies = np.full((n_games, MAX_PLAYERS), EXTERNAL, np.int8)
        self.coming = self.policies.copy()
        self.changing = np.zeros(n_games, np.bool_)
        self._pools = [_Pool(np.zeros(n_games, np.int64), [])]  # the latest last
        self._pool_of = np.zeros(n_games, np.int64)  # of games that are still to change
        self.outside: list[Player] = []

    def change(self, pool: Sequence[OpponentLike], at_once: bool) -> None:
        """Seats other opponents: from each game's next deal, or at once.

        Raises:
            ValueError: An unknown player, one that cannot play by the rules, or a wrong number of them.
        """
        if isinstance(pool, str) or not isinstance(pool, Sequence) or not pool:
            raise ValueError(f"pool={shown(pool)}; allowed: a list of opponents")
        tables = [seat_opponents(entry, self._rules.players) for entry in pool]
        for player in chain.from_iterable(tables):
            check_rules(player, self._rules)
        of_game = np.arange(len(self.changing)) % len(tables)
        outside: list[tuple[int, int, Player]] = []
        for t, opponents in enumerate(tables):
            for k, player in enumerate(opponents, start=1):
                at = (self._seat + k) % self._rules.players
                self.coming[of_game == t, at] = player.kernel_policy
                if player.kernel_policy == EXTERNAL:
                    outside.append((t, at, player))
        self._forget_pools()
        self._pools.append(_Pool(of_game, outside))
        self.changing[:] = True
        if at_once:
            self.sit_down(np.arange(len(self.changing)))
            self._forget_pools()
        self.outside = [player for pool in self._pools for _, _, player in pool.outside]

    def sit_down(self, games: NDArray[np.int64]) -> None:
        """Seats the opponents that have waited for the next deal of these games."""
        due = games[self.changing[games]]
        if len(due):
            self.policies[due] = self.coming[due]
            self.changing[due] = False

    def _forget_pools(self) -> None:
        """Notes by which pool each game goes on, and drops those that no game goes on by."""
        latest = len(self._pools) - 1
        used, self._pool_of = np.unique(
            np.where(self.changing, self._pool_of, latest), return_inverse=True
        )
        self._pools = [self._pools[k] for k in used.tolist()]

    def asked(
        self, games: NDArray[np.int64], seats: NDArray[np.int8]
    ) -> Iterator[tuple[Player, NDArray[np.int64]]]:
        """Each player from outside with those of `games` in which it sits in `seats`, the seats to move."""
        latest = len(self._pools) - 1
        pools = np.where(self.changing[games], self._pool_of[games], latest)
        for k, pool in enumerate(self._pools):
            for table, at, player in pool.outside:
                asked = games[(pools == k) & (seats == at) & (pool.of_game[games] == table)]
                if len(asked):
                    yield player, asked
