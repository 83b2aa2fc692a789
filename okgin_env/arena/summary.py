"""The summary of a pair, and of all pairs together: plain numbers for tables, JSON and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env.arena import luck, statistics
from okgin_env.arena.match import compiled_ms
from okgin_env.arena.outcome import Pair, Results
from okgin_env.layout import ENDINGS, ILLEGAL
from okgin_env.players.base import FAULTS, Player
from okgin_env.rules import Rules

SHARES = ("knock", "gin", "undercut", "void")
ENDED_BY = ("knock", "gin", "big_gin", "undercut", "illegal")
ANCHOR = "simple"  # rated 0 where it plays
N_RESAMPLED = 400  # bootstrap samples behind the ratings' intervals
_ALARM = 3.29 / 1.96  # from a 95 % interval to a 99.9 % one
_NAN = float("nan")


def summaries(
    pairs: Sequence[Pair], speeds: Mapping[str, float], most: float = np.inf
) -> list[dict[str, Any]]:
    """The entries of all pairs in the JSON file, with p-values corrected for their number.

    Args:
        pairs: What was played.
        speeds: Milliseconds a decision of each player.
        most: The most points of a hand (`Rules.most_points`).
    """
    entries = [summary(pair, speeds, most) for pair in pairs]
    corrected = statistics.holm([entry["p_points"] for entry in entries])
    return [{**entry, "p_holm": p} for entry, p in zip(entries, corrected, strict=True)]


def summary(pair: Pair, speeds: Mapping[str, float], most: float = np.inf) -> dict[str, Any]:
    """One pair's entry: points are a's minus b's, shares are of all hands."""
    hands, names = pair.hands, (pair.hands.a, pair.hands.b)
    points, low, high = statistics.clustered_mean(hands.points, most=most)
    decided = (hands.winner >= 0).astype(np.float64)
    played = [results for results in (hands, pair.matches) if results is not None]
    faults = np.sum([results.faults.sum(axis=(0, 1)) for results in played], axis=0)
    return {
        "a": hands.a,
        "b": hands.b,
        "hands": hands.points.size,
        "points_per_hand": points,
        "ci95": [low, high],
        "p_points": statistics.no_difference(hands.points),
        "p_sign": statistics.sign_test(hands.points),
        "hand_win_rate": statistics.clustered_mean(1.0 * (hands.winner == 0), decided)[0],
        **_matches(pair.matches),
        **{name: _share(hands, name, *(("big_gin",) if name == "gin" else ())) for name in SHARES},
        "turns_per_hand": float(hands.turns.mean()),
        "forfeits": int((hands.ending == ILLEGAL).sum()),
        "illegal": int(faults.sum()),
        "faults": {
            name: {kind: int(n) for kind, n in zip(FAULTS, counts, strict=True) if n}
            for name, counts in zip(names, faults, strict=True)
        },
        "by_a": {name: _share(hands, name, by=0) for name in ENDED_BY},
        "by_b": {name: _share(hands, name, by=1) for name in ENDED_BY},
        "ms_per_decision": {name: speeds[name] for name in names},
        **luck_part(hands, most),
    }


def luck_part(hands: Results, most: float) -> dict[str, Any]:
    """The part of a pair's entry with the luck taken out; nothing where it was not measured."""
    measured = hands.luck
    if measured is None:
        return {}
    points = luck.adjusted(hands.points, measured)
    mean, low, high = statistics.clustered_mean(points, most=most)
    raw, rest = (np.var(values.mean(axis=1)) for values in (hands.points, points))
    tier, fingerprint = measured.how.split(" ")
    part = {
        "tier": tier,
        "fingerprint": fingerprint,
        "points_per_hand": mean,
        "ci95": [low, high],
        "p_points": statistics.no_difference(points),
        "factor": float(raw / rest) if rest > 0 else _NAN,
        "hands": measured.hands,
        "ms_per_hand": 1000.0 * measured.seconds / max(1, measured.hands),
    }
    return {"luck": part}


def _matches(matches: Results | None) -> dict[str, Any]:
    """The part of a pair's entry that is of its matches."""
    if matches is None:
        return {"matches": 0, "match_win_rate": _NAN, "match_ci95": [_NAN, _NAN]}
    won = 1.0 * (matches.winner == 0)
    won[matches.winner < 0] = 0.5  # undecided after layout.MAX_MATCH_HANDS
    rate, low, high = statistics.clustered_share(won)
    return {"matches": won.size, "match_win_rate": rate, "match_ci95": [low, high]}


def _share(hands: Results, *endings: str, by: int | None = None) -> float:
    """Share of the hands that ended in one of some ways, by anybody or by one of the two players."""
    found = np.isin(hands.ending, [ENDINGS.index(name) for name in endings])
    return float((found if by is None else found & (hands.ended_by == by)).mean())


def ratings(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Bradley-Terry ratings on the Elo scale from matches (or hands), with 95 % intervals from resampled deals.

    `ANCHOR`, if it played, is 0, and the others' intervals are of their distance from it. An end is infinite where nothing
    bounds it: nobody won against a player that won everything. `note` says so in words. The anchor has no interval.
    """
    names, tallies = _tallies(pairs)
    rng = np.random.default_rng(0)
    anchor = names.index(ANCHOR) if ANCHOR in names else None
    wins = statistics.counted_wins(tallies, len(names))

    def rated(rng: np.random.Generator | None = None) -> NDArray[np.float64]:
        elo = statistics.bradley_terry(statistics.possible_wins(tallies, len(names), rng))
        return elo if anchor is None else elo - elo[anchor]

    elo, samples = rated(), [rated(rng) for _ in range(N_RESAMPLED)]
    low, high = np.percentile(samples, [2.5, 97.5], axis=0)
    no_low, no_high = statistics.unbounded(wins, anchor)
    if not tallies or any(t.n_deals < 2 for t in tallies):  # one deal says nothing of others
        no_low[:] = no_high[:] = True
    low[no_low], high[no_high] = -np.inf, np.inf
    rows = zip(names, elo.tolist(), low.tolist(), high.tolist(), strict=True)
    entries: list[dict[str, Any]] = [
        {"player": name, "elo": e, "low": lo, "high": hi, "note": _record(wins, k, anchor)}
        for k, (name, e, lo, hi) in enumerate(rows)
    ]
    if anchor is not None:
        entries[anchor] |= {"low": None, "high": None}
    return sorted(entries, key=lambda entry: -entry["elo"])


def _record(wins: NDArray[np.float64], k: int, anchor: int | None) -> str:
    """A remark on a player's rating, where its interval needs one."""
    if k == anchor:
        return "fixed"
    won, lost = wins[k].any(), wins[:, k].any()
    if won == lost:
        return ""
    return "won everything" if won else "lost everything"


def nash(pairs: Sequence[Pair]) -> dict[str, Any] | None:
    """Nash averaging's weights and the field's cyclicity; None unless all pairs of three or more players were played."""
    names, tallies = _tallies(pairs)
    if len(names) < 3 or len(pairs) < len(names) * (len(names) - 1) // 2:
        return None
    payoff = statistics.log_odds(statistics.counted_wins(tallies, len(names)))
    weights = statistics.nash_average(payoff)
    shares = {name: round(float(w), 4) for name, w in zip(names, weights, strict=True)}
    return {"weights": shares, "cyclicity": round(statistics.cyclicity(payoff), 4)}


def _tallies(pairs: Sequence[Pair]) -> tuple[list[str], list[statistics.Tally]]:
    """All names, and the deals of each pair by kind, with its players' places among the names."""
    names = sorted({name for pair in pairs for name in (pair.hands.a, pair.hands.b)})
    tallies = [
        statistics.tally(
            names.index(p.hands.a), names.index(p.hands.b), (p.matches or p.hands).winner
        )
        for p in pairs
        if p.hands.a != p.hands.b
    ]
    return names, tallies


def seat_check(pairs: Sequence[Pair], rules: Rules) -> dict[str, Any] | None:
    """The worth of sitting in seat 0, over all pairs: nothing, where the first dealer is drawn."""
    if rules.first_dealer != "random":
        return None
    n_deals = min(len(pair.hands.points) for pair in pairs)  # the pairs play the same deals
    columns = np.mean([pair.hands.points[:n_deals] for pair in pairs], axis=0)
    most = 2.0 * rules.most_points
    differences = columns[:, :1] - columns.mean(axis=1, keepdims=True)
    name = "seat 0 against the mean of all seats, points a hand"
    text = "nothing, since the first dealer is drawn"
    return _check(name, text, *statistics.clustered_mean(differences, most=most))


def clone_check(results: Results, most: float = np.inf) -> dict[str, Any]:
    """A player against its double, which only draws other random numbers: nothing."""
    name = f"{results.a} against its double, points a hand"
    found = statistics.clustered_mean(results.points, most=most)
    return _check(name, "nothing: it differs by chance only", *found)


def mirror_check(
    a: str, b: str, kind: str, points: NDArray[np.float64], most: float
) -> dict[str, Any]:
    """Whether a player remembers: a deal's later games against its first, in an order drawn by lot, so that seats do not matter.

    Args:
        a: Player a's name.
        b: Player b's name.
        kind: "hands" or "matches".
        points: (D, R) a's points, in the order in which games were played.
        most: No game brings more of them.
    """
    differences = points[:, 1:].mean(axis=1, keepdims=True) - points[:, :1]
    game = kind.removesuffix("es" if kind == "matches" else "s")
    name = f"{a} against {b}, a deal's later {kind} against its first, points a {game}"
    text = f"nothing: above it {a}, below it {b} knows decks that come again"
    found = _check(name, text, *statistics.clustered_mean(differences, most=2 * most))
    return {**found, "ok": statistics.no_difference(differences) >= 0.001}


def _check(name: str, text: str, value: float, low: float, high: float) -> dict[str, Any]:
    """A check whose answer is nothing; one in a thousand of those that are right is flagged, not one in twenty."""
    ok = bool(abs(value) <= max(value - low, high - value) * _ALARM)
    return {"name": name, "text": text, "value": value, "low": low, "high": high, "ok": ok}


def speeds(pairs: Sequence[Pair], players: Sequence[Player], rules: Rules) -> dict[str, float]:
    """Milliseconds a decision of each player: as it was in play, or for a compiled player in hands of its own."""
    spent = {player.name: np.zeros(2) for player in players}
    for pair in pairs:
        for part in (pair.hands, pair.matches):
            if part is not None:
                spent[part.a] += part.seconds[0], part.decisions[0]
                spent[part.b] += part.seconds[1], part.decisions[1]
    found: dict[str, float] = {}
    for player in players:
        seconds, decisions = spent[player.name].tolist()
        ms = 1000.0 * seconds / decisions if decisions else compiled_ms(player, rules)
        found[player.name] = ms
    return found
