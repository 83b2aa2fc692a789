"""The results of a pair so far, gathered task by task in any order."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from okgin_env.arena.luck import adjusted, joined
from okgin_env.arena.outcome import Played, Results
from okgin_env.arena.plan import Task
from okgin_env.histories.hand import HandHistory

SHOWN = 8  # hands of each pair that are kept to be looked at
_Rank = tuple[
    float, tuple[int, str, int], int
]  # of a hand: its swing, the greatest first, then where it was played


class PairResults:
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
        self._hands: dict[_Rank, HandHistory] = {}  # in order

    def keep(self, task: Task, played: Played) -> None:
        """Adds a task; in which order they come does not matter."""
        self.tasks.add(task)
        self.knocks = self.knocks + played.knocks
        hands = self._hands | {
            (-_swing(hand, task.a), task.place, k): hand for k, hand in enumerate(played.shown)
        }
        ordered = {rank: hands[rank] for rank in sorted(hands)}
        kept = {*_firsts(ordered), *list(ordered)[:SHOWN]}
        self._hands = {rank: hand for rank, hand in ordered.items() if rank in kept}

    def worth_showing(self) -> tuple[HandHistory, ...]:
        """Of every ending by either player the hand with the greatest swing, then the greatest swings of all."""
        chosen = dict.fromkeys([*_firsts(self._hands), *self._hands])
        return tuple(self._hands[rank] for rank in list(chosen)[:SHOWN])

    def joined(self) -> Results:
        """All results, in the order of seeds and deals."""
        return Results.joined([self._results(task) for task in self._in_order()])

    def points(self, seed: int | str, n_deals: int) -> NDArray[np.float64]:
        """(D, R) points of the first deals of a seed, and of all that was played of other seeds; without luck, where it is known."""
        parts, lucks = [], []
        for task in self._in_order():
            end = max(0, n_deals - task.first) if task.seed == seed else None
            results = self._results(task)
            parts.append(results.points[:end])
            lucks.append((len(parts[-1]), results.luck and results.luck.first(end)))
        points = np.concatenate(parts)
        return adjusted(points, joined(lucks, points.shape[1]))

    def played_in(self, order: Callable[[Task], NDArray[np.int64] | None]) -> NDArray[np.float64]:
        """(D, R) `Results.points` of the deals whose order is known, each in the order in which its games were played."""
        found = [(self._results(task).points, order(task)) for task in self._in_order()]
        parts = [np.take_along_axis(points, by, axis=1) for points, by in found if by is not None]
        return np.concatenate(parts) if parts else np.zeros((0, 2))

    def _in_order(self) -> list[Task]:
        return sorted(self.tasks, key=lambda task: task.place)


def _swing(hand: HandHistory, a: str) -> float:
    """The distance of player a from the mean of the others."""
    seat = hand.names.index(a)
    others = sum(hand.points) - hand.points[seat]
    return abs(hand.points[seat] - others / (len(hand.points) - 1))


def _firsts(ordered: Mapping[_Rank, HandHistory]) -> list[_Rank]:
    """The first hand of every ending by either player."""
    firsts: dict[tuple[str, str | None], _Rank] = {}
    for rank, hand in ordered.items():
        by = None if hand.knocker is None else hand.names[hand.knocker]
        firsts.setdefault((hand.ending, by), rank)
    return list(firsts.values())
