"""Makes a trained policy stronger with hindsight, the second stage of training: ``python -m okgin_env refine POLICY --out FOLDER``.

In each round the policy plays, and its likely moves are played out (`okgin_env.learning.refine.hindsight`); then it is trained to prefer what came out best, on the
positions of this round and of the one before (`okgin_env.learning.refine.fit`). Against whom it then stands how is in FOLDER/rounds.csv. A run that
was stopped, even killed, goes on with the same command: finished rounds and gathered positions are kept.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import Progress, TimeElapsedColumn
from safetensors import safe_open

from okgin_env import PRESETS, Rules, players
from okgin_env.arena import tournament
from okgin_env.arena.plan import Plan
from okgin_env.arena.report import tables
from okgin_env.arena.store.provenance import commit
from okgin_env.layout import layout
from okgin_env.learning.export import write_policy
from okgin_env.learning.refine import rounds
from okgin_env.learning.refine.fit import as_network, fit, gain
from okgin_env.learning.refine.hindsight import HUNTER_PLAYS_ON, LEAST, Positions, gather
from okgin_env.players.network import NetworkPlayer
from okgin_env.players.scripted import ScriptedPlayer
from okgin_env.utils.files import write_bytes, write_text
from okgin_env.utils.workers import obey

OPPONENTS = ("camper", "camper", "camper", "simple", "simple", "knocker")
PER_FILE = 500_000
HANDS = 20_000  # against each player, after a round and at the end


@dataclass(frozen=True)
class Refinement:
    """What is asked for: fields as on the command line."""

    policy: str
    rules: str
    opponents: tuple[str, ...]
    rounds: int
    positions: int
    epochs: int
    learning_rate: float
    seed: int
    plays_on: str = HUNTER_PLAYS_ON

    def check(self) -> None:
        """Checks every option.

        Raises:
            ValueError: An option out of its range, by name, value and what is allowed.
            FileNotFoundError: No such policy.
        """
        if self.rules not in PRESETS:
            raise ValueError(f"rules={self.rules!r}; allowed: {', '.join(PRESETS)}")
        for name, least in (("rounds", 1), ("positions", 1), ("epochs", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}={getattr(self, name)}; allowed: {least} or more")
        if self.plays_on not in LEAST:
            raise ValueError(f"plays_on={self.plays_on!r}; allowed: {', '.join(LEAST)}")
        if not 0 < self.learning_rate < 1:
            raise ValueError(f"learning_rate={self.learning_rate}; allowed: above 0, below 1")
        for name in self.opponents:
            if not isinstance(players.make(name), ScriptedPlayer):
                raise ValueError(f"opponent {name!r}; allowed: scripted players")
        if Path(self.policy).suffix != ".safetensors":
            raise ValueError(f"policy={self.policy!r}; allowed: a .safetensors file")
        player = NetworkPlayer.load(Path(self.policy))
        if player.activation != "relu":
            raise ValueError(f"policy={self.policy!r} has {player.activation}; allowed: relu")
        n_in = player.weights[0].shape[1]
        if n_in != (size := layout(2, False, True).size):
            raise ValueError(
                f"policy={self.policy!r} sees {n_in} features; allowed: {size} (two seats, single hands, outlook)"
            )

    def command(self) -> str:
        """The command line, but for the names of file and folder."""
        options: dict[str, Any] = {k: v for k, v in asdict(self).items() if k != "policy"}
        options["opponents"] = " ".join(self.opponents)
        told = (f"--{name.replace('_', '-')} {value}" for name, value in options.items())
        return " ".join(["python -m okgin_env refine POLICY --out FOLDER", *told])


def refine(asked: Refinement, out: Path, workers: int, console: Console) -> dict[str, Any]:
    """Runs the rounds, writes ``policy.safetensors`` and evaluates.

    Args:
        asked: What to do.
        out: Folder of the run: a new one, or that of an earlier run with the same options.
        workers: Processes that gather.
        console: Where to print.

    Returns:
        The evaluation, as `evaluate.py --json` writes it.

    Raises:
        ValueError: A folder with another run, or options out of range.
    """
    asked.check()
    text, options = json.dumps(asdict(asked), indent=1) + "\n", out / "config.json"
    begun = options.is_file()
    if options.read_text() != text if begun else out.exists() and _holds_anything(out):
        raise ValueError(
            f"out={str(out)!r}; allowed: a new folder, or one that the same command has begun"
        )
    write_text(options, text)
    torch.set_num_threads(1)
    rules = Rules.preset(asked.rules)
    with safe_open(asked.policy, framework="numpy") as file:
        about = dict(file.metadata() or {})
    before = f"{about['refined']}; " if "refined" in about else ""
    about |= {"refined": before + asked.command(), "refined_at": commit()}
    policies = [Path(asked.policy)]
    policies += [out / f"round_{k + 1}.safetensors" for k in range(asked.rounds)]
    with Progress(*Progress.get_default_columns(), TimeElapsedColumn(), console=console) as bar:
        for k, policy in enumerate(policies):
            if not policy.exists():
                network = _round(asked, out, k - 1, policies, workers, bar)
                write_policy(_tensors(network), policy, about)
            if k not in rounds.known(out):
                console.print(f"round {k}: {rounds.look(policy, rules, out, k, HANDS)}")
    path = out / "policy.safetensors"
    write_bytes(path, policies[-1].read_bytes())
    plan = Plan(
        rules=rules, n_hands=HANDS, n_matches=HANDS // 10, seed=asked.seed, first_only=True,
    )  # fmt: skip
    agents = [NetworkPlayer.load(path, "agent"), *map(players.make, rounds.LADDER)]
    content = tournament.run(agents, plan, about={"commit": commit()}).content
    tables.write_json(out / "evaluation.json", content)
    write_text(out / "evaluation.md", tables.as_text(content) + "\n")
    return content


def _holds_anything(folder: Path) -> bool:
    """Whether a folder holds more than what a run killed at its very beginning leaves."""
    return any(path.suffix != ".partial" for path in folder.iterdir())


def _round(
    asked: Refinement, out: Path, k: int, policies: list[Path], workers: int, bar: Progress
) -> torch.nn.Sequential:
    """Gathers with the policy of the round before and trains it."""
    paths = [
        _gather_all(asked, out / f"positions_{r + 1}", r, policies[r], workers, bar)
        for r in range(max(0, k - 1), k + 1)
    ]
    held = Positions.load(paths[-1][:1])  # never learned from: the gain is measured on them
    learned = Positions.load([path for own in paths for path in own[1:]])
    network = as_network(NetworkPlayer.load(policies[k]))
    task = bar.add_task(f"round {k + 1}: learning", total=None)
    for done, total in fit(network, learned, asked.epochs, asked.learning_rate, asked.seed + k):
        bar.update(task, completed=done, total=total)
    bar.update(task, description=f"round {k + 1}: {gain(network, held):+.2f} points a decision")
    return network


def _gather_all(
    asked: Refinement, folder: Path, k: int, policy: Path, workers: int, bar: Progress
) -> list[Path]:
    """Gathers what is missing of a round's positions; returns their files."""
    folder.mkdir(parents=True, exist_ok=True)
    n_files, n_each = 1 + max(1, round(asked.positions / PER_FILE)), min(PER_FILE, asked.positions)
    paths = [folder / f"{f:04d}.npz" for f in range(n_files)]
    missing = [f for f in range(n_files) if not paths[f].exists()]
    if not missing:
        return paths
    task = bar.add_task(f"round {k + 1}: positions", total=n_each * n_files, completed=n_each * (n_files - len(missing)))  # fmt: skip
    jobs = [(asked, policy, n_each, (asked.seed, k, f), paths[f]) for f in missing]
    if workers == 1:
        for job in jobs:
            _gather_file(*job)
            bar.advance(task, n_each)
        return paths
    context = get_context("spawn")
    leash, end = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, obey, (leash,))
    try:
        for done in as_completed([pool.submit(_gather_file, *job) for job in jobs]):
            done.result()
            bar.advance(task, n_each)
    except BaseException:
        end.close()  # nobody waits for the files that are being gathered
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    return paths


def _gather_file(
    asked: Refinement, policy: Path, n: int, seed: tuple[int, ...], path: Path
) -> None:
    player, rules = NetworkPlayer.load(policy), Rules.preset(asked.rules)
    gather(player, rules, asked.opponents, n, seed, asked.plays_on).save(path)


def _tensors(network: torch.nn.Sequential) -> dict[str, Any]:
    """Its layers by the names that they have in a policy file."""
    state = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    last = str(len(network) - 1)
    return {
        f"action_net.{part}" if layer == last else f"mlp_extractor.policy_net.{layer}.{part}": array
        for (layer, part), array in ((name.split("."), array) for name, array in state.items())
    }


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="python -m okgin_env refine",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("policy", help="policy.safetensors of a run of train.py with outlook, two seats, hands")
    add("--out", type=Path, required=True, metavar="FOLDER", help="folder of the run")
    add("--rules", default="classic", help="rules preset (default: classic)")
    add("--opponents", nargs="+", default=OPPONENTS, metavar="NAME",
        help=f"scripted players, each in an equal share of the games (default: {' '.join(OPPONENTS)})")  # fmt: skip
    add("--rounds", type=int, default=3, help="of gathering and learning (default: 3)")
    add(
        "--positions",
        type=int,
        default=4_000_000,
        help="of a round; above 500000 in files of that many (default: 4000000)",
    )
    add("--epochs", type=int, default=3, help="passes over them (default: 3)")
    add("--learning-rate", type=float, default=1e-3, help="at its highest (default: 0.001)")
    add("--seed", type=int, default=0, help="of the run (default: 0)")
    add("--plays-on", default=HUNTER_PLAYS_ON, metavar="WHO",
        help="who plays a tried move on: hunter, and the policy where it may knock (the default), or policy")  # fmt: skip
    add("--workers", type=int, default=1, help="processes that gather (default: 1)")
    return made


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    args = parser().parse_args(argv)
    asked = Refinement(
        args.policy, args.rules, tuple(args.opponents), args.rounds, args.positions, args.epochs,
        args.learning_rate, args.seed, args.plays_on,
    )  # fmt: skip
    try:
        if args.workers < 1:
            raise ValueError(f"workers={args.workers}; allowed: 1 or more")
        content = refine(asked, args.out, args.workers, Console())
        print(f"{rounds.table(args.out)}\n\n{tables.as_text(content)}")
    except (ValueError, KeyError, OSError, BrokenProcessPool) as error:
        print(f"refine.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("refine.py: stopped; the same command goes on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
