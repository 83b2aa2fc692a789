"""Every index of the environment: action ids, phases, endings, observation features.

This is the single source. The compiled kernel, the adapters, the documentation and its tests
all read the numbers from here; nothing else in the package writes one down.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import accumulate, groupby
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

# --- cards and tables --------------------------------------------------------------------------
N_CARDS: Final = 52
N_RANKS: Final = 13
N_SUITS: Final = 4
MAX_PLAYERS: Final = 4
MAX_HAND: Final = 11  # ten cards and the one just drawn

# --- actions: Discrete(108), the same for every rules preset -------------------------------------
DISCARD: Final = 0  # 0-51: discard that card
KNOCK: Final = 52  # 52-103: discard that card (id - 52) and knock
DRAW_STOCK: Final = 104
DRAW_TOP: Final = 105  # the top of the discard pile; in the offer: take the upcard
PASS: Final = 106  # refuse the offered upcard
BIG_GIN: Final = 107  # all eleven cards melded, no discard
N_ACTIONS: Final = 108

# --- phases and endings ---------------------------------------------------------------------------
OFFER: Final = 0  # rules.md, Turns 1
DRAW: Final = 1  # Turns 2, first half
SHED: Final = 2  # Turns 2 and 3: discard, with or without a knock
OVER: Final = 3  # the hand has ended
PHASES: Final = ("offer", "draw", "discard", "over")

NONE: Final = 0
KNOCKED: Final = 1
GIN: Final = 2
BIG_GIN_END: Final = 3
UNDERCUT: Final = 4
VOID: Final = 5
ILLEGAL: Final = 6
ENDINGS: Final = ("none", "knock", "gin", "big_gin", "undercut", "void", "illegal")

# --- rewards --------------------------------------------------------------------------------------
REWARD_POINTS: Final = 0
REWARD_WIN: Final = 1
REWARD_MATCH: Final = 2
REWARDS: Final = ("points", "win", "match")
POINTS_PER_REWARD: Final = 100  # reward 1.0 is a hundred points
FORFEIT_POINTS: Final = 100  # what an illegal action gives to every other seat

# --- words of the rules that compiled code compares with --------------------------------------------
NEXT_DEALER: Final = ("winner", "loser", "alternates")
VOID_DEALER: Final = ("same", "alternates")
WINNER_DEALS: Final = 0
LOSER_DEALS: Final = 1
MAX_TURNS: Final = 120
MAX_MATCH_HANDS: Final = 1000  # a match still undecided then ends without a winner
MAX_LOG: Final = (
    250  # decisions of the longest hand (MAX_PLAYERS + 2 * MAX_TURNS) and to fill the record
)

# --- observation: flat int8 of 0/1 -------------------------------------------------------------------
# Thermometers: bit k is set when the value is above the k-th step.
DEADWOOD_STEPS: Final = (*range(21), *range(22, 41, 2), *range(45, 96, 5))
HOPE_STEPS: Final = (*range(12), *range(12, 48, 3))
N_OUTLOOKS: Final = 3
N_STOCK_STEPS: Final = 40  # draws left above 0, 1, 2, ...
N_SCORE_STEPS: Final = 20  # score above 0, 5 %, 10 %, ... of the target


class Feature(NamedTuple):
    """A part of the observation.

    Attributes:
        name: Its name; `_k` in it stands for a number where there is one for each opponent, seat or outlook.
        width: Its entries.
        meaning: What they say.
        kind: How `Layout.decode` reads them: "cards" (a plane of 52), "one-hot", "thermometer" or "flag".
        each: What there is one for each of: "opponent", "seat" or "outlook"; empty: there is just one.
        only: Which observations have it: those of "match" episodes, those with "outlook"; empty: all.
    """

    name: str
    width: int
    meaning: str
    kind: str = "cards"
    each: str = ""
    only: str = ""


FEATURES: Final = (
    Feature("hand", N_CARDS, "own cards"),
    Feature("top", N_CARDS, "the top of the discard pile (the upcard while it is offered)"),
    Feature("under", N_CARDS, "the cards under it"),
    Feature("taken", N_CARDS, "the card just taken from the pile, which may not be discarded in this turn"),
    Feature("own_discards", N_CARDS, "cards this seat has discarded in this hand"),
    Feature("own_known", N_CARDS, "own cards the others know of, because they saw them taken from the pile"),
    Feature("melded", N_CARDS, "own cards that lie in at least one set or run"),
    Feature("best_discards", N_CARDS, "discards that leave the least deadwood (discard phase only)"),
    Feature("limit", 11, "knock limit, one-hot: gin only, 1, 2, ... 10", "one-hot"),
    Feature("phase", 3, "one-hot: offer, draw, discard", "one-hot"),
    Feature("stock", N_STOCK_STEPS, "thermometer of the draws left before the hand is void: above 0, 1, ... 39", "thermometer"),
    Feature("deadwood", len(DEADWOOD_STEPS), "thermometer of own deadwood, after the best discard in the discard phase", "thermometer"),
    Feature("top_melds", 1, "the top card would lie in a set or run with own cards (offer and draw)", "flag"),
    Feature("top_lowers", 1, "taking it would lower the best deadwood (offer and draw)", "flag"),
    Feature("top_knocks", 1, "taking it would allow a knock (offer and draw)", "flag"),
    Feature("dealer", MAX_PLAYERS, "dealer's seat, one-hot, counted from this seat in turn order", "one-hot"),
    Feature("opponent_k_known", N_CARDS, "cards opponent k (in turn order) is known to hold", each="opponent"),
    Feature("opponent_k_discards", N_CARDS, "cards opponent k has discarded in this hand", each="opponent"),
    Feature("opponent_k_declined", N_CARDS, "cards opponent k could have taken and did not", each="opponent"),
    Feature("score_k", N_SCORE_STEPS, "match episodes: thermometer of a score by 5 % of the target; 0 is this seat's own", "thermometer", "seat", "match"),
    Feature("outlook_k", N_CARDS, "`outlook=True`: the discard with the k-th best outlook, k to 3: deadwood left plus weighted hope (discard phase)", each="outlook", only="outlook"),
    Feature("hope", len(HOPE_STEPS), "`outlook=True`: thermometer of the mean of the seven best deadwoods after the next draw from the stock", "thermometer", only="outlook"),
)  # fmt: skip
"""Every feature, in the order in which they lie. The kernel writes them by name (`kernel.observe`); slices, `decode`, the
environment's page and what policy files say of their inputs all follow from this list."""

FIRST_FEATURES: Final = (
    *("hand", "top", "under", "taken", "own_discards", "own_known", "melded", "best_discards"),
    *("limit", "phase", "stock", "deadwood", "top_melds", "top_lowers", "top_knocks", "dealer"),
    *("opponent_k_known", "opponent_k_discards", "opponent_k_declined", "score_k", "outlook_k", "hope"),
)  # fmt: skip
"""The features of version 0.1, in its order: what a policy file that names none was trained on. Never changed."""


def _offsets(name: str, features: Iterable[Feature]) -> Any:
    """The offsets of features that lie one after another, as a tuple whose fields are their names, and `end`."""
    listed = [*features]
    places = accumulate((feature.width for feature in listed), initial=0)
    fields = [feature.name.removeprefix("opponent_k_") for feature in listed]
    return namedtuple(name, [*fields, "end"])(*places)


# Compiled code reads these as constants.
AT: Final = _offsets("At", (f for f in FEATURES if not f.each and not f.only))
OPPONENT_AT: Final = _offsets("OpponentAt", (f for f in FEATURES if f.each == "opponent"))
OUTLOOK_SIZE: Final = N_OUTLOOKS * N_CARDS + len(HOPE_STEPS)  # at the end, where it is asked for


class Layout:
    """The place of each feature in an observation, for one number of players.

    Attributes:
        players: Number of seats, 2 to 4.
        match: Whether the scores of a match are part of the observation.
        outlook: Whether the outlook of the own hand is.
        slices: Feature name to slice, in order, without gaps.
        size: Length D of the observation.
        described: Every feature's name and width in order, as policy files name them: "hand:52 top:52 …".
    """

    def __init__(
        self,
        players: int,
        match: bool,
        outlook: bool = False,
        features: Iterable[Feature] = FEATURES,
    ) -> None:
        self.players = players
        self.match = match
        self.outlook = outlook
        self.slices: dict[str, slice] = {}
        self._kinds: dict[str, str] = {}
        at = 0
        asked = ("", *(["match"] if match else []), *(["outlook"] if outlook else []))
        numbers = {"": [0], "opponent": range(1, players), "seat": range(players), "outlook": range(1, N_OUTLOOKS + 1)}  # fmt: skip
        for each, group in groupby((f for f in features if f.only in asked), lambda f: f.each):
            together = [*group]
            for k in numbers[each]:
                for feature in together:
                    name = feature.name.replace("_k", f"_{k}", 1) if each else feature.name
                    self.slices[name] = slice(at, at + feature.width)
                    self._kinds[name] = feature.kind
                    at += feature.width
        self.size = at
        self.described = " ".join(
            f"{n}:{part.stop - part.start}" for n, part in self.slices.items()
        )

    def decode(self, observation: NDArray[np.integer[Any]]) -> dict[str, Any]:
        """Reads an observation back into plain values.

        Args:
            observation: (D,) array of 0/1.

        Returns:
            Card planes as lists of card ids; one-hots as ints, the phase by name; the stock and scores as the number
            of steps passed; deadwood as the first step that is not (exact up to 20, 98 above all); flags as bools.

        Raises:
            ValueError: The array's shape is not (D,).
        """
        if observation.shape != (self.size,):
            raise ValueError(f"observation of shape {observation.shape}; allowed: ({self.size},)")
        readers: dict[str, Callable[[NDArray[Any]], Any]] = {
            "cards": lambda bits: [int(card) for card in np.flatnonzero(bits)],
            "one-hot": lambda bits: int(np.argmax(bits)),
            "thermometer": lambda bits: int(bits.sum()),
            "flag": lambda bits: bool(bits[0]),
        }
        plain = {
            name: readers[self._kinds[name]](observation[part])
            for name, part in self.slices.items()
        }
        plain["deadwood"] = (*DEADWOOD_STEPS, 98)[plain["deadwood"]]
        plain["phase"] = PHASES[plain["phase"] if observation[self.slices["phase"]].any() else OVER]
        return plain


@lru_cache
def layout(players: int, match: bool = False, outlook: bool = False) -> Layout:
    """The (shared) layout for a number of players, with or without match scores and outlook."""
    return Layout(players, match, outlook)


def first_layout(players: int, match: bool, outlook: bool) -> Layout:
    """The layout of version 0.1, whose policy files do not name their features."""
    known = {feature.name: feature for feature in FEATURES}
    kept = (known[name] for name in FIRST_FEATURES if name in known)
    return Layout(players, match, outlook, kept)


def features_table() -> str:
    """The features as a Markdown table."""
    rows = [f"| {feature.name} | {feature.width} | {feature.meaning} |" for feature in FEATURES]
    return "\n".join(["| feature | width | meaning |", "|---|---|---|", *rows])
