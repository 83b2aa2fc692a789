"""Whole batches of games: what every adapter and the arena call.

Games are independent records, so any split of a batch over threads gives the same games.
"""

from __future__ import annotations

import numpy as np

from okgin_env.kernel.arrays import array_at
from okgin_env.kernel.conceal import conceal
from okgin_env.kernel.jit import compiled
from okgin_env.kernel.match import first_dealer, hand_reward, new_match, next_dealer
from okgin_env.kernel.observe import observe
from okgin_env.kernel.play import deal, legal, shuffle, step
from okgin_env.kernel.policies import EXTERNAL, choose
from okgin_env.kernel.rng import seat_word, seed_streams
from okgin_env.kernel.state import STATE
from okgin_env.layout import ILLEGAL, MAX_MATCH_HANDS, MAX_PLAYERS, N_ACTIONS, N_CARDS, OVER

HAND = 0  # an episode is one hand
MATCH = 1  # an episode is a match
# In place of a learner's seat:
NOBODY = -1  # every seat is a player's, and a forfeit ends the hand only
EVERYBODY = -2  # every seat is a learner's; a forfeit ends the episode
NO_ACTION = np.iinfo(np.int64).min  # in place of an action: the game is only played on


@compiled
def begin(s, rules):
    """Deals the first hand of a new episode from the game's stream."""
    new_match(s)
    dealer = first_dealer(s, rules)
    shuffle(s)
    deal(s, rules, dealer)


@compiled
def next_hand(s, rules):
    """Deals the next hand of a match."""
    dealer = next_dealer(s, rules)
    shuffle(s)
    deal(s, rules, dealer)


@compiled
def _seat_coming(i, policies, coming, changing):
    """Lets the opponents that wait for the next deal of game i sit down."""
    if changing[i]:
        for p in range(policies.shape[1]):
            policies[i, p] = coming[i, p]
        changing[i] = False


@compiled
def _goes_on(s, seat, episode):
    """Whether a match goes on after the hand that has just ended."""
    forfeited = s.ending == ILLEGAL and seat != NOBODY  # ends the episode, not only the hand
    undecided = s.match_winner < 0 and s.n_hands < MAX_MATCH_HANDS
    return episode == MATCH and undecided and not forfeited


@compiled
def _close_hand(states, finals, i, rules, seat, seating, episode, kind, pause, keep):
    """If the hand of game i has just ended, books it; in a match the next hand is dealt.

    With `keep` the hand is copied to `finals[i]`; hands that end on the way to the first decision of a new episode must not
    take the place of the one the last episode ended with.
    """
    s = states[i]
    if s.phase != OVER:
        return
    if keep:
        finals[i] = s
    if seat >= 0:
        s.unpaid += hand_reward(s, rules, kind, seat)
    if not pause and _goes_on(s, seat, episode):
        policies, coming, changing = seating
        _seat_coming(i, policies, coming, changing)
        next_hand(s, rules)


@compiled
def _run(states, finals, i, rules, policies, seat, seating, episode, kind, pause, keep, table):
    """Plays game i on its compiled seats until an outside seat is to move or the episode is over."""
    s = states[i]
    while s.phase != OVER:
        policy = policies[i, s.seat]
        if policy == EXTERNAL:
            return
        step(s, rules, choose(s, rules, policy, table))
        _close_hand(states, finals, i, rules, seat, seating, episode, kind, pause, keep)


@compiled
def _write(s, rules, seat, episode, observation, mask, table):
    """Writes what a seat gets: its observation and mask (all ones once the episode is over)."""
    if s.phase == OVER:
        mask[:] = 1
    else:
        legal(s, rules, mask, table)
    observe(s, rules, seat, episode == MATCH, observation, table)


@compiled
def step_games(tables, games, actions, outputs, how):
    """Steps games: the action of the outside seat to move, then compiled seats up to the next outside one.

    Observation, mask and reward of a game are written when its learner is to move or its episode is over; a game
    that waits for another outside player keeps what it had (the caller asks that player and calls again).

    Args:
        tables: (states, finals, rules, policies, seats, coming, changing), see below; plain tuples, since a call with a few
            of them costs half of one with all that is in them, and less than one with named tuples.
        games: (M,) int64, indices of the games to step.
        actions: (N,) int64, action ids (any other number is an illegal action), or NO_ACTION.
        outputs: (observations, masks, rewards, dones, final observations), as in `engine.buffers.Outputs`; the first two
            and the last may have a single row where there is no learner. Call with dones False.
        how: (episode, kind, pay, autoreset, pause), see below.

    What is in the tables:
        states: (N,) `STATE`, changed in place.
        finals: (N,) `STATE`, receives each hand as it ended.
        rules: (1,) `RULES_DTYPE`.
        policies: (N, 4) int8, policy id of each seat, EXTERNAL for outside ones.
        seats: (N,) int64, the learner's seat, NOBODY or EVERYBODY.
        coming: (N, 4) int8, policies from a game's next deal on, where it is
        changing: (N,) bool.

    How to step:
        episode: HAND or MATCH.
        kind: Reward kind.
        pay: False after a reset, which can report neither a reward nor an end: rewards wait for the next step,
            and an episode that ends before the learner's first decision is replaced by a new one.
        autoreset: Whether a new episode is dealt at once where one is over.
        pause: Whether to stop after each hand of a match, for somebody to look at it before `next_games`.
    """
    # Taken apart once: to take an array out of a tuple counts a reference, which costs in a loop.
    states, finals, rules, policies, seats, coming, changing = tables
    observations, masks, rewards, dones, final_observations = outputs
    episode, kind, pay, autoreset, pause = how
    seating = (policies, coming, changing)
    table = np.empty(N_CARDS, np.int16)
    spare_mask = np.empty(masks.shape[1], np.int8)
    for g in range(len(games)):
        i = games[g]
        _step_game(
            i, actions[i], states, finals, rules[0], seats[i], seating, observations, masks, rewards, dones,
            final_observations, episode, kind, pay, autoreset, pause, table, spare_mask,
        )  # fmt: skip


@compiled
def _step_game(
    i, action, states, finals, r, seat, seating, observations, masks, rewards, dones,
    final_observations, episode, kind, pay, autoreset, pause, table, spare_mask,
):  # fmt: skip
    """Steps game i, as `step_games` tells."""
    s = states[i]
    policies, coming, changing = seating
    keep = (pay or seat == NOBODY) and not dones[i]
    if action != NO_ACTION and s.phase != OVER:
        step(s, r, action)
        _close_hand(states, finals, i, r, seat, seating, episode, kind, pause, keep)
    while True:
        _run(states, finals, i, r, policies, seat, seating, episode, kind, pause, keep, table)
        if seat < 0 or s.phase != OVER or (pause and _goes_on(s, seat, episode)):
            break
        if keep:
            dones[i] = True
            rewards[i] = s.unpaid
            s.unpaid = 0.0
            if not autoreset:
                break
            _write(s, r, seat, episode, final_observations[i], spare_mask, table)
        keep = False
        _seat_coming(i, policies, coming, changing)
        begin(s, r)
    if seat < 0:
        dones[i] = s.phase == OVER and not _goes_on(s, seat, episode)
        return
    told = dones[i] and not autoreset if s.phase == OVER else s.seat == seat
    if not told:
        return
    if keep and not dones[i]:
        rewards[i] = s.unpaid
        s.unpaid = 0.0
    _write(s, r, seat, episode, observations[i], masks[i], table)


@compiled
def step_one(rules, places, action, pay):
    """Steps the only game of its tables, as `step_games` does without `autoreset` and `pause`.

    A call costs by the arrays in it, a fifth of a step of one game with all of them; so there is one that says where they are.

    Args:
        rules: (1,) `RULES_DTYPE`.
        places: (K,) int64: the addresses of the other tables and outputs, and three numbers, in the order they are read below.
        action: Action id, or NO_ACTION.
        pay: As in `step_games`.

    Returns:
        0: the episode goes on, 1: so does a match, but a hand has ended, 2: it is over.
    """
    states, finals = array_at(places[0], 1, STATE), array_at(places[1], 1, STATE)
    seats = array_at(places[3], 1, np.int64)
    seating = (
        array_at(places[2], (1, MAX_PLAYERS), np.int8),
        array_at(places[4], (1, MAX_PLAYERS), np.int8),
        array_at(places[5], 1, np.bool_),
    )
    size, episode, kind = places[10], places[11], places[12]
    observations = array_at(places[6], (1, size), np.int8)
    masks = array_at(places[7], (1, N_ACTIONS), np.int8)
    rewards, dones = array_at(places[8], 1, np.float64), array_at(places[9], 1, np.bool_)
    rewards[0] = 0.0
    dones[0] = False
    n_hands = states[0].n_hands
    _step_game(
        0, action, states, finals, rules[0], seats[0], seating, observations, masks, rewards, dones,
        observations, episode, kind, pay, False, False, np.empty(N_CARDS, np.int16), masks[0],
    )  # fmt: skip
    if dones[0]:
        return 2
    return 1 if states[0].n_hands != n_hands else 0


@compiled
def begin_games(states, games, rules):
    """Deals a new episode in each of the games, from its own stream."""
    for g in range(len(games)):
        begin(states[games[g]], rules[0])


@compiled
def next_games(states, games, rules):
    """Deals the next hand of a match in each of the games."""
    for g in range(len(games)):
        next_hand(states[games[g]], rules[0])


@compiled
def paused_games(states, games, seats, episode, paused):
    """Writes into `paused` (M,) bool which games wait for `next_games`."""
    for g in range(len(games)):
        s = states[games[g]]
        paused[g] = s.phase == OVER and _goes_on(s, seats[games[g]], episode)


@compiled
def deal_games(states, games, rules, decks, dealers):
    """Deals given decks as the first hand of a new episode.

    Args:
        states: (N,) `STATE`.
        games: (M,) int64, indices of the games.
        rules: (1,) `RULES_DTYPE`.
        decks: (M, 52) int8 card ids; a deck that starts with -1 is shuffled from the game's stream.
        dealers: (M,) int64 seats; -1: as the rules say.
    """
    for g in range(len(games)):
        s = states[games[g]]
        new_match(s)
        dealer = first_dealer(s, rules[0]) if dealers[g] < 0 else dealers[g]
        if decks[g, 0] < 0:
            shuffle(s)
        else:
            for k in range(N_CARDS):
                s.deck[k] = decks[g, k]
        deal(s, rules[0], dealer)


@compiled
def seed_games(states, games, seeds):
    """Starts the random streams of games: `seeds` is (M,) uint64."""
    for g in range(len(games)):
        seed_streams(states[games[g]], seeds[g])


@compiled
def ask_games(states, games, rules, seats, episode, views, observations, masks, words):
    """Writes what a player needs for a decision: view, observation, mask and a random word.

    Args:
        states: (N,) `STATE`; the random stream of the seat to move goes on where a word is drawn.
        games: (M,) int64, indices of the games.
        rules: (1,) `RULES_DTYPE`.
        seats: (M,) int64, the seats that look.
        episode: HAND or MATCH.
        views: (M,) `STATE`, what the seat may see.
        observations: (M, D) int8.
        masks: (M, 108) int8; zeros for a seat that is not to move.
        words: (M,) uint64, one random word a decision; zero for a seat that is not to move.
    """
    table = np.empty(N_CARDS, np.int16)
    for g in range(len(games)):
        s = states[games[g]]
        seat = seats[g]
        conceal(s, rules[0], seat, views[g])
        _write(s, rules[0], seat, episode, observations[g], masks[g], table)
        words[g] = 0
        if s.phase != OVER and s.seat == seat:
            words[g] = seat_word(s, seat)
        else:
            masks[g] = 0


@compiled
def choose_games(views, rules, policy, words, actions):
    """Answers decisions with a scripted player, from concealed records alone.

    Args:
        views: (M,) `STATE`, concealed records; their seat streams are overwritten.
        rules: (1,) `RULES_DTYPE`.
        policy: Policy id.
        words: (M,) uint64, the random word of each decision, which starts the seat's stream.
        actions: (M,) int64, filled with the actions.
    """
    table = np.empty(N_CARDS, np.int16)
    for k in range(len(views)):
        s = views[k]
        s.seat_rng[s.seat] = words[k]
        actions[k] = choose(s, rules[0], policy, table)
