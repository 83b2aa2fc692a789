"""The compiled half of `tools/fuzz.py`: plays games any which way and checks every decision.

Nothing here knows what a hand is worth: that is held against the plain twin by `tools/lockstep_twin.py`. What is checked
is what must hold whatever is played: cards, sizes, masks, observations, copies, sums.
"""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.batch import begin, next_hand
from okgin_env.kernel.conceal import conserved
from okgin_env.kernel.jit import compiled, popcount
from okgin_env.kernel.match import hand_reward, new_match
from okgin_env.kernel.observe import observe
from okgin_env.kernel.play import STOCK_AT_VOID, deal, is_legal, legal, step, stock_left
from okgin_env.kernel.policies import choose
from okgin_env.kernel.rng import mix
from okgin_env.layout import (
    BIG_GIN_END,
    DRAW_TOP,
    GIN,
    ILLEGAL,
    KNOCKED,
    MAX_LOG,
    MAX_MATCH_HANDS,
    MAX_PLAYERS,
    N_ACTIONS,
    N_CARDS,
    OVER,
    SHED,
    UNDERCUT,
    VOID,
)

GUARD = 77  # fills what no kernel function may write
ANY = -1  # a mover that takes any legal action
TOSSER = -2  # a mover that takes the top card whenever it may
RULES = (
    "nothing",
    "the 52 cards once each, hands in their sizes",
    "a mask of 0 and 1 that is not empty",
    "an observation of 0 and 1",
    "nothing written beyond an array's end",
    "mask and is_legal agree",
    "phase, seat, stock, turns and log in their ranges",
    "a scripted player acts legally",
    "a copy goes on as the game it was taken from",
    "an illegal action moves no card",
    "known cards are in the hand of their seat",
    "points fit the ending",
    "rewards add up to zero",
    "scores are the sums of points",
    "a hand that is over is booked once",
)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(33)


@compiled
def _below(words, n):
    """A number from 0 to n-1 from the fuzz's own stream: `words` is (1,) uint64."""
    words[0] = words[0] + _STEP
    return np.int64(mix(words[0]) >> _SHIFT) % n


@compiled
def _mover(s, rules, mover, words, mask, table):
    """An action of one kind of player for the seat to move."""
    if mover >= 0:
        return choose(s, rules, mover, table)
    if mover == TOSSER and s.phase != SHED:
        return DRAW_TOP
    k = _below(words, mask[:N_ACTIONS].sum())
    for action in range(N_ACTIONS):
        k -= mask[action]
        if k < 0:
            return action
    return -1


@compiled
def _stray(words):
    """A number that is mostly no legal action, now and then a huge one."""
    kind = _below(words, 4)
    if kind == 0:
        return -1 - _below(words, 1 << 30)
    if kind == 1:
        return N_ACTIONS + _below(words, 1 << 30)
    return _below(words, N_ACTIONS)


@compiled
def _at_decision(s, rules, match, words, observation, size, mask, table):
    """Index in `RULES` of what does not hold where somebody is to move; 0: all holds."""
    n = rules.players
    if not conserved(s, rules):
        return 1
    in_range = 0 <= s.phase < OVER and 0 <= s.seat < n and s.n_turns < rules.max_turns
    least = STOCK_AT_VOID + (0 if s.phase == SHED else 1)
    if not in_range or stock_left(s) < least or s.n_log >= MAX_LOG or s.n_pile < 0:
        return 6
    for p in range(n):
        if s.known[p] & ~s.hands[p] != np.uint64(0):
            return 10
    mask[:] = GUARD
    legal(s, rules, mask[:N_ACTIONS], table)
    seat = (s.seat + (_below(words, n) if _below(words, 4) == 0 else 0)) % n
    observation[:] = GUARD
    observe(s, rules, seat, match, observation[:size], table)
    n_legal = 0
    for k in range(N_ACTIONS):
        if mask[k] != 0 and mask[k] != 1:
            return 2
        n_legal += mask[k]
    if n_legal == 0:
        return 2
    for k in range(size):
        if observation[k] != 0 and observation[k] != 1:
            return 3
    for k in range(size, len(observation)):
        if observation[k] != GUARD:
            return 4
    for k in range(N_ACTIONS, len(mask)):
        if mask[k] != GUARD:
            return 4
    action = _below(words, N_ACTIONS)
    if is_legal(s, rules, action) != (mask[action] == 1):
        return 5
    if is_legal(s, rules, -1) or is_legal(s, rules, N_ACTIONS):
        return 5
    return 0


@compiled
def _at_end(s, before, rules):
    """Index in `RULES` of what does not hold once a hand is over; `before`: the record at its last decision."""
    n = rules.players
    if not conserved(s, rules):
        return 1
    total, scoring = 0, 0
    for p in range(MAX_PLAYERS):
        if s.points[p] < 0 or (p >= n and s.points[p] != 0):
            return 11
        if s.scores[p] != before.scores[p] + s.points[p]:
            return 13
        total += s.points[p]
        scoring += s.points[p] > 0
    knocker = np.int64(s.knocker)
    if s.ending == VOID or s.ending == ILLEGAL:
        if knocker >= 0 or (s.ending == VOID and total != 0):
            return 11
    elif s.ending == GIN or s.ending == BIG_GIN_END:
        if knocker < 0 or s.deadwood[knocker] != 0 or s.points[knocker] != total:
            return 11
    elif s.ending == KNOCKED:
        if knocker < 0 or s.points[knocker] != total or s.deadwood[knocker] > s.limit:
            return 11
    elif s.ending != UNDERCUT or knocker < 0 or s.deadwood[knocker] > s.limit:
        return 11
    for kind in range(3):
        paid = 0.0
        for p in range(n):
            paid += hand_reward(s, rules, kind, p)
        if abs(paid) > 1e-9:
            return 12
    won = 0
    for p in range(n):
        won += s.hands_won[p] - before.hands_won[p]
    if (
        s.n_hands != before.n_hands + 1
        or won != (1 if total > 0 else 0)
        or (won == 1) != (scoring > 0)
    ):
        return 14
    return 0


@compiled
def _same(a, b):
    """Whether two (632,) uint8 rows are equal."""
    differ = 0
    for k in range(len(a)):
        differ |= a[k] ^ b[k]
    return differ == 0


@compiled
def _same_cards(s, t):
    """Whether hands, pile and stock of two records are the same."""
    same = s.n_pile == t.n_pile and s.next_card == t.next_card
    for p in range(MAX_PLAYERS):
        same = same and s.hands[p] == t.hands[p] and popcount(s.known[p] ^ t.known[p]) == 0
    for k in range(N_CARDS):
        same = same and s.deck[k] == t.deck[k] and s.pile[k] == t.pile[k]
    return same


@compiled
def _start(s, rules, decks, words):
    """Starts a new episode: shuffled, or with one of the given decks and any dealer."""
    k = _below(words, 2 * len(decks))
    if k >= len(decks):
        begin(s, rules)
        return
    new_match(s)
    for c in range(N_CARDS):
        s.deck[c] = decks[k, c]
    deal(s, rules, _below(words, rules.players))


@compiled
def play_on(
    states, spares, rows, spare_rows, rules, movers, stray, decks, n, match, words, observation, size, mask, counts
):  # fmt: skip
    """Plays `n` decisions in each game and checks all that is in `RULES`.

    Args:
        states: (N,) `STATE`, changed in place; games that are OVER start anew.
        spares: (2,) `STATE`, work space.
        rows: (N, 632) uint8, the same memory as `states`.
        spare_rows: (2, 632) uint8, the same memory as `spares`.
        rules: (1,) `RULES_DTYPE`.
        movers: (N, 4) int64 policy ids, ANY or TOSSER.
        stray: (N,) int64, one action in so many is any number; 0: none is.
        decks: (K, 52) int8 decks that episodes may start with.
        n: Decisions a game.
        match: Whether scores are observed.
        words: (1,) uint64, the fuzz's own random stream.
        observation: Int8 work space, longer than any observation.
        size: Length of an observation.
        mask: Int8 work space, longer than a mask.
        counts: (7,) int64, gets one for each hand that ends, by its ending.

    Returns:
        Index in `RULES` of the first thing that does not hold (0: all held), and the game.
    """
    table = np.empty(N_CARDS, np.int16)
    r = rules[0]
    before, copy = spares[0], spares[1]
    for i in range(len(states)):
        s = states[i]
        for _ in range(n):
            if s.phase == OVER:
                goes_on = s.match_winner < 0 and s.n_hands < MAX_MATCH_HANDS and r.target > 0
                if goes_on and _below(words, 8) > 0:
                    next_hand(s, r)
                else:
                    _start(s, r, decks, words)
            elif _below(words, 256) == 0:
                _start(s, r, decks, words)
            found = _at_decision(s, r, match, words, observation, size, mask, table)
            if found > 0:
                return found, i
            spare_rows[0, :] = rows[i]
            is_stray = stray[i] > 0 and _below(words, stray[i]) == 0
            action = (
                _stray(words) if is_stray else _mover(s, r, movers[i, s.seat], words, mask, table)
            )
            allowed = 0 <= action < N_ACTIONS and mask[action] == 1
            if not is_stray and not allowed:
                return 7, i
            if _below(words, 8) == 0:
                spare_rows[1, :] = rows[i]
                step(copy, r, action)
                step(s, r, action)
                if not _same(rows[i], spare_rows[1]):
                    return 8, i
            else:
                step(s, r, action)
            if s.phase != OVER:
                if not allowed:
                    return 9, i
                continue
            counts[s.ending] += 1
            if (s.ending == ILLEGAL) == allowed or (not allowed and not _same_cards(s, before)):
                return 9, i
            found = _at_end(s, before, r)
            if found > 0:
                return found, i
    return 0, -1
