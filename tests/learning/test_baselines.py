"""The comparison of algorithms: who is kept to legal moves and who is not, and what it leaves."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from benchmarks import baselines
from okgin_env.learning.config import PRESETS
from okgin_env.learning.model import make_env


def test_dqn_acts_legally_and_ppo_without_masks_does_not() -> None:
    config = replace(PRESETS["smoke"], games=32)
    for name, legal in (("DQN, masked when it acts", True), ("PPO, no masks", False)):
        model = baselines.ALGORITHMS[name](config)
        assert model.env is not None
        observations = model.env.reset()
        decisions = make_env(config)
        decisions.reset()
        asked = decisions.games.decisions(np.arange(32))
        actions = baselines.as_player(model).act(asked)
        assert bool((asked.masks[np.arange(32), actions] == 1).all()) == legal
        if legal:
            model._last_obs = observations
            for starts in (0, 10**9):
                actions, _ = model._sample_action(starts, n_envs=32)
                masks = np.stack(model.env.env_method("action_masks")).reshape(32, -1)
                assert masks[np.arange(32), actions].all()


def test_table_and_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["MaskablePPO", "PPO, no masks"]
    small = ["--steps", "16384", "--games", "64", "--seeds", "1", "--only", *names]
    assert baselines.main([*small, "--out", str(tmp_path)]) == 0
    assert "| MaskablePPO | 16,384 |" in capsys.readouterr().out
    assert (tmp_path / "baselines.png").stat().st_size > 5000
    rows = list(csv.DictReader((tmp_path / "baselines.csv").open()))
    assert {row["algorithm"] for row in rows} == set(names)
    assert all(float(row["illegal"]) == 0 for row in rows if row["algorithm"] == names[0])
    assert baselines.main(["--out", str(tmp_path), "--only", "A2C"]) == 2
    complaint = capsys.readouterr().err.strip().splitlines()[-1]
    assert "allowed: 1 or more; MaskablePPO, PPO, no masks" in complaint


def test_the_page_names_whom_they_are_trained_against() -> None:
    page = (Path(__file__).parents[2] / "docs" / "baselines.md").read_text()
    against = " and ".join(f"`{name}`" for name in baselines.OPPONENTS)
    assert f"decisions against {against}," in page
