"""Tournaments: stored, resumed, merged, stopped early, on any engine, with any player: always the same results."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rich")
pytest.importorskip("statsmodels")

from okgin_env import Rules, players
from okgin_env.arena.double import Double
from okgin_env.arena.engines import Engine, Hall
from okgin_env.arena.match import play_deals
from okgin_env.arena.outcome import Outcome
from okgin_env.arena.pair_results import SHOWN, PairResults
from okgin_env.arena.plan import Plan, Task
from okgin_env.arena.report import tables
from okgin_env.arena.store.fingerprints import fingerprint
from okgin_env.arena.store.store import Store
from okgin_env.arena.tournament import run
from okgin_env.cli import evaluate
from okgin_env.layout import N_ACTIONS
from okgin_env.players.base import FAULTS, fault_action
from okgin_env.players.subprocess.player import ProcessPlayer
from tests.helpers.paths import PATIENCE, ROOT, python

CLASSIC = Rules.preset("classic")
NAMES = ("simple", "knocker", "novice")


class Outside(players.Bot):
    """`knocker`, asked from outside the kernel; spawned workers import it."""

    name = "outside"

    def act(self, decisions):
        return players.make("knocker").act(decisions)


class Slow(Outside):
    """The same, one hand at a time."""

    name = "slow"
    one_by_one = True


class Sleeper(Slow):
    """Never answers."""

    name = "sleeper"

    def act(self, decisions):
        time.sleep(1000)
        return super().act(decisions)


def plan(**changes) -> Plan:
    return Plan(**{"rules": CLASSIC, "n_hands": 400, "n_matches": 20, "seed": 0, **changes})


def tournament(names=NAMES, store: Store | None = None, **changes) -> Outcome:
    seated = [players.make(name) if isinstance(name, str) else name for name in names]
    return run(seated, plan(**changes), store=store, show_progress=False)


def untimed(content: dict) -> dict:
    """A summary without what is measured by the clock."""
    pairs = [{k: v for k, v in p.items() if k != "ms_per_decision"} for p in content["pairs"]]
    for pair in pairs:
        if "luck" in pair:
            pair["luck"] = {k: v for k, v in pair["luck"].items() if k != "ms_per_hand"}
    return {**content, "pairs": pairs}


def test_resumed_is_the_same_to_the_last_digit(tmp_path: Path) -> None:
    whole = tournament().content
    path = tmp_path / "r.sqlite"
    store = Store(path, CLASSIC)
    tournament(
        NAMES[:2], store, n_hands=100, n_matches=4
    )  # fewer hands first: what is missing is added
    store.close()
    store = Store(path)
    again = tournament(store=store).content
    assert untimed(again) == untimed(whole)
    n_rows = len(store.tasks())
    assert untimed(tournament(store=store).content) == untimed(whole)
    assert len(store.tasks()) == n_rows  # nothing was played again


def test_names_and_a_label_are_players_and_rules() -> None:
    label = "classic(gin_bonus=20)"
    named = run(
        ["camper", "simple"],
        Plan(rules=label, n_hands=40, seed=0),
        show_progress=False,  # pyright: ignore
    )
    rules, field = Rules.from_label(label), [players.make(name) for name in ("camper", "simple")]
    made = run(field, Plan(rules=rules, n_hands=40, n_matches=4, seed=0), show_progress=False)
    assert untimed(named.content) == untimed(made.content)
    assert named.rules == rules


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"rules": 5}, "rules=5; allowed: a preset's name or a Rules object"),
        ({"rules": "french", "n_hands": 1}, "hands=1; allowed: 2 or more"),
        ({"rules": Rules.preset("french", 3), "seats": 2}, "seats=2; allowed: 3, as in french"),
        ({"rules": "openspiel", "n_matches": 2}, "matches=2; allowed: 0, openspiel has single"),
        ({"engine": "ray", "workers": -1}, "workers=-1; allowed: 0 or more"),
    ],
)
def test_plans_that_cannot_be_played_are_one_line(fields: dict, said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}[^\n]*$"):
        Plan(**fields)


@pytest.mark.parametrize("names", [NAMES, (Outside(), "simple"), (Slow(), "simple")])
def test_workers_play_the_same(names) -> None:
    assert untimed(tournament(names).content) == untimed(tournament(names, workers=2).content)


def test_ray_plays_the_same() -> None:
    pytest.importorskip("ray")
    assert untimed(tournament().content) == untimed(tournament(engine="ray", workers=2).content)


def test_one_by_one_is_the_same_game() -> None:
    """Also with three at a table, where each seat has a player of its own, and in matches."""
    for rules in (CLASSIC, Rules.preset("french", 3)):
        simple = players.make("simple")
        for matches in (False, True):
            n = 3 if matches else 20
            batched = play_deals(Outside(), simple, rules, 5, 0, n, matches=matches).results
            single = play_deals(Slow(), simple, rules, 5, 0, n, matches=matches).results
            swapped = play_deals(simple, Slow(), rules, 5, 0, n, matches=matches).results
            other = play_deals(simple, Outside(), rules, 5, 0, n, matches=matches).results
            for x, y in ((batched, single), (swapped, other)):
                assert np.array_equal(x.points, y.points)
                assert np.array_equal(x.winner, y.winner)


def test_players_are_told_how_hands_end_and_that_it_is_over() -> None:
    told: list = []

    class Curious(Outside):
        name = "curious"
        one_by_one = True

        def hand_over(self, view):
            told.append((view.seat, view.phase, view.ending, view.scores))

        def close(self):
            told.append("closed")

    results = play_deals(Curious(), players.make("simple"), CLASSIC, 0, 0, 2, matches=True).results
    assert told.pop() == "closed"
    told = [
        entry for entry in told if entry != "closed"
    ]  # so that it cannot remember a deal either
    assert len(told) == results.hands.sum()
    assert all(phase == "over" and ending != "none" for _, phase, ending, _ in told)


def test_who_is_told_how_a_hand_ended_cannot_deal_the_next_one() -> None:
    """All cards of the hand lie open, but not the streams that the next decks and the others' draws come from."""
    told: list = []

    class Curious(Outside):
        name = "curious"
        one_by_one = True

        def hand_over(self, view):
            told.append(view)

    play_deals(Curious(), players.make("simple"), CLASSIC, 0, 0, 2, matches=True)
    assert any(view.ending != "void" for view in told)
    for view in told:
        assert all(len(hand) == 10 for hand in view.hands)
        assert not view.record["rng"].any()
        assert not view.record["seat_rng"].any()


def test_stopping_rule_stops_at_the_same_deals_however_it_is_played(tmp_path: Path) -> None:
    """A clear difference ends after the first look; a close one is played to the cap."""
    changes = {"until": 3.5, "n_hands": 4000, "n_matches": 0}
    outcome = tournament(store=None, **changes)
    played = {(p.hands.a, p.hands.b): p.hands.points.size for p in outcome.pairs}
    for pair, entry in zip(outcome.pairs, outcome.content["pairs"], strict=True):
        low, high = entry["ci95"]
        assert high - low <= 3.5 or pair.hands.points.size == 4000
    assert min(played.values()) < 4000
    store = Store(tmp_path / "u.sqlite", CLASSIC)
    tournament(store=store, n_hands=700, n_matches=0, until=3.5)
    again = tournament(store=store, **changes, workers=2)
    assert untimed(again.content) == untimed(outcome.content)


def test_stopping_rule_does_not_see_what_a_killed_round_has_left(tmp_path: Path) -> None:
    """The interval is wide after 250 deals and narrow with the next 250: the second look is after them all."""
    changes = {"until": 2.4, "n_hands": 1000, "n_matches": 0}
    whole = tournament(NAMES[:2], **changes)
    [pair] = whole.pairs
    assert len(pair.hands.points) == 500
    hall = Hall(CLASSIC, {name: players.make(name) for name in NAMES[:2]})
    store = Store(tmp_path / "u.sqlite", CLASSIC)
    for first, deals in ((0, 250), (250, 240)):
        store.add(task := Task(0, *NAMES[:2], "hands", first, deals), hall.play(task))
    assert untimed(tournament(NAMES[:2], store, **changes).content) == untimed(whole.content)


def test_hands_to_look_at_do_not_hang_on_the_order_of_tasks() -> None:
    hall = Hall(CLASSIC, {name: players.make(name) for name in NAMES[:2]})
    tasks = [Task(0, *NAMES[:2], "hands", first, 40) for first in range(0, 400, 40)]
    played = [(task, hall.play(task)) for task in tasks]
    shown = []
    for order in (played, played[::-1], played[5:] + played[:5]):
        gathered = PairResults(lambda task: dict(played)[task].results)
        for task, part in order:
            gathered.keep(task, part)
        shown.append([str(hand) for hand in gathered.worth_showing()])
    assert shown[0] == shown[1] == shown[2]
    assert len(shown[0]) == SHOWN


def test_results_of_deals_are_not_kept_in_memory() -> None:
    """They are in the store; a night's would fill the memory."""
    hall, store = (
        Hall(CLASSIC, {name: players.make(name) for name in NAMES[:2]}),
        Store(None, CLASSIC),
    )
    gathered, kept = PairResults(lambda task: store.get(task).results), []
    for first in (80, 0, 40):
        task = Task(0, *NAMES[:2], "hands", first, 40)
        played = hall.play(task)
        store.add(task, played)
        gathered.keep(task, played)
        kept.append(weakref.ref(played.results))
        del played
    assert [ref() for ref in kept] == [None] * 3
    whole = play_deals(*hall.players.values(), CLASSIC, 0, 0, 120).results
    assert np.array_equal(gathered.joined().points, whole.points)
    assert np.array_equal(gathered.points(0, 100), whole.points[:100])


def test_adding_costs_the_same_however_much_is_stored() -> None:
    """It read all earlier rows of the pair: a soak of half an hour was a thirtieth slower at its end."""
    store, hall = Store(None, CLASSIC), Hall(CLASSIC, {n: players.make(n) for n in NAMES[:2]})
    played, steps, n = hall.play(Task(0, *NAMES[:2], "hands", 0, 2)), [0], 800

    def count() -> int:
        steps[0] += 1
        return 0

    store._db.set_progress_handler(count, 1)
    cost = []
    for k in range(n):
        steps[0] = 0
        store.add(Task(0, *NAMES[:2], "hands", 2 * k, 2), played)
        cost.append(steps[0])
    assert max(cost[n // 2 :]) <= 1.2 * max(cost[5:50])
    store._db.set_progress_handler(None, 1)
    for first, deals, found in (
        (0, 2 * n, n), (1, 2, 2), (2 * n - 1, 9, 1), (2 * n, 9, 0), (6, 2, 1), (5, 1, 1)
    ):  # fmt: skip
        assert len(store._overlapping(Task(0, *NAMES[:2], "hands", first, deals))) == found
        assert not store._overlapping(Task(0, *NAMES[:2], "matches", first, deals))


def test_stores_merge_and_refuse_what_does_not_fit(tmp_path: Path) -> None:
    stores = {name: Store(tmp_path / name, CLASSIC) for name in ("a", "b", "c")}
    tournament(store=stores["a"], seed=1)
    tournament(store=stores["b"], seed=2)
    tournament(NAMES[1:], store=stores["c"], seed=1)  # one of a's pairs again
    n_a, n_b = len(stores["a"].tasks()), len(stores["b"].tasks())
    assert stores["a"].merge(stores["b"]) == n_b
    assert stores["a"].merge(stores["b"]) == 0
    assert stores["a"].merge(stores["c"]) == 1  # the double of another first player
    both = tournament(store=stores["a"], seed=1)
    assert both.content["seed"] == [1, 2]
    assert both.content["pairs"][0]["hands"] == 800
    assert len(stores["a"].tasks()) == n_a + n_b + 1
    with pytest.raises(ValueError, match="has rules gin; allowed: classic"):
        stores["a"].merge(Store(tmp_path / "g", Rules.preset("gin")))
    task = stores["b"].tasks()[0]
    other = dataclasses.replace(task, seed=1)
    liar = Store(tmp_path / "l", CLASSIC)
    liar.add(task, stores["a"].get(other))
    assert stores["b"].merge(liar) == 0  # whoever they are: it does not say
    liar.seat({name: fingerprint(players.make(name)) for name in (task.a, task.b)})
    with pytest.raises(ValueError, match="and not the same; allowed: another seed"):
        stores["b"].merge(liar)
    stranger = Store(None, CLASSIC)
    stranger.seat({"simple": "somebody"})
    with pytest.raises(ValueError, match="player simple is not the one"):
        stores["b"].merge(stranger)


def test_deals_are_kept_once_however_two_processes_cut_them(tmp_path: Path) -> None:
    hall = Hall(CLASSIC, {name: players.make(name) for name in NAMES[:2]})
    one, other = (Store(tmp_path / "r", CLASSIC) for _ in range(2))
    task, part = (Task(0, *NAMES[:2], "hands", *cut) for cut in ((0, 40), (30, 20)))
    for store in (one, other):
        store.add(task, hall.play(task))
    assert one.tasks() == [task]
    with pytest.raises(ValueError, match="from another process; allowed: the same command again"):
        other.add(part, hall.play(part))
    assert one.tasks() == [task]
    cut = Store(tmp_path / "cut", CLASSIC)
    cut.seat(dict.fromkeys(NAMES, "they"))
    rest = Task(0, *NAMES[:2], "hands", 50, 10)
    for new in (part, rest):
        cut.add(new, hall.play(new))
    assert one.merge(cut) == 1  # deals 30 to 39 agree; the row that holds them is not taken apart
    assert one.tasks() == [task, rest]
    liar = Store(None, CLASSIC)
    liar.seat(dict.fromkeys(NAMES, "they"))
    liar.add(part, hall.play(dataclasses.replace(part, seed=1)))
    with pytest.raises(ValueError, match="and not the same; allowed: another seed"):
        one.merge(liar)


def test_store_says_what_it_was_made_with(tmp_path: Path) -> None:
    from okgin_env.arena.store.provenance import versions

    store = Store(tmp_path / "r", CLASSIC)
    content = tournament(NAMES[:2], store, n_matches=0, check=False).content
    assert content["versions"] == versions() == Store(tmp_path / "r").versions()
    assert {"okgin_env", "commit", "python", "numpy", "numba"} == set(versions())
    store.note({**versions(), "numpy": "1.0"})
    store.note(versions())
    assert store.versions()["numpy"] == f"{versions()['numpy']}, 1.0"


def test_store_of_other_rules_or_another_player_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path / "r", CLASSIC)

    class Mine(Outside):
        name = "mine"
        step = 1

        def __init__(self) -> None:
            self.step = 1

    tournament((Mine(), "simple"), store, n_matches=0)
    changed = Mine()
    changed.step = 2
    with pytest.raises(ValueError, match="player mine is not the one"):
        tournament((changed, "simple"), store, n_matches=0)
    with pytest.raises(ValueError, match="has rules classic; allowed: gin, or another file"):
        Store(tmp_path / "r", Rules.preset("gin"))


def test_store_of_another_version_says_which_and_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "r"
    store = Store(path, CLASSIC)
    store.seat({"simple": "of an older kernel"})
    store.note({"okgin_env": "0.1.0", "commit": "461ae2d"})
    said = r"made by okgin_env '0\.1\.0' \(commit '461ae2d'\): .*; allowed: .*, or that version$"
    with pytest.raises(ValueError, match=said):
        tournament(store=store, n_matches=0)
    store._db.execute("UPDATE about SET value = 'okgin_env results 1' WHERE name = 'format'")
    said = r"has format 'okgin_env results 1', made by okgin_env '0\.1\.0' .*, or that version$"
    with pytest.raises(ValueError, match=said):
        Store(path)


def test_fingerprints_tell_players_apart(tmp_path: Path) -> None:
    """By arrays and what is in containers, by the program itself, by its time; not by what is the same."""
    pytest.importorskip("psutil")

    class Weighing(Outside):
        __slots__ = ("slot",)

        def __init__(self, weights, slot=0) -> None:
            self.weights, self.slot = weights, slot

    program = tmp_path / "bot"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    made = [
        Weighing(np.arange(3)),
        Weighing(np.arange(4)),
        Weighing([1, {"a": np.arange(3)}]),
        Weighing([1, {"a": np.arange(4)}]),
        Weighing(None, slot=1),
        Weighing(Weighing(None)),
        players.make(f"cmd:{program}"),
        players.make(f"cmd:{program}", move_time=2),
    ]
    found = [fingerprint(player) for player in made]
    assert fingerprint(Weighing(np.arange(3))) == found[0]
    few = players.make("search:8")
    assert fingerprint(few) == fingerprint(players.make("search:8,threads=2"))
    assert fingerprint(few) != fingerprint(players.make("search:8,gate=1"))
    program.write_text("#!/bin/sh\nexit\n")
    found.append(fingerprint(made[-2]))
    assert len(set(found)) == len(made) + 1


def test_damaged_and_hostile_stores_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    store = Store(path, CLASSIC)
    tournament(store=store, n_matches=0)
    store.close()
    (tmp_path / "text").write_text("no database" * 100)
    with pytest.raises(ValueError, match="text"):
        Store(tmp_path / "text")
    other = sqlite3.connect(tmp_path / "other.sqlite")
    other.execute("CREATE TABLE about (name TEXT, value BLOB)")
    other.commit()
    with pytest.raises(ValueError, match="holds no tables of 'okgin_env results 2'"):
        Store(tmp_path / "other.sqlite")
    db = sqlite3.connect(path)
    bomb = __import__("zlib").compress(bytes(1 << 26))  # 64 MB of nothing in 64 kB
    for column, value in (
        ("results", b"x"),
        ("results", bomb),
        ("deals", 1 << 60),
        ("shown", "okgin hand 1\nrules: x"),
        ("seed", "one"),
        ("seed", None),
        ("a", b"x"),
        ("first", -1),
        ("first", "x"),
        ("results", lambda blob: blob[:-4]),  # without its checksum
        ("results", lambda blob: blob + b"x"),
        ("knocks", lambda blob: blob[:-1]),
        ("knocks", lambda blob: blob + blob),
    ):
        rows = db.execute(f"SELECT rowid, {column} FROM played").fetchall()
        for rowid, before in rows:
            new = value(before) if callable(value) else value
            db.execute(f"UPDATE OR IGNORE played SET {column} = ? WHERE rowid = ?", (new, rowid))
        db.commit()
        damaged = Store(path)
        with pytest.raises(ValueError, match="is damaged") as caught:
            [damaged.get(task) for task in damaged.tasks()]
        assert "\n" not in str(caught.value)
        for rowid, before in rows:
            db.execute(f"UPDATE played SET {column} = ? WHERE rowid = ?", (before, rowid))
        db.commit()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name 0: simple", "name 0: simplE"),  # one bit
        ("classic", "french"),
        ("ending: ", "ending; "),
        ("discard ", "discarf "),
        ("points: ", "points: 1"),
    ],
)
def test_a_damaged_hand_is_named_and_the_rest_goes_on(
    old: str, new: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "r.sqlite"
    store = Store(path, CLASSIC)
    whole = tournament(NAMES[:2], store)
    store.close()
    db = sqlite3.connect(path)
    db.execute("UPDATE played SET shown = replace(shown, ?, ?) WHERE b = 'knocker'", (old, new))
    db.commit()
    again = tournament(NAMES[:2], Store(path))
    assert untimed(again.content) == untimed(whole.content)
    assert whole.pairs[0].shown
    for hand in again.pairs[0].shown:
        hand.final()
    said = {record.getMessage() for record in caplog.records}
    assert said
    for line in said:
        assert line.startswith(f"results file '{path}'")
        assert "simple" in line
        assert "knocker" in line
        assert "\n" not in line


@pytest.mark.parametrize(
    ("column", "value"), [("winner", 2), ("ending", 77), ("ended_by", -2), ("points", np.nan)]
)
def test_stored_numbers_that_no_hand_has_are_damage(column: str, value: float) -> None:
    task = Task(0, *NAMES[:2], "hands", 0, 4)
    played = play_deals(players.make("simple"), players.make("knocker"), CLASSIC, 0, 0, 4)
    getattr(played.results, column)[1, 1] = value
    store = Store(None, CLASSIC)
    store.add(task, played)
    with pytest.raises(ValueError, match=f"is damaged: {column}; allowed"):
        store.get(task)


@pytest.mark.parametrize(("workers", "seed"), [(1, ["--seed", "0"]), (2, [])])
def test_killed_tournament_goes_on_to_the_same_results(
    tmp_path: Path, workers: int, seed: list[str]
) -> None:
    """SIGKILL at random moments, five times; then the same command ends it, with a secret as with a seed."""
    words = f"evaluate.py {' '.join(NAMES)} --hands 240000 --matches 1200 --workers {workers}"
    line = [sys.executable, *words.split(), *seed]
    path, rng = tmp_path / "r.sqlite", random.Random(workers)
    for _ in range(5):
        process = subprocess.Popen(
            [*line, "--store", str(path)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(rng.uniform(1.5, 3.5))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if path.exists() and path.stat().st_size:
            for task in (left := Store(path)).tasks():
                assert left.get(task).results.points.shape == (task.deals, 2)
    python(*line[1:], "--store", str(path), "--json", str(tmp_path / "resumed"), check=True)
    resumed = json.loads((tmp_path / "resumed").read_text())
    assert not list(tmp_path.glob("*.secret"))
    again = [] if seed else ["--secret", resumed["secret"]]
    python(*line[1:], *again, "--json", str(tmp_path / "unbroken"), check=True)
    unbroken = json.loads((tmp_path / "unbroken").read_text())
    assert untimed(resumed) == untimed({**unbroken, "decks": resumed["decks"]})


def _hear_ctrl_c() -> None:
    """A job in the background is born ignoring it, and so would be what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_parent(how: signal.Signals) -> None:
    """In the middle of a task; it is killed or stopped alone, as by Ctrl-C, which workers do not hear."""
    psutil = pytest.importorskip("psutil")
    line = [sys.executable, "evaluate.py", "simple", "tests.arena.test_tournament:Sleeper"]
    process = subprocess.Popen(
        [*line, "--workers", "2", "--no-check"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=_hear_ctrl_c,
    )
    workers = []
    while len(workers) < 3:  # with multiprocessing's own
        time.sleep(0.1)
        workers = psutil.Process(process.pid).children()
    time.sleep(2)
    process.send_signal(how)
    assert process.wait(PATIENCE) == (130 if how == signal.SIGINT else -how)
    _, left = psutil.wait_procs(workers, PATIENCE)
    assert not left


def test_failing_players_lose_their_hands_and_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(Outside):
        name = "broken"

        def act(self, decisions):
            if (decisions.words[0] & np.uint64(7)) == 0:
                raise RuntimeError("out of cards")
            return super().act(decisions)

    class Babbler(Outside):
        name = "babbler"

        def act(self, decisions):
            return [None] * len(decisions)

    class Late(Outside):
        name = "late"

        def act(self, decisions):
            return np.full(len(decisions), fault_action("time"))

    outcome = tournament((Broken(), Babbler(), Late(), "simple"), n_hands=200, n_matches=0)
    kinds = {name: set() for name in ("broken", "babbler", "late")}
    for entry in outcome.content["pairs"]:
        for name, found in entry["faults"].items():
            if name in kinds:
                kinds[name] |= set(found)
    assert kinds == {"broken": {"crash"}, "babbler": {"nonsense"}, "late": {"time"}}
    assert "player broken: RuntimeError: out of cards" in caplog.text
    for pair in outcome.pairs:
        forfeited = pair.hands.faults.sum(axis=(2, 3))
        assert np.array_equal(forfeited == 1, pair.hands.ending == 6)
        assert forfeited.max() <= 1
    assert len(FAULTS) == 5


class Weak(Outside):
    """Breaks down in some hands, and in no other once it is well again."""

    name = "weak"
    ill = True
    fingerprint = "weak"
    deals_per_task = 8

    def act(self, decisions):
        if self.ill and (decisions.words[0] & np.uint64(63)) == 0:
            return np.full(len(decisions), fault_action("time"))
        return super().act(decisions)


def test_deals_that_ended_in_faults_are_played_again_where_that_is_asked_for() -> None:
    weak, store = Weak(), Store(None, CLASSIC)
    weak.ill = False
    healthy = tournament((weak, "simple"), check=False)
    weak.ill = True
    before = tournament((weak, "simple"), store, check=False)
    [entry] = before.content["pairs"]
    assert 0 < entry["forfeits"] < entry["hands"]
    text = tables.as_text(before.content)
    assert f") with {entry['forfeits']} forfeit" in text.split("\n\n")[1]
    assert "every hand was forfeited" not in text
    weak.ill = False
    same = tournament((weak, "simple"), store, check=False)
    assert same.content["pairs"][0]["forfeits"] == entry["forfeits"]
    n_rows = len(store.tasks())
    again = tournament((weak, "simple"), store, check=False, again="faults")
    assert untimed(again.content) == untimed(healthy.content)
    assert len(store.tasks()) == n_rows
    with pytest.raises(ValueError, match="again='all'; allowed: None, faults"):
        plan(again="all")


def test_illegal_moves_and_others_deals_are_not_played_again() -> None:
    class Cheat(Outside):
        name = "cheat"
        fingerprint = "cheat"

        def act(self, decisions):
            return np.full(len(decisions), N_ACTIONS)

    store = Store(None, CLASSIC)
    tournament((Cheat(), "simple"), store, n_matches=0, check=False)
    tournament((Weak(), "simple"), store, n_matches=0, check=False)
    faults = {task: store.get(task).results.faults.sum() for task in store.tasks()}
    assert sum(task.a == "weak" and n > 0 for task, n in faults.items()) > 0
    tournament((Cheat(), "simple"), store, n_matches=0, check=False, again="faults")
    tournament((Weak(), "simple"), store, n_matches=0, check=False, again="faults", seed=1)
    tasks = [task for task in store.tasks() if task.seed == 0]
    assert {task: store.get(task).results.faults.sum() for task in tasks} == faults


def test_players_that_exit_or_write_into_what_they_are_asked() -> None:
    class Exits(Outside):
        name = "exits"

        def act(self, decisions):
            raise SystemExit(3)

        def close(self):
            raise SystemExit(4)

    class Writes(Outside):
        name = "writes"

        def act(self, decisions):
            decisions.masks[:] = 1
            return np.full(len(decisions), 107)  # big gin, which these rules do not have

    outcome = tournament((Exits(), Writes()), n_hands=20, n_matches=0)
    [entry] = outcome.content["pairs"]
    assert entry["faults"] == {"exits": {"crash": 10}, "writes": {"illegal": 10}}


def test_players_that_cannot_be_seated_are_one_line() -> None:
    class Numbered(Outside):
        name = 5

    class Confused(Outside):
        name = "confused"

        def check_rules(self, rules):
            raise KeyError("gin")

    class Twin(Outside):
        def __init__(self, step: int) -> None:
            self.step = np.array(step)

    for field, said in (
        ((Numbered(), "simple"), "name 5; allowed: 1 to 100 printable"),
        ((Confused(), "simple"), "player confused: check_rules\\(\\): KeyError: 'gin'"),
        ((Twin(1), Twin(2)), "players Twin, Twin; allowed: different names"),
    ):
        with pytest.raises(ValueError, match=said):
            tournament(field, n_hands=4)
    long = ProcessPlayer([sys.executable, "-c", "a\nb\a" * 100])
    assert len(long.name) < 100
    assert long.name.isprintable()


HOSTILE = {  # what it does: (the fault, whether every hand is lost by it)
    "crash-at-start": ("crash", True),
    "crash-mid-hand": ("crash", True),
    "hang": ("time", True),
    "flood": ("flood", True),
    "half-line": ("time", True),
    "wrong-json": ("nonsense", True),
    "illegal": ("illegal", False),  # sometimes the ace of spades can be discarded
    "leak-child": (None, False),
    "exit-early": ("crash", True),
}


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="orphans are adopted on Linux only"
)
@pytest.mark.parametrize("workers", [1, 2])
def test_nine_hostile_bots_in_one_tournament(tmp_path: Path, workers: int) -> None:
    """Each loses its own hands, counted by kind; the others' hands are what they would have been."""
    psutil = pytest.importorskip("psutil")
    pids, script = tmp_path / "pids", ROOT / "tests" / "helpers" / "hostile_bots.py"
    bots = []
    for name, (fault, _) in HOSTILE.items():
        patience = 0.4 if fault == "time" else 20.0  # a busy machine is no bot's fault
        command = [sys.executable, "-S", str(script), name, str(pids)]
        bots.append(ProcessPlayer(command, patience, 20.0, name=name))
    field = [players.make("simple"), *bots, players.make("knocker")]
    outcome = run(
        field,
        plan(n_hands=8, n_matches=0, first_only=True, check=False, workers=workers),
        show_progress=False,
    )
    left = psutil.Process().children(recursive=True)
    assert not [p for p in left if "hostile_bots" in " ".join(p.cmdline())]
    assert not any(psutil.pid_exists(int(pid)) for pid in pids.read_text().split())
    by_name = {entry["b"]: entry for entry in outcome.content["pairs"]}
    for name, (fault, always) in HOSTILE.items():
        found = by_name[name]["faults"][name]
        if fault is None:
            assert found == {}
        elif always:
            assert found == {fault: 8}, name
            assert by_name[name]["points_per_hand"] == 100
        else:
            assert set(found) == {fault}
    simple, knocker = players.make("simple"), players.make("knocker")
    alone = play_deals(simple, knocker, CLASSIC, 0, 0, 4).results
    assert np.array_equal(outcome.pairs[-1].hands.points, alone.points)
    assert by_name["knocker"]["illegal"] == 0


def test_double_is_no_better_and_no_worse() -> None:
    """Twenty seeds, each at the 5 % level: more than four are not to be expected (p = 0.003)."""
    simple = players.make("simple")
    twice = Hall(CLASSIC, {"simple": simple, "double": Double(simple)})
    found = 0
    from okgin_env.arena.statistics import no_difference

    for seed in range(20):
        [(_, played)] = Engine(twice).run([Task(seed, "simple", "double", "hands", 0, 500)])
        assert played.results.points.any()
        found += no_difference(played.results.points) < 0.05
    assert found <= 4


def test_knock_counts_are_those_of_the_hands() -> None:
    played = play_deals(players.make("camper"), players.make("simple"), CLASSIC, 3, 0, 300)
    results, knocks = played.results, played.knocks
    ended = np.isin(results.ending, [1, 2, 3, 4])
    assert knocks[:, 1].sum() == ended.sum()
    assert (knocks[:, 1] <= knocks[:, 0]).all()
    assert np.array_equal(knocks[1, 0], knocks[1, 1])  # simple knocks as soon as it may
    late = knocks[0, :, :, 3:, 1:]
    assert late[0].sum() > 0
    assert late[1].sum() == 0  # camper never knocks late but with gin


ECHO = """import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "hello", "name": sys.argv[1]}), flush=True)
    elif message["type"] == "request":
        answer = {"type": "move", "id": message["id"], "move": message["legal"][0]}
        print(json.dumps(answer), flush=True)
"""


def test_programs_are_called_as_they_say_and_told_apart(tmp_path: Path) -> None:
    script = tmp_path / "echo.py"
    script.write_text(ECHO)

    def bot(said: str, *more: str, name: str | None = None) -> ProcessPlayer:
        command = [sys.executable, "-S", str(script), said, *more]
        return ProcessPlayer(command, 30.0, 30.0, name=name)

    python = Path(sys.executable).name
    field = [bot("anna"), bot("ben", "1"), bot("ben", "2"), bot("simple"), bot("", name="cy")]
    outcome = tournament(field, n_hands=2, n_matches=0, check=False, first_only=True)
    assert outcome.players == (
        "anna",
        f"ben ({python} -S echo.py ben 1)",
        f"ben ({python} -S echo.py ben 2)",
        f"simple ({python} -S echo.py simple)",
        "cy",
    )
    assert (
        field[0].name == f"{python} -S echo.py anna"
    )  # players that are handed in stay as they are
    silent = [bot(""), ProcessPlayer(["sh", "-c", "exit 3"]), "simple"]
    outcome = tournament(silent, n_hands=2, n_matches=0, check=False)
    assert outcome.players == (f"{python} -S echo.py", "sh -c exit 3", "simple")


MINE = """from okgin_env import players


class Patient(players.Bot):
    name = "patient"

    def choose(self, view, rng):
        return view.legal[0]


class Cheat(Patient):
    name = "cheat"

    def choose(self, view, rng):
        return -1
"""
SMALL = ["--hands", "4", "--matches", "0", "--no-check"]


def _evaluate(folder: Path, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """The command from a folder with classes of one's own."""
    (folder / "mybots.py").write_text(MINE)
    return python(str(ROOT / "evaluate.py"), *words, *SMALL, cwd=folder, **more)


def test_classes_in_the_working_folder_are_found(tmp_path: Path) -> None:
    found = _evaluate(tmp_path, "mybots:Patient", "simple", "--workers", "2")
    assert found.returncode == 0, found.stderr
    assert "| patient | simple | 4 |" in found.stdout


def test_nothing_but_forfeits_is_said_and_is_exit_status_3(tmp_path: Path) -> None:
    found = _evaluate(tmp_path, "mybots:Cheat", "simple")
    assert found.returncode == evaluate.FORFEITED == 3, found.stderr
    assert "cheat and simple: every hand was forfeited, none was played" in found.stdout
    assert "| -100.00 (-121.05 to +89.42) with 4 forfeits |" in found.stdout
    found = _evaluate(tmp_path, "mybots:Cheat", "mybots:Patient", "simple")
    assert found.returncode == 0, found.stderr
    assert found.stdout.count("every hand was forfeited") == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_written_loses_no_file(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    words = ["simple", "knocker", "--json", "a.json", "--report", "r"]
    with open("/dev/full", "w") as full:
        found = _evaluate(tmp_path, *words, capture_output=False, stdout=full, stderr=subprocess.PIPE)  # fmt: skip
    assert found.returncode == 2
    assert "No space left on device" in found.stderr
    assert found.stderr.count("evaluate.py: ") == 1
    assert "Exception ignored" not in found.stderr
    assert json.loads((tmp_path / "a.json").read_text())["pairs"][0]["hands"] == 4
    assert (tmp_path / "r" / "report.html").is_file()
    read, write = os.pipe()
    os.close(read)  # whoever reads has left
    with os.fdopen(write, "w") as broken:
        found = _evaluate(tmp_path, "simple", "knocker", "--json", "b.json", capture_output=False, stdout=broken, stderr=subprocess.PIPE)  # fmt: skip
    assert found.returncode == 1
    assert "Exception" not in found.stderr
    assert (tmp_path / "b.json").is_file()


def test_a_closed_output_loses_no_file(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    words = ["simple", "knocker", *SMALL, "--store", "s", "--json", "a.json", "--report", "r"]
    line = [sys.executable, str(ROOT / "evaluate.py"), *words]
    found = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *line], cwd=tmp_path, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert json.loads((tmp_path / "a.json").read_text())["pairs"][0]["hands"] == 4
    assert (tmp_path / "r" / "report.html").is_file()
    assert Store(tmp_path / "s").tasks()


def test_again_needs_a_store() -> None:
    assert evaluate.main(["simple", "knocker", "--again", "faults"]) == 2


def test_command_line_stores_merges_and_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("jinja2")
    line = ["simple", "knocker", "--hands", "400", "--matches", "10"]
    for seed in ("1", "2"):
        assert evaluate.main([*line, "--seed", seed, "--store", str(tmp_path / seed)]) == 0
    both = [*line, "--seed", "1", "--store", str(tmp_path / "1"), "--merge", str(tmp_path / "2")]
    assert evaluate.main([*both, "--report", str(tmp_path / "report")]) == 0
    said = capsys.readouterr()
    assert "3 new rows; 2 played again, which agree" in said.err  # the third is of a double
    assert "| simple | knocker | 800 |" in said.out
    assert (tmp_path / "report" / "report.html").is_file()
