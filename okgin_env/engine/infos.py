"""The entries of `info` on a hand: the same names and values in every adapter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env.cards import card_text
from okgin_env.layout import ENDINGS, ILLEGAL, N_CARDS

_ENDINGS = np.array(ENDINGS, object)
_CARDS = np.array([card_text(card) for card in range(N_CARDS)], object)


def hand_infos(
    finals: NDArray[np.void], n_players: int, match: bool, seat: int, chosen: Any = slice(None)
) -> dict[str, Any]:
    """The fields for many hands that have ended.

    Args:
        finals: (N,) `STATE`, hands as they ended.
        n_players: Number of seats.
        match: Whether they are hands of matches.
        seat: Whose illegal action `illegal_action` tells of.
        chosen: Which M of them, as an index: whole records are never copied.

    Returns:
        Name to (M,) or (M, players) array: ending, knocker (seat or -1), points, deadwood (that counted in the
        showdown), scores, turns, illegal_action, knock_limit (pips), upcard (text); in matches also match_winner (seat
        or -1) and match_points (scores with the match's bonuses; zeros until it is won).
    """
    ending = finals["ending"][chosen]
    fields = {
        "ending": _ENDINGS[ending],
        "knocker": finals["knocker"][chosen].astype(np.int64),
        "points": finals["points"][chosen, :n_players].astype(np.int64),
        "deadwood": finals["deadwood"][chosen, :n_players].astype(np.int64),
        "turns": finals["n_turns"][chosen].astype(np.int64),
        "illegal_action": (ending == ILLEGAL) & (finals["seat"][chosen] == seat),
    }
    if match:
        fields["match_winner"] = finals["match_winner"][chosen].astype(np.int64)
        fields["match_points"] = finals["match_points"][chosen, :n_players].astype(np.int64)
    return fields | table_infos(finals, n_players, chosen)


def table_infos(
    states: NDArray[np.void], n_players: int, chosen: Any = slice(None)
) -> dict[str, Any]:
    """What every hand has, also one that goes on: scores (M, players), knock_limit and upcard (M,) of M chosen hands."""
    return {
        "scores": states["scores"][chosen, :n_players].astype(np.int64),
        "knock_limit": states["limit"][chosen].astype(np.int64),
        "upcard": _CARDS[states["upcard"][chosen]],
    }


def no_hand_infos(n_games: int, n_players: int, match: bool) -> dict[str, Any]:
    """The other fields of (M,) games in which no hand has ended, as `hand_infos` has them: what stands for nothing."""
    rows = (n_games, n_players)
    fields: dict[str, Any] = {
        "ending": np.full(n_games, "", object),
        "knocker": np.full(n_games, -1),
        "points": np.zeros(rows, np.int64),
        "deadwood": np.zeros(rows, np.int64),
        "turns": np.zeros(n_games, np.int64),
        "illegal_action": np.zeros(n_games, np.bool_),
    }
    if match:
        fields |= {"match_winner": np.full(n_games, -1), "match_points": np.zeros(rows, np.int64)}
    return fields


def hand_info(
    finals: NDArray[np.void], i: int, n_players: int, match: bool, seat: int
) -> dict[str, Any]:
    """The fields for hand i, which has ended, as plain values and fresh arrays (players,)."""
    return _as_python(hand_infos(finals, n_players, match, seat, i))


class HandInfo:
    """`info` on the hand of a single game at every step: the same fields whether it has ended or goes on.

    What a hand that goes on has is read once a deal, not at every step.

    Args:
        n_players: Number of seats.
        match: Whether it is a hand of a match.
        seat: The learner's.
    """

    def __init__(self, n_players: int, match: bool, seat: int) -> None:
        self._how = n_players, match, seat
        self._nothing = _as_python({k: v[0] for k, v in no_hand_infos(1, n_players, match).items()})
        self._arrays: list[tuple[str, NDArray[Any]]] = []

    def dealt(self, states: NDArray[np.void]) -> None:
        """Notes the hand that has been dealt in the first of these games."""
        self._nothing |= _as_python(table_infos(states, self._how[0], 0))
        self._arrays = [(k, v) for k, v in self._nothing.items() if isinstance(v, np.ndarray)]

    def goes_on(self, mask: NDArray[np.int8]) -> dict[str, Any]:
        """Info of a step in which no hand has ended: arrays of its own."""
        info = {"action_mask": mask.copy(), **self._nothing}
        for name, values in self._arrays:
            info[name] = values.copy()
        return info

    def ended(self, mask: NDArray[np.int8], finals: NDArray[np.void]) -> dict[str, Any]:
        """Info of a step in which the first of these hands has ended."""
        return {"action_mask": mask.copy(), **hand_info(finals, 0, *self._how)}


def plain(values: NDArray[Any]) -> list[Any]:
    """The field of each hand as a single environment has it: a plain value, or a row of one a seat."""
    return list(values) if values.ndim > 1 else values.tolist()


def _as_python(values: dict[str, Any]) -> dict[str, Any]:
    """NumPy's numbers as Python's."""
    return {k: v.item() if isinstance(v, np.generic) else v for k, v in values.items()}
