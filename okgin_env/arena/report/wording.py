"""Numbers for people, and a result in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env.arena.report.counts import Interval
from okgin_env.arena.report.data import Duel, Report
from okgin_env.players.base import FAULTS

_STRUCTURED = ("pairs", "ratings", "checks", "nash", "rules")  # shown elsewhere on the page
_FACTS = ("seed", "seeds", "hands", "matches", "version", "versions", "commit")  # these first
_MOST_NAMED = 6  # pairs that a sentence lists


def signed(value: float, digits: int = 2) -> str:
    """+1.23, −1.23, or – where there is no number."""
    if not math.isfinite(value):
        return "–"
    text = f"{value:+.{digits}f}"
    if float(text) == 0:
        text = text[1:]  # nobody is +0.00 ahead
    return text.replace("-", "−")


def plain(value: float, digits: int = 2) -> str:
    """1.23, −1.23, or –."""
    return f"{value:.{digits}f}".replace("-", "−") if math.isfinite(value) else "–"


def percent(share: float, digits: int = 1) -> str:
    """12.3 %, or –."""
    return f"{100 * share:.{digits}f} %" if math.isfinite(share) else "–"


def compact(count: float) -> str:
    """A count in at most four letters: 950, 1.2k, 35k, 1.2M."""
    for unit, sign in ((1e6, "M"), (1e3, "k")):
        if count >= unit:
            return f"{count / unit:.{0 if count >= 10 * unit else 1}f}{sign}"
    return f"{count:.0f}"


def span(interval: Interval, digits: int = 2) -> str:
    """An interval's ends: +0.10 to +0.42; +850 or more; "" where neither is known."""
    if not math.isfinite(interval.high):
        return f"{signed(interval.low, digits)} or more" if math.isfinite(interval.low) else ""
    if not math.isfinite(interval.low):
        return f"{signed(interval.high, digits)} or less"
    return f"{signed(interval.low, digits)} to {signed(interval.high, digits)}"


def rating(interval: Interval) -> str:
    """A rating: +123; at least +850 of a player that won everything, at most −850 of one that lost everything."""
    if math.isfinite(interval.low) == math.isfinite(interval.high):
        return signed(interval.value, 0)
    low = math.isfinite(interval.low)
    return f"at least {signed(interval.low, 0)}" if low else f"at most {signed(interval.high, 0)}"


def percent_span(interval: Interval) -> str:
    """The ends of a share's interval: 51.0 to 58.2 %."""
    if not (math.isfinite(interval.low) and math.isfinite(interval.high)):
        return ""
    low, high = max(0.0, interval.low), min(1.0, interval.high)
    return f"{100 * low:.1f} to {percent(high)}"


def p_text(p: float) -> str:
    """P < 0.001, p = 0.012; "" where there is none."""
    if math.isnan(p):
        return ""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def criterion(report: Report) -> str:
    """The meaning of "significant" on this page."""
    known = [duel for duel in report.duels if not math.isnan(duel.p)]
    if known and all(duel.adjusted for duel in known):
        return "p < 0.05 after Holm’s correction for the number of pairs"
    if known:
        return "p < 0.05"
    return "the 95 % interval leaves out zero"


def facts(report: Report) -> list[tuple[str, str]]:
    """The ingredients of the tournament (rules, seed, versions), as names and texts."""
    rules, content = report.outcome.rules, report.outcome.content
    to = f"to {rules.target} points" if rules.target else "single hands"
    found = [
        ("rules", rules.label),
        ("table", f"{rules.players} seats, {rules.hand_size} cards, {to}"),
        ("played", _played(report)),
    ]
    others = sorted(key for key in content if key not in (*_STRUCTURED, *_FACTS))
    for key in (*_FACTS, *others):
        value = content.get(key)
        if key in ("hands", "matches") and isinstance(value, int):
            value = f"{value:,}"
        if (text := _fact(value)) and (key, text) not in found:
            found.append((str(key).replace("_", " "), text))
    return found


def _fact(value: Any) -> str:
    """A plain value of the content as text; "" for one that is missing or too big to be read."""
    if isinstance(value, dict):
        parts = [f"{key} {part}" for key, part in sorted(value.items()) if _fact(part)]
        value = ", ".join(parts)
    elif isinstance(value, (list, tuple)):
        value = ", ".join(_fact(part) for part in value)
    if value is None or isinstance(value, bool):
        return {True: "yes", False: "no", None: ""}[value]
    return str(value) if len(str(value)) <= 300 else ""


def _played(report: Report) -> str:
    hands = sum(duel.hands for duel in report.duels)
    matches = sum(duel.matches for duel in report.duels)
    pairs = f"{len(report.duels)} pair{'s' if len(report.duels) > 1 else ''}"
    return f"{pairs}, {hands:,} hands" + (f", {matches:,} matches" if matches else "")


def summary(report: Report) -> list[str]:
    """The result in a few sentences, the first of which can stand alone."""
    if len(report.duels) == 1:
        found = [_two(report.duels[0])]
    else:
        found = [_leader(report), *_lead(report), _told_apart(report)]
    found += _upsets(report)
    forfeits = [f"{s.player} {_kinds(s.faults)}" for s in report.standings if s.faults.any()]
    if forfeits:
        found.append(f"Hands were forfeited: {'; '.join(forfeits)}.")
    failed = [
        check for check in report.outcome.content.get("checks") or () if not check.get("ok", True)
    ]
    if failed:
        names = ", ".join(str(check.get("name", "unnamed")) for check in failed)
        found.append(f"A check of the arena itself failed ({names}): do not rely on these numbers.")
    return found  # fmt: skip


def _two(duel: Duel) -> str:
    if not duel.differs:
        return (
            f"{duel.player} and {duel.against} cannot be told apart: {_points(duel.points)} "
            f"for {duel.player} over {duel.hands:,} hands."
        )
    points, winner, loser = duel.points, duel.player, duel.against
    if points.value < 0:
        points, winner, loser = points.mirrored(0.0), loser, winner
    return f"{winner} beats {loser} by {_points(points)} over {duel.hands:,} hands."


def _leader(report: Report) -> str:
    first, second = report.standings[:2]
    lead = f"{first.player} leads {len(report.standings)} players"
    gap = first.elo.value - second.elo.value
    if math.isfinite(first.elo.low) != math.isfinite(first.elo.high):
        return f"{lead}, rated {rating(first.elo)}"
    if math.isfinite(gap):
        return f"{lead}, {plain(gap, 0)} Elo ahead of {second.player}"
    return f"{lead} with {signed(first.points)} points a hand on average"


def _lead(report: Report) -> Iterator[str]:
    """The first player against the second."""
    first, second = report.players[:2]
    duel = report.duel(first, second)
    if duel is not None and duel.differs and duel.points.value < 0:
        yield f"Hand for hand, {first} loses to {second}: {_points(duel.points)}."
    elif duel is not None and duel.differs:
        yield f"Hand for hand, {first} beats {second} by {_points(duel.points)}."
    elif duel is not None:
        yield f"Hand for hand, {first} and {second} cannot be told apart: {_points(duel.points)}."


def _told_apart(report: Report) -> str:
    unclear = [f"{d.player} and {d.against}" for d in report.duels if not d.differs]
    if not unclear:
        return f"All {len(report.duels)} pairs differ significantly in points a hand."
    named = "; ".join(unclear[:_MOST_NAMED])
    more = f"; and {len(unclear) - _MOST_NAMED} more" if len(unclear) > _MOST_NAMED else ""
    return f"Not significant in points a hand: {named}{more}."


def _upsets(report: Report) -> Iterator[str]:
    """Pairs in which the worse-placed player wins, which a ranking cannot show."""
    first = set(report.players[:2])  # told of already
    upset = [
        d
        for d in report.duels
        if d.differs and d.points.value < 0 and {d.player, d.against} != first
    ]
    if upset:
        named = "; ".join(f"{d.against} beats {d.player}" for d in upset[:_MOST_NAMED])
        yield f"Against the order of the ratings, in points a hand: {named}."


def _kinds(faults: NDArray[np.int64]) -> str:
    return ", ".join(f"{n} {kind}" for kind, n in zip(FAULTS, faults.tolist(), strict=True) if n)


def _points(points: Interval) -> str:
    ends = span(points)
    return f"{signed(points.value)} points a hand" + (f" (95 %: {ends})" if ends else "")
