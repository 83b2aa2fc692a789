"""The games of a task: two players at as many tables as there are deals and rotations of the seats."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from okgin_env.arena.contained import Contained
from okgin_env.arena.outcome import KNOCK_DEADWOOD, KNOCK_LIMITS, KNOCK_TURNS, Results
from okgin_env.engine.decisions import view_of
from okgin_env.engine.games import Games
from okgin_env.histories.hand import HandHistory
from okgin_env.kernel.batch import NO_ACTION, NOBODY
from okgin_env.kernel.census import count_knocks
from okgin_env.kernel.state import new_states
from okgin_env.layout import ILLEGAL, MAX_PLAYERS, UNDERCUT
from okgin_env.players.base import FAULTS, Player
from okgin_env.rules import Rules


@dataclass(frozen=True)
class Played:
    """Some deals of two players: their results and what is kept of the hands themselves (see `outcome.Pair`)."""

    results: Results
    knocks: NDArray[np.int64]
    shown: tuple[HandHistory, ...] = ()


class Tables:
    """All games of some deals: game g is deal g // R with player a in seat g % R (R = seats)."""

    def __init__(
        self, pair: tuple[Player, Player], rules: Rules, streams: NDArray[np.uint64], matches: bool
    ) -> None:
        self.pair, self.rules, self.matches = pair, rules, matches
        n_seats = rules.players
        n_games = len(streams) * n_seats
        self.games = Games(
            n_games, rules, no_learner=NOBODY, episode="match" if matches else "hand"
        )
        self.all = np.arange(n_games)
        self.seat_of_a = self.all % n_seats
        self.who = np.ones((n_games, MAX_PLAYERS), np.int8)  # which player sits where
        self.who[self.all, self.seat_of_a] = 0
        self.one_by_one = any(p.one_by_one for p in pair)
        self.faults = np.zeros((n_games, 2, len(FAULTS)), np.int64)
        self.seated = self._seat(n_seats)
        self.games.seed(self.all, np.repeat(streams, n_seats))

    @property
    def states(self) -> NDArray[np.void]:
        """(G,) `STATE`, all games."""
        return self.games.states

    def _seat(self, n_seats: int) -> list[list[Contained]]:
        """For a and b: one player a seat if it wants its hands in order (then it tells a hand by what it saw of it)."""
        seated = []
        for k, player in enumerate(self.pair):
            alone = player.one_by_one
            group = []
            for place in range(n_seats - 1 if k and alone else 1):
                used = place > 0 or (k > 0 and player is self.pair[0])
                group.append(Contained(copy.deepcopy(player) if used and alone else player))
            seated.append(group)
        return seated

    def _player(self, game: int, seat: int) -> Contained:
        """The player in a seat of a game."""
        k = int(self.who[game, seat])
        place = (seat - int(self.seat_of_a[game])) % self.rules.players  # of b's: 1, 2, …
        group = self.seated[k]
        return group[place - 1 if k and len(group) > 1 else 0]

    def play(self) -> None:
        """Plays every game to its end."""
        self.games.reset(self.all)  # nobody moves yet: all seats are played from outside
        self.games.policies[:] = np.array([p.kernel_policy for p in self.pair], np.int8)[self.who]
        if not self.one_by_one:
            self._play(self.all)
            return
        for seat in range(self.rules.players):
            for g in self.all[self.seat_of_a == seat].tolist():
                self.games.recorder = partial(self._tell, g)
                self._play(self.all[g : g + 1])
            self.close()  # who was shown all cards of a deal must not remember them when it comes again

    def _play(self, waiting: NDArray[np.int64]) -> None:
        actions = np.full(len(self.all), NO_ACTION)
        while len(waiting):
            self.games.step(actions, waiting, False)
            actions[waiting] = NO_ACTION
            waiting = waiting[~self.games.over(waiting)]
            movers = self.who[waiting, self.states["seat"][waiting]]
            for k in range(2):
                if len(games := waiting[movers == k]):
                    actions[games] = self._ask(k, games)

    def _tell(self, game: int, final: NDArray[np.void]) -> None:
        """Tells every seat of a game how a hand has ended."""
        for seat in range(self.rules.players):
            view = view_of(final, self.rules, self.games.rules_record, seat, reveal=True)
            self._player(game, seat).hand_over(view)

    def _ask(self, k: int, games: NDArray[np.int64]) -> NDArray[np.int64]:
        """Actions of player a (0) or b (1) in games in which it is to move."""
        decisions = self.games.decisions(games)
        seat = int(decisions.seats[0])
        asked = self._player(int(games[0]), seat) if self.one_by_one else self.seated[k][0]
        actions, faults = asked.answer(decisions)
        wrong = faults >= 0
        self.faults[games[wrong], k, faults[wrong]] += 1  # a game is asked once
        return actions

    def close(self) -> None:
        """Lets all players go."""
        for player in self._everybody():
            player.close()

    def _everybody(self) -> Iterator[Contained]:
        for group in self.seated:
            yield from group

    def played(self) -> Played:
        """The results, once all games are over."""
        n_deals = len(self.all) // self.rules.players
        rows = {
            name: row.reshape(n_deals, self.rules.players, *row.shape[1:])
            for name, row in self._rows().items()
        }
        spent = {
            "seconds": np.array([sum(p.seconds for p in group) for group in self.seated]),
            "decisions": np.array([sum(p.decisions for p in group) for group in self.seated]),
        }
        results = Results(self.pair[0].name, self.pair[1].name, **rows, **spent)
        knocks = np.zeros((2, 2, KNOCK_LIMITS, KNOCK_TURNS, KNOCK_DEADWOOD), np.int64)
        if self.matches:
            return Played(results, knocks)
        count_knocks(self.states, self.games.rules_record, self.who, new_states(1)[0], knocks)
        return Played(results, knocks, self._shown(results))

    def _rows(self) -> dict[str, NDArray]:
        """Results one entry a game, by the names of `Results`."""
        states, match = self.states, self.matches
        points = states["scores" if match else "points"][:, : self.rules.players]
        own = points[self.all, self.seat_of_a].astype(np.float64)
        ending = states["ending"].copy()
        by = np.where(ending == UNDERCUT, self._undercutters(), states["knocker"])
        by = np.where(ending == ILLEGAL, states["seat"], by)
        return {
            "points": own - (points.sum(axis=1) - own) / (self.rules.players - 1),
            "winner": self._player_in(states["match_winner" if match else "hand_winner"]),
            "ending": ending,
            "ended_by": self._player_in(by),
            "turns": states["n_turns"].astype(np.int64),
            "hands": states["n_hands"].astype(np.int64),
            "faults": self.faults,
        }

    def _undercutters(self) -> NDArray[np.int64]:
        """(G,) seat that undercut the knocker, of several who scored most; with more than two seats the knocker can win the hand yet."""
        n = self.rules.players
        others = (self.states["knocker"][:, None] + np.arange(1, n)) % n  # in turn order
        best = np.take_along_axis(self.states["points"], others, axis=1).argmax(axis=1)
        return others[self.all, best]

    def _player_in(self, seats: NDArray[np.int8]) -> NDArray[np.int8]:
        """The player (0 or 1) in a seat of each game; -1 for no seat."""
        return np.where(seats < 0, -1, self.who[self.all, seats]).astype(np.int8)

    def _shown(self, results: Results) -> tuple[HandHistory, ...]:
        """Of every ending by either player the hand with the greatest swing, of equals the first."""
        swing = np.abs(results.points.ravel())
        found: dict[tuple[int, int], int] = {}
        for g in np.argsort(-swing, kind="stable").tolist():
            found.setdefault((int(results.ending.flat[g]), int(results.ended_by.flat[g])), g)
        return tuple(self._history(g) for g in sorted(found.values()))

    def _history(self, game: int) -> HandHistory:
        names = [self.pair[k].name for k in self.who[game, : self.rules.players]]
        return HandHistory.from_record(self.states[game : game + 1].copy(), self.rules, names)
