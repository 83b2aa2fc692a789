"""Makes small tournaments for the report's tests, and, as a script, a report to look at.

python -m tests.helpers.tournaments FOLDER [SEATS [HANDS [SHOWN [PLAYER …]]]]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from okgin_env import Rules, analysis, cards, players
from okgin_env.arena import outcome as arena
from okgin_env.arena.match import play
from okgin_env.arena.statistics import bradley_terry, clustered_mean
from okgin_env.engine.decisions import view_of
from okgin_env.engine.games import Games
from okgin_env.histories import HandHistory
from okgin_env.layout import KNOCK, N_CARDS, OVER, SHED
from okgin_env.players.base import FAULTS, Player


def results(a: Player, b: Player, rules: Rules, deals: int, **more: Any) -> arena.Results:
    """What `arena.match.play` gives, as the report takes it."""
    made = play(a, b, rules, deals, 7, **more)
    fields = {
        name: getattr(made, name) for name in arena.Results.__annotations__ if hasattr(made, name)
    }
    none = np.zeros((*made.points.shape, 2, len(FAULTS)), np.int64)
    return arena.Results(**{"faults": none, **fields})  # fmt: skip


def hands(a: Player, b: Player, rules: Rules, n: int, seed: int = 3) -> list[HandHistory]:
    """Some hands of two players with all their cards; a sits in every seat in turn."""
    found: list[HandHistory] = []
    for k in range(n):
        seat = k % rules.players
        games = Games(1, rules, opponent=b, seat=seat)
        names = [a.name if p == seat else b.name for p in range(rules.players)]
        games.seed(np.zeros(1, np.int64), np.array([1000 * seed + k], np.uint64))
        finals: list[np.ndarray] = []
        games.recorder = lambda final, finals=finals: finals.append(final.copy())
        games.reset(np.zeros(1, np.int64))
        while games.states["phase"][0] != OVER and not finals:
            asked = games.decisions(np.zeros(1, np.int64))
            games.step(a.act(asked), np.zeros(1, np.int64), autoreset=False)
        found.append(HandHistory.from_record(finals[0], rules, names, seed=1000 * seed + k))
    return found


def knocks(a: str, shown: Sequence[HandHistory]) -> np.ndarray:
    """The counts of `Pair.knocks`, from replays."""
    shape = (2, 2, arena.KNOCK_LIMITS, arena.KNOCK_TURNS, arena.KNOCK_DEADWOOD)
    found = np.zeros(shape, np.int64)
    for hand in shown:
        turns = [0] * hand.rules.players
        states = [hand.start(), *hand.replay()]
        for state, (seat, action) in zip(states, hand.actions, strict=False):
            if state["phase"][0] != SHED:
                continue
            turns[seat] += 1
            view = view_of(state, hand.rules, hand.rules.to_record(), seat)
            able = [x - KNOCK for x in view.legal if KNOCK <= x < KNOCK + N_CARDS]
            if not able:
                continue
            least = min(_left(view.hand, card) for card in able)
            who = 0 if hand.names[seat] == a else 1
            at = view.limit, min(turns[seat], arena.KNOCK_TURNS) - 1, least
            found[who, 0][at] += 1
            found[who, 1][at] += KNOCK <= action < KNOCK + N_CARDS
    return found


def _left(hand: Sequence[str], card: int) -> int:
    return analysis.deadwood(" ".join(c for c in hand if c != cards.card_text(card)))


def tournament(
    names: Sequence[str], rules: Rules, deals: int, shown: int, *, measured: int = 0
) -> arena.Outcome:
    """Every pair of some built-in players.

    Args:
        names: Built-in players.
        rules: The rules of the table.
        deals: Decks a pair, each played from every seat.
        shown: Hands a pair to step through.
        measured: Hands a pair that knocks are counted in; 0: those shown.
    """
    made = [players.make(name) for name in names]
    pairs = []
    for k, (a, b) in enumerate(combinations(made, 2)):
        single = results(a, b, rules, deals)
        whole = results(a, b, rules, max(2, deals // 10), matches=True) if rules.target else None
        some = hands(a, b, rules, max(shown, measured), seed=k)
        pairs.append(arena.Pair(single, whole, knocks(a.name, some), tuple(some[:shown])))
    return arena.Outcome(rules, tuple(names), tuple(pairs), content(rules, pairs))


def content(rules: Rules, pairs: Sequence[arena.Pair]) -> dict[str, Any]:
    """What `evaluate.py --json` would write, with everything that the report can show."""
    entries = [_entry(pair) for pair in pairs]
    names = sorted({name for pair in pairs for name in (pair.hands.a, pair.hands.b)})
    wins = np.zeros((len(names), len(names)), np.int64)
    for pair in pairs:
        i, j = names.index(pair.hands.a), names.index(pair.hands.b)
        wins[i, j] += (pair.hands.winner == 0).sum()
        wins[j, i] += (pair.hands.winner == 1).sum()
    elo = bradley_terry(wins)
    rated = [
        {"player": name, "elo": float(e), "low": float(e) - 30 - 5 * k, "high": float(e) + 30 + 5 * k}
        for k, (name, e) in enumerate(zip(names, elo, strict=True))
    ]  # fmt: skip
    return {
        "rules": rules.label,
        "seed": 7,
        "version": "0.1.0",
        "commit": "0123abc",
        "pairs": entries,
        "ratings": sorted(rated, key=lambda entry: -entry["elo"]),
        "checks": [
            {"name": f"{names[0]} against itself", "value": 0.04, "low": -0.3, "high": 0.38, "ok": True, "text": "points a hand; must not differ from 0"},
            {"name": "seats", "value": 1.9, "low": 0.8, "high": 3.0, "ok": False, "text": "points that seat 0 has over seat 1"},
        ],
        "nash": {"weights": {names[0]: 0.75, names[-1]: 0.25}, "cyclicity": 0.125},
    }  # fmt: skip


def _entry(pair: arena.Pair) -> dict[str, Any]:
    hands = pair.hands
    points, low, high = clustered_mean(hands.points)
    p = 0.001 if low > 0 or high < 0 else 0.4
    entry = {"a": hands.a, "b": hands.b, "hands": hands.points.size, "points_per_hand": points}
    entry |= {"ci95": [low, high], "p_sign": p, "p_holm": min(1.0, 2 * p)}
    if pair.matches is not None:
        won = (pair.matches.winner == 0).astype(float)
        rate, low, high = clustered_mean(won)
        entry |= {"matches": won.size, "match_win_rate": rate, "match_ci95": [low, high]}
    return entry


if __name__ == "__main__":
    from okgin_env.arena.report.page import write_report

    folder, *numbers = sys.argv[1:]
    seats, n, n_shown = (int(x) for x in [*numbers[:3], *("2", "2000", "8")[len(numbers) :]])
    chosen = numbers[3:] or ["random", "novice", "simple", "knocker", "careful", "camper"]
    table = Rules.preset("classic" if seats == 2 else "french", seats)
    print(write_report(Path(folder), tournament(chosen, table, n // seats, n_shown, measured=60)))
