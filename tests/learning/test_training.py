"""train.py and what it leaves: resume after a kill goes on exactly, and errors are one line."""

from __future__ import annotations

import csv
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO

from okgin_env import players
from okgin_env.cli import train
from okgin_env.engine.games import Games
from okgin_env.learning import checkpoint, curve, exploit, ladder, selfplay, ship
from okgin_env.learning.config import PRESETS, TrainConfig
from okgin_env.learning.ppo import next_checkpoint
from okgin_env.players.network import NetworkPlayer
from okgin_env.utils.commands import options_of

ROOT = Path(__file__).parents[2]
TINY = [
    *("--preset", "smoke", "--steps", "6144", "--games", "32", "--rollout", "32", "--batch", "256"),
    *("--imitate-moves", "3200", "--checkpoint-every", "1024", "--evaluation-hands", "20"),
    *("--final-hands", "40", "--layers", "16", "--threads", "1"),
]


def _train(*args: str, **popen: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "train.py", *args]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300, **popen)  # pyright: ignore


def _points(folder: Path) -> list[tuple[str, ...]]:
    """The learning curve without its seconds."""
    with (folder / "curve.csv").open() as file:
        return [
            (row["steps"], row["against"], row["points"], row["low"], row["high"])
            for row in csv.DictReader(file)
        ]


SELF_PLAY = ["--opponents", "simple", "self", "self"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    done = _train(*TINY, *SELF_PLAY, "--out", str(folder))
    assert done.returncode == 0, done.stderr
    assert "| agent | simple |" in done.stdout
    return folder


def test_run_folder_is_complete(run: Path) -> None:
    files = ("config.json", "commit.txt", "model.zip", "policy.safetensors", "best.safetensors")
    for name in (*files, "curve.png"):
        assert (run / name).stat().st_size > 0, name
    assert list(run.glob("progress_*.csv"))
    assert list(run.glob("events.out.tfevents*"))
    content = json.loads((run / "evaluation.json").read_text())
    assert [pair["b"] for pair in content["pairs"]] == ["simple", "knocker", "camper", "random"]
    assert not [path for path in run.rglob("*partial*")]


def test_past_selves_are_kept_and_seated_by_the_stated_rule(run: Path) -> None:
    config = TrainConfig.from_json((run / "config.json").read_text())
    past = [int(path.stem) for path in selfplay.kept(run, 6144)]
    assert past == [0, 1024, 2048, 3072, 4096, 5120, 6144]
    scripted, newest, drawn = selfplay.pool(config, run, 4096)
    assert scripted.name == "simple"
    assert newest.name == "selves/000000004096"
    assert drawn.name in {f"selves/{steps:012}" for steps in past[:5]}
    assert [player.name for player in selfplay.pool(config, run, 4096)] == [
        scripted.name,
        newest.name,
        drawn.name,
    ]
    other = {selfplay.pool(replace(config, seed=seed), run, 4096)[2].name for seed in range(30)}
    assert len(other) == 5
    assert [p.name for p in selfplay.pool(config, None, 0)] == ["simple", "camper", "camper"]


def _lost(selves: Path) -> None:
    (selves / "000000002048.safetensors").unlink()


def _foreign(selves: Path) -> None:
    shutil.copy(selves / "000000002048.safetensors", selves / "000000002049.safetensors")


def _torn(selves: Path) -> None:
    (selves / "000000006144.safetensors").write_bytes(b"torn")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_lost, "past self of step 2048 is missing or of no checkpoint"),
        (_foreign, "past self of step 2049 is missing or of no checkpoint"),
        (_torn, "is no safetensors file"),
        (shutil.rmtree, "past self of step 0 is missing"),
    ],
)
def test_lost_foreign_and_torn_past_selves_are_one_line(
    run: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    damage: Callable[[Path], None],
    said: str,
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    selves = folder / selfplay.FOLDER
    shutil.copy(selves / "000000002048.safetensors", selves / "mine.safetensors")  # nobody minds
    damage(selves)
    assert train.main(["--resume", str(folder)]) == 2
    complaint = capsys.readouterr().err
    assert said in complaint
    assert len(complaint.strip().splitlines()) == 1


def test_killed_run_resumes_to_the_same_numbers(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    command = [sys.executable, "train.py", *TINY, *SELF_PLAY, "--out", str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    for _ in range(1200):  # until there is a checkpoint that is not the last
        time.sleep(0.05)
        newest = checkpoint.newest(folder / "checkpoints")
        if newest is not None and int(newest.stem) >= 2048:
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert int(checkpoint.newest(folder / "checkpoints").stem) < 6144  # pyright: ignore
    done = _train("--resume", str(folder))
    assert done.returncode == 0, done.stderr
    assert "resumed at" in done.stdout
    assert _points(folder) == _points(run)
    for name in ("policy.safetensors", "best.safetensors"):
        ours, theirs = (NetworkPlayer.load(f / name) for f in (folder, run))
        for mine, other in zip(ours.weights, theirs.weights, strict=True):
            assert np.array_equal(mine, other)


def test_best_is_by_the_sum_over_the_ladder_without_its_floor() -> None:
    def curve(*points: dict[str, float]) -> pd.DataFrame:
        rows = [
            {"steps": 100 * k, "against": name, "points": value}
            for k, row in enumerate(points)
            for name, value in row.items()
        ]
        return pd.DataFrame(rows)

    first, better = (
        {"simple": 1.0, "camper": -2.0, "random": 50.0},
        {"simple": 0.5, "camper": -1.0, "random": 9.0},
    )
    assert ladder.is_best(curve(first))
    assert ladder.is_best(curve(first, better))
    assert not ladder.is_best(curve(better, first))
    assert not ladder.is_best(curve(first, first))


def test_zip_and_safetensors_play_alike_and_as_torch(run: Path) -> None:
    zipped = players.make(str(run / "model.zip"))
    exported = players.make(str(run / "policy.safetensors"))
    assert isinstance(zipped, NetworkPlayer)
    assert isinstance(exported, NetworkPlayer)
    model = MaskablePPO.load(run / "model.zip")  # our own file, so its pickled parts are ours
    games, everyone = Games(500, "classic", outlook=True), np.arange(500)
    games.seed(everyone, everyone.astype(np.uint64))
    written = games.reset(everyone)
    for _ in range(20):  # 10,000 positions
        decisions = games.decisions(everyone)
        predicted, _ = model.predict(
            written.observations, deterministic=True, action_masks=written.masks.astype(bool)
        )
        with torch.no_grad():
            x = torch.from_numpy(written.observations).float()
            logits = model.policy.get_distribution(x).distribution.logits.numpy()
        legal = np.where(written.masks, logits, -np.inf)
        for actions in (zipped.act(decisions), exported.act(decisions), predicted):
            chosen = np.take_along_axis(legal, actions[:, None], axis=1)[:, 0]
            assert (chosen >= legal.max(1) - 1e-5).all()  # of two that are as good, either
        ours = exported.scores(decisions)
        shifted = ours - ours.max(1, keepdims=True) - (logits - logits.max(1, keepdims=True))
        assert np.abs(shifted).max() < 1e-5
        written = games.step(players.make("camper").act(decisions), everyone, autoreset=True)


def test_shipping_writes_weights_and_card(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a card says of the training is the run's own, and its command would make the same configuration."""
    monkeypatch.setattr(ship, "FOLDER", tmp_path)
    card = ship.ship(run, run / "best.safetensors", None, ["made in a test"], 40)
    best, shipped = (
        NetworkPlayer.load(path) for path in (run / "best.safetensors", tmp_path / "classic.npz")
    )
    assert all(map(np.array_equal, shipped.weights, best.weights))
    assert shipped.features == best.features != ""
    assert (tmp_path / "classic.md").read_text() == card
    config = TrainConfig.from_json((run / "config.json").read_text())
    words = shlex.split(ship.command(config))
    default = PRESETS[config.preset]
    assert words[:4] == ["python", "train.py", "--preset", "smoke"]
    assert words[words.index("--steps") + 1] == str(config.steps) != str(default.steps)
    assert "--learning-rate" not in words  # as the preset has it
    assert "| note | made in a test |" in card
    assert card.count("| expert |") == len(ship.AGAINST)
    big = tmp_path / "big.safetensors"
    big.write_bytes(b" " * (ship.MAX_BYTES + 1))
    with pytest.raises(ValueError, match="allowed: a smaller network"):
        ship.ship(run, big, None, [], 40)
    text = (run / "config.json").read_text().replace('"classic"', '"gin"')
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ValueError, match="rules=gin; allowed: classic, eaai"):
        ship.ship(tmp_path, run / "best.safetensors", None, [], 40)
    assert not (tmp_path / "gin.safetensors").exists()


def test_curves_of_several_runs(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "curves.png"
    assert curve.main([str(run), str(run), "--plot", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 4
    assert rows[2] == rows[3]
    assert curve.main([str(tmp_path), "--plot", str(picture)]) == 2
    assert "curve.csv" in capsys.readouterr().err


def test_strangers_zip_runs_no_code(run: Path, tmp_path: Path) -> None:
    """A model file with a hostile pickle in it is refused, or read without running it."""
    import pickle
    import zipfile

    class Hostile:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "owned"),)

    path = tmp_path / "hostile.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", (zipfile.ZipFile(run / "model.zip")).read("data"))
        archive.writestr("policy.pth", pickle.dumps(Hostile()))
    with pytest.raises(ValueError, match=r"hostile\.zip' holds no readable policy"):
        players.make(str(path))
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--rules", "bridge"], "rules='bridge'; allowed: classic"),
        (["--opponents", "nobody"], "player 'nobody'; allowed: random"),
        (["--batch", "1000"], "batch=1000; allowed: a divisor"),
        (["--resume", "no-such-run"], "resume='no-such-run'; allowed: the folder"),
        (["--out", "tests"], "out='tests'; allowed: a new folder"),
        (["--steps", "0"], "steps=0; allowed: 1 or more"),
        (["--seats", "7"], "players=7; allowed: 2 to 4"),
        (["--reward", "match"], "reward='match'; allowed: points, win"),
        (["--clip", "-1"], "clip=-1.0; allowed: above 0"),
        (["--device", "foo"], "device='foo'; allowed: cpu"),
        (["--final-hands", "1"], "final_hands=1; allowed: 2 or more"),
        (["--ladder", "simple", "simple"], "ladder: players named ['simple', 'simple']; allowed"),
        (["--ladder", "expert", "--seats", "3"], "expert: players=3; allowed: 2"),
        (["--opponents", "expert", "--seats", "3"], "expert: players=3; allowed: 2"),
        (["--imitate", "expert", "--seats", "3"], "expert: players=3; allowed: 2"),
        (["--imitate", "self"], "player 'self'; allowed: random"),
        (["--gae-lambda", "1.5"], "gae_lambda=1.5; allowed: 0 to 1"),
        (["--learning-rate", "nan"], "learning_rate=nan; allowed: above 0"),
        (["--entropy", "-1"], "entropy=-1.0; allowed: 0 or more"),
        (["--seed", str(2**32)], "seed=4294967296; allowed: 0 to 4294967295"),
    ],
)
def test_bad_options_are_one_line(
    args: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert train.main(args) == 2
    complaint = capsys.readouterr().err
    assert said in complaint
    assert len(complaint.strip().splitlines()) == 1


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is there")
def test_a_device_that_is_not_there_is_not_replaced_without_a_word(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = tmp_path / "new"
    assert train.main(["--preset", "smoke", "--device", "cuda", "--out", str(new)]) == 2
    assert capsys.readouterr().err == "train.py: device='cuda' is not there; allowed: cpu, auto\n"
    assert not new.exists()
    old = tmp_path / "old"
    shutil.copytree(run, old)
    config = TrainConfig.from_json((old / "config.json").read_text())
    (old / "config.json").write_text(replace(config, device="cuda").to_json())
    assert train.main(["--resume", str(old)]) == 0
    assert "no device cuda here: this goes on with cpu" in capsys.readouterr().out
    assert _points(old) == _points(run)


def test_too_few_moves_to_copy_are_one_line(tmp_path: Path, capsys) -> None:
    args = ["--preset", "smoke", "--imitate-moves", "10", "--out", str(tmp_path / "run")]
    assert train.main(args) == 2
    said = capsys.readouterr().err
    assert said.startswith("train.py: imitate_moves=10; allowed: more")
    assert len(said.strip().splitlines()) == 1


@pytest.mark.parametrize("preset", list(PRESETS))
def test_a_run_that_goes_on_has_its_checkpoints_where_one_never_stopped_has_them(preset) -> None:
    """Whatever the rollout: where past selves are opponents it would else meet others."""
    config = PRESETS[preset]

    def checkpoints(steps: int) -> list[int]:
        due, found = next_checkpoint(steps, config.checkpoint_every), []
        while steps < config.steps:
            if steps >= due:
                found.append(steps)
                due = next_checkpoint(steps, config.checkpoint_every)
            steps += config.games * config.rollout
        return found

    whole = checkpoints(0)
    assert len(whole) >= config.steps // config.checkpoint_every - 1
    for k, steps in enumerate(whole):
        assert checkpoints(steps) == whole[k + 1 :]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_full_disk_is_one_line(tmp_path: Path) -> None:
    """Where nothing can be written the run ends with one line, before any work is lost."""
    done = _train("--preset", "smoke", "--out", "/dev/full/run")
    assert done.returncode == 2
    assert "/dev/full" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_presets_and_json_round_trip() -> None:
    for name, config in PRESETS.items():
        assert config.preset == name
        assert TrainConfig.from_json(config.to_json()) == config
    with pytest.raises(ValueError, match="no configuration"):
        TrainConfig.from_json('{"colour": "red"}')


def test_exploit_trains_against_one_player_and_says_what_it_wins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PRESETS, "quick", replace(PRESETS["smoke"], imitate_moves=3200))
    folder = tmp_path / "run"
    assert exploit.main(["random", "--out", str(folder), "--steps", "2048"]) == 0
    said = capsys.readouterr().out
    assert "after 2,048 steps a best responder wins +" in said
    assert "points a hand from random" in said
    config = TrainConfig.from_json((folder / "config.json").read_text())
    assert config.opponents == config.ladder == ("random",)
    assert exploit.main(["random", "--out", str(folder)]) == 2
    assert exploit.main(["nobody", "--out", str(tmp_path / "x")]) == 2
    complaints = capsys.readouterr().err.strip().splitlines()
    assert len(complaints) == 2
    assert "player 'nobody'; allowed: random" in complaints[1]


def test_help_shows_the_defaults_of_the_preset_and_examples(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for preset, steps in (("smoke", 32768), ("quick", 6000000)):
        with pytest.raises(SystemExit):
            train.main(["--preset", preset, "--help"])
        said = " ".join(capsys.readouterr().out.split())
        assert f"decisions of the learner in all (default: {steps})" in said
        assert "okgin train --resume runs/" in said
        assert "beats `simple`, `knocker`" in said


def test_curves_read_back_as_they_were(tmp_path: Path) -> None:
    rows = [(k, 0.1, "NA", 1 / 3 + k, -1e-17, float("inf")) for k in range(2)]
    written = pd.DataFrame(rows, columns=list(ladder.RUN_COLUMNS))
    ladder.write_curve(tmp_path / "curve.csv", written)
    assert ladder.read_curve(tmp_path / "curve.csv").equals(written)
    for content in ("", "steps\n1\n", "steps,seconds,against,points,low,high\nx,1,a,1,1,1\n"):
        (tmp_path / "curve.csv").write_text(content)
        with pytest.raises(ValueError, match=r"curve\.csv' is no learning curve: ") as caught:
            ladder.read_curve(tmp_path / "curve.csv")
        assert len(str(caught.value).splitlines()) == 1


def test_a_command_line_that_is_written_down_makes_the_same_run() -> None:
    config = replace(PRESETS["smoke"], outlook=False, layers=(64, 32), opponents=("self", "simple"))
    words = shlex.split(ship.command(config))[2:]
    assert "--no-outlook" in words
    made = train.parser("train.py", words).parse_args(words)
    assert TrainConfig(**options_of(made, TrainConfig)) == config
