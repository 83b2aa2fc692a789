"""Shows what the expert has learned, beside `camper`: ``python benchmarks/learned.py --run RUN`` writes docs/learned.md and its pictures.

RUN is the folder of the first stage of training (`train.py`) of the shipped network: its value network is not shipped.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from okgin_env import Rules, cards, players
from okgin_env.arena.match import play_deals
from okgin_env.engine.decisions import ask
from okgin_env.engine.games import Games
from okgin_env.histories.hand import HandHistory
from okgin_env.kernel import batch
from okgin_env.kernel.state import as_records
from okgin_env.layout import AT, DRAW_TOP, N_CARDS, OFFER, OVER, POINTS_PER_REWARD
from okgin_env.players.base import Decisions
from okgin_env.players.expert import ExpertPlayer
from okgin_env.utils.files import write_bytes, write_text
from okgin_env.view import action_text

Layers = list[tuple[NDArray[np.float32], NDArray[np.float32]]]
DOCS = Path(__file__).parents[1] / "docs"
LIMITS = (10, 7, 4)
TURNS = 12
FEW = 20  # chances to knock; a share of fewer is not drawn
SHOWN = {
    "knock": "A knock",
    "gin": "A gin",
    "undercut": "An undercut",
}
PAGE = """# What the expert has learned

<!-- made by benchmarks/learned.py -->
`python benchmarks/learned.py --run RUN --rules {rules}`: {n:,} hands against `camper` under {rules} ({points}).

## When it knocks
Share of the chances to knock that it used (gin left out at deadwood 0), by own turn and deadwood:

![Share of chances to knock that expert and camper use](images/learned-knocks.png)

`camper` knocks in its first three turns, and then with gin only. {knocking}

## Which upcards it takes
![Which offered upcards expert and camper take](images/learned-upcards.png)

{upcards}

## What it expects
What the value network of the first stage of its training expects of a hand, in twenty bins, and what the hands then paid ({n_values:,} decisions; correlation {correlation:.2f}: most of a hand is
still luck). The second stage knows no value network and has made the player a little stronger than this one expects:

![What the value network expects and what the hands then pay](images/learned-value.png)

## Three hands
How sure it is: the share of its probability that goes to the move it plays.

{hands}
"""


def knocks(counts: NDArray[np.int64], path: Path) -> None:
    """Draws how often expert and camper knock when they may, by own turn, deadwood and limit.

    Args:
        counts: (2, 2, L, T, D) as `kernel.census.count_knocks` has them.
        path: PNG file.
    """
    figure, axes = plt.subplots(
        2, len(LIMITS), figsize=(4 * len(LIMITS), 6), sharex=True, sharey=True
    )
    image = None
    for row, name in zip(axes, ("expert", "camper"), strict=True):
        for axis, limit in zip(row, LIMITS, strict=True):
            could, did = counts[0 if name == "expert" else 1][:, limit, :TURNS]
            share = np.where(could >= FEW, did / np.maximum(could, 1), np.nan).T
            image = axis.imshow(
                share, origin="lower", vmin=0, vmax=1, cmap="viridis", aspect="auto",
                extent=(0.5, TURNS + 0.5, -0.5, share.shape[0] - 0.5),
            )  # fmt: skip
            axis.set_title(f"{name}, limit {limit}")
            axis.set_ylim(-0.5, 10.5)
            axis.set_xticks(range(1, TURNS + 1, 2))
    for axis in axes[-1]:
        axis.set_xlabel("own turn")
    for axis in axes[:, 0]:
        axis.set_ylabel("deadwood after the best discard")
    assert image is not None
    figure.colorbar(image, ax=axes, label="share of chances in which it knocks", shrink=0.8)
    _save(figure, path)


def upcards(asked: Decisions, path: Path) -> None:
    """Draws which offered upcards expert and camper take, by rank, with and without a meld made by them."""
    top_melds = asked.observations[:, AT.top_melds] == 1
    rank = asked.records["upcard"] % 13
    figure, axes = plt.subplots(1, 2, figsize=(11, 3.6), sharey=True)
    for axis, melds in zip(axes, (True, False), strict=True):
        for name, colour, shift in (("expert", "#0072B2", -0.2), ("camper", "#D55E00", 0.2)):
            takes = players.make(name).act(asked) == DRAW_TOP
            chosen = [(rank == r) & (top_melds == melds) for r in range(13)]
            share = [100 * takes[rows].mean() if rows.any() else 0 for rows in chosen]
            axis.bar(np.arange(13) + shift, share, 0.4, color=colour, label=name)
        axis.set_xticks(range(13), list(cards.RANKS))
        axis.set_title("makes a meld" if melds else "makes no meld")
        axis.set_xlabel("upcard")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("taken, %")
    axes[1].legend(frameon=False)
    _save(figure, path)


def _decisions(rules: Rules, seed: int, n: int) -> Decisions:
    """First decisions in which an upcard is offered: to who begins, and to the dealer after `simple` has passed."""
    games, everyone = Games(n, rules), np.arange(n)
    games.seed(everyone, np.random.default_rng(seed).integers(0, 2**63, n).astype(np.uint64))
    games.reset(everyone)
    return games.decisions(everyone[games.states["phase"] == OFFER])


def value_network(run: Path) -> Layers:
    """Weights and biases of a run's value network, from its newest checkpoint.

    Raises:
        ValueError: The run has no checkpoint.
    """
    saved = sorted((run / "checkpoints").glob("[0-9]*.safetensors"))
    if not saved:
        raise ValueError(
            f"--run '{run}'; allowed: the folder of a run of train.py, with checkpoints"
        )
    state = {name.removeprefix("policy."): array for name, array in load_file(saved[-1]).items()}
    hidden = sorted(k for k in state if k.startswith("mlp_extractor.value_net") and "weight" in k)
    return [(state[k], state[k.replace("weight", "bias")]) for k in [*hidden, "value_net.weight"]]


def value_of(observations: NDArray[np.int8], layers: Layers) -> NDArray[np.float32]:
    """(N,) what a value network expects of (N, D) observations, in hundreds of points."""
    x = observations.astype(np.float32)
    for weight, bias in layers[:-1]:
        x = np.maximum(x @ weight.T + bias, 0)
    weight, bias = layers[-1]
    return (x @ weight.T + bias)[:, 0]


def calibration(run: Path, rules: Rules, seed: int, path: Path) -> tuple[float, int]:
    """Draws what the value network expects against what the hand then pays; correlation and decisions."""
    layers = value_network(run)
    games, everyone = Games(1024, rules, opponent="camper", outlook=True), np.arange(1024)
    games.seed(everyone, np.random.default_rng(seed).integers(0, 2**63, 1024).astype(np.uint64))
    expert, written = ExpertPlayer(), games.reset(everyone)
    expected, paid, dones = [], [], []
    for _ in range(200):
        expected.append(value_of(written.observations, layers))
        actions = expert.act(games.decisions(everyone))
        written = games.step(actions, everyone, autoreset=True)
        paid.append(written.rewards)
        dones.append(written.dones)
    later, known = np.zeros(1024), np.zeros(1024, np.bool_)
    pairs = []
    for value, reward, done in zip(expected[::-1], paid[::-1], dones[::-1], strict=True):
        later, known = np.where(done, reward, reward + later), known | done
        pairs.append(np.stack([value[known], later[known]]))
    both = POINTS_PER_REWARD * np.concatenate(pairs, axis=1)
    edges = np.quantile(both[0], np.linspace(0, 1, 21))
    bins = np.digitize(both[0], edges[1:-1])
    means = np.array([both[:, bins == k].mean(axis=1) for k in range(20)])
    figure, axis = plt.subplots(figsize=(4.6, 4.2))
    axis.axline((0, 0), slope=1, color="0.6", lw=1)
    axis.plot(*means.T, "o-", ms=4, color="#0072B2")
    axis.set_xlabel("points that the value network expects")
    axis.set_ylabel("points that the hand then pays")
    axis.spines[["top", "right"]].set_visible(False)
    _save(figure, path)
    return float(np.corrcoef(both)[0, 1]), both.shape[1]


def annotated(hand: HandHistory, rules: Rules) -> str:
    """A hand of the expert as a Markdown table: its decisions, how sure it was, and what camper would do."""
    seat = hand.names.index("expert")
    record, one = as_records(rules.to_record()), np.zeros(1, np.int64)
    expert, camper = ExpertPlayer(), players.make("camper")
    lines = [
        "| turn | its hand | deadwood | top | it plays | (sure) | next best | `camper` would |",
        "|--:|---|--:|---|---|--:|---|---|",
    ]
    for state in hand.replay():
        if state["phase"][0] == OVER or state["seat"][0] != seat:
            continue
        asked = ask(state.copy(), one, rules, record, np.array([seat]), batch.HAND)
        legal = np.flatnonzero(asked.masks[0])
        scores = expert.network(rules).scores(asked)[0][legal].astype(np.float64)
        sure = np.exp(scores - scores.max())
        order = np.argsort(-sure, kind="stable")
        sure /= sure.sum()
        view, best, other = asked.view(0), legal[order[0]], legal[order[1]]
        theirs = int(camper.act(asked)[0])
        shed = view.phase == "discard"
        cells = (
            str(int(state["n_sheds"][0][seat]) + 1),
            " ".join(view.hand),
            str(min(map(view.deadwood_without, legal[legal < N_CARDS])) if shed else view.deadwood),
            view.top or "",
            f"**{action_text(int(best))}**",
            f"{100 * sure[order[0]]:.0f} %",
            f"{action_text(int(other))}, {100 * sure[order[1]]:.0f} %",
            "the same" if theirs == best else action_text(theirs),
        )
        lines.append(f"| {' | '.join(cells)} |")
    points = hand.points[seat] - hand.points[1 - seat]
    theirs = cards.text(int(hand.final()["hands"][0][1 - seat]))
    lines += ["", f"It ends with {hand.ending}: {points:+d} points. `camper` held {theirs}."]
    return "\n".join(lines)


def _save(figure: plt.Figure, path: Path) -> None:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=110, bbox_inches="tight")
    plt.close(figure)
    write_bytes(path, file.getvalue())


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, required=True, metavar="RUN", help="a training run")
    parser.add_argument("--rules", default="classic", help="preset (default: classic)")
    parser.add_argument("--hands", type=int, default=40_000, help="hands (default: 40000)")
    parser.add_argument("--seed", type=int, default=77, help="of the hands (default: 77)")
    args = parser.parse_args()
    rules = Rules.preset(args.rules)
    expert, camper = ExpertPlayer(), players.make("camper")
    played = play_deals(expert, camper, rules, args.seed, 0, args.hands // 2)
    images = DOCS / "images"
    knocks(played.knocks, images / "learned-knocks.png")
    late = played.knocks[0][:, :, 3:, 1:].sum(axis=(1, 2, 3))
    asked = _decisions(rules, args.seed, 20_000)
    upcards(asked, images / "learned-upcards.png")
    correlation, n_values = calibration(args.run, rules, args.seed, images / "learned-value.png")
    shown = {hand.ending: hand for hand in played.shown if _by_expert(hand)}
    parts = [
        f"### {title}\n{annotated(shown[e], rules)}" for e, title in SHOWN.items() if e in shown
    ]
    takes = [100 * np.mean(p.act(asked) == DRAW_TOP) for p in (expert, camper)]
    page = PAGE.format(
        rules=rules.label,
        n=args.hands,
        points=f"it wins {played.results.points.mean():+.2f} points a hand",
        knocking=f"It uses {100 * late[1] / late[0]:.0f} % of its later chances to knock with deadwood.",
        upcards=f"It takes {takes[0]:.0f} % of the upcards it is offered, first or after `simple` has passed, `camper` {takes[1]:.0f} %.",
        n_values=n_values,
        correlation=correlation,
        hands="\n\n".join(parts),
    )
    write_text(DOCS / "learned.md", page)
    print(page)


def _by_expert(hand: HandHistory) -> bool:
    """Whether the expert ended a hand (an undercut is ended by who knocked)."""
    seat = hand.names.index("expert")
    return (hand.knocker == seat) == (hand.ending != "undercut")


if __name__ == "__main__":
    main()
