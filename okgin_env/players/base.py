"""What a player is: something that answers a batch of decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

import okgin_env.render  # noqa: F401 - views that players are handed can be printed
from okgin_env.kernel.policies import EXTERNAL
from okgin_env.layout import N_ACTIONS, layout
from okgin_env.rules import Rules
from okgin_env.view import SeatView

FAULTS = ("illegal", "crash", "time", "nonsense", "flood")
"""Ways to forfeit a hand: an illegal move; the player broke down; it thought too long; its answer was no action; it wrote
without end. A player says which by answering `fault_action`: like any number that is no action id, an illegal action."""


@dataclass(frozen=True)
class Decisions:
    """M decisions to be made, each in its own game, with all that the seat to move may see.

    Attributes:
        rules: The rules of the table (a player reads them from here, never from a constant).
        records: (M,) concealed `kernel.state.STATE` records.
        seats: (M,) int64, the seat to move in each.
        observations: (M, D) int8 observations, as the environment gives them.
        masks: (M, 108) int8 masks of the legal actions.
        words: (M,) uint64, a random number for each decision from the game's own stream: what a player draws
            from it is the same in every adapter.
    """

    rules: Rules
    records: NDArray[np.void]
    seats: NDArray[np.int64]
    observations: NDArray[np.int8]
    masks: NDArray[np.int8]
    words: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.seats)

    def __getitem__(self, chosen: slice) -> Decisions:
        """Some of the decisions."""
        return Decisions(
            self.rules,
            self.records[chosen],
            self.seats[chosen],
            self.observations[chosen],
            self.masks[chosen],
            self.words[chosen],
        )

    @property
    def match(self) -> bool:
        """Whether the hands are those of a match; else the points of each are all that counts."""
        return self.observations.shape[1] == layout(self.rules.players, match=True).size

    def view(self, k: int) -> SeatView:
        """The k-th decision as a readable view."""
        return SeatView(self.records[k : k + 1], self.rules, int(self.seats[k]))

    def rng(self, k: int) -> np.random.Generator:
        """A random generator for the k-th decision."""
        return np.random.default_rng(int(self.words[k]))


def kernel_policy(player: Player) -> int:
    """The policy id of a player that the kernel can run itself, else `kernel.policies.EXTERNAL`.

    A player says so with `kernel_policy`; an attribute called `policy` is the player's own business.
    """
    return getattr(player, "kernel_policy", EXTERNAL)


def fault_action(fault: str) -> int:
    """The answer of a player that could not answer: no action id, so it forfeits, and it says why."""
    return N_ACTIONS + FAULTS.index(fault)


def plays_one_by_one(player: Player) -> bool:
    """Whether a player wants one hand after the other instead of a batch of them (`one_by_one` on it is true)."""
    return bool(getattr(player, "one_by_one", False))


def check_rules(player: Player, rules: Rules) -> None:
    """Asks a player whether it can play by some rules, before it has to.

    Raises:
        ValueError: It cannot, or it breaks down.
    """
    checker = getattr(player, "check_rules", None)
    if checker is None:
        return
    try:
        checker(rules)
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(
            f"player {player.name}: check_rules(): {type(error).__name__}: {error}"
        ) from error


@runtime_checkable
class Player(Protocol):
    """Anything that plays. It keeps no state between calls: a view holds the whole hand so far.

    A player may also have
    `check_rules(rules)`, which raises a ValueError for rules that it cannot play by;
    `one_by_one = True`: the arena then plays its hands one after the other, and calls
    `hand_over(view: SeatView)` after each, with the whole hand open, seen from its own seat; and
    `close()`, called when no more hands are to come.
    """

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Answers with (M,) action ids, one a decision."""
        ...


class Bot:
    """Base class for a player that thinks about one decision at a time: write `choose`.

    Example:
        >>> class Hoarder(Bot):
        ...     def choose(self, view, rng):
        ...         return view.legal[0]
    """

    name: str = ""

    def __init_subclass__(cls) -> None:
        if "name" not in cls.__dict__:
            cls.name = cls.__name__

    def choose(self, view: SeatView, rng: np.random.Generator) -> int:
        """The action id for one decision.

        Args:
            view: What the seat to move may see; `view.legal` are the legal action ids.
            rng: Random generator of this decision: same game, same draws.
        """
        raise TypeError(f"{type(self).__name__} is no complete Bot: write choose(view, rng)")

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Asks `choose` for each decision."""
        chosen = [self.choose(decisions.view(k), decisions.rng(k)) for k in range(len(decisions))]
        for action in chosen:
            if not isinstance(action, (int, np.integer)):
                raise TypeError(
                    f"player {self.name}: choose() returned {action!r}; allowed: an action id"
                )
        return np.array(chosen, np.int64)
