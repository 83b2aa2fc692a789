"""A tournament as a folder: a page to look at, figures to print and all numbers as CSV."""

from __future__ import annotations

import base64
import hashlib
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

try:
    from jinja2 import DictLoader, Environment, StrictUndefined
    from markupsafe import Markup

    from okgin_env.arena.report import charts
    from okgin_env.arena.report.csv_tables import csv_files
    from okgin_env.arena.report.figures import figure_files, page_charts
except ImportError as error:
    raise ImportError("the report needs: pip install 'okgin-env[arena]'") from error

import numpy as np
from numpy.typing import NDArray

from okgin_env import histories
from okgin_env.arena.outcome import KNOCK_LIMITS, KNOCK_TURNS, Outcome
from okgin_env.arena.report import wording
from okgin_env.arena.report.counts import FEW, Interval, Standing, number
from okgin_env.arena.report.data import Report, report
from okgin_env.arena.report.hands import ShownHand, chosen, packed, shown_hand
from okgin_env.layout import ENDINGS
from okgin_env.players.base import FAULTS
from okgin_env.utils.files import write_bytes, write_text

PAGE = "report.html"
_SCRIPTS = ("page.js", "list.js", "viewer.js")
_FILTERS = ("signed", "plain", "percent", "compact", "rating", "span", "percent_span", "p_text")
_TURNS = [*map(str, range(1, KNOCK_TURNS)), f"{KNOCK_TURNS}+"]
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
    kept = _all_shown(numbers.outcome)
    hands = [shown_hand(k, hand) for k, hand in enumerate(chosen(kept), 1)]
    return _environment().get_template("report.html.j2").render(
        css=Markup(charts.CSS),
        script=Markup(script),  # as it is: its digest is all that a browser runs
        script_hash=Markup(f"sha256-{digest}"),
        data=_script_data(hands),
        hands=hands,
        n_kept=len(kept),
        **_shown_numbers(numbers),
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
    names = ("report.html.j2", "tables.html.j2")
    made = Environment(
        loader=DictLoader({name: _template(name) for name in names}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {name: getattr(wording, name) for name in _FILTERS}
    made.globals |= {
        "few": FEW,
        "limits": range(KNOCK_LIMITS),
        "turns": _TURNS,
        "fault_kinds": FAULTS,
        "endings": ENDINGS,
        "hand_columns": _HAND_COLUMNS,
        "knock_grid": _knock_grid,
    }
    made.globals["limit_tables"] = partial(_limit_tables, made)
    return made


def _shown_numbers(numbers: Report) -> dict[str, Any]:
    """The numbers that the template shows."""
    content = numbers.outcome.content
    nash = _nash(content.get("nash") or {})
    return {
        "report": numbers,
        "charts": page_charts(numbers, nash["weights"]),
        "summary": wording.summary(numbers),
        "facts": wording.facts(numbers),
        "criterion": wording.criterion(numbers),
        "faults": [s for s in numbers.standings if s.faults.any()],
        "any_knocks": any(s.knocks.any() for s in numbers.standings),
        "checks": [_check(entry) for entry in content.get("checks") or ()],
        "nash": nash,
    }


def _check(entry: dict[str, Any]) -> dict[str, Any]:
    found = Interval(*(number(entry.get(key)) for key in ("value", "low", "high")))
    texts = {key: str(entry.get(key, "")) for key in ("name", "text")}
    return {"interval": found, "ok": bool(entry.get("ok", True)), **texts}


def _nash(entry: dict[str, Any]) -> dict[str, Any]:
    """The mixture, the heaviest first; empty where none was computed."""
    weights = {str(name): number(weight) for name, weight in (entry.get("weights") or {}).items()}
    heaviest = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    return {"weights": heaviest, "cyclicity": number(entry.get("cyclicity"))}


def _knock_grid(knocks: NDArray[np.int64]) -> list[list[list[int]]]:
    """(deadwood, column) pairs of could and did from (2, column, deadwood) counts, and a row of all deadwood."""
    counts = np.concatenate([knocks, knocks.sum(axis=2, keepdims=True)], axis=2)
    return counts.transpose(2, 1, 0).tolist()


def _limit_tables(environment: Environment, standing: Standing) -> str:
    """A player's knock tables by turn: under each limit, then under any."""
    body: Any = environment.get_template("tables.html.j2").module
    knocks = [*standing.knocks.swapaxes(0, 1), standing.knocks.sum(axis=1)]
    return packed([body.knock_body(_knock_grid(counts)) for counts in knocks])


def _script_data(hands: list[ShownHand]) -> dict[str, Any]:
    """The data that the page's script reads."""
    fields = ("seats", "ending", "by", "winner", "points", "turns")
    return {"hands": [{name: getattr(hand, name) for name in fields} for hand in hands]}
