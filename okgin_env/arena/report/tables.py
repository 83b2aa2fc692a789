"""Results as a table that can be pasted, as text and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from okgin_env.utils.files import write_text

# Columns of the table; those of the first two names stand in every part of a table that is cut to a width.
_HEADS = (
    "player", "against", "hands", "points a hand (95 %)", "hands won", "matches won (95 %)",
    "knock / gin / undercut by player", "by opponent", "void", "turns", "illegal", "ms a move",
)  # fmt: skip
_N_NAMES = 2
_RATED_MATCHES = 200  # of a pair, at least, before ratings are told


def as_text(content: dict[str, Any], width: int | None = None) -> str:
    """The table, with what it was made from above it, and ratings and checks below it.

    Args:
        content: What a tournament left behind.
        width: Characters that a line of the table may have; None: as many as it takes.
    """
    pairs = content["pairs"]
    lines = [f"rules {content['rules']}{_decks(content)}", "", table(pairs, width)]
    n_matches = min(s["matches"] for s in pairs)
    if len(content["ratings"]) > 2 and 0 < n_matches < _RATED_MATCHES:
        few = f"{n_matches} matches a pair are too few; from {_RATED_MATCHES} on they are told"
        lines += ["", f"ratings: {few}"]
    elif len(content["ratings"]) > 2:
        rated = map(_rating, content["ratings"])
        scale = ", simple = 0" if any(r["player"] == "simple" for r in content["ratings"]) else ""
        lines += ["", f"ratings (Elo scale{scale}): {', '.join(rated)}"]
    even = [
        f"{s['a']} and {s['b']} ({_p(s['p_holm'])})" for s in content["pairs"] if s["p_holm"] > 0.05
    ]
    if even:
        lines += ["", f"not to be told apart by points (p, Holm): {', '.join(even)}"]
    if content.get("nash"):
        shares = content["nash"]["weights"].items()
        mix = ", ".join(
            f"{name} {100 * w:.0f} %"
            for name, w in sorted(shares, key=lambda s: -s[1])
            if w >= 0.005
        )
        lines += [
            "",
            f"Nash average: {mix}; cyclicity {content['nash']['cyclicity']:.2f} (0: a ladder)",
        ]
    for check in content.get("checks", ()):
        said = "as it should be" if check["ok"] else "NOT nothing: look at this"
        lines.append(
            f"\ncheck: {check['name']}: {check['value']:+.2f} ({check['low']:+.2f} to {check['high']:+.2f}), {said}"
        )
    for name, kinds in faults(content["pairs"]).items():
        told = ", ".join(f"{kind} {n:,}" for kind, n in kinds.items())
        lines += ["", f"hands that {name} forfeited: {told}"]
    for s in all_forfeited(content["pairs"]):
        lines += [
            "",
            f"{s['a']} and {s['b']}: every hand was forfeited, none was played to its end",
        ]
    if content.get("versions"):
        made = ", ".join(f"{name} {value}" for name, value in content["versions"].items())
        lines += ["", f"made with {made}"]
    return "\n".join(lines)


def _rating(entry: dict[str, Any]) -> str:
    """A player with its rating: one-sided where it won or lost everything."""
    name, low, high = entry["player"], entry["low"], entry["high"]
    note = f" ({entry['note']})" if entry["note"] else ""
    if entry["note"] == "fixed":
        return f"{name} 0{note}"
    if math.isfinite(low) and math.isfinite(high):
        return f"{name} {entry['elo']:+.0f} ({low:+.0f} to {high:+.0f})"
    if math.isfinite(low):
        return f"{name} at least {low:+.0f}{note}"
    if math.isfinite(high):
        return f"{name} at most {high:+.0f}{note}"
    return f"{name} {entry['elo']:+.0f} (of any size)"


def _decks(content: dict[str, Any]) -> str:
    """Where the decks came from, and who could know them."""
    seed = "" if content["seed"] is None else f", seed {content['seed']}"
    fresh = ", no deck played twice" if content.get("fresh") else ""
    return f"{seed}, decks {content['decks']}{fresh}" if "decks" in content else seed


def faults(summaries: Sequence[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Forfeited hands by player and kind, over all pairs; only what happened."""
    found: dict[str, dict[str, int]] = {}
    for entry in summaries:
        for name, kinds in entry["faults"].items():
            for kind, n in kinds.items():
                counts = found.setdefault(name, {})
                counts[kind] = counts.get(kind, 0) + n
    return found


def table(summaries: Sequence[dict[str, Any]], width: int | None = None) -> str:
    """The pairs as a Markdown table, to be pasted.

    Args:
        summaries: The pairs.
        width: Characters of a terminal's line; columns then stand below each other, and what would be wider comes as several
            tables. None: one table, without spaces to fill.
    """
    rows = [_HEADS, *map(_row, summaries)]
    if any("luck" in entry for entry in summaries):  # beside the raw points
        cells = ["without luck (95 %)", *map(_without_luck, summaries)]
        rows = [(*row[:4], cell, *row[4:]) for row, cell in zip(rows, cells, strict=True)]
    n_columns = len(rows[0])
    if width is None:
        return _markdown(rows, [*range(n_columns)], [0] * n_columns)
    widths = [max(len(row[k]) for row in rows) for k in range(n_columns)]
    names = [*range(_N_NAMES)]
    parts = [[*names]]
    for k in range(_N_NAMES, n_columns):
        taken = sum(widths[c] + 3 for c in [*parts[-1], k]) + 1
        if taken > width and parts[-1] != names:
            parts.append([*names])
        parts[-1].append(k)
    return "\n\n".join(_markdown(rows, part, widths) for part in parts)


def _markdown(rows: Sequence[Sequence[str]], columns: Sequence[int], widths: Sequence[int]) -> str:
    """Some columns of rows, of which the first is the head, filled up to their widths: names stand left, numbers right."""
    lines = [
        " | ".join(
            row[c].ljust(widths[c]) if c < _N_NAMES else row[c].rjust(widths[c]) for c in columns
        )
        for row in rows
    ]
    rule = "|".join(
        "-" * max(3, widths[c] + 2) if c < _N_NAMES else "-" * max(2, widths[c] + 1) + ":"
        for c in columns
    )
    head, *body = [f"| {line} |" for line in lines]
    return "\n".join([head, f"|{rule}|", *body])


def _row(s: dict[str, Any]) -> tuple[str, ...]:
    """The cells of a pair."""
    match = "-"
    if s["matches"]:
        low, high = (min(max(end, 0.0), 1.0) for end in s["match_ci95"])
        match = f"{_pc(s['match_win_rate'])} ({_pc(low)} to {_pc(high)})"
    low, high = s["ci95"]
    points = f"{s['points_per_hand']:+.2f} ({low:+.2f} to {high:+.2f}){_forfeits(s['forfeits'])}"
    return (
        _cell(s["a"]), _cell(s["b"]), f"{s['hands']:,}", points, _pc(s["hand_win_rate"]), match,
        _endings(s["by_a"]), _endings(s["by_b"]), _pc(s["void"]), f"{s['turns_per_hand']:.1f}",
        str(s["illegal"]), f"{s['ms_per_decision'][s['a']]:.4f}",
    )  # fmt: skip


def _without_luck(s: dict[str, Any]) -> str:
    """The mean of a pair with the luck of the draw taken out."""
    if "luck" not in s:
        return "-"
    low, high = s["luck"]["ci95"]
    return f"{s['luck']['points_per_hand']:+.2f} ({low:+.2f} to {high:+.2f})"


def _forfeits(n: int) -> str:
    """The forfeits that are in a mean."""
    return f" with {n:,} forfeit{'s' if n > 1 else ''}" if n else ""


def all_forfeited(summaries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The pairs of whose hands every one was forfeited."""
    return [entry for entry in summaries if entry["forfeits"] == entry["hands"]]


def _cell(name: str) -> str:
    """A name in a Markdown table, where a bar would end its cell."""
    return name.replace("|", "\\|")


def _p(value: float) -> str:
    return f"{value:.2f}" if value >= 0.01 else f"{value:.0e}"


def _pc(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f} %"


def _endings(by: dict[str, float]) -> str:
    gin = by["gin"] + by["big_gin"]
    return " / ".join(f"{100 * share:.1f}" for share in (by["knock"], gin, by["undercut"])) + " %"


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Writes JSON whole or not at all; what is not a number becomes null."""
    write_text(path, json.dumps(_plain(content), indent=1, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
