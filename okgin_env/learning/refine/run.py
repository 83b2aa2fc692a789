"""A refinement from its folder to the table at its end: rounds of gathering (`hindsight`) and of learning (`fit`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import torch
from rich.console import Console

from okgin_env.arena.store.provenance import commit
from okgin_env.layout import layout
from okgin_env.learning import ladder, tensors
from okgin_env.learning.config import AGENT
from okgin_env.learning.export import write_policy
from okgin_env.learning.refine.config import Refinement
from okgin_env.learning.refine.fit import as_network, fit, gain, policy_tensors
from okgin_env.learning.refine.gathering import gather_all
from okgin_env.learning.refine.hindsight import Positions
from okgin_env.players.network import NetworkPlayer
from okgin_env.rules import Rules, as_rules
from okgin_env.utils.files import write_bytes, write_text
from okgin_env.utils.progress import NeverSilent

LADDER = ("simple", "knocker", "camper")
HANDS = 20_000  # against each player, after a round and at the end


def refine(asked: Refinement, out: Path, workers: int, console: Console) -> dict[str, Any]:
    """Runs the rounds, writes ``policy.safetensors`` and evaluates.

    Args:
        asked: The options.
        out: Folder of the run: a new one, or that of an earlier run with the same options.
        workers: Processes that gather.
        console: Where to print.

    Returns:
        The evaluation, as `evaluate.py --json` writes it.

    Raises:
        ValueError: A folder with another run, or options out of range.
    """
    asked.check()
    _begin(asked, out)
    torch.set_num_threads(1)
    rules, about = as_rules(asked.rules), tensors.metadata(Path(asked.policy))
    before = f"{about['refined']}; " if "refined" in about else ""
    about |= {"features": layout(2, False, True).described}
    about |= {"refined": before + asked.command(), "refined_at": commit()}
    policies = [Path(asked.policy)]
    policies += [out / f"round_{k + 1}.safetensors" for k in range(asked.rounds)]
    with NeverSilent(console=console) as bar:
        for k, policy in enumerate(policies):
            if not policy.exists():
                network = _round(asked, out, k - 1, policies, workers, bar)
                write_policy(policy_tensors(network), policy, about)
            if k not in set(_curve(out)["round"]):
                task = bar.add_task(f"round {k}: playing {', '.join(LADDER)}", total=None)
                console.print(f"round {k}: {_look(policy, rules, out, k)}")
                bar.remove_task(task)
    path = out / "policy.safetensors"
    write_bytes(path, policies[-1].read_bytes())
    content = ladder.evaluate(NetworkPlayer.load(path, AGENT), LADDER, rules, HANDS, asked.seed)
    ladder.write_evaluation(out, content)
    return content


def _begin(asked: Refinement, out: Path) -> None:
    """Makes the folder of a run, or checks that it is of this one.

    Raises:
        ValueError: It is of another, or of none.
    """
    options = out / "config.json"
    if options.is_file():
        ours = options.read_text() == asked.to_json()
    else:  # a run that is killed at its very beginning leaves partial files only
        ours = not out.exists() or all(path.suffix == ".partial" for path in out.iterdir())
    if not ours:
        raise ValueError(
            f"out={str(out)!r}; allowed: a new folder, or one that the same command has begun"
        )
    write_text(options, asked.to_json())


def _round(
    asked: Refinement, out: Path, k: int, policies: list[Path], workers: int, bar: NeverSilent
) -> torch.nn.Sequential:
    """Gathers with the policy of the round before and trains it."""
    paths = [
        gather_all(asked, out / f"positions_{r + 1}", r, policies[r], workers, bar)
        for r in range(max(0, k - 1), k + 1)
    ]
    held = Positions.load(paths[-1][:1])  # never learned from: the gain is measured on them
    learned = Positions.load([path for own in paths for path in own[1:]])
    network = as_network(NetworkPlayer.load(policies[k]))
    task = bar.add_task(f"round {k + 1}: learning", total=None, unit="batches")
    for done, total in fit(network, learned, asked.epochs, asked.learning_rate, asked.seed + k):
        bar.update(task, completed=done, total=total)
    bar.update(task, description=f"round {k + 1}: {gain(network, held):+.2f} points a decision")
    return network


def _look(policy: Path, rules: Rules, out: Path, k: int) -> str:
    """Plays the policy of a round against the ladder, adds to FOLDER/rounds.csv, and says how it went."""
    rows, _ = ladder.climb(NetworkPlayer.load(policy, AGENT), LADDER, rules, HANDS)
    new = pd.DataFrame([{"round": k, **row} for row in rows])
    ladder.write_curve(out / "rounds.csv", pd.concat([_curve(out), new], ignore_index=True))
    return ladder.in_a_line(rows, 2)


def _curve(out: Path) -> pd.DataFrame:
    """Points after each round so far."""
    path = out / "rounds.csv"
    if not path.exists():
        return pd.DataFrame({name: [] for name in ladder.ROUND_COLUMNS}).astype({"round": int})
    return ladder.read_curve(path, ladder.ROUND_COLUMNS)


def table(out: Path) -> str:
    """The curve of a run as a Markdown table: points a hand after each round."""
    rounds = _curve(out).groupby("round")
    return ladder.table("round", ((str(k), rows) for k, rows in rounds), 2)
