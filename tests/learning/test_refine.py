"""The second stage of training: what its labels say, what it learns from them, and how it goes on after a stop."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from rich.console import Console
from safetensors import safe_open
from safetensors.numpy import save

from okgin_env import Rules
from okgin_env.cli import refine as command
from okgin_env.engine.games import Games
from okgin_env.kernel.policies import CAMPER, EXTERNAL, HUNTER, choose
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import KNOCK, layout
from okgin_env.learning.refine import fit
from okgin_env.learning.refine import run as refine
from okgin_env.learning.refine.config import Refinement
from okgin_env.learning.refine.hindsight import (
    N_TRIED,
    Positions,
    gather,
    unpack,
    unpack_masks,
    value_moves,
)
from okgin_env.players import expert
from okgin_env.players.network import NetworkPlayer
from okgin_env.players.weights import FORMAT

EXPERT = expert.UPCARD
PLAYER = NetworkPlayer.load(EXPERT)
ASKED = Refinement(str(EXPERT), "classic", ("camper", "simple"), 2, 3000, 2, 1e-4, 5)


def _in_the_middle(rules: Rules) -> Games:
    """Games of `hunter` against `camper`, some turns on."""
    games, everyone = Games(64, rules, opponent="camper", outlook=True), np.arange(64)
    games.seed(everyone, everyone.astype(np.uint64))
    games.reset(everyone)
    for _ in range(7):
        masks = games.decisions(everyone).masks
        games.step(masks.argmax(axis=1), everyone, autoreset=True)
    return games


@pytest.mark.parametrize(("rules", "always"), [("classic", False), ("eaai", False), ("eaai", True)])
def test_values_are_what_the_env_pays_for_the_same_moves(rules: str, always: bool) -> None:
    """Each legal move, then `hunter`, and the network where it is asked, in the env itself, which knows nothing of the labels."""
    made = Rules.preset(rules)
    games, everyone = _in_the_middle(made), np.arange(64)
    decisions = games.decisions(everyone)
    moves = np.full((64, 3), -1)
    for i in range(64):
        legal = np.flatnonzero(decisions.masks[i])[:3]
        moves[i, : len(legal)] = legal
    values, record = np.zeros(moves.shape, np.float32), as_records(made.to_record())
    policies = np.full((64, 4), CAMPER, np.int8)
    policies[np.arange(64), games.states["seat"]] = EXTERNAL
    before = games.states.copy()
    seen = np.empty((1, layout(2, False, True).size), np.int8)
    value_moves(
        games.states, record, policies, moves, new_states(1), PLAYER.compiled, always, seen, values
    )
    assert games.states.tobytes() == before.tobytes()
    table, n_compared = np.empty(52, np.int16), 0
    for k in range(3):
        games.restore(before.copy(), games.finals.copy())
        going = np.flatnonzero(moves[:, k] >= 0)
        paid = np.full(64, np.nan)
        actions = np.where(moves[:, k] >= 0, moves[:, k], 0)
        while len(going):
            written = games.step(actions, going, autoreset=False)
            paid[going] = np.where(written.dones[going], written.rewards[going], np.nan)
            over = going[written.dones[going]]
            assert np.allclose(paid[over], values[over, k])
            n_compared += len(over)
            going = going[~written.dones[going]]
            masks = written.masks[going]
            scores = np.where(masks, PLAYER.forward(written.observations[going]), -np.inf)
            actions[going] = scores.argmax(axis=1)
            hunters = () if always else going[~masks[:, KNOCK : KNOCK + 52].any(axis=1)]
            for i in hunters:
                actions[i] = choose(games.states[i], record[0], HUNTER, table)
    assert n_compared > 100


def test_positions_hold_what_the_policy_saw(tmp_path: Path) -> None:
    rules = Rules()
    found = gather(PLAYER, rules, ("camper", "simple"), 1500, (3, 0))
    again = gather(PLAYER, rules, ("camper", "simple"), 1500, (3, 0))
    other = gather(PLAYER, rules, ("camper", "simple"), 1500, (3, 1))
    found.save(tmp_path / "a.npz")
    loaded = Positions.load([tmp_path / "a.npz", tmp_path / "a.npz"])
    assert len(loaded) == 2 * len(found) >= 3000
    for key in ("features", "masks", "moves", "values"):
        assert np.array_equal(getattr(found, key), getattr(again, key))
        assert np.array_equal(getattr(loaded, key)[: len(found)], getattr(found, key))
    assert not np.array_equal(found.values[:1000], other.values[:1000])
    everything = slice(0, len(found))
    masks = unpack_masks(found, everything)
    moves = torch.from_numpy(found.moves.astype(np.int64))
    assert moves.shape[1] == N_TRIED
    assert bool((moves[:, 1] >= 0).all())
    legal = masks.gather(1, moves.clamp(min=0))
    assert bool((legal | (moves < 0)).all())
    seen = unpack(found.features, layout(2, False, True).size).numpy().astype(np.int8)
    scores = np.where(masks.numpy(), PLAYER.forward(seen), -np.inf)
    assert np.array_equal(scores.argmax(axis=1), found.moves[:, 0])


def test_learning_gains_on_positions_learned_from() -> None:
    """The labels can be learned: a network fitted to few positions does far better on them than the old policy."""
    learned = gather(PLAYER, Rules(), ("camper",), 2000, (4, 0))
    network = fit.as_network(PLAYER)
    assert fit.gain(network, learned) == 0.0
    for _ in fit.fit(network, learned, 200, 1e-3, 0):
        pass
    assert fit.gain(network, learned) > 1.0


def test_runs_go_on_and_end_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(refine, "HANDS", 200)
    quiet = Console(quiet=True)
    (tmp_path / "a").mkdir()
    (tmp_path / "a/.config.json.x.partial").write_text("{")  # killed at its very beginning
    content = refine.refine(ASKED, tmp_path / "a", 2, quiet)
    assert [pair["b"] for pair in content["pairs"]][:2] == ["simple", "knocker"]
    table = refine.table(tmp_path / "a").splitlines()
    assert table[0] == "| round | simple | knocker | camper |"
    assert [line.split(" | ")[0] for line in table[2:]] == ["| 0", "| 1", "| 2"]
    first = NetworkPlayer.load(tmp_path / "a/policy.safetensors")
    for left in ("policy.safetensors", "round_2.safetensors", "positions_2/0001.npz"):
        (tmp_path / "a" / left).unlink()
    refine.refine(ASKED, tmp_path / "a", 1, quiet)
    second = NetworkPlayer.load(tmp_path / "a/policy.safetensors")
    assert all(map(np.array_equal, first.weights, second.weights))
    with safe_open(tmp_path / "a/policy.safetensors", framework="numpy") as file:
        about = file.metadata()
    before, now = about["refined"].rsplit("; ", 1)  # the expert is a refined policy itself
    assert before.startswith("python -m agents.refine POLICY")
    assert now == ASKED.command()
    assert now.startswith("okgin refine POLICY --out FOLDER --rules classic")
    assert json.loads((tmp_path / "a/config.json").read_text())["positions"] == 3000
    with pytest.raises(ValueError, match="one that the same command has begun"):
        refine.refine(replace(ASKED, seed=6), tmp_path / "a", 1, quiet)
    (tmp_path / "a/config.json").unlink()
    with pytest.raises(ValueError, match="allowed: a new folder"):
        refine.refine(ASKED, tmp_path / "a", 1, quiet)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--rules", "bridge"], "rules='bridge'; allowed: classic"),
        (["--positions", "0"], "positions=0; allowed: 1 or more"),
        (["--epochs", "0"], "epochs=0; allowed: 1 or more"),
        (["--learning-rate", "2"], "learning_rate=2.0; allowed: above 0, below 1"),
        (["--opponents", "expert"], "opponent 'expert'; allowed: scripted players"),
        (["--plays-on", "camper"], "plays_on='camper'; allowed: hunter, policy"),
        (["--workers", "0"], "workers=0; allowed: 1 or more"),
    ],
)
def test_bad_options_are_one_line(
    options: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new"
    assert command.main([str(EXPERT), "--out", str(folder), *options]) == 2
    assert says in capsys.readouterr().err
    assert not folder.exists()
    assert command.main([str(tmp_path / "no.safetensors"), "--out", str(folder)]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_policies_of_another_kind_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"allowed: a \.safetensors file"):
        replace(ASKED, policy="model.zip").check()
    tensors = {"action_net.weight": np.zeros((108, 7), np.float32), "action_net.bias": np.zeros(108, np.float32)}  # fmt: skip
    for activation, says in (("tanh", "has tanh; allowed: relu"), ("relu", "sees 7 features; allowed: the 855 of today")):  # fmt: skip
        path = tmp_path / f"{activation}.safetensors"
        path.write_bytes(save(tensors, metadata={"format": FORMAT, "activation": activation}))
        with pytest.raises(ValueError, match=says):
            replace(ASKED, policy=str(path)).check()
