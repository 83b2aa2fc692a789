"""What `info` says of hands that have ended: the same names and values in every adapter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env.layout import ENDINGS, ILLEGAL

_ENDINGS = np.array(ENDINGS, object)


def hand_infos(finals: NDArray[np.void], n_players: int, match: bool) -> dict[str, NDArray[Any]]:
    """The fields for many hands.

    Args:
        finals: (M,) `STATE`, hands as they ended.
        n_players: Number of seats.
        match: Whether they are hands of matches.

    Returns:
        Name to (M,) or (M, players) array: ending, knocker (seat or -1), points, deadwood (that counted in the
        showdown), scores, turns; in matches also match_winner (seat or -1) and match_points (scores with the match's
        bonuses; zeros until it is won).
    """
    fields = {
        "ending": _ENDINGS[finals["ending"]],
        "knocker": finals["knocker"].astype(np.int64),
        "points": finals["points"][:, :n_players].astype(np.int64),
        "deadwood": finals["deadwood"][:, :n_players].astype(np.int64),
        "scores": finals["scores"][:, :n_players].astype(np.int64),
        "turns": finals["n_turns"].astype(np.int64),
    }
    if match:
        fields["match_winner"] = finals["match_winner"].astype(np.int64)
        fields["match_points"] = finals["match_points"][:, :n_players].astype(np.int64)
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


def forfeited(finals: NDArray[np.void], seat: int) -> NDArray[np.bool_]:
    """(M,) whether `seat` forfeited the hand by an illegal action."""
    return (finals["ending"] == ILLEGAL) & (finals["seat"] == seat)
