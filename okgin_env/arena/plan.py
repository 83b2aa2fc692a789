"""The plan of a tournament, and the tasks that it is cut into."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from okgin_env.arena.decks import LABEL, check_secret
from okgin_env.arena.luck import MOST_PLAYOUTS, PLAYOUTS, TIERS
from okgin_env.rules import PRESETS, Rules, as_rules
from okgin_env.utils.commands import option
from okgin_env.utils.errors import check_choice

AGAIN = (None, "faults")
ENGINES = ("local", "ray")
MOST = 1 << 53  # deals, and the number of a deal


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A tournament that is to be played; each field is an option of `evaluate.py`, whose help explains it.

    `rules` may be given as a label, too, and is a `Rules` afterwards.

    Raises:
        ValueError: A field with a value that is not allowed.
    """

    rules: Rules = option(
        "classic",
        f"preset ({', '.join(PRESETS)}) or a variant such as 'classic(gin_bonus=20)'",
        kind=str,
    )
    seats: int | None = option(None, "seats at the table, 2 to 4 (default: 2)")
    n_hands: int = option(20_000, "hands a pair, rounded down to whole decks", "hands")
    n_matches: int | None = option(
        None,
        "matches a pair, rounded up to whole decks (default: a tenth of the hands; 0: none)",
        "matches",
    )
    seed: int | None = option(
        None,
        "same seed, same hands, for reproducible work: players could know the decks (default: a secret)",
    )
    secret: str | None = option(
        None, "play the decks of a tournament that is over again: the secret in its JSON"
    )
    fresh: bool = option(False, "play every hand and match from a deck of its own, no mirrors")
    first_only: bool = option(False, "play only the pairs of the first player", "first")
    until: float | None = option(
        None,
        "stop a pair early, once its interval is at most so many points wide; looked at after "
        "250, 500, 1000, … decks, which makes the interval a little too narrow",
    )
    again: str | None = option(
        None,
        "faults: play stored deals afresh in which a program crashed, hung, flooded or wrote nonsense",
    )
    luck: str | None = option(
        None,
        "none, fast or deep: also tell means with the luck of the draw taken out (default: fast for pairs "
        "with a player that is asked from outside, such as a program)",
    )
    playouts: int = option(PLAYOUTS, "with --luck deep, from every card that could have been drawn")
    check: bool = option(True, "play the first player against its double, too")
    engine: str = option("local", "local or ray; the results are the same")
    workers: int | None = option(
        None, "processes that play (default: 1; with ray: all of its processors)"
    )
    address: str | None = option(
        None, "of an existing Ray cluster (default: one is started on this machine)"
    )

    def __post_init__(self) -> None:
        rules = as_rules(self.rules, self.seats if isinstance(self.rules, str) else None)
        object.__setattr__(self, "rules", rules)
        if self.seats not in (None, rules.players):
            raise ValueError(f"seats={self.seats}; allowed: {rules.players}, as in {rules.label}")
        if self.n_hands < rules.players:
            raise ValueError(f"hands={self.n_hands}; allowed: {rules.players} or more")
        if (self.n_matches or 0) < 0:
            raise ValueError(f"matches={self.n_matches}; allowed: 0 or more")
        if self.n_matches and rules.target is None:
            raise ValueError(
                f"matches={self.n_matches}; allowed: 0, {rules.label} has single hands only"
            )
        if self.seed is not None and self.seed < 0:
            raise ValueError(f"seed={self.seed}; allowed: 0 or more")
        if self.secret is not None:
            check_secret(self.secret)
            if self.seed is not None:
                raise ValueError(f"seed={self.seed} and a secret; allowed: one of them")
        if self.until is not None and not self.until > 0:
            raise ValueError(f"until={self.until}; allowed: above 0")
        check_choice("again", self.again, AGAIN)
        check_choice("luck", self.luck, (None, *TIERS))
        if not 1 <= self.playouts <= MOST_PLAYOUTS:
            raise ValueError(f"playouts={self.playouts}; allowed: 1 to {MOST_PLAYOUTS}")
        self._check_engine()

    def _check_engine(self) -> None:
        if self.engine not in ENGINES:
            raise ValueError(f"engine {self.engine!r}; allowed: {', '.join(ENGINES)}")
        if self.address is not None and self.engine != "ray":
            raise ValueError(f"address={self.address!r}; allowed: with engine ray")
        least = 0 if self.engine == "ray" else 1
        if self.workers is not None and self.workers < least:
            raise ValueError(f"workers={self.workers}; allowed: {least} or more")

    @property
    def n_deals(self) -> int:
        """Deals of single hands a pair, each played from every seat."""
        return self.n_hands // self.rules.players

    @property
    def n_match_deals(self) -> int:
        """Deals that matches begin with, a pair."""
        n = self.n_hands // 10 if self.n_matches is None else self.n_matches
        return -(-n // self.rules.players) if self.rules.target is not None else 0


@dataclass(frozen=True)
class Task:
    """A run of paired deals for two players: what is played at once, and stored as one row.

    Attributes:
        seed: Seed of the deals, or the label of their `Decks`.
        a: Player a's name.
        b: Player b's name.
        kind: "hands" or "matches".
        first: The first deal.
        deals: How many.
    """

    seed: int | str
    a: str
    b: str
    kind: str
    first: int
    deals: int

    @property
    def series(self) -> tuple[str, str, str, str]:
        """The deals that this one's are some of, as the store has them: seed, players and kind."""
        return str(self.seed), self.a, self.b, self.kind

    @property
    def place(self) -> tuple[int, str, int]:
        """Its place among a pair's tasks of a kind: decks with labels first, then seeds by number, each in the order of deals."""
        return self.seed if isinstance(self.seed, int) else -1, str(self.seed), self.first

    @property
    def end(self) -> int:
        """The first deal after it."""
        return self.first + self.deals


def read_task(seed: Any, a: Any, b: Any, kind: Any, first: Any, deals: Any) -> Task | None:
    """The task that a row of the store is of; None: a row that cannot be of one."""
    texts = all(isinstance(value, str) for value in (seed, a, b, kind))
    numbers = all(isinstance(value, int) and 0 <= value < MOST for value in (first, deals))
    if not (texts and numbers and re.fullmatch(LABEL, seed)):
        return None
    return Task(int(seed) if seed.isdecimal() else seed, a, b, kind, first, deals)
