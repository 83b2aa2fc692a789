"""Plays written-down hands through the environment: one list of moves for all seats, in words."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from okgin_env import cards
from okgin_env.env import OklahomaGinEnv
from okgin_env.layout import N_ACTIONS, N_CARDS
from okgin_env.players import Bot
from okgin_env.rules import Rules, as_rules
from okgin_env.view import SeatView, action_text

ACTIONS = {action_text(action): action for action in range(N_ACTIONS)}
"""Words to action id: "pass", "take", "draw", "discard Td", "knock Td", "big gin"."""


class OutOfMoves(Exception):
    """A bot is asked, and nothing is written down for it."""


class Follower(Bot):
    """Plays the next move of the list that all seats share, and keeps what it was shown."""

    def __init__(self, moves: deque[str], views: list[SeatView]) -> None:
        self.moves = moves
        self.views = views

    def choose(self, view: SeatView, rng: np.random.Generator) -> int:
        """The next move of the list."""
        self.views.append(view)
        if not self.moves:
            raise OutOfMoves
        return ACTIONS[self.moves.popleft()]


@dataclass
class Played:
    """A hand as far as its moves went.

    Attributes:
        env: The environment; the learner's seat is 0.
        views: What the seat to move saw at every decision, the one without a move included.
        info: The last info.
        reward: Sum of the learner's rewards.
        terminated: Whether the episode is over.
    """

    env: OklahomaGinEnv
    views: list[SeatView] = field(default_factory=list)
    info: dict[str, Any] = field(default_factory=dict)
    reward: float = 0.0
    terminated: bool = False

    @property
    def last(self) -> SeatView:
        """What the seat to move sees after the last move (during the hand)."""
        return self.views[-1]

    @property
    def final(self) -> dict[str, Any]:
        """The last hand that ended, also where a bot is asked before the step returns an info."""
        record, n = self.env.games.finals[0], self.env.rules.players
        return {
            "points": record["points"][:n].tolist(),
            "scores": record["scores"][:n].tolist(),
            "match_points": record["match_points"][:n].tolist(),
            "match_winner": int(record["match_winner"]),
        }

    @property
    def seats(self) -> list[int]:
        """Who was asked, in order."""
        return [view.seat for view in self.views]


def follow(
    rules: Rules | str,
    moves: str | Sequence[str],
    *,
    players: int | None = None,
    episode: str = "hand",
    reward: str = "points",
    **options: Any,
) -> Played:
    """Plays moves, for all seats in order, from a given deck or position.

    Args:
        rules: As the environment takes them.
        moves: One move after another, as text with commas or a list.
        players: As the environment takes it.
        episode: As the environment takes it.
        reward: As the environment takes it.
        **options: For `reset`: deck and dealer, or state.
    """
    rules = as_rules(rules, players)
    words = moves.split(", ") if isinstance(moves, str) else moves
    queue = deque(word for word in words if word)
    played = Played(None)  # pyright: ignore[reportArgumentType] - the bots need its list first
    bot = Follower(queue, played.views)
    played.env = OklahomaGinEnv(rules, bot, episode, reward)
    try:
        _, played.info = played.env.reset(seed=0, options=options)
        while not played.terminated:
            played.views.append(played.env.view())
            if not queue:
                break
            action = ACTIONS[queue.popleft()]
            _, reward_, played.terminated, _, played.info = played.env.step(action)
            played.reward += reward_
    except OutOfMoves:
        pass
    assert not queue, f"moves left over: {list(queue)}"
    return played


def deck_of(*hands: str, upcard: str, stock: str = "") -> list[int]:
    """A deck: the hands by seat, the upcard, the given top of the stock, all other cards by id."""
    given = cards.ids(" ".join([*hands, upcard, stock]))
    return given + [card for card in range(N_CARDS) if card not in given]
