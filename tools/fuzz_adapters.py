"""Plays every adapter any which way, gives it what it must refuse, and checks what must hold.

    python -m tools.fuzz_adapters --seconds 60 --seed 1
    python -m tools.fuzz_adapters --table 17 --seed 1      one table again, after a failure

A table is a set of rules (as in `tools/fuzz.py`), an episode, a reward, a seat, opponents, and one of `gymnasium.make`, `gymnasium.make_vec`
in each of its modes, the VecEnv for stable-baselines3 and PettingZoo's AEC environment. Actions are legal ones by chance, now
and then any whole number at all; resets come in the middle, with seeds, decks, dealers and saved games. Checked: observations are in their space,
masks are never empty, types and shapes, what info says of a hand and what is paid for it, rewards that sum to zero where all
seats are seen, and that copies and saved games go on alike. Whatever is no action, seed, option or argument must be refused in one
line that names it, and must leave the game as it was.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from random import Random

import numpy as np

from okgin_env.layout import N_ACTIONS
from tests.helpers import absurd
from tests.helpers.adapter_checks import Adapter, Table, hold
from tests.helpers.adapters import ADAPTERS, MAKERS
from tests.helpers.random_tables import random_deck
from tools.reliability import Row, add_row_option, progress, say_row

STEPS = 150  # of a table
STRAY = (-(1 << 63), -1, N_ACTIONS, 10**9, (1 << 63) - 1)


def fuzz_table(seed: int, index: int, counts: Counter[str]) -> None:
    """Plays one table.

    Args:
        seed: Seed of the whole run.
        index: Number of the table in it.
        counts: Counts decisions, refusals, resets and copies, and tables by adapter.

    Raises:
        Exception: Something does not hold.
    """
    rng = Random(f"{seed}/{index}")
    name = [*ADAPTERS][index % len(ADAPTERS)]
    kept: bytes | None = None
    for _ in range(3):
        absurd.arguments(MAKERS[name], ADAPTERS[name].arguments, rng)
    adapter: Adapter = ADAPTERS[name](Table.draw(rng), rng)
    adapter.reset(rng.randrange(1 << 32), {}, rng)
    greed = rng.choice((0.1, 0.5, 0.9))
    for _ in range(STEPS):
        drawn = rng.random()
        if drawn < 0.05:
            adapter.absurd(rng)
            counts["refusals"] += 1
        elif drawn < 0.08:
            _reset(adapter, kept, rng)
            counts["resets"] += 1
        actions = np.array([_action(mask, greed, rng) for mask in adapter.masks()])
        copies = adapter.copies() if drawn > 0.97 else []
        said = adapter.step(actions)
        for other in copies:
            hold(other.step(actions) == said, "a copy goes on in another way")
        counts["copies"] += len(copies)
        counts["decisions"] += adapter.n_games
        saved = adapter.saved()
        kept = saved if saved is not None and rng.random() < 0.2 else kept
        if saved is None and not (adapter.goes_on and rng.random() < 0.1):
            adapter.reset(None, {}, rng)
    counts[name] += 1


def _reset(adapter: Adapter, kept: bytes | None, rng: Random) -> None:
    """A reset in the middle, with a seed or options or both or neither."""
    choices: list[dict] = [
        {},
        {"deck": random_deck(rng)},
        {"dealer": rng.randrange(2)},
        {"unknown": 1},
    ]
    choices += [{"deck": random_deck(rng), "dealer": 1}, {"state": kept} if kept else {}]
    seed = rng.choice((None, rng.randrange(1 << 40)))
    before = adapter.seen()
    try:
        adapter.reset(seed, rng.choice(choices), rng)
    except ValueError as error:
        hold("the given hand ends before" in str(error), f"a good reset is refused: {error}")
        hold(adapter.seen() == before, "a reset is refused, but the game is another")


def _action(mask: np.ndarray, greed: float, rng: Random) -> int:
    """A legal action, the last of all with some greed for knocks; one in fifty any number at all."""
    if rng.random() < 0.02:
        return rng.choice((*STRAY, rng.randrange(N_ACTIONS)))
    legal = np.flatnonzero(mask)
    return int(legal[-1] if rng.random() < greed else rng.choice(legal))


def main() -> int:
    """Runs the fuzz; the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=30.0, help="how long (default: 30)")
    parser.add_argument("--decisions", type=int, help="decisions in all instead")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", type=int, help="only this table")
    add_row_option(parser)
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    began, index, failed = time.monotonic(), args.table or 0, 0
    with progress("tables", args.decisions or args.seconds) as advance:
        while not failed:
            before = counts["decisions"] if args.decisions else time.monotonic()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    fuzz_table(args.seed, index, counts)
            except Exception as error:
                print(f"seed {args.seed}, table {index}: {type(error).__name__}: {error}\n  again: python -m tools.fuzz_adapters --seed {args.seed} --table {index}", file=sys.stderr)  # fmt: skip
                failed += 1
            index += 1
            now = counts["decisions"] if args.decisions else time.monotonic()
            advance(now - before)
            over = now >= args.decisions if args.decisions else now - began >= args.seconds
            if over or args.table is not None:
                break
    each = ", ".join(f"{name} {counts[name]:,}" for name in ADAPTERS)
    how_often = f"{counts['decisions']:,} decisions, {index:,} tables ({each}), {counts['refusals'] + 3 * index:,} refusals, {counts['resets']:,} resets, {counts['copies']:,} copies"  # fmt: skip
    print(how_often)
    say_row(args, Row("adapters under fuzz", how_often, "none" if not failed else "1 finding"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
