"""Reads what killed runs leave behind, to the last byte: for `tools/kill_at_random.py`.

As a script, ``python -m tools.left_behind DIR`` records hands until it is killed: it adds them one by one to a file, and now and
then writes all of them anew to another.
"""

from __future__ import annotations

import csv
import io
import json
import sys
import zlib
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

from PIL import Image

from okgin_env import histories
from okgin_env.histories import files
from okgin_env.players.network import NetworkPlayer
from tests.helpers.paths import PLAYTHROUGHS

AT_MOST = 2048  # steps between two checkpoints: 1,500, up to the next whole rollout
_TASKS = "tasks.txt"  # how many hands the recorder had handed over


# --- single files ---------------------------------------------------------------------------------------
def check_file(path: Path) -> None:
    """Reads a file to its end, as what its name says it is.

    Raises:
        AssertionError: It is torn.
    """
    try:
        _READERS.get(path.suffix, lambda _: None)(path)
    except Exception as error:
        raise AssertionError(f"torn: {path} ({path.stat().st_size} bytes): {error!r}") from error


def _csv(path: Path) -> None:
    rows = [*csv.reader(io.StringIO(path.read_text()), strict=True)]
    if not path.name.startswith(
        "progress_"
    ):  # a log is added to, and may end in the middle of a line
        assert rows
        assert path.read_text().endswith("\n")
        assert len({len(row) for row in rows}) == 1


def _html(path: Path) -> None:
    assert path.read_text().rstrip().endswith("</html>")


_READERS = {
    ".json": lambda path: json.loads(path.read_text()),
    ".svg": lambda path: ElementTree.fromstring(path.read_text()),
    ".png": lambda path: Image.open(path).load(),  # which reads to the end
    ".csv": _csv,
    ".html": _html,
    ".okgin": lambda path: [hand.final() for hand in files.scan(path)],
    ".safetensors": lambda path: NetworkPlayer.load(path),
    ".zip": lambda path: NetworkPlayer.load(path),
}


def check_files(folder: Path) -> None:
    """Reads every file below a folder, but what is called partial.

    Raises:
        AssertionError: One of them is torn.
    """
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "partial" not in str(path) and "checkpoints" not in str(path):
            check_file(path)


# --- training -------------------------------------------------------------------------------------------
def check_training(folder: Path) -> float:
    """A run folder; the steps of its newest checkpoint."""
    from safetensors.numpy import load_file

    run = folder / "run"
    if not run.exists():
        return 0
    check_files(run)
    found = sorted((run / "checkpoints").glob("[0-9]*"))
    if not found:
        return 0
    newest = found[-1]
    for path in found:
        arrays = load_file(path)  # which checks that it is whole
        assert arrays["progress"][0] == int(path.stem)
    ahead = _logged(run) - int(newest.stem)
    assert ahead <= AT_MOST, f"the newest checkpoint is {ahead} steps behind: {newest}"
    return int(newest.stem)


def _logged(run: Path) -> int:
    """The last step that the learning curve speaks of: it is written just before a checkpoint."""
    if not (run / "curve.csv").exists():
        return 0
    with (run / "curve.csv").open() as file:
        return max((int(row["steps"]) for row in csv.DictReader(file)), default=0)


def trained(folder: Path) -> Any:
    """The learning curve, the final table and the weights of a run that has ended."""
    run = folder / "run"
    with (run / "curve.csv").open() as file:
        curve = [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]
    policy = NetworkPlayer.load(run / "policy.safetensors")
    weights = b"".join(w.tobytes() for w in (*policy.weights, *policy.biases))
    return curve, _untimed(json.loads((run / "evaluation.json").read_text())), zlib.crc32(weights)


# --- tournaments ----------------------------------------------------------------------------------------
def check_tournament(folder: Path) -> float:
    """A store, a report and a summary; the deals that are stored."""
    from okgin_env.arena.store.store import Store

    check_files(folder)
    page, path = folder / "page", folder / "r.sqlite"
    if (page / "report.html").exists():
        assert (page / "hands.okgin").exists()
        assert any((page / "figures").iterdir())
    if not path.exists() or not path.stat().st_size:
        return 0
    store = Store(path)
    tasks = store.tasks()
    for task in tasks:
        assert store.get(task).results.points.shape == (task.deals, 2)
    return sum(task.deals for task in tasks)


def evaluated(folder: Path) -> Any:
    """The result of a tournament that has ended: the digest of all its results, and its summary."""
    assert (folder / "page" / "report.html").exists()
    return _untimed(json.loads((folder / "r.json").read_text()))


def _untimed(content: dict[str, Any]) -> dict[str, Any]:
    """A summary without what the clock and the checkout say (which may be edited in between)."""
    pairs = [{k: v for k, v in p.items() if k != "ms_per_decision"} for p in content["pairs"]]
    left_out = ("commit", "versions")
    return {**{k: v for k, v in content.items() if k not in left_out}, "pairs": pairs}


# --- hands ----------------------------------------------------------------------------------------------
def check_histories(folder: Path) -> float:
    """A file that hands are added to, and one that is written anew; the hands in the first."""
    added, written = folder / "added.okgin", folder / "written.okgin"
    if written.exists():
        check_file(written)
    if not added.exists():
        return 0
    hands = [hand.final() for hand in files.scan(added, strict=False)]
    told = folder / _TASKS
    n_told = len(told.read_bytes()) if told.exists() else 0
    assert len(hands) >= n_told, f"{n_told} hands were recorded, {len(hands)} are there"
    return len(hands)


def record(folder: Path) -> None:
    """Records hands until it is killed."""
    hands = histories.read(PLAYTHROUGHS)
    rng = Random()
    with (folder / _TASKS).open("ab", buffering=0) as told:
        while True:
            hand = rng.choice(hands)
            files.append(folder / "added.okgin", hand)
            told.write(b".")  # only now has it been recorded
            if rng.random() < 0.2:
                files.write(folder / "written.okgin", rng.choices(hands, k=20))
            if (folder / "added.okgin").stat().st_size > 1 << 20:
                told.truncate(0)
                (folder / "added.okgin").unlink()


if __name__ == "__main__":
    record(Path(sys.argv[1]))
