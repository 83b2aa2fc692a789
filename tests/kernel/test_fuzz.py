"""A bounded slice of `tools/fuzz.py`, and that it notices what it looks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from okgin_env.kernel.jit import PLAIN
from okgin_env.layout import DRAW, ENDINGS, OVER
from okgin_env.rules import Rules
from tests.helpers.kernel_batch import GUARDED, Batch, Broken

N_TABLES, N_GAMES, N_ROUNDS = (2, 8, 64) if PLAIN else (40, 128, 100)


def test_whatever_is_played_holds() -> None:
    counts: Counter[str] = Counter()
    for index in range(N_TABLES):
        Batch(3, index, N_GAMES, counts=counts).play(N_ROUNDS)
    if not PLAIN:
        for name in ENDINGS[1:]:
            assert counts[name] > 0, (name, counts)


def _set(name: str, value: Any) -> Callable[[np.ndarray], None]:
    return lambda s: s.__setitem__(name, value)


DAMAGE: list[tuple[Callable[[np.ndarray], None], str]] = [
    (_set("hands", 0), "the 52 cards once each"),
    (lambda s: s["known"].__setitem__(0, ~s["hands"][0]), "known cards are in the hand"),
    (_set("n_turns", 1000), "in their ranges"),
]


@pytest.mark.parametrize(("change", "said"), DAMAGE, ids=[said for _, said in DAMAGE])
def test_damage_is_noticed(change: Callable[[np.ndarray], None], said: str) -> None:
    table = Batch(3, 0, 16, Rules())
    table.play(16)
    change(table.states[np.flatnonzero(table.states["phase"] == DRAW)[0]])
    with pytest.raises(Broken, match=f"table 0 .* does not hold: .*{said}"):
        table.check_decisions(table.playing)


ENDS: list[tuple[str, Any, str]] = [
    ("scores", 7, "scores are the sums"),
    ("n_hands", 0, "booked once"),
    ("points", -1, "points fit"),
    ("ending", 0, "points fit"),
]


@pytest.mark.parametrize(("name", "value", "said"), ENDS)
def test_a_wrong_end_is_noticed(name: str, value: Any, said: str) -> None:
    table = Batch(3, 0, 64, Rules(target=None, max_turns=6))
    before = table.states.copy()
    while not (table.states["phase"] == OVER).any():
        before = table.states.copy()
        table.decide()
    games = np.flatnonzero(table.states["phase"] == OVER)[:1]
    allowed = table.states["ending"] != ENDINGS.index("illegal")
    table.check_ends(games, before, allowed)
    table.states[name][games] = value
    with pytest.raises(Broken, match=said):
        table.check_ends(games, before, allowed)


def test_too_short_an_observation_is_noticed() -> None:
    """Short by less than the guarded bytes behind it: what is compiled would write beyond them, too."""
    table = Batch(3, 0, 16, Rules())
    table.size -= GUARDED // 2
    with pytest.raises((Broken, IndexError, ValueError)):
        table.play(16)


def test_blank_states_are_refused() -> None:
    table = Batch(3, 0, 4, Rules())
    table.states[:] = 0
    with pytest.raises(Broken, match="a saved state is refused"):
        table.save_and_load()
