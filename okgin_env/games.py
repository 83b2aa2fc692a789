"""A batch of games with one learner in each: the engine under every adapter.

The single environment is a batch of one, the vector environments are batches of many, so the same seed and actions give
the same game everywhere. Scripted players run inside the kernel; other players are asked in batches.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from okgin_env.asking import OpponentLike, answer, ask, seat_opponents, view_of
from okgin_env.kernel import batch
from okgin_env.kernel.policies import EXTERNAL
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import MAX_PLAYERS, N_ACTIONS, N_CARDS, OVER, REWARDS, layout
from okgin_env.players.base import Decisions, Player, check_rules, kernel_policy
from okgin_env.positions import check_dealer, check_deck, check_options, check_seat, check_state
from okgin_env.rules import Rules, as_rules
from okgin_env.shown import check_choice, shown
from okgin_env.view import SeatView

EPISODES = ("hand", "match")
_MAX_ROUNDS = 10_000  # opponents' decisions between two of the learner's, before we call it a loop
_MAPPED_BYTES = 1 << 17  # from this size on glibc maps an array anew each time
_MIN_PER_THREAD = 64  # fewer games than this are not worth handing to another thread


class Written(NamedTuple):
    """What a step writes.

    Attributes:
        observations: (N, D) int8.
        masks: (N, 108) int8; ones where an episode is over.
        rewards: (N,) float64.
        dones: (N,) bool.
        final_observations: (N, D) int8, last observations where an episode was over and reset at once. The
            one array that is not fresh: copy the rows that are kept.
    """

    observations: NDArray[np.int8]
    masks: NDArray[np.int8]
    rewards: NDArray[np.float64]
    dones: NDArray[np.bool_]
    final_observations: NDArray[np.int8]


def unused(players: int, match: bool) -> Written:
    """Arrays of one row for `step_games` where no seat is a learner's and nothing is written."""
    size = layout(players, match).size
    return Written(
        np.zeros((1, size), np.int8),
        np.zeros((1, N_ACTIONS), np.int8),
        np.zeros(1),
        np.zeros(1, np.bool_),
        np.zeros((1, size), np.int8),
    )


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
        if not isinstance(threads, (int, np.integer)) or threads < 1:
            raise ValueError(f"threads={shown(threads)}; allowed: 1 or more")
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
        self._no_finals = np.empty((1, self.layout.size), np.int8)
        self._last_rows = np.empty((n_games, self.layout.size), np.int8)
        if self._last_rows.nbytes > _MAPPED_BYTES:
            _keep_big_arrays_in_the_heap()
        self.seat_pool(pool or [opponent])
        self._threads = min(threads, max(1, n_games // _MIN_PER_THREAD))
        self._started = False
        self.recorder: Callable[[NDArray[np.void]], None] | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._pool_owner = 0

    def seat_pool(self, pool: Sequence[OpponentLike]) -> None:
        """Seats opponents, who play from their next decision on: in game i those of `pool[i % len(pool)]`.

        Raises:
            ValueError: An unknown player, one that cannot play by the rules, or a wrong number of them.
        """
        if isinstance(pool, str) or not isinstance(pool, Sequence):
            raise ValueError(f"pool={shown(pool)}; allowed: a list of opponents")
        tables = [seat_opponents(entry, self.rules.players) for entry in pool]
        for player in (player for opponents in tables for player in opponents):
            check_rules(player, self.rules)
        self._table = np.arange(self.n_games) % len(tables)  # whom each game is played against
        self.policies = np.full((self.n_games, MAX_PLAYERS), EXTERNAL, np.int8)
        self._outside: list[tuple[int, int, Player]] = []  # table, seat, player
        for t, opponents in enumerate(tables):
            for k, player in enumerate(opponents, start=1):
                at = (self.seat + k) % self.rules.players
                policy = kernel_policy(player)
                self.policies[self._table == t, at] = policy
                if policy == EXTERNAL:
                    self._outside.append((t, at, player))

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
            for (
                i
            ) in games.tolist():  # what a position leaves to chance comes from the game's stream
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
        written = written or self._blank(False)
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
        written = self._blank(autoreset)
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

    def _blank(self, autoreset: bool) -> Written:
        n, d = self.n_games, self.layout.size
        return Written(
            np.empty((n, d), np.int8),
            np.empty((n, N_ACTIONS), np.int8),
            np.zeros(n),
            np.zeros(n, np.bool_),
            self._last_rows if autoreset else self._no_finals,
        )

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
        if not self._outside:
            return
        for _ in range(_MAX_ROUNDS):
            waiting = games[
                (self.states["seat"][games] != self.seat) & (self.states["phase"][games] != OVER)
            ]
            if len(waiting) == 0:
                return
            answers = np.full(self.n_games, batch.NO_ACTION)
            seats = self.states["seat"][waiting]
            for table, at, player in self._outside:
                asked = waiting[(seats == at) & (self._table[waiting] == table)]
                if len(asked):
                    answers[asked] = answer(player, self.decisions(asked))
            self._kernel(answers, waiting, pay, autoreset, written)
        names = ", ".join(player.name for _, _, player in self._outside)
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
        if self._threads == 1 or len(games) < 2 * _MIN_PER_THREAD:
            batch.step_games(*before, games, *after)
            return
        if self._pool is None or self._pool_owner != os.getpid():  # threads do not survive a fork
            self._pool = ThreadPoolExecutor(self._threads - 1)
            self._pool_owner = os.getpid()
        own, *others = np.array_split(games, self._threads)
        started = [self._pool.submit(batch.step_games, *before, part, *after) for part in others]
        batch.step_games(*before, own, *after)
        for part in started:
            part.result()

    def close(self) -> None:
        """Ends the worker threads; they start again when they are needed."""
        if self._pool is not None and self._pool_owner == os.getpid():
            self._pool.shutdown()
        self._pool = None

    def __getstate__(self) -> dict[str, Any]:
        """All but the threads, which do not travel."""
        return {**self.__dict__, "_pool": None}


def _keep_big_arrays_in_the_heap() -> None:
    """Makes glibc keep the memory of arrays of a step for the next step.

    Fresh arrays of some hundred kilobytes are mapped anew each time, which costs more than filling them. Once a bigger block
    has been freed, glibc takes blocks up to its size from the heap and keeps them there.
    """
    block = np.empty(31 << 20, np.uint8)
    block[:: 1 << 20] = 0
    del block
