"""Measures what matters to `search`, and by how much: ``python benchmarks/ablations.py --store ablations.sqlite``.

Every arm differs from `search:128` in one thing and plays matches against `camper` on the same decks, with two seeds fixed beforehand.
Results are kept as they come; a run that was stopped goes on with the same command.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from okgin_env import Rules
from okgin_env.arena.outcome import Results
from okgin_env.arena.plan import Plan
from okgin_env.arena.statistics import clustered_mean
from okgin_env.arena.store.store import Store
from okgin_env.arena.tournament import run
from okgin_env.players import make
from okgin_env.utils.files import write_bytes, write_text

ARMS = {
    "search:128": "as it is: takes the other for a camper in one world, for a knocker in the next",
    "search:128,own=camper": "less patience: it may knock early in its playouts",
    "search:128,own=knocker": "no patience: it knocks as soon as it may in its playouts",
    "search:128,theirs=camper": "takes the other for what it is",
    "search:128,theirs=knocker": "takes the other for one who knocks as soon as it may",
    "search:128,develop=0": "other hands are uniform",
    "search:128,develop=0.5": "other hands are less developed",
    "search:128,gate=0": "plays whatever looks best",
    "search:128,gate=1": "one standard error is enough",
    "search:128,base=knocker": "falls back on least deadwood",
    "search:128,equity=False": "goes by points, not by the match",
}
WORLDS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
SEEDS = (1001, 1002)


def play(
    specs: list[str], args: argparse.Namespace
) -> dict[str, dict[int, tuple[Results, Results]]]:
    """Plays every arm against `camper`; hands and matches by arm and seed."""
    rules = Rules.from_label(args.rules)
    store = Store(args.store, rules)
    found: dict[str, dict[int, tuple[Results, Results]]] = {}
    for seed in SEEDS[: args.seeds]:
        for spec in specs:
            plan = Plan(
                rules=rules, n_hands=2, n_matches=args.matches, seed=seed, check=False, workers=args.workers,
            )  # fmt: skip
            one_seed = Store(None, rules)
            one_seed.seat(store.fingerprints())
            for task in store.tasks():
                if task.seed == seed:
                    one_seed.add(task, store.get(task))
            pair = run([make(spec), make("camper")], plan, store=one_seed).pairs[0]
            store.merge(one_seed)
            if pair.matches is not None:
                found.setdefault(spec, {})[seed] = (pair.hands, pair.matches)
            print(line(spec, found[spec]), flush=True)
    return found


def line(spec: str, by_seed: dict[int, tuple[Results, Results]]) -> str:
    """A row: matches won in each seed and in all, and milliseconds a decision."""
    cells, everything, spent = [], [], np.zeros(2)
    for _, matches in by_seed.values():
        won = np.where(matches.winner < 0, 0.5, matches.winner == 0).astype(np.float64)
        everything.append(won)
        mean, low, high = clustered_mean(won)
        cells.append(f"{100 * mean:.1f} ({100 * low:.1f} to {100 * high:.1f})")
        spent += (matches.seconds[0], matches.decisions[0])
    mean, low, high = clustered_mean(np.concatenate(everything))
    both = f"{100 * mean:.1f} ({100 * low:.1f} to {100 * high:.1f})"
    told = ARMS.get(spec, "")
    return f"| `{spec}` | {told} | {' | '.join(cells)} | **{both}** | {1000 * spent[0] / max(spent[1], 1):.1f} |"


def draw(found: dict[str, dict[int, tuple[Results, Results]]], rules: str, path: Path) -> None:
    """Draws matches won over worlds, with intervals."""
    import io

    import matplotlib.pyplot as plt

    worlds, shares = [], []
    for spec, by_seed in found.items():
        won = [np.where(m.winner < 0, 0.5, m.winner == 0) for _, m in by_seed.values()]
        worlds.append(int(spec.removeprefix("search:")))
        shares.append(clustered_mean(np.concatenate(won).astype(np.float64)))
    mean, low, high = 100 * np.array(shares).T
    figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
    axis.errorbar(worlds, mean, [mean - low, high - mean], fmt="o-", ms=4, color="#0072B2", lw=1.2)
    axis.axhline(50, color="0.6", lw=0.8)
    axis.set_xscale("log", base=2)
    axis.set_xticks(worlds, [str(n) for n in worlds])
    axis.set_xlabel("worlds a decision")
    axis.set_ylabel(f"matches won against camper, %\n({rules}, 95 %)")
    axis.spines[["top", "right"]].set_visible(False)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=130)
    write_bytes(path, file.getvalue())


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", default="eaai", help="preset or label (default: eaai)")
    parser.add_argument("--matches", type=int, default=200, help="an arm and seed (default: 200)")
    parser.add_argument("--seeds", type=int, default=2, choices=(1, 2), help="1 or 2 (default: 2)")
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--worlds", action="store_true", help="the curve over worlds instead")
    parser.add_argument(
        "--most", type=int, default=4096, help="worlds of its last point (default: 4096)"
    )
    parser.add_argument(
        "--store", type=Path, metavar="FILE", required=True, help="results, kept as they come"
    )
    parser.add_argument("--table", type=Path, metavar="FILE", help="also write the table here")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="with --worlds: draw it (PNG)")
    args = parser.parse_args()
    specs = [f"search:{n}" for n in WORLDS if n <= args.most] if args.worlds else list(ARMS)
    found = play(specs, args)
    seeds = " | ".join(f"seed {seed}" for seed in SEEDS[: args.seeds])
    head = [f"| arm | | {seeds} | **both** | ms |", "|---|---|" + "--:|" * (args.seeds + 2)]
    table = "\n".join([*head, *(line(spec, rows) for spec, rows in found.items())])
    print(f"\nmatches won against `camper` under {args.rules}, in per cent (95 %)\n\n{table}")
    if args.plot and args.worlds:
        draw(found, args.rules, args.plot)
    if args.table:
        write_text(args.table, table + "\n")


if __name__ == "__main__":
    main()
