"""Makes a trained policy stronger with hindsight, the second stage of training: ``python -m agents.refine POLICY --out FOLDER``.

Gathers positions in which the policy's likely moves have been played out (see `agents.hindsight`), in files of the folder, then trains the
policy to prefer what came out best. A run that is stopped goes on with the same command: what has been gathered is
kept. The first file is never learned from: on its positions the gain is measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress, TimeElapsedColumn
from safetensors import safe_open

from agents.export import write_policy
from agents.hindsight import Positions, gather, unpack, unpack_masks
from okgin_env import PRESETS, Rules, players
from okgin_env.arena import report, tournament
from okgin_env.arena.plan import Plan
from okgin_env.arena.provenance import commit
from okgin_env.files import write_text
from okgin_env.layout import layout
from okgin_env.players.network import NetworkPlayer
from okgin_env.players.scripted import ScriptedPlayer

OPPONENTS = ("camper", "camper", "camper", "simple", "simple", "knocker")
PER_FILE = 500_000
BATCH = 4096
HANDS = 20_000  # of the table at the end, against each player
ENTROPY = 0.003
UNTRIED = 0.03  # what a move costs that was not thought worth playing out, in hundreds of points
SCALE = 0.15  # hundreds of points by which the moves of a decision differ, about
WARM_UP = 0.05  # part of the updates in which the learning rate rises
LOOKS = 10  # measurements of the gain


@dataclass(frozen=True)
class Refinement:
    """What is asked for: fields as on the command line."""

    policy: str
    rules: str
    opponents: tuple[str, ...]
    positions: int
    epochs: int
    learning_rate: float
    seed: int

    def check(self) -> None:
        """Checks every option.

        Raises:
            ValueError: An option out of its range, by name, value and what is allowed.
            FileNotFoundError: No such policy.
        """
        if self.rules not in PRESETS:
            raise ValueError(f"rules={self.rules!r}; allowed: {', '.join(PRESETS)}")
        for name, least in (("positions", 1), ("epochs", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}={getattr(self, name)}; allowed: {least} or more")
        if not 0 < self.learning_rate < 1:
            raise ValueError(f"learning_rate={self.learning_rate}; allowed: above 0, below 1")
        for name in self.opponents:
            if not isinstance(players.make(name), ScriptedPlayer):
                raise ValueError(f"opponent {name!r}; allowed: scripted players")
        if Path(self.policy).suffix != ".safetensors":
            raise ValueError(f"policy={self.policy!r}; allowed: a .safetensors file")
        n_in = NetworkPlayer.load(Path(self.policy)).weights[0].shape[1]
        if n_in != (size := layout(2, False, True).size):
            raise ValueError(
                f"policy={self.policy!r} sees {n_in} features; allowed: {size} (two seats, single hands, outlook)"
            )


def gather_all(asked: Refinement, folder: Path, workers: int, bar: Progress) -> list[Path]:
    """Gathers what is missing of the positions; returns their files."""
    folder.mkdir(parents=True, exist_ok=True)
    n_files = 1 + max(1, round(asked.positions / PER_FILE))
    n_each = min(PER_FILE, asked.positions)
    paths = [folder / f"{k:04d}.npz" for k in range(n_files)]
    missing = [k for k in range(n_files) if not paths[k].exists()]
    task = bar.add_task("positions", total=n_files * n_each, completed=(n_files - len(missing)) * n_each)  # fmt: skip
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(_gather_file, asked, n_each, k, paths[k]) for k in missing]
        try:
            for job in as_completed(jobs):
                job.result()
                bar.advance(task, n_each)
        except BaseException:
            pool.shutdown(cancel_futures=True, wait=False)
            raise
    return paths


def _gather_file(asked: Refinement, n: int, index: int, path: Path) -> None:
    torch.set_num_threads(1)
    rules = Rules.preset(asked.rules)
    gather(Path(asked.policy), rules, asked.opponents, n, (asked.seed, index)).save(path)


def as_network(player: NetworkPlayer) -> torch.nn.Sequential:
    """The player's layers in torch, ReLU between them."""
    parts: list[torch.nn.Module] = []
    for weight, bias in zip(player.weights, player.biases, strict=True):
        linear = torch.nn.Linear(weight.shape[1], weight.shape[0])
        linear.weight.data, linear.bias.data = torch.tensor(weight), torch.tensor(bias)
        parts += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1])


def gain(network: torch.nn.Module, held: Positions) -> float:
    """Points a decision, over positions that were not learned from, that the network's moves bring above the old policy's.

    A move that was not played out counts as the worst that was.
    """
    total = 0.0
    with torch.no_grad():
        for first in range(0, len(held), 16_384):
            rows = slice(first, first + 16_384)
            best = _log_chances(network, held, rows).argmax(1, keepdim=True)
            moves, values = _tried(held, rows)
            worst = torch.where(moves >= 0, values, torch.inf).min(1).values
            hit = moves == best
            got = torch.where(hit.any(1), (hit * values).sum(1), worst)
            total += float((got - values[:, 0]).sum())
    return 100 * total / len(held)


def fit(
    network: torch.nn.Module, learned: Positions, asked: Refinement
) -> Iterator[tuple[int, int]]:
    """Trains the network in place; yields minibatches done and in all after each of them.

    Maximized is the mean outcome when moves are drawn by the network's probabilities: the policy gradient with the outcome of every
    likely move in place of the one that was drawn.
    """
    torch.manual_seed(asked.seed)
    rng = np.random.default_rng(asked.seed)
    optimizer = torch.optim.Adam(network.parameters(), asked.learning_rate, eps=1e-5)
    size = min(BATCH, len(learned))
    n = asked.epochs * (len(learned) // size)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: _rate(k / n))
    order = rng.permutation(len(learned))
    for k in range(n):
        at = size * (k % (len(learned) // size))
        if at == 0:
            order = rng.permutation(len(learned))
        rows = order[at : at + size]
        log_chances = _log_chances(network, learned, rows)
        chances = log_chances.exp()
        moves, values = _tried(learned, rows)
        tried = chances.gather(1, moves.clamp(min=0)) * (moves >= 0)
        of_tried = tried.sum(1, keepdim=True)
        mean = (tried * values).sum(1, keepdim=True) / of_tried.clamp(min=1e-6)
        outcome = (tried * (values - mean.detach())).sum(1) - UNTRIED * (1 - of_tried[:, 0])
        entropy = -(chances * log_chances).sum(1)
        loss = -(outcome / SCALE + ENTROPY * entropy).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 0.5)
        optimizer.step()
        schedule.step()
        yield k + 1, n


def _rate(done: float) -> float:
    """Share of the learning rate after a part of the updates: it rises quickly, then falls to a hundredth."""
    return min(max(done, 0.002) / WARM_UP, 1.01 - done)


def _log_chances(
    network: torch.nn.Module, positions: Positions, rows: NDArray[np.intp] | slice
) -> torch.Tensor:
    """(M, 108) log-probabilities of the actions, illegal ones far below zero."""
    x = unpack(positions.features[rows], layout(2, False, True).size).float()
    scores = network(x).masked_fill(~unpack_masks(positions, rows), -1e9)
    return torch.log_softmax(scores, 1)


def _tried(
    positions: Positions, rows: NDArray[np.intp] | slice
) -> tuple[torch.Tensor, torch.Tensor]:
    moves = torch.from_numpy(positions.moves[rows].astype(np.int64))
    return moves, torch.from_numpy(positions.values[rows].astype(np.float32))


def refine(asked: Refinement, out: Path, workers: int, console: Console) -> dict[str, Any]:
    """Gathers, trains, writes ``policy.safetensors`` and evaluates.

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
    text = json.dumps(asdict(asked), indent=1) + "\n"
    options = out / "config.json"
    if out.exists() and (not options.is_file() or options.read_text() != text):
        raise ValueError(
            f"out={str(out)!r}; allowed: a new folder, or one that the same command has begun"
        )
    write_text(options, text)
    with Progress(*Progress.get_default_columns(), TimeElapsedColumn(), console=console) as bar:
        paths = gather_all(asked, out / "positions", workers, bar)
        held, learned = Positions.load(paths[:1]), Positions.load(paths[1:])
        network = as_network(NetworkPlayer.load(Path(asked.policy)))
        torch.set_num_threads(1)
        task = bar.add_task("learning", total=None)
        for done, total in fit(network, learned, asked):
            bar.update(task, completed=done, total=total)
            if done % max(1, total // LOOKS) == 0 or done == total:
                console.print(f"{done:>7,} updates: {gain(network, held):+.3f} points a decision")
    path = out / "policy.safetensors"
    tensors = {
        f"mlp_extractor.policy_net.{key}": t.numpy() for key, t in network.state_dict().items()
    }
    last = max(int(key.split(".")[0]) for key in network.state_dict())
    for part in ("weight", "bias"):
        tensors[f"action_net.{part}"] = tensors.pop(f"mlp_extractor.policy_net.{last}.{part}")
    with safe_open(asked.policy, framework="numpy") as file:
        about = dict(file.metadata() or {})
    write_policy(tensors, path, {**about, "refined": _command(asked), "refined_at": commit()})
    plan = Plan(
        rules=Rules.preset(asked.rules), n_hands=HANDS, n_matches=HANDS // 10, seed=asked.seed, first_only=True,
    )  # fmt: skip
    rungs = [players.make(name) for name in ("simple", "knocker", "camper")]
    content = tournament.run([NetworkPlayer.load(path, "agent"), *rungs], plan, about={"commit": commit()}).content  # fmt: skip
    report.write_json(out / "evaluation.json", content)
    write_text(out / "evaluation.md", report.as_text(content) + "\n")
    return content


def _command(asked: Refinement) -> str:
    """The command line of a run, but for the file and folder names."""
    words = ["python", "-m", "agents.refine", "POLICY", "--out", "FOLDER", "--rules", asked.rules]
    words += ["--opponents", *asked.opponents] if asked.opponents != OPPONENTS else []
    words += ["--positions", str(asked.positions), "--epochs", str(asked.epochs)]
    return " ".join(
        [*words, "--learning-rate", f"{asked.learning_rate:g}", "--seed", str(asked.seed)]
    )


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="python -m agents.refine",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("policy", help="policy.safetensors of a run of train.py with outlook, two seats, hands")
    add("--out", type=Path, required=True, metavar="FOLDER", help="folder of the run")
    add("--rules", default="classic", help="rules preset (default: classic)")
    add("--opponents", nargs="+", default=OPPONENTS, metavar="NAME",
        help=f"scripted players, each in an equal share of the games (default: {' '.join(OPPONENTS)})")  # fmt: skip
    add("--positions", type=int, default=10_000_000, help="to learn from (default: 10000000)")
    add("--epochs", type=int, default=4, help="passes over them (default: 4)")
    add("--learning-rate", type=float, default=1e-3, help="at the start (default: 0.001)")
    add("--seed", type=int, default=0, help="of the run (default: 0)")
    add("--workers", type=int, default=1, help="processes that gather (default: 1)")
    return made


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    args = parser().parse_args(argv)
    asked = Refinement(
        args.policy, args.rules, tuple(args.opponents), args.positions, args.epochs, args.learning_rate, args.seed,
    )  # fmt: skip
    try:
        if args.workers < 1:
            raise ValueError(f"workers={args.workers}; allowed: 1 or more")
        print(report.as_text(refine(asked, args.out, args.workers, Console())))
    except (ValueError, KeyError, OSError) as error:
        print(f"refine.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("refine.py: stopped; the same command goes on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
