"""The results of a pair so far, gathered task by task in any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from okgin_env.arena.match import Played, joined
from okgin_env.arena.outcome import Results
from okgin_env.arena.task import Task
from okgin_env.histories.hand import HandHistory

SHOWN = 8  # hands of each pair that are kept to be looked at


class Gathered:
    """The results of a pair in one kind of game: of the hands themselves only what is needed of them all.

    Results deal by deal stay in the store and are read when they are needed: a night's would fill the memory.

    Args:
        results: Reads those of a task.

    Attributes:
        tasks: What has been played.
        knocks: As in `Pair`, of all tasks.
    """

    def __init__(self, results: Callable[[Task], Results]) -> None:
        self._results = results
        self.tasks: set[Task] = set()
        self.knocks: NDArray[np.int64] = np.zeros((), np.int64)
        self._hands: list[_Ranked] = []

    def keep(self, task: Task, played: Played) -> None:
        """Adds a task; in which order they come does not matter."""
        self.tasks.add(task)
        self.knocks = self.knocks + played.knocks
        new = [
            _Ranked((-_swing(hand, task.a), task.seed, task.first, k), hand)
            for k, hand in enumerate(played.shown)
        ]
        ordered = sorted([*self._hands, *new], key=lambda ranked: ranked.rank)
        kept = {ranked.rank for ranked in (*_firsts(ordered), *ordered[:SHOWN])}
        self._hands = [ranked for ranked in ordered if ranked.rank in kept]

    def worth_showing(self) -> tuple[HandHistory, ...]:
        """Of every ending by either player the hand with the greatest swing, then the greatest swings of all."""
        chosen = _firsts(self._hands)[:SHOWN]
        others = [ranked for ranked in self._hands if ranked not in chosen]
        return tuple(ranked.hand for ranked in (*chosen, *others[: SHOWN - len(chosen)]))

    def joined(self) -> Results:
        """All results, in the order of seeds and deals."""
        return joined([self._results(task) for task in self.in_order()])

    def in_order(self) -> list[Task]:
        """The tasks, by seeds and deals."""
        return sorted(self.tasks, key=lambda task: (task.seed, task.first))

    def points(self, seed: int, n_deals: int) -> NDArray[np.float64]:
        """(D, R) `Results.points` of the first deals of a seed, and of all that was played of other seeds."""
        return np.concatenate(
            [
                self._results(task).points[
                    : max(0, n_deals - task.first) if task.seed == seed else None
                ]
                for task in self.in_order()
            ]
        )


@dataclass(frozen=True)
class _Ranked:
    """A hand with what orders it: its swing, the greatest first, then where it was played."""

    rank: tuple[float, int, int, int]
    hand: HandHistory


def _swing(hand: HandHistory, a: str) -> float:
    """The distance of player a from the mean of the others."""
    seat = hand.names.index(a)
    others = sum(hand.points) - hand.points[seat]
    return abs(hand.points[seat] - others / (len(hand.points) - 1))


def _firsts(ordered: Sequence[_Ranked]) -> list[_Ranked]:
    """The first hand of every ending by either player."""
    firsts: dict[tuple[str, str | None], _Ranked] = {}
    for ranked in ordered:
        hand = ranked.hand
        by = None if hand.knocker is None else hand.names[hand.knocker]
        firsts.setdefault((hand.ending, by), ranked)
    return list(firsts.values())
