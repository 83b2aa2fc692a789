"""The games of a task: two players at as many tables as there are deals and rotations of the seats."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
from numpy.typing import NDArray

from okgin_env.arena.contained import Contained
from okgin_env.arena.decks import Chance
from okgin_env.arena.lives import keeps_nothing, seated
from okgin_env.arena.luck import Gauge
from okgin_env.arena.outcome import KNOCKS, Played, Results
from okgin_env.arena.suits import at_the_table, rename_records, renamed
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

    Players of the package's own are asked for all games at once. Beside any other the games of a deal are played one after
    the other, in an order drawn by lot, each by another life of it, which is shown the suits by other names.

    Args:
        pair: Players a and b.
        rules: The rules of the tables.
        chance: What is left to chance in the deals.
        matches: Whether to play each deal on to the end of a match.

    Attributes:
        states: (G,) `STATE`, all games.
        who: (G, 4) which player, 0 or 1, sits in each seat.
    """

    def __init__(
        self, pair: tuple[Player, Player], rules: Rules, chance: Chance, matches: bool
    ) -> None:
        self.pair, self.rules, self.matches = pair, rules, matches
        n_seats = rules.players
        n_games = chance.decks.size
        self.games = Games(
            n_games, rules, no_learner=NOBODY, episode="match" if matches else "hand"
        )
        self.all = np.arange(n_games)
        self.seat_of_a = self.all % n_seats
        self.who = np.ones((n_games, MAX_PLAYERS), np.int8)  # which player sits where
        self.who[self.all, self.seat_of_a] = 0
        self.faults = np.zeros((n_games, 2, len(FAULTS)), np.int64)
        self.seated = seated(pair, n_seats)
        self.suits = chance.suits.reshape(n_games, -1)
        self.turns = self.all.reshape(-1, n_seats)[:, :1] + chance.order  # (D, R) games in order
        self.games.seed(self.all, chance.decks.ravel())
        self.states = self.games.states
        if chance.words is not None:
            self.states["seat_rng"][:, :n_seats] = chance.words.reshape(n_games, n_seats)

    def play(self) -> None:
        """Plays every game to its end."""
        self.games.policies[:] = np.array([p.kernel_policy for p in self.pair], np.int8)[self.who]
        if all(keeps_nothing(player) for player in self.pair):
            self._play(self.all, 0)
        elif any(player.one_by_one for player in self.pair):
            for games in self.turns.tolist():
                self._play_deal(games)
        else:
            for k, games in enumerate(self.turns.T):
                self._play(games, k)

    def _play_deal(self, games: list[int]) -> None:
        """Plays the games of a deal in turn; how its hands ended is told when it will not come again, or as a match goes on."""
        for k, g in enumerate(games):
            self.games.recorder = partial(self._tell, k, g) if self.matches else None
            self._play(self.all[g : g + 1], k)
        if not self.matches:
            for k, g in enumerate(games):
                self._tell(k, g, self.states[g : g + 1])

    def _play(self, games: NDArray[np.int64], k: int) -> None:
        """Deals games and plays them to their ends, by the k-th lives of the players."""
        self.games.reset(games)
        row = self.seated[k]
        same = np.array([row.index(player) for player in row])  # one player for several seats
        actions = np.full(len(self.all), NO_ACTION)
        while len(games := games[~self.games.over(games)]):
            places = same[(self.states["seat"][games] - self.seat_of_a[games]) % len(row)]
            for place in np.unique(places).tolist():
                asked = games[places == place]
                actions[asked] = self._ask(row[place], int(place > 0), asked)
            self.games.step(actions, games, False)

    def _tell(self, k: int, game: int, final: NDArray[np.void]) -> None:
        """Tells the k-th lives of the players how a hand of a game has ended."""
        for place, player in enumerate(self.seated[k]):
            if keeps_nothing(player.player):
                continue
            seat = (int(self.seat_of_a[game]) + place) % self.rules.players
            view = view_of(final, self.rules, self.games.rules_record, seat, reveal=True)
            rename_records(view.record, self.suits[game : game + 1])
            player.tell("hand_over", view)

    def _ask(self, player: Contained, who: int, games: NDArray[np.int64]) -> NDArray[np.int64]:
        """Actions of player a (0) or b (1) in games in which it is to move."""
        decisions = self.games.decisions(games)
        if keeps_nothing(player.player):
            actions, faults = player.answer(decisions)
        else:
            suits = self.suits[games]
            actions, faults = player.answer(renamed(decisions, suits))
            actions = at_the_table(actions, suits)
        wrong = faults >= 0
        self.faults[games[wrong], who, faults[wrong]] += 1  # a game is asked once
        return actions

    def _lives(self, who: int) -> list[Contained]:
        """Every life of player a (0) or b (1)."""
        part = slice(0, 1) if who == 0 else slice(1, None)
        return [*dict.fromkeys(player for row in self.seated for player in row[part])]

    def close(self) -> None:
        """Lets all players go."""
        for player in self._lives(0) + self._lives(1):
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
            spent = [sum(getattr(life, name) for life in self._lives(who)) for who in range(2)]
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
