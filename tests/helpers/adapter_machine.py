"""A hypothesis state machine that plays an adapter any which way, and checks what must hold.

Actions are legal ones by chance, now and then any whole number at all; resets come in the middle, with seeds, decks,
dealers and saved games; whatever is no action, seed or option is tried, and must leave the game as it was; copies and saved games
must go on alike. An adapter says how its calls are made and checks what comes back.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, multiple, rule
from numpy.typing import NDArray

from okgin_env.layout import N_ACTIONS
from tests.helpers.absurd import Absurd, check_refused
from tests.helpers.adapter_checks import Table, hold
from tests.helpers.random_tables import random_deck

WORDS = st.integers(0, (1 << 32) - 1)  # seeds of what one step of a machine draws
SEEDS = st.none() | st.integers(0, (1 << 40) - 1)
STRAY = (-(1 << 63), -1, N_ACTIONS, 10**9, (1 << 63) - 1)


class Adapter:
    """One adapter at one table.

    Attributes:
        table: The table.
        n_games: Games of a batch; 1: no batch.
        goes_on: Whether it takes steps after its end.
    """

    n_games, goes_on = 1, True
    table: Table
    env: Any

    def __init__(self, table: Table, rng: Random) -> None:
        raise NotImplementedError

    def masks(self) -> NDArray[np.int8]:
        """(N, 108), what is legal now."""
        raise NotImplementedError

    def reset(self, seed: int | None, options: dict[str, Any], rng: Random) -> None:
        """Starts anew, and checks what comes back."""
        raise NotImplementedError

    def step(self, actions: NDArray[np.int64]) -> object:
        """Takes (N,) actions, checks what comes back and returns it, for comparison."""
        raise NotImplementedError

    def absurd(self) -> Iterator[Absurd]:
        """Calls that must be refused, now as at any time."""
        raise NotImplementedError

    def seen(self) -> bytes:
        """All of the games."""
        games = self.env.unwrapped.games
        return games.states.tobytes() + games.finals.tobytes() + self.masks().tobytes()

    def saved(self) -> bytes | None:
        """The record of a game in the middle of a hand, for `options`."""
        raise NotImplementedError

    def change_opponents(self, rng: Random) -> None:
        """Seats other opponents from the next deal, where there are opponents."""

    def copies(self) -> list[Any]:
        """Copies that must go on as this one does."""
        return [copy.deepcopy(self), pickle.loads(pickle.dumps(self))]


class Machine(RuleBasedStateMachine):
    """Plays the adapter that a subclass names."""

    kind: type[Adapter]
    saves = Bundle("saves")

    @initialize(word=WORDS)
    def sit_down(self, word: int) -> None:
        """Makes the adapter at any table."""
        rng = Random(word)
        self.adapter = self.kind(Table.draw(rng), rng)
        self.adapter.reset(rng.randrange(1 << 32), {}, rng)

    @rule(word=WORDS, n=st.integers(1, 12), greed=st.sampled_from((0.1, 0.5, 0.9)))
    def play(self, word: int, n: int, greed: float) -> None:
        """Some decisions in each game."""
        rng = Random(word)
        for _ in range(n):
            self.adapter.step(self._actions(greed, rng))
            self._start_anew(rng)

    @rule(word=WORDS)
    def copy(self, word: int) -> None:
        """Copies answer the same."""
        rng = Random(word)
        actions, copies = self._actions(0.5, rng), self.adapter.copies()
        said = self.adapter.step(actions)
        for other in copies:
            hold(other.step(actions) == said, "a copy goes on in another way")
        self._start_anew(rng)

    @rule(target=saves)
    def save(self) -> Any:
        """Keeps a game in the middle of a hand."""
        saved = self.adapter.saved()
        return multiple() if saved is None else saved

    @rule(state=saves, seed=SEEDS, word=WORDS)
    def load(self, state: bytes, seed: int | None, word: int) -> None:
        """Goes on from a saved game; one that a finished hand follows at once is refused."""
        self._reset(seed, {"state": state}, Random(word))

    @rule(word=WORDS, seed=SEEDS, kind=st.sampled_from(("", "deck", "dealer", "both", "unknown")))
    def reset(self, word: int, seed: int | None, kind: str) -> None:
        """A reset in the middle, with a seed or options or both or neither."""
        rng = Random(word)
        options: dict[str, Any] = {"unknown": 1} if kind == "unknown" else {}
        if kind in ("deck", "both"):
            options["deck"] = random_deck(rng)
        if kind in ("dealer", "both"):
            options["dealer"] = rng.randrange(2)
        self._reset(seed, options, rng)

    @rule(word=WORDS)
    def change_opponents(self, word: int) -> None:
        """Other opponents, in the middle of a game."""
        self.adapter.change_opponents(Random(word))

    @rule(word=WORDS)
    def be_absurd(self, word: int) -> None:
        """A call that must be refused."""
        check_refused(Random(word).choice([*self.adapter.absurd()]), self.adapter.seen)

    def teardown(self) -> None:
        """Ends worker threads."""
        if hasattr(self, "adapter"):
            self.adapter.env.close()

    def _reset(self, seed: int | None, options: dict[str, Any], rng: Random) -> None:
        before = self.adapter.seen()
        try:
            self.adapter.reset(seed, options, rng)
        except ValueError as error:
            hold("the given hand ends before" in str(error), f"a good reset is refused: {error}")
            hold(self.adapter.seen() == before, "a reset is refused, but the game is another")
            self._start_anew(rng)

    def _start_anew(self, rng: Random) -> None:
        """A reset after the end, now and then some steps later where the adapter takes them."""
        over = self.adapter.saved() is None
        if over and not (self.adapter.goes_on and rng.random() < 0.1):
            self.adapter.reset(None, {}, rng)

    def _actions(self, greed: float, rng: Random) -> NDArray[np.int64]:
        """Legal actions, the last of all with some greed for knocks; one in fifty any number at all."""

        def action(mask: NDArray[np.int8]) -> int:
            if rng.random() < 0.02:
                return rng.choice((*STRAY, rng.randrange(N_ACTIONS)))
            legal = np.flatnonzero(mask)
            return int(legal[-1] if rng.random() < greed else rng.choice(legal))

        return np.array([action(mask) for mask in self.adapter.masks()])
