"""A census of hands that are over: what players did, counted from their own records."""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.jit import compiled
from okgin_env.kernel.melds import least_free_discard
from okgin_env.kernel.play import deal, locked_mask, step
from okgin_env.layout import KNOCK, N_CARDS, SHED


@compiled
def count_knocks(finals, rules, who, s, counts):
    """Replays hands and counts how often each player could knock and how often it did.

    Args:
        finals: (N,) `STATE`, hands as they ended, all cards in them.
        rules: (1,) `RULES_DTYPE`.
        who: (N, 4) int8, which player sits in each seat.
        s: `STATE`, one record to replay in.
        counts: (P, 2, L, T, D) int64, added to: [player, could or did, limit, own turn, least deadwood]; turns from 1,
            the last bin holds all later ones.
    """
    table = np.empty(N_CARDS, np.int16)
    r = rules[0]
    n_turns = counts.shape[3]
    for g in range(len(finals)):
        final = finals[g]
        for k in range(N_CARDS):
            s.deck[k] = final.deck[k]
        deal(s, r, np.int64(final.dealer))
        for k in range(final.n_log):
            action = np.int64(final.log[k])
            if s.phase == SHED:
                left = least_free_discard(s.hands[s.seat], locked_mask(s), table)
                if left <= s.limit:
                    player = who[g, s.seat]
                    turn = min(np.int64(s.n_sheds[s.seat]), n_turns - 1)
                    counts[player, 0, s.limit, turn, left] += 1
                    if action >= KNOCK:
                        counts[player, 1, s.limit, turn, left] += 1
            step(s, r, action)
