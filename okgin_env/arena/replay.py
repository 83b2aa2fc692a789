"""Rows of a stranger's file played again: the deals of built-in players come out the same everywhere."""

from __future__ import annotations

import random

from okgin_env.arena.double import quick_double
from okgin_env.arena.engines import Hall
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
    hall = Hall(store.rules, _quick_players(store), store.secrets())
    rows = [task for task, _ in store.rows() if {task.a, task.b} <= {*hall.players}]
    drawn = random.SystemRandom().sample(rows, min(n_rows, len(rows)))
    for task in drawn:
        if packed(hall.play(task))[:3] != packed(store.get(task))[:3]:  # but for the times
            raise ValueError(
                f"'{store.path}': {task.a} against {task.b}, seed {task.seed}, {task.kind} from {task.first} come out "
                "otherwise when they are played again; allowed: results that were played"
            )
    return len(drawn)


def _quick_players(store: Store) -> dict[str, Player]:
    """The built-in players that a file names, if they are ours to the digit and soon done."""
    known = store.fingerprints()
    made = {name: make(name) for name in DESCRIPTIONS if name in known}
    return {
        name: player
        for name, player in made.items()
        if quick_double(player) is not None and fingerprint(player) == known[name]
    }
