"""The games of a task: two players at as many tables as there are deals and rotations of the seats."""

from __future__ import annotations

import copy
import dataclasses
from functools import partial

import numpy as np
from numpy.typing import NDArray

from okgin_env.arena.contained import Contained
from okgin_env.arena.luck import Gauge
from okgin_env.arena.outcome import KNOCKS, Played, Results
from okgin_env.engine.decisions import view_of
from okgin_env.engine.games import Games
from okgin_env.histories.hand import HandHistory
from okgin_env.kernel.batch import NO_ACTION, NOBODY
from okgin_env.kernel.census import count_knocks
from okgin_env.kernel.state import new_states
from okgin_env.layout import ILLEGAL, MAX_PLAYERS, UNDERCUT
from okgin_env.players.base import FAULTS, Player
from okgin_env.rules import Rules


class Tables:
    """All games of some deals: game g is deal g // R with player a in seat g % R (R = seats).

    Args:
        pair: Players a and b.
        rules: The rules of the tables.
        streams: (D,) the deals' random streams.
        matches: Whether to play each deal on to the end of a match.

    Attributes:
        states: (G,) `STATE`, all games.
        who: (G, 4) which player, 0 or 1, sits in each seat.
    """

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
        self.seated = [[Contained(pair[0])], self._seats_of_b()]
        self.games.seed(self.all, np.repeat(streams, n_seats))
        self.states = self.games.states

    def _seats_of_b(self) -> list[Contained]:
        """One b for all its seats, or one a seat if it wants its hands in order: it tells them by what it saw of each."""
        a, b = self.pair
        if not b.one_by_one:
            return [Contained(b)]
        n_copies = self.rules.players - (1 if b is a else 2)
        others = [copy.deepcopy(b) for _ in range(n_copies)]
        return [Contained(player) for player in (others if b is a else [b, *others])]

    def _player(self, game: int, seat: int) -> Contained:
        """The player in a seat of a game."""
        seated = self.seated[self.who[game, seat]]
        return seated[(seat - int(self.seat_of_a[game]) - 1) % self.rules.players % len(seated)]

    def play(self) -> None:
        """Plays every game to its end."""
        self.games.policies[:] = np.array([p.kernel_policy for p in self.pair], np.int8)[self.who]
        if not self.one_by_one:
            self._play(self.all)
            return
        for seat in range(self.rules.players):
            for g in self.all[self.seat_of_a == seat].tolist():
                self.games.recorder = partial(self._tell, g)
                self._play(self.all[g : g + 1])
            self.close()  # who was shown all cards of a deal must not remember them when it comes again

    def _play(self, games: NDArray[np.int64]) -> None:
        """Deals games and plays them to their ends."""
        self.games.reset(games)
        actions = np.full(len(self.all), NO_ACTION)
        while len(games := games[~self.games.over(games)]):
            movers = self.who[games, self.states["seat"][games]]
            for k in range(2):
                if len(asked := games[movers == k]):
                    actions[asked] = self._ask(k, asked)
            self.games.step(actions, games, False)

    def _tell(self, game: int, final: NDArray[np.void]) -> None:
        """Tells every seat of a game how a hand has ended."""
        for seat in range(self.rules.players):
            view = view_of(final, self.rules, self.games.rules_record, seat, reveal=True)
            self._player(game, seat).tell("hand_over", view)

    def _ask(self, k: int, games: NDArray[np.int64]) -> NDArray[np.int64]:
        """Actions of player a (0) or b (1) in games in which it is to move."""
        decisions = self.games.decisions(games)
        asked = self._player(int(games[0]), int(decisions.seats[0]))
        actions, faults = asked.answer(decisions)
        wrong = faults >= 0
        self.faults[games[wrong], k, faults[wrong]] += 1  # a game is asked once
        return actions

    def close(self) -> None:
        """Lets all players go."""
        for seated in self.seated:
            for player in seated:
                player.tell("close")

    def played(self, gauge: Gauge | None = None) -> Played:
        """The results, once all games are over; of single hands with their luck, if it is to be measured."""
        results, knocks = self._results(), np.zeros(KNOCKS, np.int64)
        if self.matches:
            return Played(results, knocks)
        count_knocks(self.states, self.games.rules_record, self.who, new_states(1)[0], knocks)
        if gauge is not None:
            record = self.games.rules_record
            luck = gauge.measure(self.states, record, self.seat_of_a, self.pair)
            results = dataclasses.replace(results, luck=luck)
        return Played(results, knocks, self._shown(results))

    def _results(self) -> Results:
        states, match, n_seats = self.states, self.matches, self.rules.players
        points = states["scores" if match else "points"][:, :n_seats]
        own = points[self.all, self.seat_of_a].astype(np.float64)
        by = np.where(states["ending"] == UNDERCUT, self._undercutters(), states["knocker"])
        by = np.where(states["ending"] == ILLEGAL, states["seat"], by)
        rows = {
            "points": own - (points.sum(axis=1) - own) / (n_seats - 1),
            "winner": self._player_in(states["match_winner" if match else "hand_winner"]),
            "ending": states["ending"].copy(),
            "ended_by": self._player_in(by),
            "turns": states["n_turns"].astype(np.int64),
            "hands": states["n_hands"].astype(np.int64),
            "faults": self.faults,
        }
        shaped = {name: row.reshape(-1, n_seats, *row.shape[1:]) for name, row in rows.items()}
        for name in ("seconds", "decisions"):
            spent = [sum(getattr(player, name) for player in seated) for seated in self.seated]
            shaped[name] = np.array(spent)
        return Results(self.pair[0].name, self.pair[1].name, **shaped)

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
