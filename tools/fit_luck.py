"""Fits the values that take the luck out of results (`okgin_env/arena/luck_values.npz`).

    python tools/fit_luck.py okgin_env/arena/luck_values.npz

The network learns what a hand comes to after a draw, for each two of a few unlike players, from hands that these play under the
presets; needs the extra `train`.
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path

import numpy as np
import torch

from okgin_env import Rules, players
from okgin_env.arena.deals import Tables
from okgin_env.arena.decks import Decks
from okgin_env.arena.luck import STYLES
from okgin_env.kernel.luck import N_LOOKS, look_at_draws
from okgin_env.kernel.state import new_states

RULES = ("classic", "eaai", "french", "openspiel")
SEED = 20_260_000  # no published table uses these deals
MOST_DRAWS = 32  # of a hand


def samples(rules: Rules, own: str, other: str, n_deals: int, seed: int):
    """What the values of a player's draws hang on, and what each hand came to for it: (M, N_LOOKS), (M,)."""
    pair = (players.make(own), players.make(other))
    tables = Tables(pair, rules, Decks(seed).chance(rules, "", 0, n_deals), False)
    tables.play()
    n = MOST_DRAWS * len(tables.states)
    seats, games, looks = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros((n, N_LOOKS))
    record = tables.games.rules_record
    m = look_at_draws(tables.states, record, new_states(1)[0], seats, games, looks)
    points = tables.states["points"][:, :2].astype(np.float64)
    gained = points[games[:m], seats[:m]] - points[games[:m], 1 - seats[:m]]
    mine = seats[:m] == tables.seat_of_a[games[:m]]
    return looks[:m][mine], gained[mine]


def fitted(looks, kinds, gained, n_hidden: int, epochs: int):
    """The network's weights, as `kernel.luck` reads them."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    n_kinds = len(STYLES) ** 2
    x = torch.tensor(looks, dtype=torch.float32)
    k = torch.tensor(kinds)
    y = torch.tensor(gained / 25, dtype=torch.float32)
    net = torch.nn.Sequential(
        torch.nn.Linear(N_LOOKS, n_hidden), torch.nn.ReLU(), torch.nn.Linear(n_hidden, n_kinds)
    )
    batch = 4096
    n_steps = epochs * (len(x) // batch)
    optimizer = torch.optim.Adam(net.parameters(), 4e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, total_steps=n_steps)
    done = 0
    for _ in range(epochs):
        order = torch.randperm(len(x))
        for i in range(len(x) // batch):
            chosen = order[i * batch : (i + 1) * batch]
            found = net(x[chosen]).gather(1, k[chosen, None])[:, 0]
            loss = (found - y[chosen]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            done += 1
    with torch.no_grad():
        error = (net(x).gather(1, k[:, None])[:, 0] - y).square().mean() / y.var()
    print(f"{len(x):,} draws: unexplained {float(error):.3f} of the variance")
    state = {name: value.numpy() for name, value in net.state_dict().items()}
    return [np.vstack([state[f"{n}.weight"].T, state[f"{n}.bias"][None]]) for n in (0, 2)]


def main() -> None:
    """Plays, fits and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--deals", type=int, default=2500, help="of each two players and rules")
    parser.add_argument("--hidden", type=int, default=48)
    parser.add_argument("--epochs", type=int, default=8)
    args = parser.parse_args()
    began = time.monotonic()
    parts = []
    for n, name in enumerate(RULES):
        for kind, (own, other) in enumerate(itertools.product(STYLES, STYLES)):
            looks, gained = samples(
                Rules.preset(name), own, other, args.deals, SEED + 100 * n + kind
            )
            parts.append((looks, np.full(len(looks), kind), gained))
    looks, kinds, gained = (np.concatenate(column) for column in zip(*parts, strict=True))
    print(f"played after {time.monotonic() - began:.0f} s")
    first, second = fitted(looks, kinds, gained, args.hidden, args.epochs)
    second = second * 25  # points
    np.savez(args.out, first=first.astype(np.float32), second=second.astype(np.float32))
    print(f"done after {time.monotonic() - began:.0f} s: {args.out}")


if __name__ == "__main__":
    main()
