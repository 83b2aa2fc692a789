"""Readers of whole files of strangers, as further targets of `tests/helpers/parsers.py`: result stores, model `.zip`s, configurations.

Each lies alone in a folder, and whatever is tried nothing else may be in there afterwards.
"""

from __future__ import annotations

import io
import json
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from okgin_env import Rules, players
from okgin_env.arena.match import play_deals
from okgin_env.arena.plan import Task
from okgin_env.arena.store.store import Store
from okgin_env.layout import N_ACTIONS, layout
from okgin_env.learning.config import PRESETS, TrainConfig
from okgin_env.players.network import NetworkPlayer

RULES = Rules.preset("classic")
HOSTILE_SCHEMAS = (
    "DROP TABLE about; CREATE VIEW about AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT 'a' || x AS name, 'b' AS value FROM r",
    "DROP TABLE players; CREATE VIEW players AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x AS name, x AS fingerprint FROM r",
    "CREATE TRIGGER t AFTER INSERT ON about BEGIN DELETE FROM played; END",
    "ALTER TABLE about ADD COLUMN more TEXT GENERATED ALWAYS AS (hex(zeroblob(100000000)))",
    "CREATE TABLE other (a)",
    "CREATE INDEX other ON played (seed)",
)  # fmt: skip


@contextmanager
def alone(name: str, content: bytes) -> Iterator[Path]:
    """A file in a folder of its own.

    Raises:
        AssertionError: There is something else in the folder afterwards.
    """
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            yield path
        except OSError as error:  # a file that cannot be read is refused, too
            raise ValueError(str(error)) from error
        finally:
            left = sorted(p.name for p in Path(folder).iterdir())
            assert left == [name], f"left behind: {left}"


# --- result stores ------------------------------------------------------------------------------------
def read_store(data: bytes) -> None:
    """All that a store is asked for, and what it is merged into."""
    with alone("a.sqlite", data) as path:
        store = Store(path)
        try:
            ours = Store(None, store.rules)
            n_merged, theirs = ours.merge(store), store.digest()
            assert n_merged < len(store.tasks()) or ours.digest() == theirs
            assert ours.versions() == store.versions()
        finally:
            store.close()


def stores() -> list[bytes]:
    """A small store of two tasks, in pages of 512 bytes."""
    return [_store("")]


def hostile_stores() -> list[bytes]:
    """Stores with more, or something else, in them than a store makes."""
    return [_store(statement) for statement in HOSTILE_SCHEMAS]


@cache
def _store(statements: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.sqlite"
        store = Store(path, RULES)
        seated = [players.make(name) for name in ("simple", "camper")]
        store.seat({player.name: "0" for player in seated})
        store.note({"numpy": "2.0"})
        for first in (0, 2):
            store.add(Task(1, "simple", "camper", "hands", first, 2), play_deals(*seated, RULES, 1, first, 2))  # fmt: skip
        store.close()
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("PRAGMA page_size = 512")
        db.execute("VACUUM")
        db.executescript(statements)
        db.close()
        return path.read_bytes()


# --- models of stable-baselines3 ------------------------------------------------------------------------
def read_zip(data: bytes) -> None:
    with alone("a.zip", data) as path:
        NetworkPlayer.load(path)


@cache
def zips() -> list[bytes]:
    """A policy with one narrow layer, stored and packed."""
    import torch

    prefix, n_in = "mlp_extractor.policy_net.", layout(2).size
    state = {f"{prefix}0.weight": torch.ones(1, n_in), f"{prefix}0.bias": torch.ones(1)}
    state |= {"action_net.weight": torch.ones(N_ACTIONS, 1), "action_net.bias": torch.ones(N_ACTIONS)}  # fmt: skip
    weights, made = io.BytesIO(), list[bytes]()
    torch.save(state, weights)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", method) as archive:
            archive.writestr("data", json.dumps({"policy_kwargs": {"activation_fn": "ReLU"}}))
            archive.writestr("policy.pth", weights.getvalue())
        made.append(packed.getvalue())
    return made


# --- configurations of training -------------------------------------------------------------------------
def read_config(data: bytes) -> None:
    with alone("config.json", data) as path:
        config = TrainConfig.of_run(path.parent)
        assert TrainConfig.from_json(config.to_json()) == config


def configs() -> list[bytes]:
    """Those of the presets."""
    return [config.to_json().encode() for config in PRESETS.values()]


FILES: dict[str, tuple[Callable[[bytes], None], Callable[[], list[bytes]]]] = {
    "store": (read_store, stores),
    "zip": (read_zip, zips),
    "config": (read_config, configs),
}
