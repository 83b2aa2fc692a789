"""Tasks: what an engine plays at once, and the store keeps as one row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

MOST = 1 << 53  # deals, and the number of a deal


@dataclass(frozen=True)
class Task:
    """A run of the paired deals of a seed for two players: what an engine plays and the store keeps as one row.

    Attributes:
        seed: Seed of the deals.
        a: Player a's name.
        b: Player b's name.
        kind: "hands" or "matches".
        first: The first deal.
        deals: How many.
    """

    seed: int
    a: str
    b: str
    kind: str
    first: int
    deals: int


def overlap(a: Task, b: Task) -> bool:
    """Whether two tasks share deals."""
    same = (a.seed, a.a, a.b, a.kind) == (b.seed, b.a, b.b, b.kind)
    return same and a.first < b.first + b.deals and b.first < a.first + a.deals


def key_of(task: Task) -> tuple[str, str, str, str]:
    """What a task's deals are found by."""
    return str(task.seed), task.a, task.b, task.kind


def as_task(seed: Any, a: Any, b: Any, kind: Any, first: Any, deals: Any) -> Task | None:
    """The task that a row is of; None: a row that cannot be of one."""
    texts = all(isinstance(value, str) for value in (seed, a, b, kind))
    numbers = all(isinstance(value, int) and 0 <= value < MOST for value in (first, deals))
    if not (texts and numbers and re.fullmatch("[0-9]{1,1000}", seed)):
        return None
    return Task(int(seed), a, b, kind, first, deals)
