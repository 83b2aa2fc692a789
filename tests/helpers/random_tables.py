"""Tables drawn by chance: rules with any values that are allowed, and decks that are rich in melds."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from okgin_env.layout import N_CARDS, N_RANKS
from okgin_env.rules import ALLOWED, PRESETS, Allowed, Rules

# Any value is drawn now and then; mostly these, so that hands are long and matches end.
LIKELY: dict[str, tuple[Any, ...]] = {
    "knock_limit": ("upcard",),
    "gin_bonus": (20, 25),
    "undercut_bonus": (10, 20, 25),
    "big_gin_bonus": (31, 50),
    "target": (None, 1, 2, 20, 60, 100, 200),
    "max_turns": (100, 100, 100, 12, 30, 60),
}


def random_rules(rng: Random) -> Rules:
    """A preset for 2 to 4 players, or (more often) a variant with every field drawn anew."""
    players = rng.choice((2, 2, 3, 4))
    if rng.random() < 0.3:
        return Rules.preset(rng.choice(PRESETS), players)
    drawn = {name: _drawn(name, allowed, rng) for name, allowed in ALLOWED.items()}
    if drawn["first_dealer"] != "random":  # a seat of this table
        drawn["first_dealer"] %= players
    return Rules(**{**drawn, "players": players})


def _drawn(name: str, allowed: Allowed, rng: Random) -> Any:
    """A value of a field: a likely one, or any that is allowed, bounds and words more often than their share."""
    if name in LIKELY and rng.random() < 0.7:
        return rng.choice(LIKELY[name])
    values = [False, True] if allowed.flag else [*allowed.words]
    if allowed.low is not None:
        values += [allowed.low, allowed.high, rng.randint(allowed.low, allowed.high)]
    return rng.choice(values)


def random_deck(
    rng: Random, kinds: Sequence[str] = ("plain", "suits", "ranks", "runs", "sets")
) -> list[int]:
    """A deck of 52 card ids, often stacked so that hands are rich in sets and runs."""
    kind = rng.choice(kinds)
    deck = list(range(N_CARDS))
    rng.shuffle(deck)
    if kind == "suits":  # two suits come first
        rich = rng.sample(range(4), 2)
        deck.sort(key=lambda card: card // N_RANKS not in rich)
    elif kind == "ranks":  # six neighbouring ranks come first
        low = rng.randrange(N_RANKS - 5)
        deck.sort(key=lambda card: not low <= card % N_RANKS < low + 6)
    elif kind == "runs":  # suit by suit, a little out of order
        spread = rng.choice((0.5, 2.0, 5.0))
        deck.sort(key=lambda card: card + rng.gauss(0, spread))
        at = rng.randrange(N_CARDS)
        deck = deck[at:] + deck[:at]
    elif kind == "sets":  # rank by rank, a little out of order
        spread = rng.choice((0.2, 1.0, 2.0))
        deck.sort(key=lambda card: card % N_RANKS + rng.gauss(0, spread))
        at = rng.randrange(N_CARDS)
        deck = deck[at:] + deck[:at]
    return deck
