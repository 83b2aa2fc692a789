"""A batch of games with one learner in each: the engine under every adapter.

The single environment is a batch of one, the vector environments are batches of many, so the same seed and actions give
the same game everywhere. Scripted players run inside the kernel; other players are asked in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from okgin_env.engine.buffers import Buffers, Outputs
from okgin_env.engine.decisions import OpponentLike, answer, ask, view_of
from okgin_env.engine.opponents import Opponents
from okgin_env.engine.threads import Threads
from okgin_env.kernel import batch
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import N_CARDS, OVER, REWARDS, layout
from okgin_env.players.base import Decisions
from okgin_env.positions import check_dealer, check_deck, check_options, check_seat, check_state
from okgin_env.rules import Rules, RulesLike, as_rules
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
    """N games, each with a learner in `seat` and opponents in the other seats, or with all seats played from outside.

    Args:
        n_games: N.
        rules: A preset's name, a label such as ``classic(gin_bonus=20)``, a `Rules`, or its dict.
        players: Seats of a preset.
        opponent: Whom the learner plays in every game: one player, or one for each other seat in turn order.
        pool: Several such opponents instead; game i is played against `pool[i % len(pool)]`.
        seat: The learner's seat.
        no_learner: In its place `kernel.batch.EVERYBODY`: there are no opponents, whoever is to move is given its action
            by `step`, and a forfeit ends the episode; `NOBODY`: the same, but a forfeit ends the hand only.
        episode: "hand" or "match".
        reward: "points", "win" or "match".
        outlook: Whether observations have the outlook of the own hand, too.
        threads: Threads to step large batches with.

    Attributes:
        rules: The rules of all tables.
        states: (N,) `STATE`, the games.
        finals: (N,) `STATE`, of each game the last hand that ended, as it ended.
        policies: (N, 4) int8, which compiled player sits in each seat; EXTERNAL: one that is asked from outside.
        rules_record: (1,) the rules as compiled code reads them.
        recorder: If set, called with every hand that ends, as a (1,) `STATE` array that it must copy to keep.
    """

    def __init__(
        self,
        n_games: int,
        rules: RulesLike = "classic",
        *,
        players: int | None = None,
        opponent: OpponentLike = "simple",
        pool: Sequence[OpponentLike] = (),
        seat: int = 0,
        no_learner: int | None = None,
        episode: str = "hand",
        reward: str = "points",
        outlook: bool = False,
        threads: int = 1,
    ) -> None:
        if not isinstance(n_games, (int, np.integer)) or n_games < 1:
            raise ValueError(f"num_envs={shown(n_games)}; allowed: 1 or more")
        self.rules = as_rules(rules, players)
        check_episode(self.rules, episode, reward)
        if no_learner is None:  # never told by a seat, which users give: -1 is none
            check_seat("seat", seat, self.rules)
        else:
            seat = no_learner
        self._threads = Threads(threads, n_games)
        self.n_games = n_games
        self.seat = seat
        self.episode = batch.MATCH if episode == "match" else batch.HAND
        self.reward = REWARDS.index(reward)
        self.layout = layout(self.rules.players, episode == "match", bool(outlook))
        self.states = new_states(n_games)
        self.finals = new_states(n_games)
        self.rules_record = as_records(self.rules.to_record())
        self._seats = np.full(n_games, seat)
        self._opponents = Opponents(n_games, seat, self.rules)
        self.policies = self._opponents.policies
        self._no_action = np.full(n_games, batch.NO_ACTION)
        self._buffers = Buffers(n_games, self.layout.size, seat >= 0)
        if seat >= 0:
            self.set_opponents(opponent, pool=pool, at_once=True)
        # One tuple for all steps. Its arrays are written into, never replaced.
        self._tables = (
            self.states, self.finals, self.rules_record, self.policies, self._seats,
            self._opponents.coming, self._opponents.changing,
        )  # fmt: skip
        self._started = False
        self.recorder: Callable[[NDArray[np.void]], None] | None = None

    def set_opponents(
        self,
        opponent: OpponentLike | None = None,
        *,
        pool: Sequence[OpponentLike] = (),
        at_once: bool = False,
    ) -> None:
        """Changes the opponents: from each game's next deal, or at once, in the middle of its hand.

        Args:
            opponent: One player, or one for each other seat in turn order.
            pool: Several such opponents instead; game i is played against `pool[i % len(pool)]`.
            at_once: Whether hands in progress go on with the new opponents.

        Raises:
            ValueError: Neither is given, an unknown player, one that cannot play by the rules, or a wrong number of them.
        """
        if not pool and opponent is None:
            raise ValueError("opponent=None; allowed: a player, one for each other seat, or pool=…")
        self._opponents.change(pool or [opponent], at_once)  # pyright: ignore[reportArgumentType]

    def observation_space(self) -> Any:
        """The space of one observation; what its features are stands in it, and so in models that are saved with it."""
        space = spaces.Box(0, 1, (self.layout.size,), np.int8)
        space.features = self.layout.described  # pyright: ignore[reportAttributeAccessIssue]
        return space

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
        outputs: Outputs | None = None,
    ) -> Outputs:
        """Starts new episodes and plays on to the learner's first decision.

        Args:
            games: (M,) indices.
            options: ``deck`` and ``dealer`` (The deal), or ``state``, see `okgin_env.positions`.
            outputs: What a step of other games has returned, to be filled in for these; None: fresh arrays.

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
            self._threads.call(batch.begin_games, self.states, games, self.rules_record)
        else:
            dealer = check_dealer(options.get("dealer"), self.rules)
            deck = np.full(N_CARDS, -1, np.int8)
            if options.get("deck") is not None:
                deck = given = check_deck(options["deck"])
            decks = np.tile(deck, (len(games), 1))
            batch.deal_games(
                self.states, games, self.rules_record, decks, np.full(len(games), dealer)
            )
        before = self.states["deck"][games].copy() if given is not None else None
        outputs = outputs or self._buffers.fresh(False)
        self._started = True
        self._opponents.sit_down(games)
        self._advance(self._no_action, games, outputs, pay=False, autoreset=False)
        hand = self.episode == batch.HAND  # in a match the next hand is dealt
        if hand and before is not None and (self.states["deck"][games] != before).any():
            raise ValueError(f"the given hand ends before seat {self.seat} has a decision")
        return outputs

    def step(
        self, actions: NDArray[np.int64], games: NDArray[np.int64], autoreset: bool
    ) -> Outputs:
        """Takes the learners' actions and plays on to their next decisions.

        Args:
            actions: (N,) int64 action ids; only those of `games` are read. Any other number is illegal.
            games: (M,) indices of the games to step.
            autoreset: Whether to start a new episode where one is over.

        Returns:
            Fresh arrays; rows of games that were not stepped hold anything, but no done. Without a learner only
            dones are written.
        """
        if not self._started:
            raise ResetNeeded("step() before the first reset()")
        outputs = self._buffers.fresh(autoreset)
        self._advance(actions, games, outputs, True, autoreset)
        return outputs

    def restore(self, states: NDArray[np.void], finals: NDArray[np.void]) -> None:
        """Goes on from saved `states` and `finals`: (N,) `STATE` of these same games."""
        self.states[:], self.finals[:] = states, finals
        self._started = True

    def over(self, games: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(M,) whether the episode of each game is over."""
        return self.states["phase"][games] == OVER

    def decisions(
        self,
        games: NDArray[np.int64],
        seats: NDArray[np.int64] | None = None,
        outlook: bool = False,
    ) -> Decisions:
        """The decisions of the given seats (default: those to move) in the games; where a seat is to move its stream goes on."""
        chosen = self.states["seat"][games].astype(np.int64) if seats is None else seats
        return ask(self.states, games, self.rules, self.rules_record, chosen, self.episode, outlook)

    def last_hand(self, i: int) -> NDArray[np.void]:
        """A copy of game i as a (1,) `STATE` array; once it is over, of its last hand as it ended."""
        over = self.states["phase"][i] == OVER
        return (self.finals if over else self.states)[i : i + 1].copy()

    def view(self, i: int, seat: int | None = None, reveal: bool = False) -> SeatView:
        """The view of a seat (default: the learner's) of game i; once it is over, of its last hand.

        With `reveal` all cards are open: for somebody who looks on, never for a player.
        """
        chosen = self.seat if seat is None else seat
        return view_of(self.last_hand(i), self.rules, self.rules_record, chosen, reveal)

    def hand_rewards(self, i: int) -> list[float]:
        """The reward of every seat for the last hand that ended in game i."""
        seats = range(self.rules.players)
        final, rules = self.finals[i], self.rules_record[0]
        return [float(batch.hand_reward(final, rules, self.reward, seat)) for seat in seats]

    # --- one pass -----------------------------------------------------------------------------------

    def _advance(
        self,
        actions: NDArray[np.int64],
        games: NDArray[np.int64],
        outputs: Outputs,
        pay: bool,
        autoreset: bool,
    ) -> None:
        """Steps games and asks outside players until every game is the learner's turn or over."""
        how = (self.episode, self.reward, pay, autoreset, self.recorder is not None)
        step = self._play if self.recorder is None else self._play_and_record
        step(actions, games, outputs, how)
        outside = self._opponents.outside
        if not outside:
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
            step(answers, waiting, outputs, how)
        names = ", ".join(player.name for player in outside)
        raise RuntimeError(f"seat {self.seat} never gets to move against {names}")

    def _play(
        self,
        actions: NDArray[np.int64],
        games: NDArray[np.int64],
        outputs: Outputs,
        how: tuple[Any, ...],
    ) -> None:
        """One compiled call, or one for each thread on its share of the games."""
        self._threads.call(batch.step_games, self._tables, games, actions, tuple(outputs), how)

    def _play_and_record(
        self,
        actions: NDArray[np.int64],
        games: NDArray[np.int64],
        outputs: Outputs,
        how: tuple[Any, ...],
    ) -> None:
        """As `_play`, but stops after every hand for the recorder."""
        assert self.recorder is not None
        while len(games):
            dones = outputs.dones.copy()
            self._play(actions, games, outputs, how)
            for i in games[outputs.dones[games] & ~dones[games]].tolist():
                self.recorder(self.finals[i : i + 1])
            paused = np.zeros(len(games), np.bool_)
            batch.paused_games(self.states, games, self._seats, self.episode, paused)
            games = games[paused]
            for i in games.tolist():
                self.recorder(self.states[i : i + 1])
            self._opponents.sit_down(games)
            batch.next_games(self.states, games, self.rules_record)
            actions = self._no_action

    def close(self) -> None:
        """Ends the worker threads; they start again when they are needed."""
        self._threads.close()
