"""The base class of all players: something that answers a batch of decisions."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import okgin_env.render  # noqa: F401 - views that players are handed can be printed
from okgin_env.kernel.policies import EXTERNAL
from okgin_env.layout import N_ACTIONS
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
        episode: "hand": the points of each hand are all that counts; "match": they are hands of matches.
    """

    rules: Rules
    records: NDArray[np.void]
    seats: NDArray[np.int64]
    observations: NDArray[np.int8]
    masks: NDArray[np.int8]
    words: NDArray[np.uint64]
    episode: str = "hand"

    def __len__(self) -> int:
        return len(self.seats)

    def __getitem__(self, chosen: slice) -> Decisions:
        """Some of the decisions."""
        rows = ("records", "seats", "observations", "masks", "words")
        return dataclasses.replace(self, **{name: getattr(self, name)[chosen] for name in rows})

    @property
    def match(self) -> bool:
        """Whether the hands are those of a match."""
        return self.episode == "match"

    def view(self, k: int) -> SeatView:
        """The k-th decision as a readable view."""
        return SeatView(self.records[k : k + 1], self.rules, int(self.seats[k]))

    def rng(self, k: int) -> np.random.Generator:
        """A random generator for the k-th decision."""
        return np.random.default_rng(int(self.words[k]))


def fault_action(fault: str) -> int:
    """The answer of a player that could not answer: no action id, so it forfeits, and it says why."""
    return N_ACTIONS + FAULTS.index(fault)


class Player:
    """Anything that plays: derive from it and write `act`, or derive from `Bot` and write `choose`.

    A player keeps no state between calls: a view holds the whole hand so far. The arena plays each of the mirrored games of a deal
    with another `copy.deepcopy` of it, so that state would not help. What else a table asks of it has a default:

    Attributes:
        name: What tables call it; by default its class's name.
        kernel_policy: Id of the compiled policy that plays for it inside the kernel; `EXTERNAL`: `act` is asked.
        one_by_one: Whether the arena is to play its hands one after the other and call `hand_over` for each, before its next.
        deals_per_task: Deals that the arena is to play at once; 0: as many as it thinks best.
        fingerprint: What tells it from another player of its name in stored results; None: its class's source and its
            settings do.
        fingerprint_files: Further files that decide its moves.
        last_trouble: What was wrong when its last answer was no legal move, in a line.
    """

    name: str  # no value here: it would be the default of a dataclass
    one_by_one: bool = False
    last_trouble: str = ""

    def __init_subclass__(cls) -> None:
        if "name" not in cls.__dict__ and "name" not in cls.__annotations__:
            cls.name = cls.__name__

    @property
    def kernel_policy(self) -> int:
        """See the class."""
        return EXTERNAL

    @property
    def deals_per_task(self) -> int:
        """See the class."""
        return 0

    @property
    def fingerprint(self) -> str | None:
        """See the class."""
        return None

    @property
    def fingerprint_files(self) -> tuple[Path, ...]:
        """See the class."""
        return ()

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Answers with (M,) action ids, one a decision."""
        raise TypeError(f"{type(self).__name__} is no complete Player: write act(decisions)")

    def check_rules(self, rules: Rules) -> None:
        """Raises a ValueError for rules that it cannot play by; by default it plays by all."""

    def hand_over(self, view: SeatView) -> None:
        """Is told how a hand has ended, if it plays `one_by_one`: all cards open, seen from its own seat."""

    def close(self) -> None:
        """Is told that no more hands are to come."""


def check_rules(player: Player, rules: Rules) -> None:
    """Asks a player whether it can play by some rules, before it has to.

    Raises:
        ValueError: It cannot, or it breaks down.
    """
    try:
        player.check_rules(rules)
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(
            f"player {player.name}: check_rules(): {type(error).__name__}: {error}"
        ) from error


class Bot(Player):
    """A player that thinks about one decision at a time: write `choose`.

    Example:
        >>> class Hoarder(Bot):
        ...     def choose(self, view, rng):
        ...         return view.legal[0]
    """

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
