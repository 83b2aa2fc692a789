"""The hands of an environment, written to a file as they end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from gymnasium import logger
from numpy.typing import NDArray

from okgin_env.histories.files import append
from okgin_env.histories.hand import HandHistory, check_name
from okgin_env.rules import Rules


class HandRecorder:
    """Appends every hand it is called with to a file: a `recorder` for the games of any adapter.

    `RecordHands` puts one into a single environment. For a vector environment:
    `venv.unwrapped.games.recorder = HandRecorder("hands.okgin", venv.unwrapped.games.rules)`.

    Args:
        path: A name that ends in ``.okgin``; hands are added to what is there.
        rules: The rules of the tables.
        names: The players by seat.

    Attributes:
        seed: The seed to write with the next hands, or None.
        skipped: Hands left out, because they began from a position that was set up and not from a deal.
    """

    def __init__(self, path: str | Path, rules: Rules, names: Sequence[str] | None = None) -> None:
        append(path, ())  # says at once if the file cannot be written
        if names is not None and (isinstance(names, str) or len(names) != rules.players):
            raise ValueError(f"names={names!r}; allowed: {rules.players} names")
        for name in names or ():
            check_name(name)
        self.path = Path(path)
        self.rules = rules
        self.names = names
        self.seed: int | None = None
        self.skipped = 0

    def __call__(self, final: NDArray[np.void]) -> None:
        """Writes one hand.

        Args:
            final: (1,) `STATE`, as the hand ended.
        """
        try:
            hand = HandHistory.from_record(final, self.rules, self.names, self.seed)
        except ValueError as error:
            self.skipped += 1
            if self.skipped == 1:
                logger.warn(f"{self.path}: a hand is left out, others like it silently: {error}")
            return
        append(self.path, hand)
