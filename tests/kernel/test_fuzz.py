"""A bounded slice of `tools/fuzz.py`, and that it notices what it looks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from okgin_env.kernel.jit import PLAIN
from okgin_env.kernel.state import new_states
from okgin_env.layout import DRAW, ENDINGS
from okgin_env.rules import Rules
from tests.helpers.fuzz_kernel import RULES
from tools import fuzz

N_TABLES, DECISIONS = (2, 512) if PLAIN else (40, 12_800)


def test_whatever_is_played_holds() -> None:
    counts: Counter[str] = Counter()
    for index in range(N_TABLES):
        fuzz.fuzz_table(3, index, DECISIONS, counts)
    if not PLAIN:
        for name in ENDINGS[1:]:
            assert counts[name] > 0, (name, counts)


def _damaged(change: Callable[[np.ndarray], None]) -> Any:
    """`play_on`, and once more with the first game that is in its draw phase damaged."""
    real = fuzz.play_on

    def play(states: np.ndarray, *rest: Any) -> Any:
        found, game = real(states, *rest)
        if not found:
            change(states[np.flatnonzero(states["phase"] == DRAW)[0]])
            found, game = real(states, *rest)
        return found, game

    return play


def _no_hands(s: np.ndarray) -> None:
    s["hands"] = 0


def _unheld(s: np.ndarray) -> None:
    s["known"][0] = ~s["hands"][0]


def _endless(s: np.ndarray) -> None:
    s["n_turns"] = 1000


@pytest.mark.parametrize(
    ("change", "rule"),
    [(_no_hands, RULES[1]), (_unheld, RULES[10]), (_endless, RULES[6])],
)
def test_damage_is_noticed(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[np.ndarray], None], rule: str
) -> None:
    monkeypatch.setattr(fuzz, "play_on", _damaged(change))
    with pytest.raises(fuzz.Broken, match=f"table 0, game .* does not hold: {rule}"):
        fuzz.fuzz_table(3, 0, 512, Counter(), Rules())


def test_too_short_an_observation_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short by less than the guarded bytes behind it: what is compiled would write beyond them, too."""
    real = fuzz.layout

    def short(*kind: Any) -> Any:
        return SimpleNamespace(size=real(*kind).size - fuzz.GUARDED // 2)

    monkeypatch.setattr(fuzz, "layout", short)
    with pytest.raises((fuzz.Broken, IndexError, ValueError)):
        fuzz.fuzz_table(3, 0, 512, Counter(), Rules())


def test_blank_states_are_refused() -> None:
    with pytest.raises(fuzz.Broken, match="a saved state is refused"):
        fuzz._positions_are_taken(new_states(1), Rules(), (0, 0))
