"""Two players against each other on paired deals: every deck is played from every seat.

Player a takes each seat once while b takes all others, with the same deck and dealer each time. What the cards give to a seat
so falls on both players, and a difference between them shows with far fewer hands.
"""

from __future__ import annotations

import time
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from okgin_env.arena.deals import Tables
from okgin_env.arena.luck import Gauge
from okgin_env.arena.outcome import Played, Results
from okgin_env.players.base import Player, check_rules
from okgin_env.rules import Rules

CHUNK = 2048  # deals played at once
_TIMED_DEALS = 500  # behind a compiled player's speed
_HASH_START, _HASH_FACTOR = 0x8B51F9DD, 0x58F38DED  # of NumPy's SeedSequence.generate_state


def deal_streams(seed: int, first: int, n_deals: int) -> NDArray[np.uint64]:
    """(n_deals,) the random streams of deals `first`, `first + 1`, … of a seed, however many are asked for.

    They are the words of NumPy's `SeedSequence(seed).generate_state` from `first` on, without those before them: making them, too,
    would slow a tournament down with every deal. Each half of a word is a number of the seed's pool, hashed with its own power of
    a constant.
    """
    pool = np.random.SeedSequence(seed).pool
    n, begin = 2 * n_deals, 2 * first
    factors = np.full(n + 1, _HASH_FACTOR, np.uint32)
    factors[0] = _HASH_START * pow(_HASH_FACTOR, begin, 1 << 32) % (1 << 32)
    hashes = np.multiply.accumulate(factors, dtype=np.uint32)
    halves = pool[(begin + np.arange(n)) % len(pool)] ^ hashes[:-1]
    halves *= hashes[1:]
    halves ^= halves >> np.uint32(16)
    return halves.astype("<u4").view("<u8").astype(np.uint64)


def play(
    a: Player,
    b: Player,
    rules: Rules,
    n_deals: int,
    seed: int,
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
    seed: int,
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
        seed: Seed of everything: same seed, same hands.
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
    table = Tables((a, b), rules, deal_streams(seed, first, n_deals), matches)
    try:
        table.play()
    finally:
        table.close()
    return table.played(gauge)


@lru_cache
def compiled_ms(player: Player, rules: Rules) -> float:
    """Milliseconds a decision of a compiled player, in whole hands against itself with all that the game costs."""
    streams = deal_streams(0, 0, _TIMED_DEALS)
    tables = [Tables((player, player), rules, streams, False) for _ in range(2)]
    tables[0].play()  # compiled before it is timed
    start = time.perf_counter()
    tables[1].play()
    return 1000.0 * (time.perf_counter() - start) / int(tables[1].states["n_acts"].sum())
