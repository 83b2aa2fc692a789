"""Two players against each other on paired deals: every deck is played from every seat.

Player a takes each seat once while b takes all others, with the same deck and dealer each time. What the cards give to a seat
so falls on both players, and a difference between them shows with far fewer hands.
"""

from __future__ import annotations

import time
from functools import lru_cache

from okgin_env.arena.deals import Tables
from okgin_env.arena.decks import Decks
from okgin_env.arena.lives import keeps_nothing
from okgin_env.arena.luck import Gauge
from okgin_env.arena.outcome import Played, Results
from okgin_env.players.base import Player, check_rules
from okgin_env.rules import Rules

CHUNK = 2048  # deals played at once
_TIMED_DEALS = 500  # behind a compiled player's speed


def has_lives(a: Player, b: Player) -> bool:
    """Whether the games of a deal are played by separate lives of a player, in an order drawn by lot."""
    return not (keeps_nothing(a) and keeps_nothing(b))


def series(a: str, b: str, matches: bool) -> str:
    """The players and the kind of game, as what is left to chance hangs on them."""
    return f"{'matches' if matches else 'hands'} {a!r} {b!r}"


def play(
    a: Player,
    b: Player,
    rules: Rules,
    n_deals: int,
    seed: int | Decks,
    *,
    matches: bool = False,
) -> Results:
    """Plays the first deals of a seed; see `play_deals`.

    Raises:
        ValueError: No deals, or matches under rules without a target.
    """
    if n_deals < 1:
        raise ValueError(f"deals={n_deals!r}; allowed: 1 or more")
    runs = [(first, min(CHUNK, n_deals - first)) for first in range(0, n_deals, CHUNK)]
    return Results.joined(
        [play_deals(a, b, rules, seed, *deals, matches=matches).results for deals in runs]
    )


def play_deals(
    a: Player,
    b: Player,
    rules: Rules,
    seed: int | Decks,
    first: int,
    n_deals: int,
    *,
    matches: bool = False,
    gauge: Gauge | None = None,
) -> Played:
    """Plays a run of the paired deals of a seed; the same deals come out the same in any other run.

    Args:
        a: A player.
        b: Another, or the same.
        rules: The rules of the table.
        seed: Seed of everything, or the decks: same seed, same hands.
        first: The first deal.
        n_deals: Decks (or matches' streams of decks), each played from every seat.
        matches: Whether to play each deal on to the end of a match.
        gauge: Measures the luck of single hands.

    Raises:
        ValueError: Matches under rules without a target.
    """
    if matches and rules.target is None:
        raise ValueError("matches; allowed: rules with a target (this has target=None)")
    for player in (a, b):
        check_rules(player, rules)
    decks = seed if isinstance(seed, Decks) else Decks(seed)
    chance = decks.chance(rules, series(a.name, b.name, matches), first, n_deals, has_lives(a, b))
    table = Tables((a, b), rules, chance, matches)
    try:
        table.play()
    finally:
        table.close()
    return table.played(gauge)


@lru_cache
def compiled_ms(player: Player, rules: Rules) -> float:
    """Milliseconds a decision of a compiled player, in whole hands against itself with all that the game costs."""
    chance = Decks(0).chance(rules, "", 0, _TIMED_DEALS, mirrors=False)
    tables = [Tables((player, player), rules, chance, False) for _ in range(2)]
    tables[0].play()  # compiled before it is timed
    start = time.perf_counter()
    tables[1].play()
    return 1000.0 * (time.perf_counter() - start) / int(tables[1].states["n_acts"].sum())
