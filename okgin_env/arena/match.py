"""Two players against each other on paired deals: every deck is played from every seat.

Player a takes each seat once while b takes all others, with the same deck and dealer each time. What the cards give to a seat
so falls on both players, and a difference between them shows with far fewer hands.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from okgin_env.asking import answer, ask
from okgin_env.games import unused
from okgin_env.kernel import batch
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import (
    ILLEGAL,
    MAX_PLAYERS,
    OVER,
    REWARD_POINTS,
    UNDERCUT,
)
from okgin_env.players.base import Player, kernel_policy
from okgin_env.rules import Rules

CHUNK = 2048  # deals played at once
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Results:
    """What came of D deals with R seat rotations each (R = seats).

    Attributes:
        a: Player a's name.
        b: Player b's name.
        points: (D, R) a's points minus the mean of the others'.
        winner: (D, R) int8: 0: a won, 1: b won, -1: nobody. Of the hand, or of the match.
        ending: (D, R) int8 index into `layout.ENDINGS`; in a match, of its last hand.
        ended_by: (D, R) int8: 0 or 1, the player who knocked, undercut or played illegally; -1: nobody.
        turns: (D, R) discards of all seats; in a match, of its last hand.
        hands: (D, R) hands played: 1, or those of the match.
        ms_per_decision: Player's name to milliseconds a decision, asked in batches.
    """

    a: str
    b: str
    points: NDArray[np.float64]
    winner: NDArray[np.int8]
    ending: NDArray[np.int8]
    ended_by: NDArray[np.int8]
    turns: NDArray[np.int64]
    hands: NDArray[np.int64]
    ms_per_decision: dict[str, float] = field(default_factory=dict)


def play(
    a: Player,
    b: Player,
    rules: Rules,
    n_deals: int,
    seed: int,
    *,
    matches: bool = False,
    progress: Progress | None = None,
) -> Results:
    """Plays paired deals, or matches that start with paired deals.

    Args:
        a: A player.
        b: Another, or the same.
        rules: The rules of the table.
        n_deals: Decks (or matches' streams of decks), each played from every seat.
        seed: Seed of everything: same seed, same hands.
        matches: Whether to play each deal on to the end of a match.
        progress: Called with the number of deals that are done.

    Raises:
        ValueError: No deals, or matches under rules without a target.
    """
    if n_deals < 1:
        raise ValueError(f"deals={n_deals!r}; allowed: 1 or more")
    if matches and rules.target is None:
        raise ValueError("matches; allowed: rules with a target (this has target=None)")
    streams = np.random.SeedSequence(seed).generate_state(n_deals, np.uint64).astype(np.uint64)
    clock = _Clock()
    parts = []
    for start in range(0, n_deals, CHUNK):
        part = streams[start : start + CHUNK]
        parts.append(
            _play_chunk((a, b), rules, part, batch.MATCH if matches else batch.HAND, clock)
        )
        if progress is not None:
            progress(len(part))
    points, winner, ending, ended_by, turns, hands = (
        np.concatenate(x) for x in zip(*parts, strict=True)
    )
    speeds = {p.name: clock.ms(p) if clock.knows(p) else _scripted_ms(p, rules) for p in (a, b)}
    return Results(a.name, b.name, points, winner, ending, ended_by, turns, hands, speeds)


class _Clock:
    """Time that outside players take for their decisions."""

    def __init__(self) -> None:
        self._spent: dict[int, tuple[float, int]] = {}

    def add(self, player: Player, seconds: float, n_decisions: int) -> None:
        total, n = self._spent.get(id(player), (0.0, 0))
        self._spent[id(player)] = (total + seconds, n + n_decisions)

    def knows(self, player: Player) -> bool:
        return id(player) in self._spent

    def ms(self, player: Player) -> float:
        total, n = self._spent[id(player)]
        return 1000.0 * total / n


@lru_cache
def _scripted_ms(player: Player, rules: Rules) -> float:
    """Milliseconds a decision of a compiled player, on a batch of opening decisions."""
    n = 4096
    states = new_states(n)
    games = np.arange(n)
    record = as_records(rules.to_record())
    batch.seed_games(states, games, np.arange(n, dtype=np.uint64))
    batch.begin_games(states, games, record)
    decisions = ask(states, games, rules, record, states["seat"].astype(np.int64), batch.HAND)
    player.act(decisions)  # compiled before it is timed
    start = time.perf_counter()
    player.act(decisions)
    return 1000.0 * (time.perf_counter() - start) / n


def _play_chunk(
    pair: tuple[Player, Player],
    rules: Rules,
    streams: NDArray[np.uint64],
    episode: int,
    clock: _Clock,
) -> tuple[NDArray, ...]:
    """Plays some deals from every seat; rows are deals, columns rotations."""
    n_deals, n_seats = len(streams), rules.players
    n_games = n_deals * n_seats
    games = np.arange(n_games)
    seat_of_a = games % n_seats
    who = np.ones((n_games, MAX_PLAYERS), np.int8)  # which player sits where
    who[games, seat_of_a] = 0
    policies = np.array([kernel_policy(player) for player in pair], np.int8)[who]
    states, finals = new_states(n_games), new_states(n_games)
    record = as_records(rules.to_record())
    batch.seed_games(states, games, np.repeat(streams, n_seats))
    batch.begin_games(states, games, record)
    nothing = unused(n_seats, episode == batch.MATCH)
    actions = np.full(n_games, batch.NO_ACTION)
    nobody = np.full(n_games, batch.NOBODY)
    waiting = games
    while len(waiting):
        batch.step_games(
            states, finals, waiting, record, policies, nobody, actions, episode, REWARD_POINTS, True, False, False, *nothing
        )  # fmt: skip
        waiting = waiting[states["phase"][waiting] != OVER]
        movers = who[waiting, states["seat"][waiting]]
        for k, player in enumerate(pair):
            asked = waiting[movers == k]
            if len(asked):
                seats = states["seat"][asked].astype(np.int64)
                decisions = ask(states, asked, rules, record, seats, episode)
                start = time.perf_counter()
                actions[asked] = answer(player, decisions)
                clock.add(player, time.perf_counter() - start, len(asked))
    return tuple(x.reshape(n_deals, n_seats) for x in _read(states, rules, who, seat_of_a, episode))


def _read(
    states: NDArray[np.void],
    rules: Rules,
    who: NDArray[np.int8],
    seat_of_a: NDArray[np.int64],
    episode: int,
) -> tuple[NDArray, ...]:
    """Results of games that are over, one entry a game, in the order of `Results`."""
    games = np.arange(len(states))
    points = states["scores" if episode == batch.MATCH else "points"][:, : rules.players]
    own = points[games, seat_of_a].astype(np.float64)
    difference = own - (points.sum(axis=1) - own) / (rules.players - 1)
    winner = states["match_winner" if episode == batch.MATCH else "hand_winner"]
    ending = states["ending"].copy()
    by = states["knocker"].copy()
    by = np.where(ending == UNDERCUT, states["hand_winner"], by)  # an undercut is the opponent's
    by = np.where(ending == ILLEGAL, states["seat"], by)
    return (
        difference,
        _player_in(who, winner),
        ending,
        _player_in(who, by),
        states["n_turns"].astype(np.int64),
        states["n_hands"].astype(np.int64),
    )


def _player_in(who: NDArray[np.int8], seats: NDArray[np.int8]) -> NDArray[np.int8]:
    """Which player (0 or 1) sits in a seat of each game; -1 for no seat."""
    return np.where(seats < 0, -1, who[np.arange(len(seats)), seats]).astype(np.int8)
