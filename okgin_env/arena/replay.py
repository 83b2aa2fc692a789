"""Rows of a stranger's file played again: the deals of built-in players come out the same everywhere."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import numpy as np

from okgin_env.arena.double import quick_double
from okgin_env.arena.engines import Hall
from okgin_env.arena.luck import PLAYOUTS, Gauge
from okgin_env.arena.outcome import Played, Results
from okgin_env.arena.store.fingerprints import fingerprint
from okgin_env.arena.store.rows import packed
from okgin_env.arena.store.store import Store
from okgin_env.players import DESCRIPTIONS, make
from okgin_env.players.base import Player


def replay(store: Store, n_rows: int) -> int:
    """Plays rows of built-in players that are quick (compiled, networks) again, drawn so that nobody knows which.

    Args:
        store: A file of results.
        n_rows: How many, or as many as it has.

    Returns:
        How many were played, all with the results that the file has.

    Raises:
        ValueError: One has others.
    """
    players = _quick_players(store)
    rows = [task for task, _ in store.rows() if {task.a, task.b} <= {*players}]
    drawn = random.SystemRandom().sample(rows, min(n_rows, len(rows)))
    for task in drawn:
        theirs = store.get(task)
        gauges = _gauges(theirs.results, players[task.a], players[task.b])
        ours = Hall(store.rules, players, store.secrets(), gauges).play(task)
        if not gauges:  # theirs was measured in a way that we do not have
            theirs = dataclasses.replace(
                theirs, results=dataclasses.replace(theirs.results, luck=None)
            )
        if _but_for_times(ours) != _but_for_times(theirs):
            raise ValueError(
                f"'{store.path}': {task.a} against {task.b}, seed {task.seed}, {task.kind} from {task.first} come out "
                "otherwise when they are played again; allowed: results that were played"
            )
    return len(drawn)


def _gauges(results: Results, a: Player, b: Player) -> dict[tuple[str, str], Gauge]:
    """What measures the luck in some results again, as it was measured; nothing where we cannot."""
    if results.luck is None:
        return {}
    gauge = Gauge(results.luck.how.split()[0], PLAYOUTS)
    return {(results.a, results.b): gauge} if gauge.how((a, b)) == results.luck.how else {}


def _but_for_times(played: Played) -> tuple[Any, ...]:
    """What is stored of a task that hangs on no clock."""
    results = dataclasses.replace(played.results, seconds=np.zeros(2), decisions=np.zeros(2))
    if results.luck is not None:
        results = dataclasses.replace(results, luck=dataclasses.replace(results.luck, seconds=0.0))
    return packed(dataclasses.replace(played, results=results))


def _quick_players(store: Store) -> dict[str, Player]:
    """The built-in players that a file names, if they are ours to the digit and soon done."""
    known = store.fingerprints()
    made = {name: make(name) for name in DESCRIPTIONS if name in known}
    return {
        name: player
        for name, player in made.items()
        if quick_double(player) is not None and fingerprint(player) == known[name]
    }
