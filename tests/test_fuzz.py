"""A bounded slice of `fuzz.py`, and that it notices what it looks for."""

from __future__ import annotations

from collections import Counter
from typing import Any

import fuzz
import numpy as np
import pytest
from fuzz_kernel import RULES

from okgin_env.kernel.jit import PLAIN
from okgin_env.kernel.state import new_states
from okgin_env.layout import ENDINGS
from okgin_env.rules import Rules

N_TABLES, DECISIONS = (2, 512) if PLAIN else (40, 12_800)


def test_whatever_is_played_holds() -> None:
    counts: Counter[str] = Counter()
    for index in range(N_TABLES):
        fuzz.fuzz_table(3, index, DECISIONS, counts)
    if not PLAIN:
        for name in ENDINGS[1:]:
            assert counts[name] > 0, (name, counts)


def _damaged(**changes: Any) -> Any:
    """`play_on` with a card or a number changed in the second game before every round."""
    real = fuzz.play_on

    def play(states: np.ndarray, *rest: Any) -> Any:
        found, game = real(states, *rest)
        if found:
            return found, game
        states["phase"][1] = 1
        for name, value in changes.items():
            states[name][1] = value
        return real(states, *rest)

    return play


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"hands": 0}, RULES[1]),
        ({"known": [1, 1, 0, 0]}, RULES[10]),
        ({"n_turns": 1000}, RULES[6]),
    ],
)
def test_damage_is_noticed(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], rule: str
) -> None:
    monkeypatch.setattr(fuzz, "play_on", _damaged(**changes))
    with pytest.raises(fuzz.Broken, match=f"table 0, game 1: does not hold: {rule}"):
        fuzz.fuzz_table(3, 0, 512, Counter(), Rules())


def test_too_short_an_observation_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Short:
        size = 300

    monkeypatch.setattr(fuzz, "layout", lambda *_: Short)
    with pytest.raises((fuzz.Broken, IndexError, ValueError)):
        fuzz.fuzz_table(3, 0, 512, Counter(), Rules())


def test_blank_states_are_refused() -> None:
    with pytest.raises(fuzz.Broken, match="a saved state is refused"):
        fuzz._positions_are_taken(new_states(1), Rules(), (0, 0))
