"""A batch of games with one learner in each: the engine under every adapter.

The single environment is a batch of one, the vector environments are batches of many, so the same seed and actions give
the same game everywhere. Scripted players run inside the kernel; other players are asked in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from okgin_env.engine.buffers import Blank, Written
from okgin_env.engine.decisions import OpponentLike, answer, ask, view_of
from okgin_env.engine.opponents import Opponents
from okgin_env.engine.threads import Threads
from okgin_env.kernel import batch
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import N_CARDS, OVER, REWARDS, layout
from okgin_env.players.base import Decisions
from okgin_env.positions import check_dealer, check_deck, check_options, check_seat, check_state
from okgin_env.rules import Rules, as_rules
from okgin_env.utils.errors import check_choice, shown
from okgin_env.view import SeatView

EPISODES = ("hand", "match")
_MAX_ROUNDS = 10_000  # opponents' decisions between two of the learner's, before we call it a loop


def check_episode(rules: Rules, episode: str, reward: str) -> None:
    """Checks that an episode and a reward go together, and with the rules.

    Raises:
        ValueError: They do not.
    """
    check_choice("episode", episode, EPISODES)
    check_choice("reward", reward, REWARDS if episode == "match" else REWARDS[:2])
    if episode == "match" and rules.target is None:
        raise ValueError("episode='match'; allowed: rules with a target (this has target=None)")


class Games:
    """N games, each with a learner in `seat` and opponents in the other seats.

    Args:
        n_games: N.
        rules: A preset's name or a `Rules`.
        players: Seats of a preset.
        opponent: Whom the learner plays in every game: one player, or one for each other seat in turn order.
        pool: Several such opponents instead; game i is played against `pool[i % len(pool)]`.
        seat: The learner's seat.
        episode: "hand" or "match".
        reward: "points", "win" or "match".
        outlook: Whether observations have the outlook of the own hand, too.
        threads: Threads to step large batches with.

    Attributes:
        rules: The rules of all tables.
        states: (N,) `STATE`, the games.
        finals: (N,) `STATE`, of each game the last hand that ended, as it ended.
        policies: (N, 4) int8, which compiled player sits in each seat; EXTERNAL: one that is asked from outside.
        recorder: If set, called with every hand that ends, as a (1,) `STATE` array that it must copy to keep.
    """

    def __init__(
        self,
        n_games: int,
        rules: Rules | str = "classic",
        *,
        players: int | None = None,
        opponent: OpponentLike = "simple",
        pool: Sequence[OpponentLike] = (),
        seat: int = 0,
        episode: str = "hand",
        reward: str = "points",
        outlook: bool = False,
        threads: int = 1,
    ) -> None:
        if not isinstance(n_games, (int, np.integer)) or n_games < 1:
            raise ValueError(f"num_envs={shown(n_games)}; allowed: 1 or more")
        self.rules = as_rules(rules, players)
        check_episode(self.rules, episode, reward)
        check_seat("seat", seat, self.rules)
        self._threads = Threads(threads, n_games)
        self.n_games = n_games
        self.seat = seat
        self.episode = batch.MATCH if episode == "match" else batch.HAND
        self.reward = REWARDS.index(reward)
        self.layout = layout(self.rules.players, episode == "match", bool(outlook))
        self.states = new_states(n_games)
        self.finals = new_states(n_games)
        self._rules = as_records(self.rules.to_record())
        self._seats = np.full(n_games, seat)
        self._no_action = np.full(n_games, batch.NO_ACTION)
        self._blank = Blank(n_games, self.layout.size)
        self.seat_pool(pool or [opponent])
        self._started = False
        self.recorder: Callable[[NDArray[np.void]], None] | None = None

    def seat_pool(self, pool: Sequence[OpponentLike]) -> None:
        """Seats opponents, who play from their next decision on: in game i those of `pool[i % len(pool)]`.

        Raises:
            ValueError: An unknown player, one that cannot play by the rules, or a wrong number of them.
        """
        self._opponents = Opponents(pool, self.n_games, self.seat, self.rules)
        self.policies = self._opponents.policies

    # --- episodes ---------------------------------------------------------------------------------

    def seed(self, games: NDArray[np.int64], seeds: NDArray[np.uint64]) -> None:
        """Starts the random streams of games from 64-bit seeds."""
        batch.seed_games(self.states, games, seeds)

    @contextmanager
    def as_before_if_refused(self, options: Any) -> Iterator[None]:
        """Puts all games back as they were where the options of a reset are refused in it."""
        kept = None if options is None else (self.states.copy(), self.finals.copy())
        try:
            yield
        except Exception:
            if kept is not None:
                self.states[:], self.finals[:] = kept
            raise

    def reset(
        self,
        games: NDArray[np.int64],
        options: Mapping[str, Any] | None = None,
        written: Written | None = None,
    ) -> Written:
        """Starts new episodes and plays on to the learner's first decision.

        Args:
            games: (M,) indices.
            options: ``deck`` and ``dealer`` (The deal), or ``state``, see `okgin_env.positions`.
            written: What a step of other games has returned, to be filled in for these; None: fresh arrays.

        Returns:
            As `step`; rewards and dones of these games are left as they are.

        Raises:
            ValueError: A bad deck, dealer or state, or a hand that ends before the learner decides.
        """
        options = check_options(options)
        given = None
        if options.get("state") is not None:
            for i in games.tolist():  # what it leaves to chance comes from the game's stream
                given = check_state(options["state"], self.rules, int(self.states["rng"][i]))
                self.states[i : i + 1] = given
        elif options.get("deck") is None and options.get("dealer") is None:
            batch.begin_games(self.states, games, self._rules)
        else:
            dealer = check_dealer(options.get("dealer"), self.rules)
            deck = np.full(N_CARDS, -1, np.int8)
            if options.get("deck") is not None:
                deck = given = check_deck(options["deck"])
            decks = np.tile(deck, (len(games), 1))
            batch.deal_games(self.states, games, self._rules, decks, np.full(len(games), dealer))
        before = self.states["deck"][games].copy() if given is not None else None
        written = written or self._blank.rows(False)
        self._started = True
        self._advance(self._no_action, games, False, False, written)
        hand = self.episode == batch.HAND  # in a match the next hand is dealt
        if hand and before is not None and (self.states["deck"][games] != before).any():
            raise ValueError(f"the given hand ends before seat {self.seat} has a decision")
        return written

    def step(
        self, actions: NDArray[np.int64], games: NDArray[np.int64], autoreset: bool
    ) -> Written:
        """Takes the learners' actions and plays on to their next decisions.

        Args:
            actions: (N,) int64 action ids; only those of `games` are read. Any other number is illegal.
            games: (M,) indices of the games to step.
            autoreset: Whether to start a new episode where one is over.

        Returns:
            Fresh arrays; rows of games that were not stepped hold anything, but no done.
        """
        if not self._started:
            raise ResetNeeded("step() before the first reset()")
        written = self._blank.rows(autoreset)
        self._advance(actions, games, True, autoreset, written)
        return written

    def restore(self, states: NDArray[np.void], finals: NDArray[np.void]) -> None:
        """Goes on from saved `states` and `finals`: (N,) `STATE` of these same games."""
        self.states[:], self.finals[:] = states, finals
        self._started = True

    def over(self, games: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(M,) whether the episode of each game is over."""
        return self.states["phase"][games] == OVER

    def decisions(
        self, games: NDArray[np.int64], seats: NDArray[np.int64] | None = None
    ) -> Decisions:
        """What the given seats (default: those to move) may see of the games."""
        chosen = self.states["seat"][games].astype(np.int64) if seats is None else seats
        return ask(self.states, games, self.rules, self._rules, chosen, self.episode)

    def view(self, i: int, seat: int | None = None, reveal: bool = False) -> SeatView:
        """What a seat (default: the learner's) may see of game i; once it is over, of its last hand.

        With `reveal` all cards are open: for somebody who looks on, never for a player.
        """
        over = self.states["phase"][i] == OVER
        record = (self.finals if over else self.states)[i : i + 1].copy()
        return view_of(record, self.rules, self._rules, self.seat if seat is None else seat, reveal)

    # --- one pass -----------------------------------------------------------------------------------

    def _advance(
        self,
        actions: NDArray[np.int64],
        games: NDArray[np.int64],
        pay: bool,
        autoreset: bool,
        written: Written,
    ) -> None:
        """Steps games and asks outside players until every game is the learner's turn or over."""
        self._kernel(actions, games, pay, autoreset, written)
        if not self._opponents.outside:
            return
        for _ in range(_MAX_ROUNDS):
            waiting = games[
                (self.states["seat"][games] != self.seat) & (self.states["phase"][games] != OVER)
            ]
            if len(waiting) == 0:
                return
            answers = np.full(self.n_games, batch.NO_ACTION)
            for player, asked in self._opponents.asked(waiting, self.states["seat"][waiting]):
                answers[asked] = answer(player, self.decisions(asked))
            self._kernel(answers, waiting, pay, autoreset, written)
        names = ", ".join(player.name for _, _, player in self._opponents.outside)
        raise RuntimeError(f"seat {self.seat} never gets to move against {names}")

    def _kernel(
        self,
        actions: NDArray[np.int64],
        games: NDArray[np.int64],
        pay: bool,
        autoreset: bool,
        written: Written,
    ) -> None:
        """Steps games in the kernel; with a recorder, stops for it after every hand."""
        if self.recorder is None:
            self._call(actions, games, pay, autoreset, False, written)
            return
        while len(games):
            dones = written.dones.copy()
            self._call(actions, games, pay, autoreset, True, written)
            for i in games[written.dones[games] & ~dones[games]].tolist():
                self.recorder(self.finals[i : i + 1])
            paused = np.zeros(len(games), np.bool_)
            batch.paused_games(self.states, games, self._seats, self.episode, paused)
            games = games[paused]
            for i in games.tolist():
                self.recorder(self.states[i : i + 1])
            batch.next_games(self.states, games, self._rules)
            actions = self._no_action

    def _call(
        self,
        actions: NDArray[np.int64],
        games: NDArray[np.int64],
        pay: bool,
        autoreset: bool,
        pause: bool,
        written: Written,
    ) -> None:
        """One compiled call, or one for each thread on its share of the games."""
        before = (self.states, self.finals)
        after = (
            self._rules,
            self.policies,
            self._seats,
            actions,
            self.episode,
            self.reward,
            pay,
            autoreset,
            pause,
            *written,
        )
        self._threads.call(batch.step_games, before, games, after)

    def close(self) -> None:
        """Ends the worker threads; they start again when they are needed."""
        self._threads.close()
