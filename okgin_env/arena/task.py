"""Tasks: what an engine plays at once, and the store keeps as one row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

MOST = 1 << 53  # deals, and the number of a deal


@dataclass(frozen=True)
class Task:
    """A run of the paired deals of a seed for two players.

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

    @property
    def series(self) -> tuple[str, str, str, str]:
        """The deals that this one's are some of, as the store has them: seed, players and kind."""
        return str(self.seed), self.a, self.b, self.kind

    @property
    def end(self) -> int:
        """The first deal after it."""
        return self.first + self.deals


def read_task(seed: Any, a: Any, b: Any, kind: Any, first: Any, deals: Any) -> Task | None:
    """The task that a row of the store is of; None: a row that cannot be of one."""
    texts = all(isinstance(value, str) for value in (seed, a, b, kind))
    numbers = all(isinstance(value, int) and 0 <= value < MOST for value in (first, deals))
    if not (texts and numbers and re.fullmatch("[0-9]{1,1000}", seed)):
        return None
    return Task(int(seed), a, b, kind, first, deals)
