"""Checks the luck-adjusted means at length: agreement with the raw ones, equal players, and how much variance they save.

python tools/check_luck.py agree --tier fast --seeds 40 --hands 2000
python tools/check_luck.py agree --tier deep --seeds 10 --hands 400 --pairs camper-simple camper-knocker
python tools/check_luck.py null --tier fast --seeds 200 --hands 400 --pairs simple-simple
python tools/check_luck.py factor --tier deep --hands 400

Each prints a line for every rules and pair.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from okgin_env import Rules, players
from okgin_env.arena import luck, statistics, summary
from okgin_env.arena.double import Double
from okgin_env.arena.luck import PLAYOUTS, Gauge
from okgin_env.arena.match import play_deals
from okgin_env.arena.outcome import Results

PAIRS = ("camper-simple", "camper-knocker", "expert-camper", "search:256-camper")


def played(args: argparse.Namespace, rules: str, names: str) -> Iterator[Results]:
    """The results of a pair, seed by seed."""
    a, b = (players.make(name) for name in names.split("-"))
    b = Double(a) if args.what == "null" else b
    table, gauge = Rules.from_label(rules), Gauge(args.tier, args.playouts)
    for seed in range(args.first, args.first + args.seeds):
        yield play_deals(a, b, table, seed, 0, args.hands // 2, gauge=gauge).results


def agree(args: argparse.Namespace, rules: str, names: str) -> str:
    """The mean over seeds of adjusted minus raw: nothing."""
    found = [
        luck.adjusted(r.points, r.luck).mean() - r.points.mean() for r in played(args, rules, names)
    ]
    mean, error = np.mean(found), np.std(found, ddof=1) / np.sqrt(len(found))
    return f"adjusted - raw {mean:+.3f}, standard error {error:.3f}, z {mean / error:+.2f}"


def null(args: argparse.Namespace, rules: str, names: str) -> str:
    """How many of the seeds tell a player from its double at the 95 % level, raw and adjusted."""
    flags = [
        (statistics.no_difference(r.points) < 0.05,
         statistics.no_difference(luck.adjusted(r.points, r.luck)) < 0.05)
        for r in played(args, rules, names)
    ]  # fmt: skip
    raw, adjusted = np.mean(flags, axis=0)
    return (
        f"of {len(flags)} seeds flagged: raw {raw:.1%}, adjusted {adjusted:.1%} (5 % are expected)"
    )


def factor(args: argparse.Namespace, rules: str, names: str) -> str:
    """How much variance it saves, at what cost."""
    part = summary.luck_part(Results.joined([*played(args, rules, names)]), np.inf)["luck"]
    return (
        f"factor {part['factor']:.2f}, {part['ms_per_hand']:.2f} ms a hand, {part['hands']} hands"
    )


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("agree", "null", "factor"))
    parser.add_argument("--tier", choices=luck.TIERS[1:], default="fast")
    parser.add_argument("--playouts", type=int, default=PLAYOUTS)
    parser.add_argument("--rules", nargs="+", default=["classic"])
    parser.add_argument("--pairs", nargs="+", default=PAIRS)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--hands", type=int, default=400, help="a seed")
    args = parser.parse_args()
    for rules in args.rules:
        for names in args.pairs:
            said = {"agree": agree, "null": null, "factor": factor}[args.what](args, rules, names)
            print(f"{rules} {names} {args.tier}: {said}", flush=True)


if __name__ == "__main__":
    main()
