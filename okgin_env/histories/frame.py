"""Hands as a table, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from okgin_env import cards
from okgin_env.histories.hand import HandHistory

if TYPE_CHECKING:
    import pandas

_TEXTS = ("rules", "seed", "upcard", "ending")  # and the names; a seed may have 128 bits


def to_frame(histories: Iterable[HandHistory]) -> pandas.DataFrame:
    """One row a hand, in order. Every hand is replayed, and so checked, for it.

    Args:
        histories: Hands, of any rules and numbers of players.

    Returns:
        A table with the columns rules (their label), players, seed, played (hands of the match before), dealer, upcard,
        limit (pips; 0: gin only), ending, knocker, winner (of the hand), match_winner, turns, actions (their number),
        and for every seat k points_k, deadwood_k, score_before_k, score_k and name_k. Numbers are `Int64`, seeds, which
        may be larger, text; what a hand has not, such as the knocker of a void one or the third seat of two, is `<NA>`.

    Raises:
        ImportError: pandas is missing; the message names the extra that brings it.
        ValueError: A hand does not replay to its stated result.
    """
    try:
        import pandas  # only notebooks need it
    except ImportError as error:
        raise ImportError("to_frame needs pandas: pip install okgin-env[notebooks]") from error
    hands = list(histories)
    seats = max((hand.rules.players for hand in hands), default=2)
    rows = [_row(hand) for hand in hands]
    columns = list(_row_names(seats))
    frame = pandas.DataFrame({name: [row.get(name) for row in rows] for name in columns})
    is_text = [name for name in columns if name in _TEXTS or name.startswith("name_")]
    return frame.astype({name: "string" if name in is_text else "Int64" for name in columns})


def _row_names(seats: int) -> Iterable[str]:
    yield from ("rules", "players", "seed", "played", "dealer", "upcard", "limit", "ending")
    yield from ("knocker", "winner", "match_winner", "turns", "actions")
    for name in ("points", "deadwood", "score_before", "score", "name"):
        yield from (f"{name}_{p}" for p in range(seats))


def _row(hand: HandHistory) -> dict[str, Any]:
    final = hand.final()[0]
    row: dict[str, Any] = {
        "rules": hand.rules.label,
        "players": hand.rules.players,
        "seed": None if hand.seed is None else str(hand.seed),
        "played": hand.played,
        "dealer": hand.dealer,
        "upcard": cards.card_text(int(final["upcard"])),
        "limit": int(final["limit"]),
        "ending": hand.ending,
        "knocker": hand.knocker,
        "winner": _seat(final["hand_winner"]),
        "match_winner": _seat(final["match_winner"]),
        "turns": int(final["n_turns"]),
        "actions": len(hand.actions),
    }
    by_seat = {
        "points": hand.points,
        "deadwood": hand.deadwood,
        "score_before": hand.scores_before,
        "score": hand.scores,
        "name": hand.names,
    }
    for name, values in by_seat.items():
        row |= {f"{name}_{p}": value for p, value in enumerate(values)}
    return row


def _seat(value: Any) -> int | None:
    return int(value) if value >= 0 else None
