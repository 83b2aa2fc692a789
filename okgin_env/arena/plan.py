"""The plan of a tournament: rules, deals and matches."""

from __future__ import annotations

from dataclasses import dataclass

from okgin_env.rules import Rules


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A tournament that is to be played.

    Attributes:
        rules: The rules of the table.
        n_hands: Hands a pair (rounded down to whole deals, each played from every seat), or the most with `until`.
        n_matches: Matches a pair, rounded up; none are played under rules without a target.
        seed: Seed of the deals.
        first_only: Whether to play only the pairs of the first player.
        until: Stop a pair once the 95 % interval of its points a hand is at most this wide; None: play all hands.
        check: Whether to play the first player against its double too.
        engine: One of `engines.ENGINES`.
        workers: Processes that play; 0 with "ray": as many as it has processors.
        address: Of a Ray cluster.
    """

    rules: Rules
    n_hands: int = 20_000
    n_matches: int = 0
    seed: int = 0
    first_only: bool = False
    until: float | None = None
    check: bool = True
    engine: str = "local"
    workers: int = 1
    address: str | None = None

    def __post_init__(self) -> None:
        if self.n_hands < self.rules.players:
            raise ValueError(f"hands={self.n_hands}; allowed: {self.rules.players} or more")
        if self.n_matches < 0:
            raise ValueError(f"matches={self.n_matches}; allowed: 0 or more")
        if self.seed < 0:
            raise ValueError(f"seed={self.seed}; allowed: 0 or more")
        if self.until is not None and not self.until > 0:
            raise ValueError(f"until={self.until}; allowed: above 0")

    @property
    def n_deals(self) -> int:
        """Deals of single hands a pair."""
        return self.n_hands // self.rules.players

    @property
    def n_match_deals(self) -> int:
        """Deals that matches begin with, a pair."""
        return -(-self.n_matches // self.rules.players) if self.rules.target is not None else 0
