"""Arguments that no adapter may take, each with the words one of which its refusal must have in it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from okgin_env.kernel.state import STATE
from okgin_env.layout import N_CARDS
from okgin_env.rules import Rules
from tests.helpers.adapter_checks import Broken

REFUSALS = (ValueError, TypeError, FileNotFoundError, gym.error.Error)
NAN = float("nan")
WIDE = np.zeros((60, 60))  # its text has many lines
LONG = "a" * 100_000

# fmt: off
ACTIONS = (None, NAN, float("inf"), 3.7, 3.0, "7", b"7", [], [1, 2], {}, (), np.array([1, 2]), np.array(1.5),
           np.float32(2), 1j, object(), ..., WIDE, LONG)
SEEDS = (-1, 1.5, NAN, "x", b"1", {}, object(), WIDE, LONG)
DECKS = (5, -1, 1 << 70, NAN, "As", "As As", "xx", LONG, [None], [[1]], [*range(N_CARDS - 1)], [0] * N_CARDS,
         np.zeros((N_CARDS, 1)), np.arange(float(N_CARDS)), object(), range(N_CARDS, 2 * N_CARDS), {}, WIDE)
DEALERS = (-1, 4, 10**30, 1.0, NAN, "0", True, [0], np.array([0, 1]), object(), WIDE, LONG)
HAND = {"hands": ["As"], "pile": "Kd", "seat": 0}
STATES = (5, "x", b"", bytes(STATE.itemsize), bytes(STATE.itemsize + 1), [], {}, object(), np.zeros(3),
          np.zeros(2, STATE), {"hands": None}, {LONG: 1}, {**HAND, "hands": None}, {**HAND, "pile": 3.5}, {**HAND, "seat": NAN},
          {**HAND, "seed": "x"}, {**HAND, "scores": 5}, {**HAND, "phase": WIDE}, {**HAND, "upcard": WIDE},
          {**HAND, "stock": object()}, {**HAND, "hands": [object()] * 2}, WIDE)
OPTIONS = (5, "deck", [1], object(), WIDE, LONG, {"state": bytes(STATE.itemsize), "dealer": 0},
           *({"deck": deck} for deck in DECKS), *({"dealer": dealer} for dealer in DEALERS),
           *({"state": state} for state in STATES))
OPTION_WORDS = ("deck", "card", "dealer", "state", "position", "options", "hands", "seed", "scores", "phase", "upcard")
_ANYTHING = (5, None, "x", "x\ny", LONG, NAN, [], {}, b"hand", object(), WIDE)
_NUMBERS = (0, -1, 1.5, NAN, "2", [2], 10**30, object(), WIDE, LONG)
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "rules": (*_ANYTHING, Rules),
    "players": (*_NUMBERS, 1, 5, True),
    "seat": (*_NUMBERS[1:], 4, True, None, 1.0),
    "opponent": (*_ANYTHING, ["simple"] * 5, ["simple", 5], "no.such.module:X", "x.zip", "search:0", "search:x", "cmd:"),
    "episode": _ANYTHING,
    "reward": (*_ANYTHING, "match"),
    "threads": (*_NUMBERS[:6], object(), WIDE),
    "num_envs": (*_NUMBERS[:6], object(), WIDE),
    "render_mode": (5, "3d", [], object(), WIDE, LONG),
    "illegal": _ANYTHING,
    "autoreset_mode": _ANYTHING,
    "seed": SEEDS,
    "pool": ("simple", 5, ["nobody"], [["simple"] * 5], [5], object()),
}
ARGUMENT_WORDS = {"opponent": ("opponent", "player", "model file", "search"), "players": ("players", "first_dealer"), "pool": ("pool", "player", "opponent")}
# fmt: on


class Absurd(NamedTuple):
    """A call that must be refused: what is tried, the call, and the words of its refusal."""

    what: str
    call: Callable[[], object]
    words: tuple[str, ...]


def action_arrays(n: int) -> Iterator[Any]:
    """Actions that no batch of n games may take."""
    good = np.zeros(n, np.int64)
    yield from (None, NAN, 5, "x", object(), {}, [0] * (n + 1), good[:, None], good.astype(float))
    yield from (good * NAN, good.astype(bool), good.astype(str), good.astype(object), WIDE)
    yield from ([[1], [2, 3]], [None] * n, [1 << 70] * n)


def seed_lists(n: int) -> Iterator[Any]:
    """Seeds that no vector of n games may take."""
    start = [*range(n - 1)]
    yield from (*SEEDS, [0] * (n + 1), [*start, -1], [*start, 1.5], [*start, "x"], [])


def reset_masks(n: int) -> Iterator[Any]:
    """Masks of which games to reset that no vector of n games may take."""
    yield from (5, "x", [True] * n, np.zeros(n, bool), np.ones(n + 1, bool), np.ones(n, int))
    yield from (np.ones((n, n), bool), WIDE)


def bad_resets(reset: Callable[..., object], seeds: Iterator[Any]) -> Iterator[Absurd]:
    """Resets with a bad seed, or with bad options and a good or no seed."""
    for seed in seeds:
        yield Absurd(f"reset(seed={seed!r})", lambda s=seed: reset(seed=s), ("seed",))
    for k, options in enumerate(OPTIONS):
        good = None if k % 2 else k
        yield Absurd(f"reset(seed={good}, options={options!r})", lambda s=good, o=options: reset(seed=s, options=o), OPTION_WORDS)  # fmt: skip


def one_line(error: Exception) -> None:
    """Holds a refusal to its form: one line, of bounded length.

    Raises:
        Broken: It is not.
    """
    text = str(error)
    if not text.strip() or len(text.splitlines()) != 1 or len(text) >= 2000:
        raise Broken(f"a refusal of {len(text)} characters, {len(text.splitlines())} lines: {text!r:.2000}")  # fmt: skip


def check_refused(absurd: Absurd, seen: Callable[[], object]) -> None:
    """Makes a call that must be refused in one line that names something, and must change nothing.

    Args:
        absurd: The call.
        seen: Everything that must be the same afterwards.

    Raises:
        Broken: It is taken, refused otherwise, or leaves something changed.
    """
    what, before = f"{absurd.what:.200}", seen()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            absurd.call()
    except REFUSALS as error:
        one_line(error)
        if not any(word in str(error).lower() for word in absurd.words):
            raise Broken(f"{what}: names none of {', '.join(absurd.words)}: {error}") from error
    except Exception as error:
        raise Broken(f"{what}: {type(error).__name__}: {error}") from error
    else:
        raise Broken(f"{what}: is taken")
    if seen() != before:
        raise Broken(f"{what}: is refused, but the game is another")
