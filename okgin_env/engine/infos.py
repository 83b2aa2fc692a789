"""The entries of `info` on a hand: the same names and values in every adapter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env.cards import card_text
from okgin_env.kernel.state import new_states
from okgin_env.layout import ENDINGS, ILLEGAL, N_CARDS

_ENDINGS = np.array(ENDINGS, object)
_CARDS = np.array([card_text(card) for card in range(N_CARDS)], object)


def hand_infos(
    finals: Any, n_players: int, match: bool, seat: int, chosen: Any = None
) -> dict[str, Any]:
    """The fields for many hands that have ended, or for one.

    Args:
        finals: (N,) `STATE`, hands as they ended, or one record of them.
        n_players: Number of seats.
        match: Whether they are hands of matches.
        seat: Whose illegal action `illegal_action` tells of.
        chosen: Which M of them, as an index: whole records are never copied. None: all.

    Returns:
        Name to (M,) or (M, players) array: ending, knocker (seat or -1), points, deadwood (that counted in the
        showdown), turns, illegal_action, scores, knock_limit (pips), upcard (text); in matches also match_winner (seat
        or -1) and match_points (scores with the match's bonuses; zeros until it is won). Of one record without the M.
    """

    def each(name: str) -> Any:
        return finals[name] if chosen is None else finals[name][chosen]

    def by_seat(name: str) -> NDArray[np.int64]:
        return each(name)[..., :n_players].astype(np.int64)

    ending = each("ending")
    fields = {
        "ending": _ENDINGS[ending],
        "knocker": each("knocker").astype(np.int64),
        "points": by_seat("points"),
        "deadwood": by_seat("deadwood"),
        "turns": each("n_turns").astype(np.int64),
        "illegal_action": (ending == ILLEGAL) & (each("seat") == seat),
        "scores": by_seat("scores"),
        "knock_limit": each("limit").astype(np.int64),
        "upcard": _CARDS[each("upcard")],
    }
    if match:
        fields["match_winner"] = each("match_winner").astype(np.int64)
        fields["match_points"] = by_seat("match_points")
    return fields


def hand_dicts(
    finals: Any, n_players: int, match: bool, seat: int, chosen: NDArray[np.int64]
) -> list[dict[str, Any]]:
    """The fields of `hand_infos` for each of M hands, as a single environment has them."""
    told = hand_infos(finals, n_players, match, seat, chosen)
    columns = [plain(values) for values in told.values()]
    # Written out, since many hands end in a step: three times as fast as from pairs of names and values.
    found: list[dict[str, Any]] = [
        {
            "ending": ending, "knocker": knocker, "points": points, "deadwood": deadwood, "turns": turns,
            "illegal_action": illegal, "scores": scores, "knock_limit": limit, "upcard": upcard,
        }
        for ending, knocker, points, deadwood, turns, illegal, scores, limit, upcard in zip(*columns[:9], strict=True)
    ]  # fmt: skip
    for name, column in [*zip(told, columns, strict=True)][9:]:  # of matches
        for fields, value in zip(found, column, strict=True):
            fields[name] = value
    return found


def hand_info(final: Any, n_players: int, match: bool, seat: int) -> dict[str, Any]:
    """The fields for the record of one hand that has ended, as plain values and fresh arrays (players,)."""
    fields = hand_infos(final, n_players, match, seat)
    return {k: v.item() if isinstance(v, np.generic) else v for k, v in fields.items()}


class Infos:
    """`info` on the hands of N games at every step: the same fields whether a hand has ended or goes on.

    What a hand that goes on has is read once a deal, not at every step.

    Args:
        n_games: N.
        n_players: Number of seats.
        match: Whether they are hands of matches.
        seat: The learner's.
    """

    def __init__(self, n_games: int, n_players: int, match: bool, seat: int) -> None:
        self._how = n_players, match, seat
        blank = new_states(n_games)  # of no ending, no points
        blank["knocker"] = blank["match_winner"] = blank["seat"] = -1
        self._nothing = hand_infos(blank, *self._how)
        self._nothing["ending"][:] = ""

    def dealt(self, states: NDArray[np.void], games: NDArray[np.int64]) -> None:
        """Notes the hands that have been dealt in some games."""
        of_table, n_players = self._nothing, self._how[0]
        of_table["scores"][games] = states["scores"][games, :n_players]
        of_table["knock_limit"][games] = states["limit"][games]
        of_table["upcard"][games] = _CARDS[states["upcard"][games]]

    def batch(
        self, finals: NDArray[np.void], hand_over: NDArray[np.bool_]
    ) -> dict[str, NDArray[Any]]:
        """The fields of all games in fresh arrays, (N,) or (N, players): of `finals` where a hand is over."""
        fields = {name: values.copy() for name, values in self._nothing.items()}
        if hand_over.any():
            over = np.flatnonzero(hand_over)
            for name, values in hand_infos(finals, *self._how, over).items():
                fields[name][over] = values
        return fields


class Info:
    """The same for a single game, in plain values and arrays (players,): it is stepped one game at a time, so this is fast.

    Args:
        n_players: Number of seats.
        match: Whether its hands are those of a match.
        seat: The learner's.
    """

    def __init__(self, n_players: int, match: bool, seat: int) -> None:
        self._how = n_players, match, seat
        nothing = Infos(1, *self._how).batch(new_states(1), np.zeros(1, np.bool_))
        self._values = {name: plain(values)[0] for name, values in nothing.items()}
        self._arrays = [name for name, v in self._values.items() if isinstance(v, np.ndarray)]
        self._fresh: list[tuple[str, Callable[[], Any]]] = []  # set once a hand is dealt

    def dealt(self, state: Any) -> None:
        """Notes the hand that has been dealt, from its record."""
        self._values["scores"] = state["scores"][: self._how[0]].astype(np.int64)
        self._fresh = [(name, self._values[name].copy) for name in self._arrays]
        self._values["knock_limit"] = int(state["limit"])
        self._values["upcard"] = _CARDS[state["upcard"]]

    def goes_on(self, mask: NDArray[np.int8]) -> dict[str, Any]:
        """Info of a step in which no hand has ended."""
        info = self._values.copy()
        info["action_mask"] = mask.copy()
        for name, fresh in self._fresh:
            info[name] = fresh()
        return info

    def ended(self, mask: NDArray[np.int8], final: Any) -> dict[str, Any]:
        """Info of a step in which a hand has ended, from its record."""
        info = hand_info(final, *self._how)
        info["action_mask"] = mask.copy()
        return info


def plain(values: NDArray[Any]) -> list[Any]:
    """The field of each hand as a single environment has it: a plain value, or a row of one a seat."""
    return list(values) if values.ndim > 1 else values.tolist()
