"""Secret decks: players are never given them, a killed tournament goes on with them, and at the end everybody can play them again."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rich")
pytest.importorskip("statsmodels")

from okgin_env import Rules
from okgin_env.arena.decks import Decks, secret_label
from okgin_env.arena.outcome import Outcome, Played
from okgin_env.arena.plan import Plan, Task
from okgin_env.arena.report import tables
from okgin_env.arena.store.secret_file import kept_secret, secret_path
from okgin_env.arena.store.store import Store
from okgin_env.arena.tournament import run
from okgin_env.kernel.rng import mix
from tests.arena.test_tournament import Outside, Slow, untimed
from tests.helpers.paths import ROOT, python

CLASSIC = Rules.preset("classic")
FRENCH = Rules.preset("french", 3)
NAMES = ("simple", "knocker", "novice")
SECRET = "5e" * 32


class Stopped(Outside):
    """Is stopped, as by Ctrl-C, at its third task; until then a player like any other."""

    name = "stopped"
    fingerprint = "stopped"
    deals_per_task = 40
    left = [3]  # noqa: RUF012

    def close(self) -> None:
        self.left[0] -= 0.5  # of each task two lives
        if not self.left[0]:
            raise KeyboardInterrupt


def tournament(names=NAMES, store: Store | None = None, **changes) -> Outcome:
    plan = Plan(**{"rules": CLASSIC, "n_hands": 400, "n_matches": 20, **changes})
    return run(list(names), plan, store=store, show_progress=False)


def test_a_secret_lies_beside_the_store_until_the_end(tmp_path: Path) -> None:
    store = Store(tmp_path / "r.sqlite", CLASSIC)
    file = secret_path(tmp_path / "r.sqlite")
    Stopped.left[0] = 3
    with pytest.raises(KeyboardInterrupt):
        tournament((Stopped(), "simple"), store, n_matches=0)
    secret = file.read_text().strip()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(secret) == 64
    assert {task.seed for task in store.tasks()} == {secret_label(secret)}
    assert 0 < len(store.tasks()) < 5
    assert not store.secrets()
    for path in tmp_path.iterdir():
        assert (secret.encode() in path.read_bytes()) == (path == file)
    Stopped.left[0] = -1
    whole = tournament((Stopped(), "simple"), store, n_matches=0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.sqlite"]
    assert store.secrets() == {secret_label(secret): secret}
    content = whole.content
    assert (content["seed"], content["secret"]) == (None, secret)
    assert content["decks"] == "secret until the end"
    assert tables.as_text(content).startswith("rules classic, decks secret until the end\n")
    again = tournament((Stopped(), "simple"), Store(tmp_path / "r.sqlite"), n_matches=0)
    assert untimed(again.content) == untimed(content)
    replayed = tournament((Stopped(), "simple"), n_matches=0, secret=secret).content
    assert replayed["results"] == content["results"]
    assert replayed["pairs"][0]["points_per_hand"] == content["pairs"][0]["points_per_hand"]
    assert replayed["decks"] == "could be known to players"


def test_secrets_differ_and_seeds_are_said_to_be_known() -> None:
    first, second = (tournament(NAMES[:2], n_matches=0, check=False).content for _ in range(2))
    assert first["secret"] != second["secret"]
    assert first["results"] != second["results"]
    seeded = tournament(NAMES[:2], n_matches=0, check=False, seed=4).content
    assert (seeded["seed"], seeded["secret"]) == (4, None)
    assert seeded["decks"] == "could be known to players"
    said = tables.as_text(seeded).splitlines()[0]
    assert said == "rules classic, seed 4, decks could be known to players"


def test_hands_that_are_played_after_the_end_could_be_known(tmp_path: Path) -> None:
    store = Store(tmp_path / "r", CLASSIC)
    first = tournament(NAMES[:2], store, n_matches=0)
    assert first.content["decks"] == "secret until the end"
    more = tournament(NAMES[:2], store, n_matches=0, n_hands=600)
    assert more.content["secret"] == first.content["secret"]
    assert more.content["pairs"][0]["hands"] == 600
    assert more.content["decks"] == "could be known to players"
    again = tournament(NAMES[:2], store, n_matches=0)
    assert again.content["decks"] == "could be known to players"


@pytest.mark.parametrize("names", [NAMES, (Outside(), "simple"), (Slow(), "simple")])
def test_workers_play_the_same_secret(names) -> None:
    changes = {"secret": SECRET, "n_hands": 120, "n_matches": 4}
    alone = untimed(tournament(names, **changes).content)
    assert untimed(tournament(names, **changes, workers=2).content) == alone


def test_ray_plays_the_same_secret() -> None:
    pytest.importorskip("ray")
    names, changes = (Outside(), "simple"), {"secret": SECRET, "n_hands": 80, "n_matches": 4}
    alone = untimed(tournament(names, **changes).content)
    assert untimed(tournament(names, **changes, engine="ray", workers=2).content) == alone


def test_stores_with_secrets_merge_once_their_tournaments_have_ended(tmp_path: Path) -> None:
    stores = {name: Store(tmp_path / name, CLASSIC) for name in ("mine", "other", "unfinished")}
    changes = {"n_matches": 0, "check": False}
    mine = tournament(NAMES[:2], stores["mine"], **changes).content
    other = tournament(NAMES[:2], stores["other"], **changes).content
    stores["unfinished"].add(
        Task(secret_label(SECRET), *NAMES[:2], "hands", 0, 200),
        stores["other"].get(stores["other"].tasks()[0]),
    )
    with pytest.raises(ValueError, match="allowed: once its tournament has ended"):
        stores["mine"].merge(stores["unfinished"])
    assert stores["mine"].merge(stores["other"]) == 1
    both = tournament(NAMES[:2], stores["mine"], **changes).content
    assert both["pairs"][0]["hands"] == 800
    assert set(both["secret"]) == {mine["secret"], other["secret"]}
    assert both["decks"] == "secret until the end"
    assert stores["mine"].secret() == mine["secret"]  # its own is the one to go on with
    empty = Store(None, CLASSIC)
    assert empty.merge(stores["mine"]) == 2
    assert empty.digest() == stores["mine"].digest() == both["results"]
    replay = Store(None, CLASSIC)
    tournament(NAMES[:2], replay, **changes, secret=other["secret"])
    assert replay.digest() == other["results"]
    assert empty.merge(replay) == 0
    assert empty.known_decks() == [secret_label(other["secret"])]


def test_a_seed_beside_an_unfinished_secret_does_not_tell_it(tmp_path: Path) -> None:
    path = tmp_path / "r"
    store = Store(path, CLASSIC)
    secret = kept_secret(path)
    made = Decks(secret)
    played = tournament(NAMES[:2], Store(None, CLASSIC), secret=secret, n_matches=0, check=False)
    [pair] = played.pairs
    store.add(
        Task(made.label, *NAMES[:2], "hands", 0, 200), Played(pair.hands, pair.knocks, pair.shown)
    )
    content = tournament((Outside(), "simple"), store, seed=0, n_matches=0, check=False).content
    assert content["secret"] is None
    assert kept_secret(path) == secret
    assert not store.secrets()


def test_a_secret_is_kept_once_also_on_a_disk_without_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = kept_secret(tmp_path / "a")
    assert kept_secret(tmp_path / "a") == first

    def refused(*paths) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    second = kept_secret(tmp_path / "b")
    assert second != first
    assert kept_secret(tmp_path / "b") == second
    assert stat.S_IMODE(secret_path(tmp_path / "b").stat().st_mode) == 0o600
    assert len([*tmp_path.iterdir()]) == 2


def test_bad_secrets_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^secret; allowed: 64 hexadecimal digits[^\n]*$"):
        Plan(secret="5e")
    with pytest.raises(ValueError, match=r"^seed=1 and a secret; allowed: one of them$"):
        Plan(secret=SECRET, seed=1)
    path = tmp_path / "r"
    secret_path(path).write_text("x" * 64)
    store = Store(path, CLASSIC)
    with pytest.raises(ValueError, match=r"secret' holds no secret; allowed"):
        tournament(NAMES[:2], store)
    secret_path(path).unlink()
    store._db.execute("INSERT INTO about VALUES ('secret-0123456789abcdef', ?)", (SECRET,))
    with pytest.raises(ValueError, match="is not the label of its secret"):
        tournament(NAMES[:2], store)


@pytest.mark.parametrize("rules", [CLASSIC, FRENCH])
def test_chance_of_a_secret(rules: Rules) -> None:
    """One deck a deal; everything else differs everywhere, and nothing hangs on how deals are cut."""
    n, decks = rules.players, Decks(SECRET)
    made = decks.chance(rules, "hands 'a' 'b'", 0, 300)
    assert (made.decks == made.decks[:, :1]).all()
    assert made.words is not None
    assert len(np.unique(np.concatenate([made.decks[:, 0], made.words.ravel()]))) == 300 * (1 + n * n)  # fmt: skip
    part = decks.chance(rules, "hands 'a' 'b'", 100, 50)
    for whole, some in zip(made, part, strict=True):
        assert whole is not None
        assert np.array_equal(whole[100:150], some)
    for of in ("hands 'a' 'c'", "matches 'a' 'b'"):
        assert not np.isin(decks.chance(rules, of, 0, 300).decks, made.decks).any()
    firsts = np.bincount(made.order[:, 0], minlength=n)
    assert firsts.min() > 300 / n - 50
    assert (np.sort(made.order, axis=1) == np.arange(n)).all()
    fresh = Decks(SECRET, fresh=True).chance(rules, "hands 'a' 'b'", 0, 100)
    assert len(np.unique(fresh.decks)) == 100 * n
    assert np.array_equal(fresh.decks.ravel(), made.decks[: 100 * n, 0])


def test_a_seats_words_do_not_tell_of_the_deck() -> None:
    """With a seed they do: a seat's stream is mixed from the deck's, and back."""
    step = np.uint64(0x9E3779B97F4A7C15)
    words = Decks(SECRET).chance(CLASSIC, "", 0, 200)
    assert words.words is not None
    with np.errstate(over="ignore"):
        for seat in range(2):
            from_deck = [
                int(mix(np.uint64(mix(deck)) + step * np.uint64(seat + 1)) ^ deck)
                for deck in words.decks[:, 0]
            ]
            assert not np.isin(words.words[:, :, seat], np.array(from_deck, np.uint64)).any()


def test_fresh_decks_are_stored_apart_and_need_no_check(tmp_path: Path) -> None:
    store = Store(tmp_path / "r", CLASSIC)
    changes = {"n_hands": 80, "n_matches": 4, "check": False, "seed": 3}
    mirrored = tournament((Outside(), "simple"), store, **changes).content
    fresh = tournament((Outside(), "simple"), store, **changes, fresh=True).content
    assert {str(task.seed) for task in store.tasks()} == {"3", "3-fresh"}
    assert fresh["pairs"][0]["hands"] == 160
    assert (fresh["seed"], fresh["fresh"], mirrored["fresh"]) == (3, True, False)
    alone = tournament((Outside(), "simple"), **changes, fresh=True).content
    for content, n in ((mirrored, 2), (fresh, 2), (alone, 0)):
        names = [check["name"] for check in content["checks"]]
        assert sum("later" in name for name in names) == n
    secret = tournament(NAMES[:2], n_hands=80, n_matches=4, fresh=True).content
    assert secret["secret"]
    assert ", no deck played twice" in tables.as_text(secret).splitlines()[0]


SPY = """import json, os, sys
from pathlib import Path
log = open(os.environ["SPY_LOG"], "a", buffering=1)
parent, lines = os.getppid(), []
while parent > 1:
    lines += [Path(f"/proc/{parent}/cmdline").read_text(), Path(f"/proc/{parent}/environ").read_text()]
    parent = int(Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[1])
log.write(repr([sys.argv, dict(os.environ), lines]) + chr(10))
for line in sys.stdin:
    log.write(line)
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "hello"}), flush=True)
    elif message["type"] == "request":
        print(json.dumps({"type": "move", "id": message["id"], "move": message["legal"][0]}), flush=True)
"""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_program_is_not_given_the_secret(tmp_path: Path, workers: str) -> None:
    """Not in command lines, the environment or messages, its host's and workers' included."""
    pytest.importorskip("psutil")
    (tmp_path / "spy.py").write_text(SPY)
    log = tmp_path / "log"
    command = f"cmd:{sys.executable} -S {tmp_path / 'spy.py'}"
    words = ["evaluate.py", command, "simple", "--hands", "8", "--matches", "0", "--no-check"]
    files = ["--store", str(tmp_path / "r"), "--json", str(tmp_path / "r.json")]
    more = {**os.environ, "SPY_LOG": str(log)}
    ran = python(str(ROOT / words[0]), *words[1:], *files, "--move-time", "30", "--workers", workers, env=more, check=False)  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    secret = json.loads((tmp_path / "r.json").read_text())["secret"]
    seen = log.read_text()
    assert seen.count('"type":"request"') > 20
    for known in (secret, secret.upper(), str(int(secret, 16)), secret_label(secret)[-16:]):
        assert known not in seen
