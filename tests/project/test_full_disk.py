"""Disks that are full and folders that cannot be written: one line that names the file, and nothing torn.

A limit on the size of files stands for the full disk: from some byte on nothing is written any more.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.paths import PLAYTHROUGHS, python

resource = pytest.importorskip("resource")

LIMITED = """
import resource
from pathlib import Path
from okgin_env import histories
from okgin_env.utils import files
hands = histories.read({hands!r})
path = Path({path!r})
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
try:
    {call}
except OSError as error:
    print(error)
"""
CALLS = {
    "write": "files.write_text(path, 'x' * 100_000)",
    "check": "files.check_writable(path)",
    "histories.write": "histories.write(path, hands)",
    "histories.append": "histories.append(path, hands)",
}


def said(call: str, path: str, limit: int = -1) -> str:
    """What an OSError says in a process that can write so many bytes to a file; empty: there was none."""
    code = LIMITED.format(hands=str(PLAYTHROUGHS), path=path, limit=limit, call=CALLS[call])
    return python("-c", code, check=True).stdout.strip()


@pytest.mark.parametrize("call", ["write", "histories.write"])
def test_a_full_disk_leaves_the_older_file(call: str, tmp_path: Path) -> None:
    path = tmp_path / "a.okgin"
    path.write_text("older")
    text = said(call, str(path), 3000)
    assert str(path) in text
    assert "\n" not in text
    assert path.read_text() == "older"
    assert [*tmp_path.iterdir()] == [path]


def test_a_full_disk_takes_the_last_hand_only(tmp_path: Path) -> None:
    from okgin_env import histories

    path = tmp_path / "a.okgin"
    text = said("histories.append", str(path), 3000)
    assert str(path) in text
    assert "\n" not in text
    assert len([*histories.scan(path, strict=False)]) >= 1


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder nobody can write to")
@pytest.mark.parametrize("call", CALLS)
def test_a_folder_that_cannot_be_written_is_named(call: str) -> None:
    text = said(call, "/proc/a.okgin")
    assert "'/proc/a.okgin'" in text
    assert "\n" not in text
