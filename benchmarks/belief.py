"""Measures how well imagined opponents' hands look like real ones: ``python benchmarks/belief.py --plot docs/images/belief.png``.

Plays hands, looks at every decision of one seat before its draw, and compares worlds drawn from its view with the truth: mean deadwood of
the hidden hand by its owner's discards so far, and how much better than uniform dealing the worlds tell which unseen cards it
holds (log-likelihood of each hidden card's place, in nats; 0: no better).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from okgin_env import Rules
from okgin_env.engine.games import Games
from okgin_env.kernel import belief
from okgin_env.kernel.melds import deadwood
from okgin_env.kernel.outlook import unseen_mask
from okgin_env.kernel.rng import fill_words
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import DRAW, N_CARDS
from okgin_env.players import make
from okgin_env.utils.files import write_bytes

OPPONENTS = ("camper", "simple", "knocker")
MOST = 14  # discards of the opponent; later ones are counted with these
N_WORLDS = 128
SAMPLERS = {"developed": belief.SWAPS, "uniform": 0}


def positions(opponent: str, rules: Rules, n_games: int, seed: int) -> list[tuple]:
    """(view, true hand) at decisions before a draw of `camper` in seat 0 against an opponent."""
    games = Games(n_games, rules, opponent=opponent)
    everyone = np.arange(n_games)
    games.seed(everyone, np.random.SeedSequence(seed).generate_state(n_games, np.uint64))
    games.reset(everyone)
    player, found, going = make("camper"), [], np.ones(n_games, bool)
    while going.any():
        decisions = games.decisions(everyone)
        asked = np.flatnonzero(going & (games.states["phase"] == DRAW)).tolist()
        found += [
            (decisions.records[g : g + 1].copy(), int(games.states["hands"][g, 1])) for g in asked
        ]
        written = games.step(player.act(decisions), everyone, autoreset=False)
        going &= ~written.dones
        if written.dones.any():
            games.reset(np.flatnonzero(written.dones))
    return found


def imagined(
    view: NDArray[np.void], record: NDArray[np.void], worlds: NDArray[np.void], swaps: int, pulls: NDArray[np.float64], regret: float
) -> NDArray[np.uint64]:  # fmt: skip
    """(W,) hands of seat 1 in worlds drawn from a view of seat 0."""
    words = np.empty(len(worlds), np.uint64)
    fill_words(view["hands"][0, 0], 0, words)
    belief.imagine_all(view[0], record[0], 0, words, pulls, regret, swaps, worlds)
    return worlds["hands"][:, 1].copy()


def gain(hands: NDArray[np.uint64], true: int, view: NDArray[np.void], n_hidden: int) -> float:
    """Nats by which the worlds' shares of each unseen card beat the uniform share."""
    unseen = int(unseen_mask(view[0], 0))
    cards = np.array([c for c in range(N_CARDS) if unseen >> c & 1], np.uint64)
    inside = (hands[:, None] >> cards) & np.uint64(1)
    uniform = n_hidden / len(cards)
    share = (inside.sum(axis=0) + 4 * uniform) / (len(hands) + 4)
    held = np.array([true >> int(c) & 1 for c in cards], bool)
    told = np.where(held, share, 1 - share)
    plain = np.where(held, uniform, 1 - uniform)
    return float(np.log(told / plain).sum())


def measure(
    opponent: str,
    rules: Rules,
    n_games: int,
    seed: int,
    pulls: NDArray[np.float64] = belief.PULL,
    regret: float = belief.REGRET,
) -> dict[str, NDArray[np.float64]]:
    """Means by the opponent's discards so far, (MOST + 1,) each: n, true deadwood, and of each sampler deadwood and gain."""
    record, worlds = as_records(rules.to_record()), new_states(N_WORLDS)
    sums: dict[str, NDArray[np.float64]] = {}

    def add(name: str, turn: int, value: float) -> None:
        sums.setdefault(name, np.zeros(MOST + 1))[turn] += value

    for view, true in positions(opponent, rules, n_games, seed):
        turn = min(int(view["n_sheds"][0, 1]), MOST)
        known = int(view["known"][0, 1])
        add("n", turn, 1)
        add("true", turn, float(deadwood(np.uint64(true))))
        for name, swaps in SAMPLERS.items():
            hands = imagined(view, record, worlds, swaps, pulls, regret)
            add(name, turn, float(np.mean([deadwood(hand) for hand in hands[:32]])))
            add(f"{name} gain", turn, gain(hands, true, view, rules.hand_size - known.bit_count()))
    n = np.maximum(sums.pop("n"), 1)
    return {"n": n, **{name: total / n for name, total in sums.items()}}


def draw(found: dict[str, dict[str, NDArray[np.float64]]], path: Path) -> None:
    """Draws deadwood and gain by turn, a column an opponent."""
    import io

    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        2, len(found), figsize=(4 * len(found), 6), sharex=True, sharey="row"
    )
    for column, (opponent, rows) in zip(axes.T, found.items(), strict=True):
        turns = np.arange(MOST + 1)[rows["n"] >= 20]
        column[0].plot(turns, rows["true"][turns], "k-o", ms=3, label="true")
        for name, colour in (("developed", "tab:blue"), ("uniform", "tab:orange")):
            column[0].plot(turns, rows[name][turns], "-o", ms=3, color=colour, label=name)
            column[1].plot(turns, rows[f"{name} gain"][turns], "-o", ms=3, color=colour)
        column[1].axhline(0, color="0.7", lw=1, zorder=0)
        column[0].set_title(f"against {opponent}")
        column[1].set_xlabel("discards of the opponent so far")
    axes[0, 0].set_ylabel("deadwood of the hidden hand")
    axes[1, 0].set_ylabel("gain over uniform, nats a hand")
    axes[0, 0].legend(frameon=False)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=110)
    write_bytes(path, file.getvalue())


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", default="classic", help="preset or label (default: classic)")
    parser.add_argument("--games", type=int, default=300, help="hands an opponent (default: 300)")
    parser.add_argument("--seed", type=int, default=0, help="of the hands (default: 0)")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="also draw them here (PNG)")
    args = parser.parse_args()
    rules = Rules.from_label(args.rules)
    found = {name: measure(name, rules, args.games, args.seed) for name in OPPONENTS}
    print(
        "| opponent | decisions | deadwood true | developed | uniform | gain, nats a hand: developed | uniform |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name, rows in found.items():
        means = [
            np.average(rows[key], weights=rows["n"])
            for key in ("true", "developed", "uniform", "developed gain", "uniform gain")
        ]
        print(
            f"| {name} | {int(rows['n'].sum()):,} | " + " | ".join(f"{m:.2f}" for m in means) + " |"
        )
    if args.plot:
        draw(found, args.plot)


if __name__ == "__main__":
    main()
