"""Puts a run's best policy into the package as `expert`, with its model card: ``python -m okgin_env.learning.ship RUN --exploited FOLDER``."""

from __future__ import annotations

import argparse
import io
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np

from okgin_env import Rules
from okgin_env.arena.report import tables
from okgin_env.arena.store.provenance import commit
from okgin_env.learning import tensors
from okgin_env.learning.config import PRESETS, TrainConfig
from okgin_env.learning.ladder import evaluate, read_curve
from okgin_env.players.expert import FIXED, FOLDER, UPCARD
from okgin_env.players.network import NetworkPlayer
from okgin_env.utils.commands import options_in_words, run
from okgin_env.utils.files import write_bytes, write_text

MAX_BYTES = 2_000_000
SHIPPED = (UPCARD.stem, FIXED.stem)  # the rules whose networks `expert` plays
EVALUATION_SEED = 1
AGAINST = ("simple", "knocker", "careful", "camper", "hunter")
CARD = """# expert, {rules}

A multi-layer perceptron ({layers}; ReLU, {n:,} weights in float32) from an observation with outlook to action scores; it plays its best legal
action. It sees what its seat may see and nothing else.

| | |
|---|---|
| rules | `{rules}`, two seats, single hands by points; of a match's score it sees nothing |
| trained by | `{command}` |
| commit | {trained_at} |
| seed | {seed} |
| steps | {steps:,} of {all_steps:,} |
| hours | {hours:.1f} on one core |
| opponents | {opponents} |
{refined}| licence | MIT |
{notes}
## Strength
`python -m okgin_env.learning.ship` at commit {commit}, seed {eval_seed}; every deck is played from both seats, 95 % intervals clustered by deck.

{table}

## What beats it
{exploited}

## Weaknesses
- More than two seats: refused. Other bonuses, and what the score of a match asks for: not seen.
- It believes what its opponents in training were like: patient or quick, never bluffing. The best responder above is the worst it has met.
- {weakest}
"""


def command(config: TrainConfig) -> str:
    """The command line that a configuration comes from."""
    words = options_in_words(config, PRESETS[config.preset], skip=("preset", "out", "resume"))
    return shlex.join(["python", "train.py", "--preset", config.preset, *words])


def exploited_text(folder: Path | None) -> str:
    """The finding of a best responder's run."""
    if folder is None:
        return "Not measured for these rules."
    config = TrainConfig.from_json((folder / "config.json").read_text())
    pair = json.loads((folder / "evaluation.json").read_text())["pairs"][0]
    low, high = pair["ci95"]
    return (
        f"A fresh best responder (`python -m okgin_env.learning.exploit expert --imitate {config.imitate} --rules {config.rules}`, {config.steps:,} steps, "
        f"seed {config.seed}) wins {pair['points_per_hand']:+.2f} ({low:+.2f} to {high:+.2f}) points a hand: a lower bound of what it can lose."
    )


def ship(
    folder: Path, weights: Path, exploited: Path | None, notes: list[str], n_hands: int
) -> str:
    """Evaluates, and writes weights and card into the package.

    Args:
        folder: Of the run.
        weights: The policy to ship.
        exploited: Folder of a best responder's run against it, if there is one.
        notes: What else the card must say.
        n_hands: Hands against each player; a tenth of it matches.

    Returns:
        The card.

    Raises:
        ValueError: A file too big for the package, or rules for which `expert` has no network of its own.
    """
    if weights.stat().st_size > MAX_BYTES:
        raise ValueError(f"'{weights}' has over {MAX_BYTES:,} bytes; allowed: a smaller network")
    config = TrainConfig.from_json((folder / "config.json").read_text())
    if config.rules not in SHIPPED:
        raise ValueError(f"'{folder}' has rules={config.rules}; allowed: {', '.join(SHIPPED)}")
    player = NetworkPlayer.load(weights, "expert")
    content = evaluate(player, AGAINST, Rules.preset(config.rules), n_hands, EVALUATION_SEED)
    curve = read_curve(folder / "curve.csv")
    about = tensors.metadata(weights)
    steps, refined = int(about["steps"]), about.get("refined")
    seconds = curve["seconds"].max()
    sizes = [player.weights[0].shape[1], *(len(bias) for bias in player.biases)]
    card = CARD.format(
        rules=config.rules,
        layers=" → ".join(map(str, sizes)),
        n=sum(w.size for w in player.weights) + sum(b.size for b in player.biases),
        command=command(config),
        trained_at=(folder / "commit.txt").read_text().strip(),
        seed=config.seed,
        steps=steps,
        all_steps=config.steps,
        hours=seconds / 3600,
        opponents=", ".join(config.opponents) + f"; first copies {config.imitate_moves:,} moves of {config.imitate}",
        refined=f"| then refined by | `{refined}` |\n| at commit | {about['refined_at']} |\n" if refined else "",
        notes="".join(f"| note | {note} |\n" for note in notes),
        commit=commit(),
        eval_seed=EVALUATION_SEED,
        table=tables.table(content["pairs"]),
        exploited=exploited_text(exploited),
        weakest=_weakest(content["pairs"]),
    )  # fmt: skip
    packed = io.BytesIO()  # NumPy's own format: the core reads it without any other library
    content: dict[str, Any] = tensors.read_all(weights) | {k: np.array(v) for k, v in about.items()}
    np.savez(packed, **content)
    write_bytes(FOLDER / f"{config.rules}.npz", packed.getvalue())
    write_text(FOLDER / f"{config.rules}.md", card)
    return card


def _weakest(pairs: list[dict[str, Any]]) -> str:
    worst = min(pairs, key=lambda pair: pair["points_per_hand"])
    return f"Of the players above {worst['b']} loses least to it: {worst['points_per_hand']:+.2f} points a hand."


def _ship(args: argparse.Namespace) -> None:
    weights = args.weights or args.run / "best.safetensors"
    print(ship(args.run, weights, args.exploited, args.note, args.hands))


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m okgin_env.learning.ship", description=__doc__)
    add = parser.add_argument
    add("run", type=Path, help="folder of the training run")
    add("--weights", type=Path, metavar="FILE", help="policy (default: the run's best.safetensors)")
    add(
        "--exploited",
        type=Path,
        metavar="FOLDER",
        help="run of python -m okgin_env.learning.exploit expert",
    )
    add("--note", action="append", default=[], metavar="TEXT", help="what else the card must say")
    add("--hands", type=int, default=40_000, help="hands against each player (default: 40000)")
    return run(parser, _ship, argv)


if __name__ == "__main__":
    sys.exit(main())
