"""The summary of a pair, and of all pairs together: plain numbers for tables, JSON and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env.arena import statistics
from okgin_env.arena.match import compiled_ms
from okgin_env.arena.outcome import Pair, Results
from okgin_env.layout import ENDINGS
from okgin_env.players.base import FAULTS, Player
from okgin_env.rules import Rules

SHARES = ("knock", "gin", "undercut", "void")
ANCHOR = "simple"  # rated 0 where it plays
N_RESAMPLED = 400  # bootstrap samples behind the ratings' intervals
_ALARM = 3.29 / 1.96  # from a 95 % interval to a 99.9 % one
_NAN = float("nan")


def summaries(pairs: Sequence[Pair], speeds: Mapping[str, float]) -> list[dict[str, Any]]:
    """The entries of all pairs in the JSON file, with p-values corrected for their number.

    Args:
        pairs: What was played.
        speeds: Milliseconds a decision of each player.
    """
    entries = [summary(pair, speeds) for pair in pairs]
    corrected = statistics.holm([entry["p_points"] for entry in entries])
    return [{**entry, "p_holm": p} for entry, p in zip(entries, corrected, strict=True)]


def summary(pair: Pair, speeds: Mapping[str, float]) -> dict[str, Any]:
    """One pair's entry: points are a's minus b's, shares are of all hands."""
    hands = pair.hands
    points, low, high = statistics.clustered_mean(hands.points)
    decided = (hands.winner >= 0).astype(np.float64)
    entry: dict[str, Any] = {
        "a": hands.a,
        "b": hands.b,
        "hands": hands.points.size,
        "points_per_hand": points,
        "ci95": [low, high],
        "p_points": statistics.no_difference(hands.points),
        "p_sign": statistics.sign_test(hands.points),
        "hand_win_rate": statistics.clustered_mean((hands.winner == 0).astype(np.float64), decided)[
            0
        ],
        "matches": 0,
        "match_win_rate": _NAN,
        "match_ci95": [_NAN, _NAN],
        **{name: _share(hands, name) for name in SHARES},
        "turns_per_hand": float(hands.turns.mean()),
        "illegal": sum(_forfeits(results) for results in (hands, pair.matches) if results),
        "faults": {
            name: _faults([r for r in (hands, pair.matches) if r], player)
            for player, name in enumerate((hands.a, hands.b))
        },
        "by_a": _by(hands, 0),
        "by_b": _by(hands, 1),
        "ms_per_decision": {name: speeds[name] for name in (hands.a, hands.b)},
    }
    if pair.matches is not None:
        won = (pair.matches.winner == 0).astype(np.float64)
        won[pair.matches.winner < 0] = 0.5  # undecided after layout.MAX_MATCH_HANDS
        rate, low, high = statistics.clustered_mean(won)
        entry |= {"matches": won.size, "match_win_rate": rate, "match_ci95": [low, high]}
    return entry


def _share(hands: Results, name: str) -> float:
    """Share of the hands that ended so; gin includes big gin."""
    found = hands.ending == ENDINGS.index(name)
    if name == "gin":
        found = found | (hands.ending == ENDINGS.index("big_gin"))
    return float(found.mean())


def _by(hands: Results, player: int) -> dict[str, float]:
    """Shares of the hands that one player ended, by ending."""
    own = hands.ended_by == player
    names = ("knock", "gin", "big_gin", "undercut", "illegal")
    return {name: float((own & (hands.ending == ENDINGS.index(name))).mean()) for name in names}


def _forfeits(results: Results) -> int:
    return int(results.faults.sum())


def _faults(parts: Sequence[Results], player: int) -> dict[str, int]:
    """Hands a player forfeited, by kind; kinds that did not happen are left out."""
    counts = sum(
        (part.faults[:, :, player].sum(axis=(0, 1)) for part in parts),
        np.zeros(len(FAULTS), np.int64),
    )
    return {kind: int(n) for kind, n in zip(FAULTS, counts, strict=True) if n}


def ratings(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Bradley-Terry ratings on the Elo scale from matches (or hands), with 95 % intervals from resampled deals.

    `ANCHOR`, if it played, is 0, and the others' intervals are of their distance from it.
    """
    names = sorted({name for pair in pairs for name in (pair.hands.a, pair.hands.b)})
    winners = _winners(pairs, names)
    rng = np.random.default_rng(0)
    elo = _anchored(statistics.bradley_terry(statistics.counted_wins(winners, len(names))), names)
    samples = [
        _anchored(
            statistics.bradley_terry(statistics.resampled_wins(winners, len(names), rng)), names
        )
        for _ in range(N_RESAMPLED)
    ]
    low, high = np.percentile(samples, [2.5, 97.5], axis=0)
    if any(len(winner) < 2 for *_, winner in winners):  # a single deal says nothing of others
        low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    rows = zip(names, elo.tolist(), low.tolist(), high.tolist(), strict=True)
    rated = [{"player": name, "elo": e, "low": lo, "high": hi} for name, e, lo, hi in rows]
    return sorted(rated, key=lambda entry: -entry["elo"])


def nash(pairs: Sequence[Pair]) -> dict[str, Any] | None:
    """Nash averaging's weights and the field's cyclicity; None unless all pairs of three or more players were played."""
    names = sorted({name for pair in pairs for name in (pair.hands.a, pair.hands.b)})
    if len(names) < 3 or len(pairs) < len(names) * (len(names) - 1) // 2:
        return None
    payoff = statistics.log_odds(statistics.counted_wins(_winners(pairs, names), len(names)))
    weights = statistics.nash_average(payoff)
    shares = {name: round(float(w), 4) for name, w in zip(names, weights, strict=True)}
    return {"weights": shares, "cyclicity": round(statistics.cyclicity(payoff), 4)}


def _winners(pairs: Sequence[Pair], names: list[str]) -> list[tuple[int, int, NDArray[np.int8]]]:
    return [
        (names.index(p.hands.a), names.index(p.hands.b), (p.matches or p.hands).winner)
        for p in pairs
        if p.hands.a != p.hands.b
    ]


def _anchored(elo: NDArray[np.float64], names: list[str]) -> NDArray[np.float64]:
    return elo - elo[names.index(ANCHOR)] if ANCHOR in names else elo


def seat_check(pairs: Sequence[Pair], rules: Rules) -> dict[str, Any] | None:
    """The worth of sitting in seat 0, over all pairs: nothing, where the first dealer is drawn."""
    if rules.first_dealer != "random":
        return None
    n_deals = min(len(pair.hands.points) for pair in pairs)
    columns = np.mean(
        [pair.hands.points[:n_deals] for pair in pairs], axis=0
    )  # the pairs play the same deals
    mean, low, high = statistics.clustered_mean(
        columns[:, :1] - columns.mean(axis=1, keepdims=True)
    )
    name = "seat 0 against the mean of all seats, points a hand"
    return _check(name, "nothing, since the first dealer is drawn", mean, low, high)


def clone_check(results: Results) -> dict[str, Any]:
    """A player against its double, which only draws other random numbers: nothing."""
    name = f"{results.a} against its double, points a hand"
    return _check(
        name, "nothing: it differs by chance only", *statistics.clustered_mean(results.points)
    )


def _check(name: str, text: str, value: float, low: float, high: float) -> dict[str, Any]:
    """A check whose answer is nothing; one in a thousand of those that are right is flagged, not one in twenty."""
    far = max(value - low, high - value) * _ALARM
    return {
        "name": name,
        "text": text,
        "value": value,
        "low": low,
        "high": high,
        "ok": bool(abs(value) <= far),
    }


def speeds(pairs: Sequence[Pair], players: Sequence[Player], rules: Rules) -> dict[str, float]:
    """Milliseconds a decision of each player: as it was in play, or for a compiled player in hands of its own."""
    found: dict[str, float] = {}
    for player in players:
        played = [
            (part.seconds[k], part.decisions[k])
            for pair in pairs
            for part in (pair.hands, pair.matches)
            if part is not None
            for k, name in enumerate((part.a, part.b))
            if name == player.name
        ]
        seconds, decisions = (sum(column) for column in zip(*played, strict=True))
        found[player.name] = (
            1000.0 * seconds / decisions if decisions else compiled_ms(player, rules)
        )
    return found
