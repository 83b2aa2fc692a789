"""Files of strangers that are whole, but hold what nobody makes: result stores, model `.zip`s and configurations."""

from __future__ import annotations

import io
import json
import sqlite3
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("rich")

from okgin_env.arena.store.store import Store
from okgin_env.cli import train
from okgin_env.learning import ppo
from okgin_env.learning.config import PRESETS, TrainConfig
from tests.helpers import parsers, parsers_files

COLUMNS = {
    "about": ("name", "value"),
    "players": ("name", "fingerprint"),
    "played": ("seed", "a", "b", "kind", "first", "deals", "results", "knocks", "shown", "seconds_a", "decisions_b", "luck_how", "luck", "digest"),
}  # fmt: skip
VALUES = (None, -1, 0, (1 << 63) - 1, 1.5, 1e308, float("inf"), "", "x", "a\nb", "9" * 999, "9" * 2000, "é" * 90_000, b"", b"\xff" * 600)  # fmt: skip


def _refused(name: str, data: bytes) -> str:
    """How something is refused; empty: it is taken."""
    try:
        parsers.read(name, data)
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("table", "column"), [(t, c) for t, names in COLUMNS.items() for c in names])  # fmt: skip
def test_any_value_in_a_store_is_read_or_refused_in_one_line(
    table: str, column: str, tmp_path: Path
) -> None:
    path, refused = tmp_path / "a.sqlite", 0
    for value in VALUES:
        path.write_bytes(parsers_files.stores()[0])
        db = sqlite3.connect(path, isolation_level=None)
        try:
            db.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", (value,))
        except sqlite3.IntegrityError:  # NULL where there may be none
            continue
        finally:
            db.close()
        refused += bool(_refused("store", path.read_bytes()))
    assert refused > 0 or column in ("seconds_a", "decisions_b", "fingerprint", "name")


@pytest.mark.parametrize("data", parsers_files.hostile_stores(), ids=parsers_files.HOSTILE_SCHEMAS)
def test_a_store_with_other_tables_is_refused(data: bytes) -> None:
    """A view with endless rows filled the memory."""
    assert "holds no tables of" in _refused("store", data)


def test_a_store_of_many_rows_of_nothing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    path.write_bytes(parsers_files.stores()[0])
    db = sqlite3.connect(path)
    db.executemany("INSERT INTO played VALUES ('1', 'a', 'b', 'hands', ?, 1 << 40, zeroblob(9), '', '', 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, '')", [(k << 41,) for k in range(50)])  # fmt: skip
    db.commit()
    db.close()
    with pytest.raises(ValueError, match="an impossible size"):
        Store(path).digest()


# --- zip ------------------------------------------------------------------------------------------------
def _zip(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _member(name: str) -> bytes:
    return zipfile.ZipFile(io.BytesIO(parsers_files.zips()[0])).read(name)


@pytest.mark.parametrize("data", [b"[" * 100_000, b"", b"\xff"])
def test_a_zip_with_broken_settings_is_refused(data: bytes) -> None:
    said = _refused("zip", _zip({"data": data, "policy.pth": _member("policy.pth")}))
    assert "no readable policy" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    "data",
    [b"null", b"5", b'{"policy_kwargs": 5}', b'{"policy_kwargs": {"activation_fn": {"a": "ReLU"}}}'],
)  # fmt: skip
def test_a_zip_with_other_settings_is_read(data: bytes) -> None:
    assert _refused("zip", _zip({"data": data, "policy.pth": _member("policy.pth")})) == ""


def test_members_of_a_zip_are_never_unpacked_to_files() -> None:
    members = {"data": _member("data"), "policy.pth": _member("policy.pth")}
    assert not _refused("zip", _zip({**members, "../../a": b"x", "/tmp/b": b"x"}))
    assert "over 512 MB" in _refused("zip", _zip({**members, "more": bytes((1 << 29) + 1)}))
    assert "no readable policy" in _refused("zip", _zip({"data": members["data"]}))


# --- configurations -------------------------------------------------------------------------------------
ABSURD = (None, True, -1, 0, 1.5, 10**400, 10**12, float("nan"), float("inf"), "", "x", "a\nb", "x" * 100_000,
          [], [[]], [None], ["x"], [10**12], [1] * 50, {}, {"a": 1}, "../../x.zip", ["nobody\n"] * 3)  # fmt: skip


@pytest.mark.parametrize("name", [*json.loads(PRESETS["smoke"].to_json())])
def test_any_option_in_a_configuration_is_read_or_refused_in_one_line(name: str) -> None:
    content = json.loads(PRESETS["smoke"].to_json())
    changed = [(value, json.dumps({**content, name: value}).encode()) for value in ABSURD]
    taken = [value for value, data in changed if not _refused("config", data)]
    allowed: dict[str, Any] = {"out": str, "resume": str, "ladder": list, "opponents": list}
    for value in taken:
        assert value is None or type(value) in (int, float, bool, allowed.get(name)), value


@pytest.mark.parametrize(
    "text", ["", "5", "null", "[1]", '"x"', "{}", "[" * 100_000, '{"a": 1}', "9" * 5000]
)
def test_what_is_no_configuration_is_refused(text: str) -> None:
    said = _refused("config", text.encode())
    assert "no configuration of this version" in said or text == "{}"


def test_a_strangers_configuration_runs_no_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run folder that names a program or a class as opponent ran it when it was resumed."""
    (tmp_path / "owned.py").write_text(
        "import pathlib\npathlib.Path('ran').touch()\nclass P: pass\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    content = json.loads(PRESETS["smoke"].to_json())
    for spec in ("owned:P", "cmd:touch ran", "owned:P.zip:x", "cmd:touch ran.zip"):
        for field in ("opponents", "ladder", "imitate"):
            changed = {**content, field: spec if field == "imitate" else ["simple", spec]}
            Path("config.json").write_text(json.dumps(changed))
            assert train.main(["--resume", "."]) == 2
            said = capsys.readouterr().err
            assert "which runs code; allowed with --trust" in said
            assert len(said.splitlines()) == 1
    assert not Path("ran").exists()
    Path("config.json").write_text(json.dumps({**content, "opponents": ["owned:P"]}))
    with pytest.raises(ValueError, match="which runs code; allowed with --trust"):
        ppo.train(replace(PRESETS["smoke"], resume=Path()))
    assert not Path("ran").exists()
    with pytest.raises(ValueError, match="is no Player; allowed: a class derived from"):
        TrainConfig.of_run(Path(), trust=True)
    assert Path("ran").exists()


def test_a_big_configuration_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(PRESETS["smoke"].to_json() + " " * (1 << 20))
    with pytest.raises(ValueError, match="over 1048576 bytes"):
        TrainConfig.of_run(tmp_path)
