"""The parts of okgin_env that are measured: the kernel's loops and the environments, one piece of work a call."""

from __future__ import annotations

import random
from collections.abc import Callable

import gymnasium as gym
import numba
import numpy as np
from numpy.typing import NDArray

import okgin_env
from benchmarks.measure import Contestant
from okgin_env.kernel import batch, melds
from okgin_env.kernel.jit import lowest
from okgin_env.kernel.melds import ONE, ZERO
from okgin_env.kernel.observe import observe
from okgin_env.kernel.play import legal, step
from okgin_env.kernel.policies import POLICY_IDS, choose
from okgin_env.kernel.rng import seat_below
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import (
    BIG_GIN,
    DRAW_STOCK,
    ILLEGAL,
    KNOCK,
    N_ACTIONS,
    N_CARDS,
    OVER,
    SHED,
    layout,
)
from okgin_env.rules import Rules

SEED = 7
_DECISIONS = 20_000  # of one piece of the random loop
_SCRIPTED = 1000  # hands of one piece of scripted play
_HANDS = 4096  # card sets of one kind for deadwood


@numba.njit(nogil=True)
def _random_play(states, rules, observation, mask, n_decisions, bare):
    """Plays uniformly random legal actions; the mask is written for every one.

    Args:
        states: (1,) `STATE`, dealt.
        rules: (1,) `RULES_DTYPE`.
        observation: (D,) int8, that of the seat to move.
        mask: (108,) int8, its legal actions.
        n_decisions: How many to play; a new hand is dealt whenever one has ended.
        bare: Whether to leave the observation out.
    """
    table = np.empty(N_CARDS, np.int16)
    ids = np.empty(N_ACTIONS + 1, np.int64)
    s, r = states[0], rules[0]
    for _ in range(n_decisions):
        legal(s, r, mask, table)
        if not bare:
            observe(s, r, s.seat, False, observation, table)
        n_legal = 0
        if s.phase == SHED:
            rest = s.hands[s.seat]
            while rest != ZERO:  # branchless: an id is overwritten unless it is legal
                card = lowest(rest)
                rest &= rest - ONE
                ids[n_legal] = card
                n_legal += mask[card]
                ids[n_legal] = KNOCK + card
                n_legal += mask[KNOCK + card]
        else:
            for action in range(DRAW_STOCK, BIG_GIN):
                ids[n_legal] = action
                n_legal += mask[action]
        step(s, r, ids[seat_below(s, s.seat, n_legal)])
        if s.phase == OVER:
            batch.begin(s, r)


@numba.njit(nogil=True)
def _scripted_play(states, rules, policy, n_hands):
    """Deals hands and plays them to their ends with one policy in every seat.

    Args:
        states: (1,) `STATE`, seeded.
        rules: (1,) `RULES_DTYPE`.
        policy: Policy id.
        n_hands: How many to play.

    Returns:
        Decisions of all seats, and hands that an illegal action ended.
    """
    table = np.empty(N_CARDS, np.int16)
    s, r = states[0], rules[0]
    n_decisions, n_illegal = 0, 0
    for _ in range(n_hands):
        batch.begin(s, r)
        while s.phase != OVER:
            step(s, r, choose(s, r, policy, table))
            n_decisions += 1
        n_illegal += s.ending == ILLEGAL
    return n_decisions, n_illegal


@numba.njit(nogil=True)
def _sum_deadwood(hands):
    """Sum of the exact deadwood of (N,) uint64 card sets."""
    total = 0
    for hand in hands:
        total += melds.deadwood(hand)
    return total


def random_kernel(rules: str, bare: bool = False) -> Contestant:
    """Uniformly random legal play inside the kernel; `bare`: masks only, no observations."""
    states = _dealt(1, rules)
    record = as_records(Rules.preset(rules).to_record())
    observation = np.zeros(layout(2).size, np.int8)
    mask = np.zeros(N_ACTIONS, np.int8)

    def play() -> int:
        _random_play(states, record, observation, mask, _DECISIONS, bare)
        return _DECISIONS

    if bare:
        label = "- without observations, as OpenSpiel's C++ bots play"
        return Contestant(key="kernel_bare_per_s", label=label, play=play)
    label = "kernel, random legal decisions, observation and mask written for each"
    return Contestant(key="kernel_random_per_s", label=label, play=play)


def scripted_hands(rules: str, policy: str = "simple") -> Contestant:
    """Whole hands with a scripted player in every seat.

    Raises:
        RuntimeError: (When played) hands that are no hands; their speed would mean nothing.
    """
    states = _dealt(1, rules)
    record = as_records(Rules.preset(rules).to_record())
    policy_id = POLICY_IDS[policy]

    def play() -> int:
        n_decisions, n_illegal = _scripted_play(states, record, policy_id, _SCRIPTED)
        if n_illegal or n_decisions < 10 * _SCRIPTED:
            raise RuntimeError(f"{_SCRIPTED} hands: {n_decisions} decisions, {n_illegal} illegal")
        return _SCRIPTED

    label = f"kernel, whole hands, {policy} against {policy}"
    return Contestant(key="scripted_hands_per_s", label=label, play=play)


def deadwoods() -> list[Contestant]:
    """Exact deadwood: of all kinds of hands together, and of each kind."""
    kinds = {
        "random_10": _hands(10, rich=False),
        "random_11": _hands(11, rich=False),
        "rich_10": _hands(10, rich=True),
        "rich_11": _hands(11, rich=True),
    }
    mixed = np.concatenate(list(kinds.values()))
    label = "kernel, exact deadwood of one hand, random and meld-rich, ten and eleven cards"
    found = [_deadwood("deadwood_ns", label, mixed)]
    for kind, hands in kinds.items():
        label = f"- of {kind.replace('_', ' hands of ').replace('rich', 'meld-rich')} cards"
        found.append(_deadwood(f"deadwood_{kind}_ns", label, hands))
    return found


def _deadwood(key: str, label: str, hands: NDArray[np.uint64]) -> Contestant:
    def play() -> int:
        _sum_deadwood(hands)
        return len(hands)

    return Contestant(key=key, label=label, play=play, invert=True, seconds=0.25)


def gym_make(rules: str) -> Contestant:
    """The single environment as users make it, driven from Python with random legal actions."""
    env = gym.make(okgin_env.ENV_ID, rules=rules, opponent="simple")
    env.reset(seed=SEED)
    draw = random.Random(SEED).random

    def play() -> int:
        n_decisions = 0
        for _ in range(20):
            _, info = env.reset()
            terminated = False
            while not terminated:
                ids = info["action_mask"].nonzero()[0]
                action = ids[int(draw() * len(ids))]
                _, _, terminated, _, info = env.step(action)
                n_decisions += 1
        return n_decisions

    label = (
        "gymnasium.make, opponent `simple`, random legal actions chosen in Python; "
        "the learner's decisions only (the opponent's are played, not counted)"
    )
    return Contestant(key="gym_make_per_s", label=label, play=play)


def native_vec(rules: str, n_games: int) -> Contestant:
    """The native VecEnv without any learning; random legal actions are chosen for all games at once."""
    from okgin_env.sb3 import OklahomaGinVecEnv

    env = OklahomaGinVecEnv(n_games, rules, seed=SEED)
    env.reset()
    noise = np.random.default_rng(SEED).random((64, N_ACTIONS), np.float32)
    at = 0

    def play() -> int:
        nonlocal at
        masks = np.stack(env.env_method("action_masks")).reshape(n_games, N_ACTIONS)
        actions = (masks * noise[at % 64]).argmax(1)
        at += 1
        env.step(actions)
        return n_games

    label = f"- native VecEnv of {n_games} games, random legal actions chosen in NumPy, no learning"
    return Contestant(key="native_vec_per_s", label=label, play=play)


def _dealt(n_games: int, rules: str) -> NDArray[np.void]:
    """(n_games,) `STATE`, each with a first hand dealt."""
    states = new_states(n_games)
    games = np.arange(n_games)
    batch.seed_games(states, games, (games + SEED).astype(np.uint64))
    batch.begin_games(states, games, as_records(Rules.preset(rules).to_record()))
    return states


def _hands(n_cards: int, rich: bool) -> NDArray[np.uint64]:
    """(4096,) uint64 card sets: uniform ones, or ones grown so that most cards have meld neighbours."""
    rng = random.Random(SEED + n_cards)
    grow: Callable[[random.Random, int], list[int]] = _rich_hand if rich else _random_hand
    found = [sum(1 << card for card in grow(rng, n_cards)) for _ in range(_HANDS)]
    return np.array(found, np.uint64)


def _random_hand(rng: random.Random, n_cards: int) -> list[int]:
    return rng.sample(range(N_CARDS), n_cards)


def _rich_hand(rng: random.Random, n_cards: int) -> list[int]:
    """Cards of five neighbouring ranks: sets and runs abound and share cards."""
    low = rng.randrange(9)
    pool = [13 * suit + rank for suit in range(4) for rank in range(low, low + 5)]
    return rng.sample(pool, n_cards)
