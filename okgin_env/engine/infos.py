"""The entries of `info` on hands that have ended: the same names and values in every adapter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env.layout import ENDINGS, ILLEGAL

_ENDINGS = np.array(ENDINGS, object)


def hand_infos(
    finals: NDArray[np.void], n_players: int, match: bool, chosen: Any = slice(None)
) -> dict[str, NDArray[Any]]:
    """The fields for many hands.

    Args:
        finals: (N,) `STATE`, hands as they ended.
        n_players: Number of seats.
        match: Whether they are hands of matches.
        chosen: Which M of them, as an index: whole records are never copied.

    Returns:
        Name to (M,) or (M, players) array: ending, knocker (seat or -1), points, deadwood (that counted in the
        showdown), scores, turns; in matches also match_winner (seat or -1) and match_points (scores with the match's
        bonuses; zeros until it is won).
    """
    fields = {
        "ending": _ENDINGS[finals["ending"][chosen]],
        "knocker": finals["knocker"][chosen].astype(np.int64),
        "points": finals["points"][chosen, :n_players].astype(np.int64),
        "deadwood": finals["deadwood"][chosen, :n_players].astype(np.int64),
        "scores": finals["scores"][chosen, :n_players].astype(np.int64),
        "turns": finals["n_turns"][chosen].astype(np.int64),
    }
    if match:
        fields["match_winner"] = finals["match_winner"][chosen].astype(np.int64)
        fields["match_points"] = finals["match_points"][chosen, :n_players].astype(np.int64)
    return fields


def hand_info(
    finals: NDArray[np.void], i: int, n_players: int, match: bool, seat: int
) -> dict[str, Any]:
    """The fields for hand i as plain values; `illegal_action` is there when `seat` forfeited it."""
    final = finals[i : i + 1]
    info = {name: plain(values)[0] for name, values in hand_infos(final, n_players, match).items()}
    if forfeited(final, seat)[0]:
        info["illegal_action"] = True
    return info


def plain(values: NDArray[Any]) -> list[Any]:
    """The field of each hand as a single environment has it: a plain value, or a row of one a seat."""
    return list(values) if values.ndim > 1 else values.tolist()


def forfeited(finals: NDArray[np.void], seat: int, chosen: Any = slice(None)) -> NDArray[np.bool_]:
    """(M,) whether `seat` forfeited the hand by an illegal action, in M chosen ones of N."""
    return (finals["ending"][chosen] == ILLEGAL) & (finals["seat"][chosen] == seat)
