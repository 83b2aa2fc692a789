"""Asking players: what a seat may see, handed over as decisions, and the answers checked."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from okgin_env import players as _players
from okgin_env.kernel import batch
from okgin_env.kernel.state import new_states
from okgin_env.layout import N_ACTIONS, layout
from okgin_env.players.base import Decisions, Player
from okgin_env.rules import Rules
from okgin_env.utils.errors import shown
from okgin_env.view import SeatView

OpponentLike = str | Path | Player | Sequence[str | Path | Player]


def checked_action(action: Any) -> int:
    """The learner's action as an int; any number that is no action id stays an illegal one.

    Raises:
        ValueError: It is no whole number.
    """
    try:
        return operator.index(action)
    except TypeError:
        raise ValueError(f"action={shown(action)}; allowed: a whole number") from None


def checked_actions(actions: ArrayLike, n_games: int) -> NDArray[np.int64]:
    """The learners' actions of a batch as (N,) int64; any number that is no action id stays an illegal one.

    Raises:
        ValueError: They are not N whole numbers.
    """
    try:
        taken = np.asarray(actions)
    except ValueError:  # rows of different lengths
        raise ValueError(f"actions={shown(actions)}; allowed: ({n_games},) integers") from None
    if taken.shape != (n_games,) or taken.dtype.kind not in "iu":
        raise ValueError(
            f"actions of shape {taken.shape} and type {taken.dtype}; allowed: ({n_games},) integers"
        )
    bounded = np.minimum(taken, N_ACTIONS).astype(np.int64)
    return np.maximum(bounded, -1, out=bounded)


def view_of(
    record: NDArray[np.void],
    rules: Rules,
    rules_record: NDArray[np.void],
    seat: int,
    reveal: bool = False,
) -> SeatView:
    """The view of a seat of a (1,) record; with `reveal` all cards, but not the streams that the next hands come from."""
    if reveal:
        opened = record.copy()
        opened["rng"], opened["seat_rng"] = 0, 0
        return SeatView(opened, rules, seat, revealed=True)
    one = np.zeros(1, np.int64)
    return ask(record, one, rules, rules_record, np.array([seat]), batch.HAND).view(0)


def ask(
    states: NDArray[np.void],
    games: NDArray[np.int64],
    rules: Rules,
    rules_record: NDArray[np.void],
    seats: NDArray[np.int64],
    episode: int,
    outlook: bool = False,
) -> Decisions:
    """The decisions of `seats` in `games`, with what they may see, ready to be handed to a player."""
    n = len(games)
    views = new_states(n)
    observations = np.zeros(
        (n, layout(rules.players, episode == batch.MATCH, outlook).size), np.int8
    )
    masks = np.zeros((n, N_ACTIONS), np.int8)
    words = np.zeros(n, np.uint64)
    batch.ask_games(states, games, rules_record, seats, episode, views, observations, masks, words)
    match = episode == batch.MATCH
    return Decisions(rules, views, seats, observations, masks, words, "match" if match else "hand")


def answer(player: Player, decisions: Decisions) -> NDArray[np.int64]:
    """A player's actions, with anything that is no action id turned into an illegal one."""
    actions = np.asarray(player.act(decisions))
    if actions.shape != (len(decisions),) or actions.dtype.kind not in "iu":
        raise TypeError(
            f"player {player.name}: act() returned shape {actions.shape} of {actions.dtype}; "
            f"allowed: ({len(decisions)},) integers"
        )
    actions = actions.astype(np.int64)
    return np.where((actions < 0) | (actions >= N_ACTIONS), N_ACTIONS, actions)


def seat_opponents(opponent: OpponentLike, n_players: int) -> tuple[Player, ...]:
    """One player for each other seat, in turn order: one spec for all, or a sequence of specs.

    Raises:
        ValueError: An unknown player, or a wrong number of them.
    """
    if isinstance(opponent, (str, Path, Player)):
        return (_players.make(opponent),) * (n_players - 1)
    if callable(opponent):
        raise ValueError(
            f"opponent={shown(opponent)}; allowed: a name, a file, or an object of a class of yours derived from "
            "okgin_env.players.base.Player or Bot, no function"
        )
    if not isinstance(opponent, Sequence) or len(opponent) != n_players - 1:
        raise ValueError(
            f"opponent={shown(opponent)}; allowed: one player, or {n_players - 1} of them; "
            "a player is a name, a file, or an object of a class derived from okgin_env.players.Player (or Bot)"
        )
    return tuple(_players.make(spec) for spec in opponent)
