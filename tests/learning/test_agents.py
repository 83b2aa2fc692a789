"""The scripts that people copy: short, on public names only, and they learn."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch

from agents import masked_dqn
from okgin_env import Rules, players

FOLDER = Path(__file__).parents[2] / "agents"
SCRIPTS = {
    "masked_ppo": ["--steps", "49152", "--games", "64"],
    "masked_dqn": ["--steps", "60000", "--games", "128"],
    "reinforce": ["--updates", "15", "--games", "256"],
    "self_play": ["--steps", "65536", "--games", "64", "--rounds", "2"],
}
PUBLIC = {
    *("okgin_env", "okgin_env.sb3", "okgin_env.players", "okgin_env.wrappers"),
    *("gymnasium", "numpy", "torch", "stable_baselines3", "sb3_contrib"),
    *("__future__", "argparse", "copy", "pathlib"),
}
LONGEST = 200  # lines
LEAST_GAIN = 3.0  # points a hand against `simple`; with three seeds each they gained 8 to 34


def test_every_script_is_run_here() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} - {"__init__"} == SCRIPTS.keys()


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_short_and_use_public_names_only(name: str) -> None:
    text = (FOLDER / f"{name}.py").read_text()
    assert len(text.splitlines()) < LONGEST
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found = [str(node.module)]
            assert not any(alias.name.startswith("_") for alias in node.names)
        elif isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_"), node.attr
            continue
        else:
            continue
        for module in found:
            ours = module.partition(".")[0] == "okgin_env"
            assert (module if ours else module.partition(".")[0]) in PUBLIC, module
            assert module == "__future__" or not any(
                part.startswith("_") for part in module.split(".")
            )


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_learn_and_say_so(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By far more than chance: an evaluation of 500 hands is right to within two points."""
    script: ModuleType = importlib.import_module(f"agents.{name}")
    options = [*SCRIPTS[name], "--hands", "500"]
    out = tmp_path / ("model.zip" if name == "masked_ppo" else "out")
    if name in ("masked_ppo", "self_play"):
        options += ["--out", str(out)]
    before, after = script.train(script.parser().parse_args(options))
    assert after > before + LEAST_GAIN
    said = capsys.readouterr().out
    assert f"untrained {before:+.1f}, trained {after:+.1f}" in said
    assert "points a hand against simple" in said
    for model in [out] if name == "masked_ppo" else sorted(out.glob("*.zip")):
        players.make(str(model)).check_rules(Rules())


def test_masked_dqn_never_acts_illegally_nor_learns_from_what_is() -> None:
    masks = np.zeros((50, 108), np.int8)
    masks[:, 104:106] = 1
    network = torch.nn.Linear(3, 108)
    seen = np.ones((50, 3), np.int8)
    torch.nn.init.zeros_(network.weight)
    torch.nn.init.constant_(network.bias, 1.0)
    network.bias.data[104:106] = torch.tensor([-2.0, -1.0])
    rng = np.random.default_rng(0)
    assert set(masked_dqn.act(network, seen, masks, 1.0, rng)) == {104, 105}
    assert set(masked_dqn.act(network, seen, masks, 0.0, rng)) == {105}
    values = masked_dqn.legal_values(network, seen, masks)
    assert bool((values.max(1).values == -1).all())
    # The value of a decision goes to that of the best legal action after it, though an illegal one is valued higher.
    batch = (seen, np.full(50, 105), np.zeros(50, np.float32), np.zeros(50, bool), seen, masks)
    optimizer = torch.optim.SGD(network.parameters(), 0.1)
    kept = network.bias.detach().clone()
    masked_dqn.learn(network, network, optimizer, batch)
    assert torch.equal(network.bias, kept)


def test_moved_commands_say_where_they_went() -> None:
    for old, new in (("refine", "okgin refine"), ("ship", "okgin_env.learning.ship")):
        command = [sys.executable, "-m", f"agents.{old}", "x"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=FOLDER.parent)
        assert done.returncode == 2
        assert new in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
