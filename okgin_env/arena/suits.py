"""Suits by other names: what players are shown of a table, and what their answers mean there.

The table keeps its cards; only who is asked from outside is shown them under other suits, so that a deal is not known again by
its cards. Nothing else changes: gin knows no suit above another, and where one counts more it keeps its name (`arena.decks`).
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from okgin_env.layout import DRAW_STOCK, MAX_LOG, N_CARDS, N_RANKS, N_SUITS, layout
from okgin_env.players.base import Decisions

_MASKS = ("hands", "known", "discards", "declined")
_CARDS = ("upcard", "taken", "pile", "deck")
_SUIT = np.uint64((1 << N_RANKS) - 1)


def _names(suits: NDArray[np.int8]) -> NDArray[np.int8]:
    """(M, 108) what each action is called, cards first, then knocks, from (M, 4) suits; all without a card keep their ids."""
    cards = np.arange(N_CARDS)
    shown = suits[:, cards // N_RANKS] * np.int8(N_RANKS) + (cards % N_RANKS).astype(np.int8)
    others = np.arange(DRAW_STOCK, DRAW_STOCK + 4, dtype=np.int8)
    return np.concatenate(
        [shown, shown + np.int8(N_CARDS), np.broadcast_to(others, (len(suits), 4))], axis=1
    )


def _looked_up(table: NDArray[np.int8], ids: NDArray[np.int8]) -> NDArray[np.int8]:
    """(M, K) what ids are in a table's rows; negative ones stay as they are."""
    found = np.take_along_axis(table, np.maximum(ids, 0).astype(np.int64), axis=1)
    return np.where(ids < 0, ids, found)


def rename_records(records: NDArray[np.void], suits: NDArray[np.int8]) -> None:
    """Renames the suits in (M,) `STATE` records, in place: `suits` is (M, 4), suit s becomes `suits[m, s]`."""
    names = _names(suits)
    for field in _MASKS:
        before, after = records[field], np.zeros_like(records[field])
        for suit in range(N_SUITS):
            ranks = (before >> np.uint64(N_RANKS * suit)) & _SUIT
            after |= ranks << (suits[:, suit, None] * np.int8(N_RANKS)).astype(np.uint64)
        records[field] = after
    for field in _CARDS:
        ids = records[field]
        records[field] = _looked_up(names, ids.reshape(len(records), -1)).reshape(ids.shape)
    log, n_log = records["log"], records["n_log"]
    happened = np.arange(MAX_LOG) < n_log[:, None]
    records["log"] = np.where(happened, _looked_up(names, log), log)


def renamed(decisions: Decisions, suits: NDArray[np.int8]) -> Decisions:
    """The decisions as a player is shown them."""
    names, rules = _names(suits).astype(np.int64), decisions.rules
    records = decisions.records.copy()
    rename_records(records, suits)
    masks = np.empty_like(decisions.masks)
    np.put_along_axis(masks, names, decisions.masks, axis=1)
    observations = decisions.observations.copy()
    cards = names[:, :N_CARDS]
    for part in layout(rules.players, decisions.match).slices.values():
        if part.stop - part.start == N_CARDS:  # a plane of cards; nothing else is as wide
            plane = decisions.observations[:, part]
            np.put_along_axis(observations[:, part], cards, plane, axis=1)
    return dataclasses.replace(decisions, records=records, observations=observations, masks=masks)


def at_the_table(actions: NDArray[np.int64], suits: NDArray[np.int8]) -> NDArray[np.int64]:
    """(M,) the action ids that a player's answers mean at the table; what is no action id stays as it is."""
    names = _names(suits)
    meant = np.argsort(names, axis=1)
    legal = (actions >= 0) & (actions < names.shape[1])
    found = np.take_along_axis(meant, np.where(legal, actions, 0)[:, None], axis=1)[:, 0]
    return np.where(legal, found, actions)
