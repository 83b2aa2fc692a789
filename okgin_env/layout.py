"""Every index of the environment: action ids, phases, endings, observation features.

This is the single source. The compiled kernel, the adapters, the documentation and its tests
all read the numbers from here; nothing else in the package writes one down.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

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

# --- the rules as compiled code reads them ---------------------------------------------------------
RULES_DTYPE: Final = np.dtype(
    [
        ("players", np.int64),
        ("hand_size", np.int64),
        ("knock_limit", np.int64),  # -1: the upcard's pips
        ("ace_limit", np.int64),
        ("gin_bonus", np.int64),
        ("undercut_bonus", np.int64),
        ("undercut_on_tie", np.int64),  # 0 or 1, like every flag below
        ("big_gin_bonus", np.int64),  # 0: no big gin
        ("spades_double", np.int64),
        ("first_dealer", np.int64),  # -1: random
        ("next_dealer", np.int64),  # index into NEXT_DEALER
        ("void_dealer", np.int64),  # index into VOID_DEALER
        ("target", np.int64),  # 0: single hands only
        ("game_bonus", np.int64),
        ("box_bonus", np.int64),
        ("shutout", np.int64),
        ("max_turns", np.int64),
    ]
)
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

O_HAND: Final = 0
O_TOP: Final = 52
O_UNDER: Final = 104
O_TAKEN: Final = 156
O_OWN_DISCARDS: Final = 208
O_OWN_KNOWN: Final = 260
O_MELDED: Final = 312
O_BEST_DISCARDS: Final = 364
O_LIMIT: Final = 416
O_PHASE: Final = O_LIMIT + 11
O_STOCK: Final = O_PHASE + 3
O_DEADWOOD: Final = O_STOCK + N_STOCK_STEPS
O_TOP_MELDS: Final = O_DEADWOOD + len(DEADWOOD_STEPS)
O_TOP_LOWERS: Final = O_TOP_MELDS + 1
O_TOP_KNOCKS: Final = O_TOP_LOWERS + 1
O_DEALER: Final = O_TOP_KNOCKS + 1
O_OPPONENTS: Final = O_DEALER + MAX_PLAYERS
OPPONENT_PLANES: Final = ("known", "discards", "declined")
O_PER_OPPONENT: Final = len(OPPONENT_PLANES) * N_CARDS
OUTLOOK_SIZE: Final = N_OUTLOOKS * N_CARDS + len(HOPE_STEPS)  # at the end, where it is asked for

_FIXED: Final = {
    "hand": (O_HAND, N_CARDS),
    "top": (O_TOP, N_CARDS),
    "under": (O_UNDER, N_CARDS),
    "taken": (O_TAKEN, N_CARDS),
    "own_discards": (O_OWN_DISCARDS, N_CARDS),
    "own_known": (O_OWN_KNOWN, N_CARDS),
    "melded": (O_MELDED, N_CARDS),
    "best_discards": (O_BEST_DISCARDS, N_CARDS),
    "limit": (O_LIMIT, 11),
    "phase": (O_PHASE, 3),
    "stock": (O_STOCK, N_STOCK_STEPS),
    "deadwood": (O_DEADWOOD, len(DEADWOOD_STEPS)),
    "top_melds": (O_TOP_MELDS, 1),
    "top_lowers": (O_TOP_LOWERS, 1),
    "top_knocks": (O_TOP_KNOCKS, 1),
    "dealer": (O_DEALER, MAX_PLAYERS),
}

FEATURES: Final = {
    "hand": "own cards",
    "top": "the top of the discard pile (the upcard while it is offered)",
    "under": "the cards under it",
    "taken": "the card just taken from the pile, which may not be discarded in this turn",
    "own_discards": "cards this seat has discarded in this hand",
    "own_known": "own cards the others know of, because they saw them taken from the pile",
    "melded": "own cards that lie in at least one set or run",
    "best_discards": "discards that leave the least deadwood (discard phase only)",
    "limit": "knock limit, one-hot: gin only, 1, 2, ... 10",
    "phase": "one-hot: offer, draw, discard",
    "stock": "thermometer of the draws left before the hand is void: above 0, 1, ... 39",
    "deadwood": "thermometer of own deadwood, after the best discard in the discard phase",
    "top_melds": "the top card would lie in a set or run with own cards (offer and draw)",
    "top_lowers": "taking it would lower the best deadwood (offer and draw)",
    "top_knocks": "taking it would allow a knock (offer and draw)",
    "dealer": "dealer's seat, one-hot, counted from this seat in turn order",
    "opponent_k_known": "cards opponent k (in turn order) is known to hold",
    "opponent_k_discards": "cards opponent k has discarded in this hand",
    "opponent_k_declined": "cards opponent k could have taken and did not",
    "score_k": "match episodes: thermometer of a score by 5 % of the target; 0 is this seat's own",
    "outlook_k": "`outlook=True`: the discard with the k-th best outlook, k to 3: deadwood left plus weighted hope (discard phase)",
    "hope": "`outlook=True`: thermometer of the mean of the seven best deadwoods after the next draw from the stock",
}


class Layout:
    """Where each feature of an observation lies, for one number of players.

    Attributes:
        players: Number of seats, 2 to 4.
        match: Whether the scores of a match are part of the observation.
        outlook: Whether the outlook of the own hand is.
        slices: Feature name to slice, in order, without gaps.
        size: Length D of the observation.
    """

    def __init__(self, players: int, match: bool, outlook: bool = False) -> None:
        self.players = players
        self.match = match
        self.outlook = outlook
        self.slices = {name: slice(at, at + width) for name, (at, width) in _FIXED.items()}
        at = O_OPPONENTS
        for k in range(1, players):
            for plane in OPPONENT_PLANES:
                self.slices[f"opponent_{k}_{plane}"] = slice(at, at + N_CARDS)
                at += N_CARDS
        if match:
            for k in range(players):
                self.slices[f"score_{k}"] = slice(at, at + N_SCORE_STEPS)
                at += N_SCORE_STEPS
        if outlook:
            for k in range(N_OUTLOOKS):
                self.slices[f"outlook_{k + 1}"] = slice(at, at + N_CARDS)
                at += N_CARDS
            self.slices["hope"] = slice(at, at + len(HOPE_STEPS))
            at += len(HOPE_STEPS)
        self.size = at

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
        plain: dict[str, Any] = {}
        for name, part in self.slices.items():
            bits = observation[part]
            if len(bits) == N_CARDS:
                plain[name] = [int(card) for card in np.flatnonzero(bits)]
            elif len(bits) == 1:
                plain[name] = bool(bits[0])
            elif name in ("limit", "phase", "dealer"):
                plain[name] = int(np.argmax(bits))
            elif name == "deadwood":
                n_above = int(bits.sum())
                plain[name] = (*DEADWOOD_STEPS, 98)[n_above]
            else:
                plain[name] = int(bits.sum())
        plain["phase"] = PHASES[plain["phase"] if observation[self.slices["phase"]].any() else OVER]
        return plain


@lru_cache
def layout(players: int, match: bool = False, outlook: bool = False) -> Layout:
    """The (shared) layout for a number of players, with or without match scores and outlook."""
    return Layout(players, match, outlook)
