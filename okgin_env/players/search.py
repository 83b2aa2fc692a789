"""`search`: plays every candidate move out in many imagined worlds, and moves only where the evidence carries it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env.kernel import belief
from okgin_env.kernel.policies import CAMPER, POLICY_IDS
from okgin_env.kernel.rng import fill_words
from okgin_env.kernel.search import EAGER, try_moves
from okgin_env.kernel.state import as_records
from okgin_env.layout import BIG_GIN, DRAW_TOP, KNOCK, N_CARDS, PASS
from okgin_env.players.base import Decisions, Player
from okgin_env.players.equity import FILE, NO_EQUITY, equity_table
from okgin_env.players.expert import EXPERT, ExpertPlayer
from okgin_env.players.scripted import ScriptedPlayer
from okgin_env.rules import Rules
from okgin_env.utils.errors import shown

BLOCK = 32  # worlds between two looks at the evidence
MAX_WORLDS = 1 << 20
MAX_GATE = 1000  # a finite one: times an error of 0 it is 0
FEW = 64  # worlds before a move may be dropped


@dataclass(frozen=True)
class SearchPlayer(Player):
    """Looks ahead by playouts from worlds drawn from what its seat may see.

    The base policy's move is played unless another is better by `gate` standard errors of the paired difference; moves that fall
    behind it by as much are dropped on the way. Same decision, same answer, however many threads there are.

    Attributes:
        worlds: Imagined worlds a decision, at most.
        milliseconds: Time for a decision after which no more worlds are begun; None: no limit (answers that hang on
            the clock are not the same every time).
        base: Player whose move is played when nothing is clearly better: a scripted one, or `expert`.
        own: Scripted player that stands for oneself in playouts; the patient `hunter` stops only on gin.
        theirs: Scripted players that stand for the others in playouts, world by world in turn, joined by "+": who takes
            everybody for a `camper` errs against those who knock at once, and the other way round. Where an imagined hand
            could have been knocked with, the first of them that does not knock at once plays it (`camper`, if all do).
        gate: Standard errors by which a move must be better.
        equity: Whether to go by the chance to win the match in matches; in single hands points are what counts.
        develop: How developed the others' imagined hands are: a factor of `kernel.belief.PULL`; 0: cards at random.
        threads: Threads that play out worlds.
    """

    worlds: int = 512
    milliseconds: float | None = None
    base: str = "camper"
    own: str = "hunter"
    theirs: str = "camper+knocker"
    gate: float = 2.0
    equity: bool = True
    develop: float = 1.0
    threads: int = field(default=1, compare=False)
    name: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for what, names in (("base", [self.base]), ("own", [self.own]), ("theirs", self._others)):
            allowed = (*POLICY_IDS, EXPERT) if what == "base" else POLICY_IDS
            if not set(names) <= set(allowed):
                several = ', or several joined by "+"' if what == "theirs" else ""
                raise ValueError(
                    f"search: {what}={shown(getattr(self, what))}; allowed: {', '.join(allowed)}{several}"
                )
        if not 1 <= self.worlds <= MAX_WORLDS:
            raise ValueError(f"search: worlds={self.worlds}; allowed: 1 to {MAX_WORLDS}")
        if self.milliseconds is not None and not self.milliseconds > 0:
            raise ValueError(f"search: milliseconds={self.milliseconds}; allowed: above 0")
        if not 0 <= self.gate <= MAX_GATE:
            raise ValueError(f"search: gate={self.gate}; allowed: 0 to {MAX_GATE}")
        if not 0 <= self.develop <= 10:
            raise ValueError(f"search: develop={self.develop}; allowed: 0 to 10")
        if self.threads < 1:
            raise ValueError(f"search: threads={self.threads}; allowed: 1 or more")
        object.__setattr__(self, "name", self._spec())

    @property
    def deals_per_task(self) -> int:
        """Few: a hand takes a second or so."""
        return 4

    @property
    def _base(self) -> Player:
        return ExpertPlayer() if self.base == EXPERT else ScriptedPlayer(self.base)

    def check_rules(self, rules: Rules) -> None:
        """Checks that the base player can play by the rules.

        Raises:
            ValueError: It cannot.
        """
        self._base.check_rules(rules)

    @property
    def _others(self) -> list[str]:
        return self.theirs.split("+")

    @property
    def fingerprint_files(self) -> tuple[Path, ...]:
        """Further files that decide its moves, besides this one and the kernel."""
        return Path(__file__).with_name("equity.py"), FILE, *self._base.fingerprint_files

    def _spec(self) -> str:
        """`search:512`, and what differs from the defaults."""
        changed = [
            f"{name}={getattr(self, name)}"
            for name in _OPTIONS
            if name not in ("worlds", "threads")
            and getattr(self, name) != getattr(SearchPlayer, name)
        ]
        return ",".join([f"search:{self.worlds}", *changed])

    @classmethod
    def parse(cls, options: str) -> SearchPlayer:
        """From the part of a spec after `search:`: worlds first, then options, such as ``512,theirs=camper``.

        Raises:
            ValueError: An unknown option or a value that is not allowed.
        """
        found: dict[str, Any] = {}
        for k, part in enumerate(options.split(",") if options else []):
            name, equals, value = part.partition("=")
            if k == 0 and not equals:
                name, value = "worlds", part
            if name not in _OPTIONS or name in found:
                raise ValueError(
                    f"search: {shown(part)}; allowed: each once: {', '.join(_OPTIONS)}"
                )
            try:
                found[name] = _OPTIONS[name](value)
            except (ValueError, KeyError) as error:
                raise ValueError(f"search: {shown(part)}; allowed: a value for {name}") from error
        return cls(**found)

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Thinks about one decision after the other."""
        base = self._base.act(decisions)
        return np.array([self._think(decisions, k, int(move)) for k, move in enumerate(base)])

    def _think(self, decisions: Decisions, k: int, base: int) -> int:
        moves = _candidates(decisions, k, base)
        if len(moves) == 1:
            return int(moves[0])
        return int(moves[_best(self.values(decisions, k, moves), self.gate)])

    def values(self, decisions: Decisions, k: int, moves: NDArray[np.int64]) -> NDArray[np.float64]:
        """The worth of moves in imagined worlds.

        Args:
            decisions: Decisions.
            k: Which of them.
            moves: (C,) action ids, the base policy's first.

        Returns:
            (W, C) points of the hand, or chances to win the match; nan from where a move was dropped.
        """
        end = None if self.milliseconds is None else time.perf_counter() + self.milliseconds / 1000
        values = np.empty((self.worlds, len(moves)))  # written to block by block
        alive = np.ones(len(moves), np.bool_)
        others = np.array([POLICY_IDS[name] for name in self._others])
        done = 0
        while done < self.worlds and alive.sum() > 1:
            block = slice(done, min(done + BLOCK, self.worlds))
            theirs = others[np.arange(block.start, block.stop) % len(others)]
            words = np.empty(len(theirs), np.uint64)
            fill_words(decisions.words[k], done, words)
            self._try(decisions, k, words, theirs, moves, alive, values[block])
            done = block.stop
            if done >= FEW:
                _drop(values[:done], alive, max(self.gate, 1.0))
            if end is not None and time.perf_counter() >= end:
                break
        return values[:done]

    def _try(
        self,
        decisions: Decisions,
        k: int,
        words: NDArray[np.uint64],
        theirs: NDArray[np.int64],
        moves: NDArray[np.int64],
        alive: NDArray[np.bool_],
        values: NDArray[np.float64],
    ) -> None:
        """One compiled call, or one for each thread on its share of the worlds."""
        rules = decisions.rules
        view = decisions.records[k : k + 1]
        table = equity_table(rules) if self.equity and decisions.match else NO_EQUITY
        if (view["scores"] >= len(table)).any():  # a position by hand may be past the target
            table = NO_EQUITY
        swaps = belief.SWAPS if self.develop > 0 else 0
        before = (view, as_records(rules.to_record()), int(decisions.seats[k]))
        own = POLICY_IDS[self.own]
        patient = next(
            (p for p in map(POLICY_IDS.__getitem__, self._others) if p not in EAGER), CAMPER
        )
        after = (patient, table, self.develop * belief.PULL, belief.REGRET, swaps)

        def run(share: NDArray[np.int64]) -> None:
            part = np.full((len(share), len(moves)), np.nan)
            try_moves(
                *before,
                words[share],
                moves,
                alive,
                own,
                theirs[share],
                *after,
                view.copy(),
                view.copy(),
                part,
            )
            values[share] = part

        shares = np.array_split(np.arange(len(words)), self.threads)
        if self.threads == 1:
            run(shares[0])
            return
        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(run, shares))


_YES_NO = {"True": True, "False": False}
_OPTIONS: dict[str, Any] = {
    "worlds": int,
    "milliseconds": float,
    "base": str,
    "own": str,
    "theirs": str,
    "gate": float,
    "equity": _YES_NO.__getitem__,
    "develop": float,
    "threads": int,
}


def _candidates(decisions: Decisions, k: int, base: int) -> NDArray[np.int64]:
    """(C,) moves worth trying, the base policy's first: gin at once, else all but pointless knocks."""
    legal = np.flatnonzero(decisions.masks[k])
    if legal[-1] in (DRAW_TOP, PASS):
        return np.array([base, *legal[legal != base]])
    view = decisions.view(k)
    knocks = [int(a) for a in legal if KNOCK <= a < KNOCK + N_CARDS]
    left = {a: view.deadwood_without(a - KNOCK) for a in knocks}
    if legal[-1] == BIG_GIN:
        left[BIG_GIN] = 0
    best = min(left.values(), default=-1)
    if best == 0:  # gin wins most at once
        gins = [a for a, pips in left.items() if pips == 0]
        return np.array([base if base in gins else gins[-1]])
    moves = [int(a) for a in legal if a < N_CARDS or left[int(a)] == best]
    return np.array([base, *(a for a in moves if a != base)])


def _difference(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means and standard errors of every move's difference to the first one."""
    differences = values - values[:, :1]
    error = differences.std(axis=0, ddof=1) / np.sqrt(len(values))
    return differences.mean(axis=0), error


def _drop(values: NDArray[np.float64], alive: NDArray[np.bool_], gate: float) -> None:
    """Drops moves that are clearly worse than the best one so far; the first stays, to be compared with."""
    mean, _ = _difference(values[:, alive])
    chosen = np.flatnonzero(alive)
    best = chosen[int(np.argmax(mean))]
    behind = values[:, chosen] - values[:, best : best + 1]
    error = behind.std(axis=0, ddof=1) / np.sqrt(len(values))
    worse = behind.mean(axis=0) + gate * error < 0
    worse[0] = False
    alive[chosen[worse]] = False


def _best(values: NDArray[np.float64], gate: float) -> int:
    """The move that beats the first one by the gate and is best of these; else the first."""
    whole = np.flatnonzero(~np.isnan(values).any(axis=0))
    if len(values) < 2 or len(whole) < 2:
        return 0
    mean, error = _difference(values[:, whole])
    passed = mean > gate * error
    passed[0] = False
    if not passed.any():
        return 0
    return int(whole[int(np.argmax(np.where(passed, mean, -np.inf)))])
