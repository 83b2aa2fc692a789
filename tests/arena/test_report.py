"""The report: its numbers are the arrays', its page needs nothing else, escapes everything and works in a browser."""

from __future__ import annotations

import base64
import csv
import dataclasses
import gzip
import io
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
pytest.importorskip("scipy")
pytest.importorskip("choix")

import okgin_env.arena.report.page as page_module
from okgin_env import Rules, histories
from okgin_env.arena.outcome import KNOCK_DEADWOOD, KNOCK_TURNS, Outcome
from okgin_env.arena.report import counts as page_counts
from okgin_env.arena.report import hands as page_hands
from okgin_env.arena.report import wording
from okgin_env.arena.report.counts import Interval
from okgin_env.arena.report.data import report
from okgin_env.arena.report.page import write_report
from okgin_env.arena.statistics import clustered_mean
from okgin_env.engine.decisions import view_of
from okgin_env.layout import ENDINGS, N_CARDS
from okgin_env.players.base import FAULTS
from okgin_env.render.pieces import Instruction, Rect, Text
from okgin_env.render.scene import compose
from okgin_env.render.style import SUIT_SIGNS
from tests.helpers.tournaments import tournament

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")  # fmt: skip
ROOT = Path(__file__).parents[2]
Drawn = tuple[ElementTree.Element, float, float]
FIGURES = ("pairs", "ratings", "endings", "points", "knocks")
NASTY = {
    "simple": "</script><img src=x onerror=alert(1)>",
    "novice": "\"'><svg onload=alert(2)> $x^2$ {{ 7 * 7 }}",
    "camper": "=cmd|' /C calc'!A0, & <b>Ωмега",
}


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return tournament(["novice", "simple", "camper"], Rules.preset("classic"), 60, 4, measured=12)


@pytest.fixture(scope="module")
def folder(outcome: Outcome, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("report")
    assert write_report(made, outcome) == made / "report.html"
    return made


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return (folder / "report.html").read_text()


class Elements(HTMLParser):
    """All elements of a page as (name, attributes), and texts by the id of their element."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._open: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "link", "br"):
            self._open.append((tag, dict(attrs).get("id")))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        for _, name in self._open:
            if name:
                self.texts[name] = self.texts.get(name, "") + data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def renamed(outcome: Outcome, names: dict[str, str]) -> Outcome:
    """The same tournament between players of other names."""
    pairs = []
    for pair in outcome.pairs:
        a, b = names[pair.hands.a], names[pair.hands.b]
        shown = tuple(
            dataclasses.replace(hand, names=tuple(names[name] for name in hand.names))
            for hand in pair.shown
        )
        hands = dataclasses.replace(pair.hands, a=a, b=b)
        matches = pair.matches and dataclasses.replace(pair.matches, a=a, b=b)
        pairs.append(dataclasses.replace(pair, hands=hands, matches=matches, shown=shown))
    text = json.dumps(outcome.content)
    for old, new in names.items():
        text = text.replace(json.dumps(old), json.dumps(new)).replace(f'"{old} against', f'{json.dumps(new)[:-1]} against')  # fmt: skip
    return Outcome(outcome.rules, tuple(names.values()), tuple(pairs), json.loads(text))


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((folder / "figures" / name).read_text())))


# --- files --------------------------------------------------------------------------------------------


def test_folder_holds_page_hands_figures_and_numbers(folder: Path, outcome: Outcome) -> None:
    tables = {"pairs", "ratings", "endings", "faults", "points", "knocks"}
    figures = {f"{name}.{kind}" for name in FIGURES for kind in ("png", "svg")}
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert found == {
        "report.html",
        "hands.okgin",
        *(f"figures/{name}" for name in figures),
        *(f"figures/{name}.csv" for name in tables),
    }
    shown = [hand for pair in outcome.pairs for hand in pair.shown]
    assert histories.read(folder / "hands.okgin") == shown


def test_same_outcome_same_bytes(folder: Path, outcome: Outcome, tmp_path: Path) -> None:
    write_report(tmp_path, outcome)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        assert path.read_bytes() == (tmp_path / path.relative_to(folder)).read_bytes(), path.name


def test_page_is_written_last(
    outcome: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(page_module, "write_bytes", full)
    monkeypatch.setattr(page_module, "figure_files", lambda numbers: {"pairs.png": b""})
    with pytest.raises(OSError, match="no space"):
        write_report(tmp_path, outcome)
    assert not (tmp_path / "report.html").exists()


def test_no_pairs_are_refused(outcome: Outcome, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no pairs; allowed: one or more"):
        write_report(tmp_path, dataclasses.replace(outcome, pairs=()))
    assert not any(tmp_path.iterdir())


def test_missing_libraries_are_named_in_one_line() -> None:
    code = (
        "import sys; sys.modules['jinja2'] = None\n"
        "try:\n    import okgin_env.arena.report.page\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "the report needs: pip install 'okgin-env[arena]'\n"


# --- numbers ------------------------------------------------------------------------------------------


def test_tables_hold_the_arrays_numbers(folder: Path, outcome: Outcome) -> None:
    for pair in outcome.pairs:
        hands, points = pair.hands, pair.hands.points
        row = next(r for r in rows(folder, "pairs.csv") if {r["player"], r["against"]} == {hands.a, hands.b})  # fmt: skip
        turn = 1 if row["player"] == hands.a else -1
        mean, low, high = clustered_mean(points * turn)
        found = [float(row[f"points_{name}"]) for name in ("a_hand", "low", "high")]
        assert found == pytest.approx([mean, low, high], abs=1e-12)
        assert int(row["hands"]) == points.size
        some = [r for r in rows(folder, "points.csv") if (r["player"], r["against"]) == (row["player"], row["against"])]  # fmt: skip
        assert sum(int(r["hands"]) for r in some) == points.size
        won = sum(int(r["hands"]) for r in some if int(r["points"]) >= 5)
        assert won == (points * turn > 2.5).sum()


def test_endings_are_counted_from_each_players_side(folder: Path, outcome: Outcome) -> None:
    for name in outcome.players:
        own = {kind: 0 for kind in (*ENDINGS, "total")}
        for pair in outcome.pairs:
            hands = pair.hands
            if name in (hands.a, hands.b):
                by = hands.ended_by == (0 if name == hands.a else 1)
                own["total"] += hands.ending.size
                for k, kind in enumerate(ENDINGS):
                    own[kind] += int(((hands.ending == k) & by).sum())
        table = {(r["ended_by"], r["ending"]): r for r in rows(folder, "endings.csv") if r["player"] == name}  # fmt: skip
        for kind in ("knock", "undercut", "illegal"):
            assert int(table["player", kind]["hands"]) == own[kind]
        assert int(table["player", "gin"]["hands"]) == own["gin"] + own["big_gin"]
        assert sum(int(row["hands"]) for row in table.values()) == own["total"]
        assert sum(float(row["share"]) for row in table.values()) == pytest.approx(1)


def test_knocks_are_the_counted_ones(folder: Path, outcome: Outcome) -> None:
    for name in outcome.players:
        expected = sum(
            pair.knocks[side]
            for pair in outcome.pairs
            for side, other in enumerate((pair.hands.a, pair.hands.b))
            if other == name
        )
        found = np.zeros_like(expected)
        for r in rows(folder, "knocks.csv"):
            if r["player"] == name:
                at = int(r["limit"]), int(r["turn"]) - 1, int(r["deadwood"])
                found[(0, *at)], found[(1, *at)] = int(r["could"]), int(r["did"])
        assert np.array_equal(found, expected)


def test_numbers_of_the_content_come_first(outcome: Outcome) -> None:
    entry = {"a": "novice", "b": "simple", "points_per_hand": -1.5, "ci95": [-2.0, -1.0], "p_sign": 0.2}  # fmt: skip
    duel = report(dataclasses.replace(outcome, content={"pairs": [entry]})).duel("novice", "simple")
    assert duel is not None
    assert (duel.points, duel.p, duel.adjusted) == (Interval(-1.5, -2.0, -1.0), 0.2, False)
    assert not duel.differs  # p was reported, so it decides and not the interval
    assert duel.mirrored().points == Interval(1.5, 1.0, 2.0)


def test_ratings_with_one_end(outcome: Outcome, tmp_path: Path) -> None:
    """As they come from memory (infinite) and from JSON (null), on the page, in its chart and as CSV."""
    rated = [
        {"player": "camper", "elo": 900.0, "low": 570.4, "high": np.inf, "note": "won everything"},
        {"player": "simple", "elo": 0.0, "low": None, "high": None, "note": "fixed"},
        {"player": "novice", "elo": -700.0, "low": None, "high": -310.2, "note": "lost everything"},
    ]
    made = dataclasses.replace(outcome, content={**outcome.content, "ratings": rated})
    assert "camper leads 3 players, rated at least +570" in wording.summary(report(made))
    write_report(tmp_path, made)
    text = (tmp_path / "report.html").read_text()
    for cells in ("at least +570|+570 or more", "0|–", "at most −310|−310 or less"):
        value, ends = cells.split("|")
        assert f'<td class="num">{value}</td><td class="num faint">{ends}</td>' in text
    assert "camper: at least +570" in text
    found = [(row["low"], row["high"]) for row in rows(tmp_path, "ratings.csv")]
    assert found == [("570.4", ""), ("", ""), ("", "-310.2")]


def test_faults_are_shown_by_kind(outcome: Outcome, tmp_path: Path) -> None:
    pair = outcome.pairs[0]
    faults = np.zeros((*pair.hands.points.shape, 2, len(FAULTS)), np.int64)
    faults[:3, 0, 1, FAULTS.index("time")] = 1
    hands = dataclasses.replace(pair.hands, faults=faults)
    pairs = (dataclasses.replace(pair, hands=hands), *outcome.pairs[1:])
    numbers = report(dataclasses.replace(outcome, pairs=pairs))
    assert f"Hands were forfeited: {hands.b} 3 time." in wording.summary(numbers)
    assert 'id="fault-table"' in page_module.page_text(numbers)


def test_histogram_is_the_same_from_both_sides() -> None:
    points = np.array([[12.0, -12.0], [0.0, 130.0], [-300.0, 300.0], [7.0, -7.0]])
    bins = np.arange(-30, 31) * 5
    one = page_counts.histogram_of(points, bins)
    assert np.array_equal(one, page_counts.histogram_of(-points, bins)[::-1])
    assert one.sum() == points.size
    assert one[-1] == 1


def test_numbers_in_words() -> None:
    assert wording.signed(-1.234) == "−1.23"
    assert wording.signed(-0.001) == "0.00"
    assert wording.signed(float("nan")) == "–"
    assert [wording.compact(n) for n in (950, 1240, 35_200, 1_200_000)] == ["950", "1.2k", "35k", "1.2M"]  # fmt: skip
    assert wording.percent_span(Interval(0.99, 0.97, 1.01)) == "97.0 to 100.0 %"


# --- the page -----------------------------------------------------------------------------------------


def test_page_asks_for_nothing_else(page: str) -> None:
    packed = (
        r'(<script type="text/plain"[^>]*>)([^<]*)'  # base64: anything may stand in it by chance
    )
    elements = Elements(page)
    contents = [opened(text) for _, text in re.findall(packed, page)]
    assert contents
    for text in (re.sub(packed, r"\1", page), json.dumps(contents)):
        asked = r"https?://|//cdn|@import|url\(|fetch\(|XMLHttpRequest|import\("
        assert not re.search(asked, text)
    assert not {"link", "img", "iframe", "object", "embed", "base"} & {n for n, _ in elements.found}
    for _, attributes in elements.found:
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
        assert not any(name.startswith("on") for name in attributes)


def test_links_labels_and_ids_fit(page: str) -> None:
    elements = Elements(page)
    ids = [a["id"] for _, a in elements.found if "id" in a]
    assert len(ids) == len(set(ids))
    targets = [(a["href"] or "")[1:] for a in elements.named("a")]
    targets += [a["for"] or "" for a in elements.named("label") if "for" in a]
    assert set(targets) <= set(ids)
    for attributes in elements.named("svg"):
        assert attributes.get("role") == "img"
        assert attributes.get("aria-label")


def test_charts_follow_the_theme_and_tell_their_numbers(page: str, outcome: Outcome) -> None:
    numbers = report(outcome)
    charts = re.findall(r'<svg class="drawn".*?</svg>', page, flags=re.DOTALL)
    ratings, endings, *small, nash = charts
    assert len(small) == len(numbers.standings) + len(numbers.duels)
    style = page[: page.index("</style>")]
    for chart in charts:
        assert not re.search(r"#\w{3}|url\(| id=|<image|<use", chart)
        assert set(re.findall(r"var\((--\w+)\)", chart)) <= set(re.findall(r"(--\w+):", style))
    for s in numbers.standings:
        assert f"<title>{s.player}: {wording.signed(s.elo.value, 0)} " in ratings
        assert f"<title>knock: {wording.percent(s.own['knock'])}</title>" in endings
        assert f"<title>gin by an opponent: {wording.percent(s.others['gin'])}</title>" in endings
    for name, weight in outcome.content["nash"]["weights"].items():
        assert f"<title>{name}: {wording.percent(weight)}</title>" in nash
    hands = [*(s.histogram for s in numbers.standings), *numbers.histograms]
    for chart, histogram in zip(small, hands, strict=True):
        found = re.findall(r"<title>(−?\d+) points \(±2\): ([\d,]+) hands</title>", chart)
        told = {int(points.replace("−", "-")): int(n.replace(",", "")) for points, n in found}
        bins = zip(numbers.bins.tolist(), histogram.tolist(), strict=True)
        assert told == {points: n for points, n in bins if n}


def test_figures_are_whole_and_tell_their_numbers(folder: Path, outcome: Outcome) -> None:
    for name in FIGURES:
        assert (folder / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        root = ElementTree.parse(folder / "figures" / f"{name}.svg").getroot()
        assert root.tag.endswith("svg")
    titles = (folder / "figures" / "endings.svg").read_text().count("<title>")
    assert titles >= 3 * len(outcome.players)


def test_names_are_escaped_everywhere(outcome: Outcome, tmp_path: Path) -> None:
    nasty = renamed(outcome, NASTY)
    write_report(tmp_path, nasty)
    text = (tmp_path / "report.html").read_text()
    elements = Elements(text)
    assert not elements.named("img")
    assert not elements.named("b") or "<b>Ω" not in text
    assert not any("onload" in a or "onerror" in a for _, a in elements.found)
    assert text.count("<script") == text.count("</script>")
    assert "49" not in elements.texts["summary"]
    assert NASTY["simple"] in elements.texts["cross-points"]
    assert {r["player"] for r in rows(tmp_path, "ratings.csv")} == set(NASTY.values())
    assert "<img" not in (tmp_path / "figures" / "pairs.svg").read_text()


def test_missing_content_is_tolerated(outcome: Outcome, tmp_path: Path) -> None:
    bare = tuple(
        dataclasses.replace(pair, matches=None, shown=(), knocks=np.zeros_like(pair.knocks))
        for pair in outcome.pairs[:1]
    )
    write_report(tmp_path, dataclasses.replace(outcome, pairs=bare, content={}))
    elements = Elements((tmp_path / "report.html").read_text())
    assert not {"hands", "checks", "nash", "cross-matches"} & elements.texts.keys()
    assert "No chances to knock" in elements.texts["knocking"]


def test_four_seats_and_a_player_against_itself(tmp_path: Path) -> None:
    rules = Rules.preset("french", 4)
    four = tournament(["simple", "knocker"], rules, 10, 1)
    text = write_report(tmp_path, four).read_text()
    package = unpacked(text, 1)
    assert len(package["pictures"]) == 5
    itself = dataclasses.replace(four.pairs[0].hands, b="simple")
    numbers = report(
        dataclasses.replace(
            four, pairs=(dataclasses.replace(four.pairs[0], hands=itself),), content={}
        )
    )
    assert numbers.players == ["simple"]
    assert numbers.standings[0].hands == 2 * itself.points.size
    assert "simple" in page_module.page_text(numbers)


# --- hands --------------------------------------------------------------------------------------------


def unpacked(text: str, number: int) -> dict[str, Any]:
    return opened(Elements(text).texts[f"hand-{number}"])


def opened(packed: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_pictures_are_the_scenes_of_what_each_seat_saw(outcome: Outcome, page: str) -> None:
    hand = outcome.pairs[0].shown[1]
    package = unpacked(page, 2)
    states = [hand.start(), *hand.replay()]
    names = page_hands.short_names(hand.names)
    for view in range(3):
        assert len(package["pictures"][view]) == len(states)
        for state, numbers in zip(states, package["pictures"][view], strict=True):
            seat, rules = max(0, view - 1), hand.rules
            seen = view_of(state, rules, rules.to_record(), seat, reveal=view == 0)
            light, dark = (compose(seen, theme, True, names) for theme in ("light", "dark"))
            found = [*drawn(package, numbers)]
            assert len(light.parts) == len(found) + 1
            for part in zip(found, light.parts, dark.parts, strict=False):
                check_drawn(*part)


def drawn(package: dict[str, Any], numbers: list[int]) -> Iterator[Drawn]:
    """The elements of a picture, each with how far it is moved, put together as the page's script does it."""
    for look, x, y in (package["places"][k] for k in numbers):
        for found in ElementTree.fromstring(f"<g>{package['looks'][look]}</g>"):
            yield found, x, y


def check_drawn(drawn: Drawn, light: Instruction, dark: Instruction) -> None:
    """An element is what both themes draw, each in its colours."""
    found, x, y = drawn
    colours = {light.fill, dark.fill}
    assert set(re.findall(r"#\w{6}", found.attrib["fill"])) == colours
    assert ("light-dark(" in found.attrib["fill"]) == (len(colours) > 1)
    if isinstance(light, Rect):
        left, top, *size = (float(found.attrib[name]) for name in ("x", "y", "width", "height", "rx"))  # fmt: skip
        assert [left + x, top + y, *size] == [light.x, light.y, light.w, light.h, light.radius]
    elif isinstance(light, Text):
        assert (float(found.attrib["x"]) + x, float(found.attrib["y"]) + y) == (light.x, light.y)
        assert found.text == light.text
    else:
        points = [tuple(map(float, pair.split(","))) for pair in found.attrib["points"].split()]
        assert np.allclose(np.add(points, (x, y)), light.points, atol=0.06)


def test_words_name_a_drawn_card_only_to_who_sees_it(outcome: Outcome, page: str) -> None:
    shown = [hand for pair in outcome.pairs for hand in pair.shown]
    for number, hand in enumerate(shown, 1):
        steps = unpacked(page, number)["steps"]
        assert len(steps) == len(hand.actions) + 1
        drawn = [step for step in steps if "from the stock" in step[1]]
        left = len(hand.deck) - 2 * hand.rules.hand_size - 1
        assert len(drawn) == left - (N_CARDS - int(hand.final()["next_card"][0]))
        for step in drawn:
            signs = "".join(SUIT_SIGNS.values())
            assert re.search(f"draws? .*[{signs}] from the stock", step[1])
            assert not re.search(f"[{signs}]", step[2].split("; " + hand.ending)[0])
            assert 0 <= step[3] < hand.rules.players


def test_a_shown_hand_replays_to_what_the_page_states(folder: Path, page: str) -> None:
    listed = json.loads(Elements(page).texts["data"])["hands"]
    kept = histories.read(folder / "hands.okgin")
    assert len(listed) == len(kept)
    for number, (entry, hand) in enumerate(zip(listed, kept, strict=True), 1):
        final = hand.final()
        assert (entry["seats"], entry["ending"]) == ([*hand.names], hand.ending)
        assert (entry["points"], entry["turns"]) == (max(hand.points), int(final["n_turns"][0]))
        package = unpacked(page, number)
        steps = len(package["steps"])
        assert [len(pictures) for pictures in package["pictures"]] == [steps] * 3
        scored = [f"{name} +{n}" for name, n in zip(hand.names, hand.points, strict=True) if n]
        assert package["steps"][-1][1].endswith(", ".join(scored) or "nobody scores")
        if hand.knocker is not None:
            for pictures in package["pictures"]:  # the last one is the showdown
                texts = [found.text for found, _, _ in drawn(package, pictures[-1])]
                assert [f"{n} points" for n in hand.points] == [t for t in texts if t and t.endswith(" points")]  # fmt: skip


# --- many pairs -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def crowd(outcome: Outcome) -> Outcome:
    """Twenty players, each pair with the results and the hands of one that was played."""
    names = [f"player {k}" for k in range(20)]
    pairs = []
    for k, (a, b) in enumerate(combinations(names, 2)):
        pair = outcome.pairs[k % len(outcome.pairs)]
        called = {pair.hands.a: a, pair.hands.b: b}
        shown = tuple(
            dataclasses.replace(hand, names=tuple(called[name] for name in hand.names))
            for hand in pair.shown
        )
        hands = dataclasses.replace(pair.hands, a=a, b=b)
        pairs.append(dataclasses.replace(pair, hands=hands, matches=None, shown=shown))
    return Outcome(outcome.rules, tuple(names), tuple(pairs), {})


def test_shown_hands_are_capped_and_the_page_says_so(crowd: Outcome, tmp_path: Path) -> None:
    text = write_report(tmp_path, crowd).read_text()
    elements = Elements(text)
    listed = json.loads(elements.texts["data"])["hands"]
    kept = [hand for pair in crowd.pairs for hand in pair.shown]
    assert len(listed) == page_hands.MOST < len(kept) == 4 * 190
    assert "Shown are 100 of 760 hands that were kept" in elements.texts["hands"]
    assert "All that were kept are in hands.okgin" in elements.texts["hands"]
    assert histories.read(tmp_path / "hands.okgin") == kept
    assert f"hand-{page_hands.MOST}" in elements.texts
    assert f"hand-{page_hands.MOST + 1}" not in elements.texts
    times = [sum(name in entry["seats"] for entry in listed) for name in crowd.players]
    assert max(times) - min(times) <= 1
    assert {entry["ending"] for entry in listed} == {hand.ending for hand in kept}
    assert len(re.findall(r'<svg class="drawn"', text)) == 190 + 20 + 2
    assert len(text) < 2_500_000
    assert (tmp_path / "figures" / "pairs.png").stat().st_size < 500_000


def test_few_hands_are_all_shown(outcome: Outcome, page: str) -> None:
    kept = [hand for pair in outcome.pairs for hand in pair.shown]
    assert page_hands.chosen(kept) == kept
    assert "Shown are" not in Elements(page).texts["hands"]
    assert page_hands.chosen(kept, 5) == page_hands.chosen(kept, 5)
    assert len(page_hands.chosen(kept, 5)) == 5


def test_short_names_fit_and_differ() -> None:
    assert page_hands.short_names(["simple", "camper"]) == ["simple", "camper"]
    long = page_hands.short_names(["a" * 90, "a" * 80, "b"])
    assert len(set(long)) == 3
    assert max(len(name) for name in long) <= page_hands.LABEL


# --- in a browser ---------------------------------------------------------------------------------------


def browse(path: Path, where: str, probe: str = "") -> Elements:
    """The page as a browser has it, opened at an address and with a probe run on it; nothing may be complained of."""
    if probe:
        text = path.read_text()
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
        path = path.with_name("probed.html")
        path.write_text(text.replace("</body>", f"<pre id='probe'></pre><script>{probe}</script></body>"))  # fmt: skip
    command = [
        str(CHROMIUM), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
        f"--user-data-dir={path.parent / 'browser'}", "--enable-logging=stderr",
        "--virtual-time-budget=10000", "--dump-dom", f"file://{path}#{where}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not complaints
    assert done.stdout, done.stderr
    return Elements(done.stdout)


PROBE = """
(async () => {
  const seen = [], byId = (id) => document.getElementById(id);
  const until = async (test) => { for (let k = 0; k < 200 && !test(); k++) await new Promise((r) => setTimeout(r, 20)); };
  const note = () => seen.push(byId("count").textContent);
  const press = (key, target = byId("viewer")) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const button = (name) => document.querySelector(`[data-go="${name}"]`);
  await until(() => document.querySelector("#board svg"));
  note();
  for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight", "Home", "ArrowLeft"]) { press(key); note(); }
  button("last").click(); note();
  button("back").click(); note();
  button("play").click(); await until(() => button("play").textContent === "Play"); note();
  byId("theme").click(); seen.push(document.documentElement.dataset.theme);
  const title = byId("hand-title").textContent;
  const radios = [...document.querySelectorAll("#views input")];
  const noted = () => byId("count").textContent + radios.findIndex((radio) => radio.checked);
  radios[2].click(); press("Home", radios[2]); seen.push(noted()); press("ArrowRight", radios[2]); seen.push(noted());
  press("n"); await until(() => byId("hand-title").textContent !== title);
  seen.push(byId("hand-title").textContent.split(":")[0]);
  const head = document.querySelector('th[data-key="points"] button');
  head.click();
  const points = [...document.querySelectorAll("#hand-table tbody tr")].map((row) => parseInt(row.cells[5].textContent, 10));
  seen.push(String(points.every((x, k) => k === 0 || x <= points[k - 1])));
  byId("limit").value = "10"; byId("limit").dispatchEvent(new Event("change"));
  seen.push(location.hash);
  byId("probe").textContent = JSON.stringify(seen);
})();
"""


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
def test_address_opens_hand_step_view_and_filter(folder: Path, outcome: Outcome) -> None:
    found = browse(folder / "report.html", "hand=3&step=5&view=1&player=simple&theme=dark")
    hand = outcome.pairs[0].shown[2]
    assert found.texts["hand-title"] == f"Hand 3: {' · '.join(hand.names)}"
    assert found.texts["count"] == f"5 of {len(hand.actions)}"
    seat = hand.actions[4][0]
    assert found.texts["words"].startswith(f"{hand.names[seat]} (seat {seat}) ")
    assert any((a.get("viewbox") or "").startswith("0 0 900") for a in found.named("svg"))
    shown = [hand for pair in outcome.pairs for hand in pair.shown]
    listed = [a for a in found.named("tr") if "data-hand" in a and "hidden" not in a]
    assert len(listed) == sum("simple" in hand.names for hand in shown)
    assert found.texts["found"] == f"{len(listed)} of {len(shown)} hands"
    assert found.named("html")[0]["data-theme"] == "dark"


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
def test_keys_buttons_sorting_and_limits_work(folder: Path, outcome: Outcome) -> None:
    last = len(outcome.pairs[0].shown[0].actions)
    found = browse(folder / "report.html", "hand=1&step=1", PROBE)
    seen = json.loads(found.texts["probe"])
    steps = [1, 2, 3, 2, last, last, 0, 0, last, last - 1, last]
    assert seen[: len(steps)] == [f"{step} of {last}" for step in steps]
    theme, home, arrow, title, is_sorted, address = seen[len(steps) :]
    assert home == arrow == f"0 of {last}2"  # arrows are the radio buttons' own keys
    assert theme in ("light", "dark")
    assert (title, is_sorted) == ("Hand 2", "true")
    assert {"hand=2", "view=1", "sort=-points", f"theme={theme}"} <= set(address[1:].split("&"))


LIMITS_PROBE = """
(async () => {
  const texts = () => [...document.querySelectorAll(".knocks td")].map((cell) => cell.textContent);
  const seen = [texts()], limit = document.getElementById("limit");
  for (const value of ["10", "3", ""]) {
    const last = [...document.querySelectorAll(".knocks tbody")].at(-2);
    limit.value = value;
    limit.dispatchEvent(new Event("change"));
    while (last.isConnected) await new Promise((r) => setTimeout(r, 20));
    seen.push(texts());
  }
  document.getElementById("probe").textContent = JSON.stringify(seen);
})();
"""


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
def test_any_limit_is_what_the_page_began_with(outcome: Outcome, tmp_path: Path) -> None:
    """Half a per cent is rounded up, and a large count is short, by whomever it is written."""
    pairs = []
    for pair in outcome.pairs:
        knocks = np.zeros_like(pair.knocks)
        knocks[:, :, 10, 0, 3] = 8000, 1000
        knocks[:, :, 3, 1, 2] = 30, 21
        pairs.append(dataclasses.replace(pair, knocks=knocks))
    write_report(tmp_path, dataclasses.replace(outcome, pairs=tuple(pairs)))
    seen = json.loads(browse(tmp_path / "report.html", "", LIMITS_PROBE).texts["probe"])
    before, ten, three, after = seen
    assert {"13", "16k", "70", "60"} <= set(before)
    n_cells = KNOCK_TURNS * (KNOCK_DEADWOOD + 2)  # a player's table by turn comes first
    assert {"13", "16k"} <= set(ten[:n_cells])
    assert {"70", "60"}.isdisjoint(ten[:n_cells])
    assert {"70", "60"} <= set(three[:n_cells])
    assert {"13", "16k"}.isdisjoint(three[:n_cells])
    assert after == before


VIEW_PROBE = """
(async () => {
  const chosen = () => document.querySelector("#views :checked");
  while (!chosen()) await new Promise((r) => setTimeout(r, 20));
  document.getElementById("probe").textContent = chosen().value;
})();
"""


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
@pytest.mark.parametrize("view", ["0.5", "-1"])
def test_an_address_without_such_a_seat_shows_all_cards(folder: Path, view: str) -> None:
    found = browse(folder / "report.html", f"hand=1&step=2&view={view}")
    assert found.texts["count"].startswith("2 of ")
    assert found.texts["views"].startswith("all cards")
    chosen = browse(folder / "report.html", f"hand=1&step=2&view={view}", VIEW_PROBE).texts["probe"]
    assert chosen == "open"


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
def test_nasty_names_do_nothing_in_a_browser(outcome: Outcome, tmp_path: Path) -> None:
    write_report(tmp_path, renamed(outcome, NASTY))
    found = browse(tmp_path / "report.html", "hand=2&step=3")
    assert not found.named("img")
    assert NASTY["novice"] in found.texts["hand-title"]
    assert NASTY["simple"] in found.texts["views"]
