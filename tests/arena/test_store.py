"""A store that is not believed: flipped bytes and made-up rows cost themselves, by name, and change no figure."""

from __future__ import annotations

import dataclasses
import logging
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rich")
pytest.importorskip("statsmodels")

from okgin_env import Rules, players
from okgin_env.arena.engines import Hall
from okgin_env.arena.match import play_deals
from okgin_env.arena.outcome import Played
from okgin_env.arena.plan import Plan, Task
from okgin_env.arena.replay import replay
from okgin_env.arena.store import consistency
from okgin_env.arena.store.fingerprints import fingerprint
from okgin_env.arena.store.store import Store
from okgin_env.arena.tournament import run
from okgin_env.kernel.jit import PLAIN
from okgin_env.layout import ENDINGS, N_ACTIONS
from tests.helpers.random_tables import random_rules

CLASSIC = Rules.preset("classic")
NAMES = ("camper", "knocker")
PLAN = Plan(rules=CLASSIC, n_hands=80, n_matches=8, check=False, seed=0)


class Wild(players.Bot):
    """Knocks as soon as it may, plays at random otherwise, and breaks down now and then."""

    name = "wild"

    def act(self, decisions):
        chosen = []
        for word, mask in zip(decisions.words.tolist(), decisions.masks, strict=True):
            legal = np.flatnonzero(mask)
            knocks = legal[((legal >= 52) & (legal < 104)) | (legal == 107)]
            best = knocks if len(knocks) else legal
            chosen.append(N_ACTIONS + 1 if word % 67 == 0 else best[(word >> 8) % len(best)])
        return np.array(chosen)


def figures(content: dict) -> dict:
    """All that is said but times and versions."""
    pairs = [{k: v for k, v in p.items() if k != "ms_per_decision"} for p in content["pairs"]]
    return {k: v for k, v in content.items() if k != "versions"} | {"pairs": pairs}


def evaluated(path: Path) -> dict:
    with sqlite3.connect(path):  # its journal, if one was left
        pass
    store = Store(path, CLASSIC)
    try:
        return figures(run(NAMES, PLAN, store=store, show_progress=False).content)
    finally:
        store.close()


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    """Few samples behind the ratings."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("okgin_env.arena.summary.N_RESAMPLED", 10)
        yield


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "r.sqlite"
    evaluated(path)
    return path


# --- rows that nobody made up ---------------------------------------------------------------------------


def tables(rng: Random, n_tables: int) -> None:
    """Plays at tables drawn by chance; no result may be refused."""
    names = ("random", "novice", "simple", "knocker", "careful", "camper")
    for _ in range(n_tables):
        rules = random_rules(rng)
        a, b = Wild(), players.make(rng.choice(names))
        pair = (a, b) if rng.random() < 0.4 else (b, players.make(rng.choice(names)))
        for kind in ("hands", "matches")[: 1 if rules.target is None else 2]:
            n = 2 if kind == "matches" else 20
            played = play_deals(*pair, rules, rng.getrandbits(32), 0, n, matches=kind == "matches")
            consistency.check(played.results, played.knocks, rules, kind)


@pytest.mark.skipif(PLAIN, reason="thousands of hands: compiled code only")
def test_honest_results_are_never_refused() -> None:
    tables(Random(1), 25)


@pytest.mark.slow
@pytest.mark.skipif(PLAIN, reason="thousands of hands: compiled code only")
def test_honest_results_are_never_refused_at_many_tables() -> None:
    tables(Random(2), 1000)


# --- bytes that changed ---------------------------------------------------------------------------------


def flip(
    stored: Path, folder: Path, seed: int, n: int, caplog: pytest.LogCaptureFixture
) -> dict[str, int]:
    """Flips a byte at a time: what comes of it, counted.

    A file is refused by its name, a row is named with its pair and a field; or nothing is said, and every figure is as it was.
    """
    caplog.set_level(logging.WARNING, "okgin_env.arena")
    whole, content, rng = evaluated(stored), stored.read_bytes(), Random(seed)
    used = [at for at, byte in enumerate(content) if byte]  # the rest is mostly empty
    found = {"file": 0, "row": 0, "harmless": 0}
    for _ in range(n):
        damaged = bytearray(content)
        at = rng.choice((*rng.choices(used, k=4), rng.randrange(len(content))))
        damaged[at] ^= rng.randrange(1, 256)
        path = folder / "f.sqlite"
        path.write_bytes(damaged)
        caplog.clear()
        try:
            again = evaluated(path)
        except (ValueError, OSError) as error:
            refusal = str(error)
        else:
            refusal = None
            assert again == whole, at
        path.unlink()
        if refusal is not None:
            assert str(path) in refusal, at
            assert "\n" not in refusal, at
            found["file"] += 1
            continue
        for record in caplog.records:
            line = record.getMessage()
            assert line.startswith(f"results file '{path}': "), at
            assert " against " in line, at
            assert " is damaged: " in line, at
        found["row" if caplog.records else "harmless"] += 1
    return found


@pytest.mark.skipif(PLAIN, reason="plays rows again: compiled code only")
def test_flipped_bytes_cost_their_row(
    stored: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = flip(stored, tmp_path, 1, 100, caplog)
    assert found["row"] > 30, found
    assert found["file"] > 0, found


@pytest.mark.slow
@pytest.mark.skipif(PLAIN, reason="plays rows again: compiled code only")
def test_a_thousand_flipped_bytes_cost_their_row(
    stored: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = flip(stored, tmp_path, 2, 1000, caplog)
    print(found)
    assert sum(found.values()) == 1000


# --- rows that somebody made up -------------------------------------------------------------------------

WHERE = (1, 1)  # a deal, and who deals it to whom
Craft = Callable[[Any, np.ndarray], None]  # changes the results of a row, and its counts of knocks


def put(field: str, value: Any) -> Craft:
    """Writes a value into a field, or what a function makes of the value that is there."""

    def craft(results: Any, knocks: np.ndarray) -> None:
        array = getattr(results, field)
        array[WHERE] = value(array[WHERE]) if callable(value) else value

    return craft


def knock(place: tuple, value: int) -> Craft:
    def craft(results: Any, knocks: np.ndarray) -> None:
        knocks[place] += value

    return craft


def turned(results: Any, knocks: np.ndarray) -> None:
    """Who lost is said to have won."""
    results.winner[:] = np.where(results.winner < 0, -1, 1 - results.winner)


CRAFTS: dict[str, list[Craft]] = {
    "points": [
        *(put("points", x) for x in (1e300, -1e300, 451, -999, 0.5, np.nan, np.inf, 1e9, -450)),
        *(put("points", f) for f in (lambda p: p + 0.25, lambda p: -9 * abs(p) - 950, lambda p: -p or 300)),
    ],
    "winner": [put("winner", 2), put("winner", -2), turned, put("winner", lambda w: 1 - w if w >= 0 else 0)],
    "ending": [put("ending", x) for x in (0, 3, 7, 77, -1, -128)],
    "ended_by": [put("ended_by", lambda by: -1 if by >= 0 else 0), put("ended_by", 2), put("ended_by", -2)],
    "turns": [put("turns", x) for x in (-7, 101, 32767, -1, -32768, 120)],
    "hands": [put("hands", x) for x in (-3, 0, 1001, 1 << 30)],
    "faults": [put("faults", 1), put("faults", 60_000)],
    "knocks": [
        *(knock((p, 1, 5, t, 3), -1 << 40) for p in (0, 1) for t in (0, 11)),
        *(knock((p, 0, 5, 2, 3), 1 << n) for p in (0, 1) for n in (20, 62)),
        *(knock((p, 0, 3, 2, 9), 1) for p in (0, 1)),  # with more than the limit
        *(knock((p, 1, 10, 2, 9), 1) for p in (0, 1)),  # without having been able to
    ],
}  # fmt: skip
ALSO = {"points": {"winner"}, "winner": {"points"}, "ended_by": {"points", "winner"}}  # as wrong
ROWS = [
    (rules, kind, seed)
    for rules in (CLASSIC, Rules.preset("eaai"), Rules.from_label("french(spades_double=True)"))
    for kind, seed in (("hands", 1), ("matches", 2))
]
MADE_UP = [(row, field, k) for row in ROWS for field, crafts in CRAFTS.items() for k in range(len(crafts))]  # fmt: skip


def made_up(rules: Rules, kind: str, seed: int) -> tuple[Task, Played]:
    """A row of honest results, whose deal at `WHERE` a knock has decided."""
    a, b = (players.make(name) for name in NAMES)
    while True:
        task = Task(seed, *NAMES, kind, 0, 4)
        played = play_deals(a, b, rules, seed, 0, 4, matches=kind == "matches")
        if ENDINGS[played.results.ending[WHERE]] == "knock":
            return task, played
        seed += 10


@pytest.mark.parametrize(("row", "field", "k"), MADE_UP)
def test_made_up_rows_are_refused_by_field(row: Any, field: str, k: int) -> None:
    task, played = made_up(*row)
    CRAFTS[field][k](played.results, played.knocks)
    store = Store(None, row[0])
    store.add(task, dataclasses.replace(played, shown=()))
    with pytest.raises(ValueError, match=r"'camper' against 'knocker', seed .* is damaged") as caught:  # fmt: skip
        store.get(task)
    told = str(caught.value).split("is damaged: ")[1].split(";")[0]
    assert told in {field, *ALSO.get(field, ())}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *[("seconds_a", x) for x in (-1.0, "inf", 1e300, "soon")],
        *[("decisions_b", x) for x in (-1, 1 << 60, "many", -1.5)],
        *[("digest", x) for x in ("", "0" * 64, b"\xff")],
        *[("kind", x) for x in ("hand", "matchez", "", "hands\n")],
        *[("a", x) for x in ("camper2", "", "\n", "x" * 10_000)],
        *[("seed", x) for x in ("-1", "1e3", "", "٣", "1" * 2000)],
        *[("first", x) for x in (-1, 1 << 60, "x", 1.5, None, 3)],
        *[("deals", x) for x in (0, -1, 1 << 40, "x", None, 39)],
        *[("shown", x) for x in ("okgin hand 1", "x", "\nend\n" * 9, "a" * (1 << 21))],
        *[("results", x) for x in (b"", b"x", "x")],
        *[("knocks", x) for x in (b"", b"x", "x")],
    ],
)
def test_made_up_columns_cost_their_row(
    column: str, value: Any, stored: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The tournament plays its deals anew, and says why; every figure is as it was."""
    path = tmp_path / "r.sqlite"
    shutil.copy(stored, path)
    with sqlite3.connect(path) as db:
        db.execute(f"UPDATE played SET {column} = ? WHERE kind = 'hands'", (value,))
    assert evaluated(path) == evaluated(stored)
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 1
    assert lines[0].startswith(f"results file '{path}': ")
    assert " against 'knocker', seed " in lines[0]
    assert lines[0].endswith("; the row is left out")
    assert len(lines[0]) < 1000
    assert len(lines[0].splitlines()) == 1
    caplog.clear()
    evaluated(path)  # it is mended
    assert not caplog.records


def test_a_strangers_bad_row_is_not_merged(
    stored: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The others are; it is said once; the stranger's file stays as it is. So is a row of nobody that the file knows."""
    path = tmp_path / "theirs.sqlite"
    shutil.copy(stored, path)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE played SET seconds_a = 1 WHERE kind = 'hands'")
    before = path.read_bytes()
    mine, theirs = Store(None, CLASSIC), Store(path)
    assert replay(theirs, 9) == 1
    assert mine.merge(theirs) == 1
    assert [task.kind for task in mine.tasks()] == ["matches"]
    [line] = [record.getMessage() for record in caplog.records]
    assert line.startswith(f"results file '{path}': 'camper' against 'knocker', seed '0', 'hands' ")
    assert line.endswith("is damaged: digest; allowed: that of the row; the row is left out")
    assert path.read_bytes() == before
    theirs._db.execute("DELETE FROM players WHERE name = 'knocker'")
    assert Store(None, CLASSIC).merge(theirs) == 0
    assert "players; allowed: those of the file" in caplog.text


def test_a_shown_hand_must_be_one_of_the_row(stored: Path) -> None:
    """Another deal's hands look right by themselves."""
    store = Store(stored, CLASSIC)
    task = store.tasks()[0]
    a, b = (players.make(name) for name in NAMES)
    other = play_deals(a, b, CLASSIC, 99, 0, 40)
    liar = Store(None, CLASSIC)
    liar.add(task, dataclasses.replace(store.get(task), shown=other.shown))
    with pytest.raises(
        ValueError, match=r"is damaged: shown: a hand of .* allowed: one of the row"
    ):
        liar.get(task)


# --- results that agree with the rules, but were not played ---------------------------------------------


def test_replayed_rows_catch_results_of_other_deals() -> None:
    """No check of fields can tell them from those that were played."""
    named = {name: players.make(name) for name in (*NAMES, "search")}
    hall = Hall(CLASSIC, named)
    honest, liar = Store(None, CLASSIC), Store(None, CLASSIC)
    tasks = [Task(seed, *NAMES, kind, 0, 6) for seed in (1, 2) for kind in ("hands", "matches")]
    for store in (honest, liar):
        store.seat({name: fingerprint(player) for name, player in named.items()})
        for task in tasks:
            lies = store is liar and task == tasks[-1]
            store.add(task, hall.play(dataclasses.replace(task, seed=7) if lies else task))
        slow = Task(1, "camper", "search", "hands", 0, 6)  # is not played again
        store.add(slow, hall.play(dataclasses.replace(slow, a="knocker", b="camper")))
    assert replay(honest, 0) == 0
    assert replay(honest, 3) == 3
    assert replay(honest, 99) == 4
    with pytest.raises(ValueError, match="camper against knocker, seed 2, matches from 0 come out"):
        replay(liar, 99)
    stranger = Store(None, CLASSIC)
    stranger.seat(dict.fromkeys(NAMES, "of another version"))
    stranger.add(tasks[0], hall.play(tasks[0]))
    assert replay(stranger, 99) == 0
