"""Plays games any which way under any rules, and checks what must hold whatever is played.

    python -m tools.fuzz --decisions 100_000_000 --seed 1
    NUMBA_BOUNDSCHECK=1 python -m tools.fuzz --decisions 10_000_000 --seed 2
    python -m tools.fuzz --table 17 --seed 1          one table again, after a failure

A table is a set of rules (a preset for 2 to 4 players, or every field drawn anew) and some games under it. Seats are
scripted players, players that take any legal action and players that throw cards to and fro; in some games one
action in a hundred is any number at all. Games are reset in the middle, given decks rich in melds, copied before a step and stepped twice,
and saved to bytes and loaded again. Checked at each decision and each end: see `RULES` in `tests/helpers/fuzz_kernel.py`.
The first thing that does not hold is printed with all it takes to see it again, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from random import Random

import numpy as np

from okgin_env.kernel import batch
from okgin_env.kernel.policies import POLICY_IDS
from okgin_env.kernel.state import STATE, as_records, new_states
from okgin_env.layout import ENDINGS, MAX_PLAYERS, N_ACTIONS, OVER, layout
from okgin_env.positions import check_state
from okgin_env.rules import Rules
from tests.helpers.fuzz_kernel import ANY, GUARD, RULES, TOSSER, play_on
from tools.lockstep_twin import random_deck, random_rules
from tools.reliability import Row, add_row_option, progress, say_row

N_GAMES = 32  # of a table
DECISIONS = 50_000  # of a table, at most
ROUNDS = 4  # between two of them all games are saved and loaded
N_DECKS = 8
GUARDED = 64  # bytes behind an observation and a mask that nothing may write
KINDS = (ANY, ANY, ANY, TOSSER, *POLICY_IDS.values())


class Broken(AssertionError):
    """Something that must hold does not."""


def fuzz_table(
    seed: int, index: int, decisions: int, counts: Counter[str], rules: Rules | None = None
) -> int:
    """Plays one table.

    Args:
        seed: Seed of the whole run.
        index: Number of the table in it.
        decisions: How many decisions at most.
        counts: Counts hands by their ending.
        rules: The rules; None: random ones.

    Returns:
        Decisions played.

    Raises:
        Broken: Something does not hold.
    """
    rng = Random(f"{seed}/{index}")
    rules = rules or random_rules(rng)
    draws = np.random.default_rng([seed, index])
    record = as_records(rules.to_record())
    match, outlook = rules.target is not None, rng.random() < 0.2
    size = layout(rules.players, match, outlook).size
    states, spares = new_states(N_GAMES), new_states(2)
    states["phase"] = OVER
    batch.seed_games(states, np.arange(N_GAMES), draws.integers(1 << 63, size=N_GAMES).astype(np.uint64))  # fmt: skip
    movers = draws.choice(KINDS, (N_GAMES, MAX_PLAYERS))
    stray = draws.choice((0, 0, 100, 500), N_GAMES)
    decks = np.array([random_deck(rng) for _ in range(N_DECKS)], np.int8)
    words = draws.integers(1 << 63, size=1).astype(np.uint64)
    observation, mask = (np.zeros(n + GUARDED, np.int8) for n in (size, N_ACTIONS))
    endings = np.zeros(len(ENDINGS), np.int64)
    n = max(1, decisions // (N_GAMES * ROUNDS))
    for _ in range(ROUNDS):
        rows = states.view(np.uint8).reshape(N_GAMES, -1)
        spare_rows = spares.view(np.uint8).reshape(2, -1)
        found, game = play_on(
            states, spares, rows, spare_rows, record, movers, stray, decks, n, match, words,
            observation, size, mask, endings,
        )  # fmt: skip
        if found:
            raise Broken(
                f"seed {seed}, table {index}, game {game}: does not hold: {RULES[found]}\n"
                f"  rules:  {rules!r}\n  movers: {movers[game].tolist()}\n"
                f"  record: {states[game].tobytes().hex()}\n"
                f"  again:  python -m tools.fuzz --seed {seed} --table {index}"
            )
        states = as_records(np.frombuffer(states.tobytes(), STATE).copy())
        _positions_are_taken(states, rules, (seed, index))
    counts.update({name: int(k) for name, k in zip(ENDINGS, endings, strict=True) if k})
    return n * N_GAMES * ROUNDS


def _positions_are_taken(states: np.ndarray, rules: Rules, where: tuple[int, int]) -> None:
    """Every state in the middle of a hand can be saved and set up again (`options={"state": ...}`)."""
    for state in states[states["phase"] != OVER][:4]:
        before = state.tobytes()
        try:
            after = check_state(before, rules)
        except ValueError as error:
            raise Broken(f"seed, table {where}: a saved state is refused: {error}\n  {rules!r}\n  {before.hex()}") from None  # fmt: skip
        if after.tobytes() != before:
            raise Broken(f"seed, table {where}: a saved state comes back changed\n  {rules!r}")


def main() -> int:
    """Runs the fuzz; the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--decisions", type=int, default=2_000_000, help="decisions in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", type=int, help="only this table")
    add_row_option(parser)
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    started, done, index = time.perf_counter(), 0, args.table or 0
    with progress("decisions", args.decisions) as advance:
        while done < args.decisions:
            try:
                n = fuzz_table(args.seed, index, min(DECISIONS, args.decisions), counts)
            except Broken as error:
                print(error, file=sys.stderr)
                return 1
            done, index = done + n, index + 1
            advance(n)
            if args.table is not None:
                break
    checked = " with bounds checks" if os.environ.get("NUMBA_BOUNDSCHECK", "0") == "1" else ""
    hands = ", ".join(f"{name} {counts[name]:,}" for name in ENDINGS[1:])
    print(f"{done:,} decisions{checked} at {index:,} tables in {time.perf_counter() - started:.0f} s; hands: {hands}")  # fmt: skip
    say_row(args, Row(f"invariants under fuzz{checked}", f"{done:,} decisions, {index:,} sets of rules", "none"))  # fmt: skip
    return 0


assert GUARD not in (0, 1)

if __name__ == "__main__":
    sys.exit(main())
