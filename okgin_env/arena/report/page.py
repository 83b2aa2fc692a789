"""A tournament as a folder: a page to look at, figures to print and all numbers as CSV."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

try:
    from jinja2 import DictLoader, Environment, StrictUndefined
    from markupsafe import Markup

    from okgin_env.arena.report.figures import figure_files
except ImportError as error:
    raise ImportError("the report needs: pip install 'okgin-env[arena]'") from error

from okgin_env import histories
from okgin_env.arena.outcome import KNOCK_LIMITS, KNOCK_TURNS, Outcome
from okgin_env.arena.report import charts, wording
from okgin_env.arena.report.counts import ENDED_OWN, Interval, number
from okgin_env.arena.report.csv_tables import csv_files
from okgin_env.arena.report.data import Report, report
from okgin_env.arena.report.hands import OUTLINES, ShownHand, shown_hand
from okgin_env.layout import ENDINGS
from okgin_env.players.base import FAULTS
from okgin_env.utils.files import write_bytes, write_text

PAGE = "report.html"
_SCRIPTS = ("page.js", "list.js", "viewer.js")
_FILTERS = ("signed", "plain", "percent", "compact", "span", "percent_span", "p_text")
_HAND_COLUMNS = (  # key in the page's address, head, class
    ("number", "#", "num"), ("seats", "seats", ""), ("ending", "ending", ""), ("by", "ended by", ""),
    ("winner", "won by", ""), ("points", "points", "num"), ("turns", "turns", "num"),
)  # fmt: skip


def write_report(folder: Path, outcome: Outcome) -> Path:
    """Writes `report.html`, `hands.okgin` and `figures/`; same outcome, same bytes.

    Args:
        folder: Where to; made if it is missing. Files of an older report in it are replaced.
        outcome: What a tournament left behind.

    Returns:
        The page, which is written last: where it stands, all else does.

    Raises:
        ValueError: No pairs were played, or a shown hand does not replay to its stated result.
        OSError: A file cannot be written; it is then left as it was.
    """
    numbers = report(outcome)
    page = page_text(numbers)
    for name, text in csv_files(numbers).items():
        write_text(folder / "figures" / name, text)
    for name, content in figure_files(numbers).items():
        write_bytes(folder / "figures" / name, content)
    histories.write(folder / "hands.okgin", _all_shown(outcome))
    write_text(folder / PAGE, page)
    return folder / PAGE


def page_text(numbers: Report) -> str:
    """The page: one HTML document that asks for nothing else."""
    script = _script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    shown = enumerate(_all_shown(numbers.outcome), 1)
    hands = [shown_hand(number, hand) for number, hand in shown]
    return _environment().get_template("report.html.j2").render(
        css=Markup(_template("page.css")),
        script=Markup(script),  # as it is: its digest is all that a browser runs
        script_hash=Markup(f"sha256-{digest}"),
        data=_script_data(numbers, hands),
        **_page_numbers(numbers),
        **_page_hands(hands),
    )  # fmt: skip


def _all_shown(outcome: Outcome) -> list[histories.HandHistory]:
    return [hand for pair in outcome.pairs for hand in pair.shown]


def _template(name: str) -> str:
    return (resources.files("okgin_env.arena.report") / "templates" / name).read_text("utf-8")


def _script() -> str:
    """The page's only script, in one function, so that it leaves no names behind."""
    parts = "\n".join(_template(name) for name in _SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();'


def _environment() -> Environment:
    """Templates that escape all they are given and refuse what they are not given."""
    names = ("report.html.j2", "charts.html.j2")
    made = Environment(
        loader=DictLoader({name: _template(name) for name in names}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {name: getattr(wording, name) for name in _FILTERS}
    return made


def _page_numbers(numbers: Report) -> dict[str, Any]:
    """What the template shows of the numbers."""
    standings, content = numbers.standings, numbers.outcome.content
    histograms = [s.histogram for s in standings] + list(numbers.histograms)
    return {
        "report": numbers,
        "summary": wording.summary(numbers),
        "facts": wording.facts(numbers),
        "criterion": wording.criterion(numbers),
        "most": max(abs(duel.points.value) for duel in numbers.duels),
        "level": charts.level,
        "has_matches": any(duel.matches for duel in numbers.duels),
        "has_speed": any(s.ms == s.ms for s in standings),
        "scale": charts.rating_axis(numbers),
        "dot": charts.dot,
        "ended": [n for n in ENDED_OWN if n != "illegal" or any(s.own[n] for s in standings)],
        "segments": charts.ending_segments,
        "fault_kinds": FAULTS,
        "faults": [s for s in standings if s.faults.any()],
        "bars": charts.bars,
        "most_share": max(h.max() / max(1, h.sum()) for h in histograms),
        "any_knocks": any(s.knocks.any() for s in standings),
        "by_turn": charts.by_turn,
        "by_limit": charts.by_limit,
        "turns": _turns(),
        "limits": range(KNOCK_LIMITS),
        "few": charts.FEW,
        "checks": [_check(entry) for entry in content.get("checks") or ()],
        "nash": _nash(content.get("nash")),
    }


def _turns() -> list[str]:
    return [*(str(turn) for turn in range(1, KNOCK_TURNS)), f"{KNOCK_TURNS}+"]


def _check(entry: dict[str, Any]) -> dict[str, Any]:
    found = Interval(*(number(entry.get(key)) for key in ("value", "low", "high")))
    texts = {key: str(entry.get(key, "")) for key in ("name", "text")}
    return {"interval": found, "ok": bool(entry.get("ok", True)), **texts}


def _nash(entry: dict[str, Any] | None) -> dict[str, Any] | None:
    """The mixture, the heaviest first; None: none was computed."""
    if not entry or not entry.get("weights"):
        return None
    weights = {str(name): number(weight) for name, weight in entry["weights"].items()}
    heaviest = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    return {"weights": heaviest, "cyclicity": number(entry.get("cyclicity"))}


def _page_hands(hands: Sequence[ShownHand]) -> dict[str, Any]:
    """What the template shows of the hands."""
    endings = {hand.ending for hand in hands}
    return {
        "hands": hands,
        "hand_columns": _HAND_COLUMNS,
        "shown_endings": [name for name in ENDINGS if name in endings],
        "most_shown": max((hand.points for hand in hands), default=0),
    }


def _script_data(numbers: Report, hands: Sequence[ShownHand]) -> dict[str, Any]:
    """What the page's script reads."""
    fields = ("seats", "ending", "by", "winner", "points", "turns")
    return {
        "hands": [{name: getattr(hand, name) for name in fields} for hand in hands],
        "knocks": {s.player: charts.sparse_knocks(s) for s in numbers.standings},
        "turns": _turns(),
        "deadwood": numbers.standings[0].knocks.shape[-1],
        "few": charts.FEW,
        "outlines": [[(round(x, 4), round(y, 4)) for x, y in outline] for outline in OUTLINES],
    }
