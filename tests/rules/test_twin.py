"""The kernel against the plain twin: a bounded slice of `tools/lockstep_twin.py`, and its own test."""

from __future__ import annotations

import dataclasses
from collections import Counter
from random import Random
from typing import Any

import pytest

from okgin_env.kernel.jit import PLAIN
from okgin_env.layout import ENDINGS
from okgin_env.rules import ALLOWED, PRESETS, Rules
from tests.helpers import twin
from tests.helpers.lockstep import Mismatch, play_table
from tests.helpers.random_tables import random_rules

SEED = 7
EVERYTHING = Rules(big_gin_bonus=50, spades_double=True, game_bonus=100, box_bonus=20, shutout=True)
CHANGES: list[tuple[Rules, dict[str, Any]]] = [
    (EVERYTHING, {"knock_limit": 10}),
    (EVERYTHING, {"ace_limit": 0}),
    (EVERYTHING, {"gin_bonus": 20}),
    (EVERYTHING, {"undercut_bonus": 20}),
    (EVERYTHING, {"undercut_on_tie": False}),
    (EVERYTHING, {"big_gin_bonus": 0}),
    (EVERYTHING, {"big_gin_bonus": 51}),
    (EVERYTHING, {"spades_double": False}),
    (EVERYTHING, {"next_dealer": "loser"}),
    (EVERYTHING, {"next_dealer": "alternates"}),
    (EVERYTHING, {"void_dealer": "alternates"}),
    (EVERYTHING, {"target": 60}),
    (EVERYTHING, {"game_bonus": 0}),
    (EVERYTHING, {"box_bonus": 0}),
    (EVERYTHING, {"shutout": False}),
    (EVERYTHING, {"max_turns": 60}),
    (dataclasses.replace(EVERYTHING, players=3, hand_size=7), {"hand_size": 8}),
]
GIVEN = {"players", "first_dealer"}  # of these the twin is told


def _another(name: str) -> Any:
    """A value of a field that `EVERYTHING` does not have."""
    allowed, value = ALLOWED[name], getattr(EVERYTHING, name)
    if allowed.flag:
        return not value
    return next(v for v in (*allowed.words, allowed.high) if v != value)


CHANGES += [
    (EVERYTHING, {name: _another(name)})
    for name in sorted(ALLOWED.keys() - GIVEN - {name for _, change in CHANGES for name in change})
]


def test_random_tables() -> None:
    """Every ending, and matches to their end, under presets and random rules for 2-4 players."""
    counts: Counter[str] = Counter()
    for index in range(20 if PLAIN else 130):
        play_table(SEED, index, counts)
    if not PLAIN:
        for name in (*ENDINGS[1:], "void by max_turns", "matches won"):
            assert counts[name] > 0, (name, counts)


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("preset", PRESETS)
def test_presets(preset: str, players: int) -> None:
    """Each preset for each number of players, on its own."""
    counts: Counter[str] = Counter()
    for index in range(2 if PLAIN else 4):
        play_table(SEED, index, counts, Rules.preset(preset, players))
    assert counts["hands"] > 0


@pytest.mark.skipif(PLAIN, reason="many hands: compiled code only")
@pytest.mark.parametrize(
    ("rules", "change"), CHANGES, ids=lambda value: str(value) if isinstance(value, dict) else ""
)
def test_a_changed_rule_is_found(rules: Rules, change: dict[str, Any]) -> None:
    """The comparison sees every field of the rules: a twin with another value must differ."""

    def play_on() -> None:
        for index in range(400):
            play_table(SEED, index, Counter(), rules, dataclasses.replace(rules, **change))

    with pytest.raises(Mismatch, match=r"seed 7, table \d+, hand \d+: .* differs"):
        play_on()


def test_the_twin_refuses_rules_with_a_field_that_it_does_not_play_by() -> None:
    """Else a new rule would pass here while neither side plays by it."""
    assert {field.name for field in dataclasses.fields(Rules)} == twin.FIELDS
    newer = dataclasses.make_dataclass("Newer", [("tens_wild", bool, True)], bases=(Rules,), frozen=True, kw_only=True)  # fmt: skip
    with pytest.raises(NotImplementedError, match=r"tens_wild; tests/helpers/twin\.py must play"):
        twin.TwinHand(newer(), range(52), 0)


def test_every_field_of_the_rules_is_drawn() -> None:
    rng = Random(1)
    drawn = [random_rules(rng) for _ in range(300)]
    for name, allowed in ALLOWED.items():
        values = {getattr(rules, name) for rules in drawn}
        assert values >= {*allowed.words}, name
        assert len(values) > 1, name
