"""Playouts from imagined worlds: what each candidate move of a seat comes to, world by world."""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.belief import imagine
from okgin_env.kernel.jit import compiled
from okgin_env.kernel.match import next_dealer
from okgin_env.kernel.melds import deadwood
from okgin_env.kernel.play import step
from okgin_env.kernel.policies import KNOCKER, SIMPLE, choose
from okgin_env.layout import MAX_PLAYERS, N_CARDS, OVER

EAGER = (SIMPLE, KNOCKER)  # knock as soon as they may


@compiled
def _cast(world, rules, seat, own, theirs, patient, policies):
    """Says who plays each seat in the playouts of a world.

    Who knocks as soon as it may is not who holds a hand that it could have knocked with: there `patient` takes its place.
    """
    for p in range(rules.players):
        policies[p] = theirs
        if p == seat:
            policies[p] = own
        elif theirs in EAGER and world.n_sheds[p] > 0 and deadwood(world.hands[p]) <= world.limit:
            policies[p] = patient


@compiled
def _play_out(w, rules, policies, table):
    """Plays a game to its end, each seat by its policy."""
    while w.phase != OVER:
        step(w, rules, choose(w, rules, policies[w.seat], table))


@compiled
def _worth(w, rules, seat, equity):
    """The worth to a seat of a hand that is over.

    Args:
        w: `STATE` of the hand as it ended, booked.
        rules: Rules record.
        seat: The seat.
        equity: (target, target, 2) float64, see `players.equity`: its chance to win the match by own and other score and
            whether it deals; of no entries: points are what counts.

    Returns:
        Points of the hand, own minus the mean of the others', or the chance to win the match.
    """
    if equity.size == 0:
        total = 0
        for p in range(rules.players):
            total += np.int64(w.points[p])
        own = np.int64(w.points[seat])
        return own - (total - own) / (rules.players - 1)
    if w.match_winner >= 0:
        return 1.0 if w.match_winner == seat else 0.0
    deals = 1 if next_dealer(w, rules) == seat else 0
    return equity[np.int64(w.scores[seat]), np.int64(w.scores[1 - seat]), deals]


@compiled
def try_moves(
    view,
    rules,
    seat,
    words,
    moves,
    alive,
    own,
    theirs,
    patient,
    equity,
    pulls,
    regret,
    swaps,
    world,
    w,
    values,
):
    """Plays every move that is still in question out in every imagined world.

    Args:
        view: (1,) `STATE`, the concealed view of the seat, which is to move.
        rules: (1,) `RULES_DTYPE`.
        seat: The seat.
        words: (W,) uint64, one for each world: its cards and all chance in its playouts.
        moves: (C,) int64 action ids.
        alive: (C,) bool, which of them to try.
        own: Policy id of the seat in playouts.
        theirs: (W,) int64, policy id of the others in each world.
        patient: Policy id for an other whose imagined hand `theirs` would have knocked with.
        equity: As in `_worth`.
        pulls: As in `belief.imagine`.
        regret: As in `belief.imagine`.
        swaps: As in `belief.imagine`.
        world: (1,) `STATE`, work space.
        w: (1,) `STATE`, work space.
        values: (W, C) float64, written where a move is alive.
    """
    table = np.empty(N_CARDS, np.int16)
    policies = np.empty(MAX_PLAYERS, np.int64)
    for k in range(len(words)):
        world[0] = view[0]
        imagine(world[0], rules[0], seat, words[k], pulls, regret, swaps)
        _cast(world[0], rules[0], seat, own, theirs[k], patient, policies)
        for c in range(len(moves)):
            if alive[c]:
                w[0] = world[0]
                step(w[0], rules[0], moves[c])
                _play_out(w[0], rules[0], policies, table)
                values[k, c] = _worth(w[0], rules[0], seat, equity)
