"""The games of a task: two players at as many tables as there are deals and rotations of the seats."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from okgin_env.arena.contained import Contained
from okgin_env.arena.outcome import KNOCK_DEADWOOD, KNOCK_LIMITS, KNOCK_TURNS, Results
from okgin_env.engine.buffers import unused
from okgin_env.engine.decisions import ask, view_of
from okgin_env.histories.hand import HandHistory
from okgin_env.kernel import batch
from okgin_env.kernel.census import count_knocks
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import ILLEGAL, MAX_PLAYERS, OVER, REWARD_POINTS, UNDERCUT
from okgin_env.players.base import FAULTS, Player, kernel_policy, plays_one_by_one
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
        self.pair, self.rules = pair, rules
        n_seats = rules.players
        n_games = len(streams) * n_seats
        self.episode = batch.MATCH if matches else batch.HAND
        self.games = np.arange(n_games)
        self.seat_of_a = self.games % n_seats
        self.who = np.ones((n_games, MAX_PLAYERS), np.int8)  # which player sits where
        self.who[self.games, self.seat_of_a] = 0
        self.policies = np.array([kernel_policy(p) for p in pair], np.int8)[self.who]
        self.one_by_one = any(plays_one_by_one(p) for p in pair)
        self.pause = matches and self.one_by_one  # to tell them how each hand ended
        self.faults = np.zeros((n_games, 2, len(FAULTS)), np.int64)
        self.states, self.finals = new_states(n_games), new_states(n_games)
        self.record = as_records(rules.to_record())
        self.nobody = np.full(n_games, batch.NOBODY)
        self.seated = self._seat(n_seats)
        batch.seed_games(self.states, self.games, np.repeat(streams, n_seats))
        batch.begin_games(self.states, self.games, self.record)

    def _seat(self, n_seats: int) -> list[list[Contained]]:
        """For a and b: one player a seat if it wants its hands in order (then it tells a hand by what it saw of it)."""
        seated = []
        for k, player in enumerate(self.pair):
            alone = plays_one_by_one(player)
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
        if not self.one_by_one:
            self._play(self.games)
            return
        for seat in range(self.rules.players):
            for g in self.games[self.seat_of_a == seat]:
                self._play(self.games[g : g + 1])
            self.close()  # who was shown all cards of a deal must not remember them when it comes again

    def _play(self, waiting: NDArray[np.int64]) -> None:
        actions = np.full(len(self.games), batch.NO_ACTION)
        nothing = unused(self.rules.players, self.episode == batch.MATCH)
        while len(waiting):
            batch.step_games(
                self.states, self.finals, waiting, self.record, self.policies, self.nobody, actions, self.episode,
                REWARD_POINTS, True, False, self.pause, *nothing,
            )  # fmt: skip
            actions[waiting] = batch.NO_ACTION
            over = self.states["phase"][waiting] == OVER
            if self.one_by_one and over.any():
                self._tell(int(waiting[0]))
                waiting = self._next_hand(waiting)
                continue
            waiting = waiting[~over]
            movers = self.who[waiting, self.states["seat"][waiting]]
            for k in range(2):
                if len(games := waiting[movers == k]):
                    actions[games] = self._ask(k, games)

    def _next_hand(self, waiting: NDArray[np.int64]) -> NDArray[np.int64]:
        """Deals the next hand of the one game that has paused; the game itself, or none if it is over."""
        goes_on = np.zeros(1, np.bool_)
        batch.paused_games(self.states, waiting, self.nobody, self.episode, goes_on)
        waiting = waiting[goes_on]
        batch.next_games(self.states, waiting, self.record)
        return waiting

    def _tell(self, game: int) -> None:
        for seat in range(self.rules.players):
            view = view_of(self.states[game : game + 1], self.rules, self.record, seat, reveal=True)
            self._player(game, seat).hand_over(view)

    def _ask(self, k: int, games: NDArray[np.int64]) -> NDArray[np.int64]:
        """Actions of player a (0) or b (1) in games in which it is to move."""
        seats = self.states["seat"][games].astype(np.int64)
        decisions = ask(self.states, games, self.rules, self.record, seats, self.episode)
        asked = self._player(int(games[0]), int(seats[0])) if self.one_by_one else self.seated[k][0]
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
        n_deals = len(self.games) // self.rules.players
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
        if self.episode == batch.MATCH:
            return Played(results, knocks)
        count_knocks(self.states, self.record, self.who, new_states(1)[0], knocks)
        return Played(results, knocks, self._shown(results))

    def _rows(self) -> dict[str, NDArray]:
        """Results one entry a game, by the names of `Results`."""
        states, match = self.states, self.episode == batch.MATCH
        points = states["scores" if match else "points"][:, : self.rules.players]
        own = points[self.games, self.seat_of_a].astype(np.float64)
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
        return others[self.games, best]

    def _player_in(self, seats: NDArray[np.int8]) -> NDArray[np.int8]:
        """Which player (0 or 1) sits in a seat of each game; -1 for no seat."""
        return np.where(seats < 0, -1, self.who[self.games, seats]).astype(np.int8)

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
