"""Luck taken out: means with the same expectation as the raw ones, and less noise around them.

For every draw from the stock, `okgin_env.kernel.luck` says what the card was worth beyond the mean of all that could have come; `okgin_env.kernel.luck_playouts` says it better and slower.
These numbers have mean zero whatever the players do (Burch et al. 2018, AIVAT), so any multiple of them may be taken off the points
that does not hang on the same deals: the weights of a deal are fitted on the others (cross-fitting).
"""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from okgin_env.arena.store.fingerprints import kernel_digest
from okgin_env.kernel.luck import N_PLAIN, luck_games
from okgin_env.kernel.luck_playouts import luck_by_playouts
from okgin_env.kernel.policies import EXTERNAL, POLICY_IDS
from okgin_env.kernel.state import new_states
from okgin_env.players.base import Player

TIERS = ("none", "fast", "deep")
STYLES = (
    "simple",
    "knocker",
    "camper",
    "expert",
)  # whose hands the values of `fast` were fitted on
_STYLE_OF = {  # of each policy the style that is most like it
    POLICY_IDS[name]: style
    for style, names in {
        "simple": ("random", "novice", "simple"),
        "knocker": ("knocker", "careful"),
        "camper": ("camper", "hunter"),
    }.items()
    for name in names
}
REFERENCES = (
    ("knocker", "knocker"),
    ("camper", "camper"),
)  # play on for whom the kernel does not know, in `deep`
PLAYOUTS = 16
HORIZON = 4  # draws of a playout, of which the last is valued
MOST_PLAYOUTS = 10_000
MOST_COLUMNS = 200
FOLDS = 10
RIDGE = 30.0  # deals' worth of belief in the weights that were fixed beforehand
VALUES = Path(__file__).with_name("luck_values.npz")  # made by tools/fit_luck.py


@dataclass(frozen=True)
class Luck:
    """The luck of player a in some hands.

    Attributes:
        how: Tier and fingerprint of what measured it.
        n_values: The first so many columns are points, each by itself a whole measure of luck.
        columns: (D, R, F) float32; each has mean zero.
        hands: In how many of them it was measured; in the others nothing is taken off.
        seconds: That measuring took.
    """

    how: str
    n_values: int
    columns: NDArray[np.float32]
    hands: int
    seconds: float = 0.0

    def first(self, n_deals: int | None) -> Luck:
        """That of the first deals; None: of all."""
        columns = self.columns[:n_deals]
        hands = min(self.hands, columns[..., 0].size)
        return Luck(self.how, self.n_values, columns, hands, self.seconds)


@dataclass(frozen=True)
class Gauge:
    """Measures luck, in any process.

    Attributes:
        tier: One of `TIERS`, not "none".
        playouts: Of `deep`, from every card that could have come.
    """

    tier: str
    playouts: int

    def how(self, pair: Sequence[Player]) -> str:
        """Tier and fingerprint."""
        parts = [kernel_digest(), self.tier, hashlib.sha256(VALUES.read_bytes()).hexdigest()]
        if self.tier == "deep":
            parts += [f"{HORIZON} {self.playouts} {_references(pair).tolist()}"]
        return f"{self.tier} {hashlib.sha256(' '.join(parts).encode()).hexdigest()[:16]}"

    def measure(
        self,
        finals: np.ndarray,
        rules: np.ndarray,
        seat_of_a: NDArray[np.int64],
        pair: Sequence[Player],
    ) -> Luck:
        """Measures the luck of hands that are over.

        Args:
            finals: (G,) `STATE`, deal by deal.
            rules: (1,) `RULES_DTYPE`.
            seat_of_a: (G,) where player a sat.
            pair: Players a and b.
        """
        began = time.perf_counter()
        columns, n_values = self.columns(finals, rules, seat_of_a, pair)
        shaped = columns.astype(np.float32).reshape(-1, int(rules["players"][0]), columns.shape[1])
        seconds = time.perf_counter() - began
        return Luck(self.how(pair), n_values, shaped, len(finals), seconds)

    def columns(
        self,
        finals: np.ndarray,
        rules: np.ndarray,
        seat_of_a: NDArray[np.int64],
        pair: Sequence[Player],
    ) -> tuple[NDArray[np.float64], int]:
        """(G, F) the luck of any hands that are over, as `measure` takes them, and how many columns are points."""
        found = _fast(finals, rules, seat_of_a)
        if self.tier != "deep":
            return found, found.shape[1] - 2 * N_PLAIN
        references = _references(pair)
        played = np.zeros((len(finals), len(references)))
        s, base, w = (new_states(1) for _ in range(3))
        luck_by_playouts(
            finals, rules, seat_of_a, references, *_weights(), HORIZON, self.playouts, s, base, w, played
        )  # fmt: skip
        return np.hstack([played, found]), len(references)


@lru_cache
def _weights() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The two layers of the network that values draws."""
    with np.load(VALUES) as file:
        return file["first"].astype(np.float64), file["second"].astype(np.float64)


def _styles() -> list[tuple[int, int]]:
    """The styles of the one who draws and of the other, in the order of the values."""
    return [(own, other) for own in range(len(STYLES)) for other in range(len(STYLES))]


def _fast(
    finals: np.ndarray, rules: np.ndarray, seat_of_a: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(G, F) luck by the fixed values of every two styles, then by plain looks."""
    first, second = _weights()
    pairs = _styles()
    mirrored = np.array([pairs.index((other, own)) for own, other in pairs])
    found = np.zeros((len(finals), len(pairs) + 2 * N_PLAIN))
    luck_games(finals, rules, seat_of_a, first, second, mirrored, new_states(1)[0], found)
    return found


def _references(pair: Sequence[Player]) -> NDArray[np.int64]:
    """(V, 4) policies that play on for a and for the others, and which value stands for a draw by either.

    They are the very players where these are compiled; for others some unlike each other play in turn.
    """
    seats = [
        [(p.kernel_policy, _STYLE_OF[p.kernel_policy])]
        if p.kernel_policy != EXTERNAL
        else [(POLICY_IDS[name], style) for name, style in REFERENCES]
        for p in pair
    ]
    found = []
    for (own, mine), (other, theirs) in itertools.product(*seats):
        i, j = STYLES.index(mine), STYLES.index(theirs)
        found.append((own, other, _styles().index((i, j)), _styles().index((j, i))))
    return np.array(found)


def joined(parts: Sequence[tuple[int, Luck | None]], n_seats: int) -> Luck | None:
    """The luck of several runs of deals, as (deals, luck): where it was measured otherwise or not at all, none is taken off.

    Of several ways to measure that with the most deals counts, of equals the first by name.
    """
    counts: dict[str, int] = {}
    for n, luck in parts:
        if luck is not None and n:
            counts[luck.how] = counts.get(luck.how, 0) + n
    if not counts:
        return None
    how = max(sorted(counts), key=lambda name: counts[name])
    found = [luck for _, luck in parts if luck is not None and luck.how == how]
    size = found[0].columns.shape[2]
    columns = [
        luck.columns if luck is not None and luck.how == how else np.zeros((n, n_seats, size), "f4")
        for n, luck in parts
    ]
    hands, seconds = sum(luck.hands for luck in found), sum(luck.seconds for luck in found)
    return Luck(how, found[0].n_values, np.concatenate(columns), hands, seconds)


def adjusted(points: NDArray[np.float64], luck: Luck | None) -> NDArray[np.float64]:
    """(D, R) points with the luck taken out; the same mean on average, whatever the weights.

    The weights of each fold of deals are fitted on the other folds, drawn towards those that were fixed beforehand, which alone
    count where there are few deals.
    """
    if luck is None:
        return points
    columns = luck.columns.astype(np.float64)
    fixed = np.zeros(columns.shape[2])
    fixed[: luck.n_values] = 1 / luck.n_values
    rest = points - columns @ fixed
    if len(points) < 2 * FOLDS:
        return rest
    means, sums = rest.mean(axis=1), columns.mean(axis=1)
    scale = np.sqrt((sums**2).mean(axis=0))
    scale[scale == 0] = 1.0
    sums /= scale
    left = rest.copy()
    for fold in range(FOLDS):
        ours = np.arange(len(points)) % FOLDS == fold
        others = sums[~ours]
        target = means[~ours] - means[~ours].mean()
        square = others.T @ others + RIDGE * np.eye(len(scale))
        left[ours] -= columns[ours] @ (np.linalg.solve(square, others.T @ target) / scale)
    return left
