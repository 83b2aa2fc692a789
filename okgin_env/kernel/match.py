"""From hand to hand: booking a hand, the winner of the match, the next dealer, rewards (The match)."""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.jit import compiled
from okgin_env.kernel.rng import deal_below
from okgin_env.layout import (
    BIG_GIN_END,
    GIN,
    ILLEGAL,
    LOSER_DEALS,
    MAX_PLAYERS,
    N_RANKS,
    OVER,
    POINTS_PER_REWARD,
    REWARD_MATCH,
    REWARD_POINTS,
    UNDERCUT,
    WINNER_DEALS,
)


@compiled
def new_match(s):
    """Clears all that outlives a hand but the random streams."""
    for p in range(MAX_PLAYERS):
        s.scores[p] = 0
        s.match_points[p] = 0
        s.boxes[p] = 0
    s.n_hands = 0
    s.match_winner = -1
    s.unpaid = 0.0


@compiled
def first_dealer(s, rules):
    """The dealer of a first hand: the rules' seat, or one drawn from the dealing stream."""
    if rules.first_dealer >= 0:
        return rules.first_dealer
    return deal_below(s, rules.players)


@compiled
def finish_hand(s, rules):
    """Books a hand that has ended: the winner of the hand, the scores, the winner of the match."""
    n = rules.players
    s.phase = OVER
    s.n_hands += 1
    best = 0
    start = np.int64(s.knocker) if s.knocker >= 0 else np.int64(s.seat)
    for k in range(n):
        p = (start + k) % n
        s.scores[p] += s.points[p]
        if s.points[p] > best:
            best = np.int64(s.points[p])
            s.hand_winner = p
    if s.hand_winner >= 0:
        s.boxes[s.hand_winner] += hand_boxes(s, rules)
    _judge_match(s, rules)


@compiled
def hand_boxes(s, rules):
    """Boxes that the winner of a hand gets for it (The match)."""
    boxes = 1
    if s.ending == GIN or s.ending == BIG_GIN_END:
        boxes = rules.gin_boxes
    elif s.ending == UNDERCUT and s.hand_winner != s.knocker:
        boxes = rules.undercut_boxes
    doubled = rules.spades_double != 0 and s.upcard < N_RANKS and s.ending != ILLEGAL
    return 2 * boxes if doubled else boxes


@compiled
def _judge_match(s, rules):
    """Names the winner of the match once a total has reached the target (The match)."""
    n = rules.players
    leader, n_leaders = 0, 1
    for p in range(1, n):
        if s.scores[p] > s.scores[leader]:
            leader, n_leaders = p, 1
        elif s.scores[p] == s.scores[leader]:
            n_leaders += 1
    if rules.target == 0 or s.scores[leader] < rules.target or n_leaders > 1:
        return
    s.match_winner = leader
    shutout = rules.shutout != 0
    for p in range(n):
        s.match_points[p] = s.scores[p] + rules.box_bonus * s.boxes[p]
        if p != leader and s.scores[p] > 0:
            shutout = False
    s.match_points[leader] += rules.game_bonus
    if shutout:
        s.match_points[leader] += s.scores[leader] + rules.game_bonus


@compiled
def _loser(s, rules):
    """The loser of a hand: fewest points, then most deadwood, then first after the knocker."""
    n = rules.players
    start = (np.int64(s.knocker) if s.knocker >= 0 else np.int64(s.seat)) + 1
    loser = start % n
    for k in range(1, n):
        p = (start + k) % n
        fewer = s.points[p] < s.points[loser]
        if fewer or (s.points[p] == s.points[loser] and s.deadwood[p] > s.deadwood[loser]):
            loser = p
    return loser


@compiled
def next_dealer(s, rules):
    """The dealer after the hand that has just ended (Presets: next dealer, void hand)."""
    following = (np.int64(s.dealer) + 1) % rules.players
    if s.hand_winner < 0:
        return np.int64(s.dealer) if rules.void_dealer == 0 else following
    if rules.next_dealer == WINNER_DEALS:
        return np.int64(s.hand_winner)
    if rules.next_dealer == LOSER_DEALS:
        return _loser(s, rules)
    return following


@compiled
def hand_reward(s, rules, kind, seat):
    """Reward of one seat for a hand that has ended.

    All kinds are own value minus the mean of the others': of points (divided by 100), of 1 for the hand's winner
    ("win"), of 1 for the match's winner ("match"). An illegal action costs its seat 1 in every kind.
    """
    others = rules.players - 1
    if s.ending == ILLEGAL:
        return -1.0 if s.seat == seat else 1.0 / others
    if kind == REWARD_POINTS:
        total = 0
        for p in range(rules.players):
            total += s.points[p]
        own = np.int64(s.points[seat])
        return (own - (total - own) / others) / POINTS_PER_REWARD
    winner = s.match_winner if kind == REWARD_MATCH else s.hand_winner
    if winner < 0:
        return 0.0
    return 1.0 if winner == seat else -1.0 / others
