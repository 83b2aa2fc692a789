"""The scripted players, described once more in plain Python on the twin's hands: which moves are right.

Chance may choose among several right moves; the kernel's must be one of them.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from random import Random

import numpy as np
import pytest

from okgin_env import Rules
from okgin_env.kernel import batch, melds, play
from okgin_env.kernel.jit import PLAIN
from okgin_env.kernel.policies import POLICY_IDS, choose
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import BIG_GIN, DRAW_STOCK, DRAW_TOP, KNOCK, OFFER, OVER, PASS, SHED
from tests.helpers import twin
from tests.helpers.random_tables import random_deck
from tests.helpers.twin import TwinHand

ONE = np.zeros(1, np.int64)
Cards = set[int] | frozenset[int]
TABLES = [
    Rules.preset("classic"),
    Rules.preset("eaai"),
    Rules.preset("french", 3),
    Rules(players=4, hand_size=7, ace_limit=0, big_gin_bonus=31, target=60),
    Rules(big_gin_bonus=10, knock_limit=6, target=None),
]


def _pips(card: int) -> int:
    return min(card % 13 + 1, 10)


def _deadwood(cards: Cards) -> int:
    """The kernel's, which other tests hold to brute force: what is doubted here is what players make of it."""
    return int(melds.deadwood(np.uint64(sum(1 << card for card in cards))))


def _after(hand: TwinHand) -> dict[int, int]:
    """Deadwood after each discard that is allowed."""
    own = hand.hands[hand.seat]
    return {card: _deadwood(own - {card}) for card in own if card != hand.taken}


def _lowers(hand: TwinHand) -> bool:
    own = hand.hands[hand.seat]
    with_top = own | {hand.pile[-1]}
    return min(_deadwood(with_top - {card}) for card in with_top) < _deadwood(own)


def _takes(name: str, hand: TwinHand) -> bool:
    own, top = hand.hands[hand.seat], hand.pile[-1]
    if name == "simple":  # any meld of the eleven cards
        return any(top in meld for meld in twin.melds_of(own | {top}))
    if name in ("knocker", "careful"):
        return _lowers(hand)
    best = twin.arrangements(
        own | {top}
    )  # camper: melded in the best arrangement, of equals in each
    return _lowers(hand) and all(any(top in meld for meld in melds_) for melds_ in best)


def _theirs(hand: TwinHand) -> set[int]:
    return set().union(*(hand.known[p] for p in range(hand.rules.players) if p != hand.seat))


def _careful(hand: TwinHand, scores: list[int]) -> set[int]:
    after, theirs, unseen = _after(hand), _theirs(hand), hand.unseen(hand.seat)
    others = [p for p in range(hand.rules.players) if p != hand.seat]
    given_up = set().union(*(hand.discards[p] | hand.declined[p] for p in others))

    def danger(card: int) -> int:
        near = {other for other in range(52) if other % 13 == card % 13 and other != card}
        near |= {c for c in range(card - 2, card + 3) if c // 13 == card // 13 and c != card}
        value = 2 * len(near & theirs) + len(near & unseen)
        return value - 2 * len((near & given_up) - theirs)

    least = min(after.values())
    order = {c: (danger(c), -_pips(c)) for c in after if after[c] == least}
    cards = {card for card in order if order[card] == min(order.values())}
    limit = min(4, hand.limit)
    if hand.rules.target:
        own, best = scores[hand.seat], max(scores[p] for p in others)
        to_go = hand.rules.target - max(own, best)
        limit = min(hand.limit, max(0.0, 4 + 40 * (own - best) / to_go))
    return {KNOCK + card for card in cards} if least <= limit else cards


def _camper_danger(card: int, gone: set[int], theirs: set[int]) -> int:
    suit, rank = divmod(card, 13)

    def held(by: set[int], step: int, beyond: bool) -> bool:
        inside = 0 <= rank + step < 13
        return 13 * suit + rank + step in by if inside else beyond

    g = {step: held(gone, step, True) for step in (-2, -1, 1, 2)}
    t = {step: held(theirs, step, False) for step in (-2, -1, 1, 2)}
    runs = [(-2, -1), (-1, 1), (1, 2)]  # which other two cards make a run of three with it
    if all(g[a] or g[b] for a, b in runs) and (g[-1] or g[1]):
        run = -10
    else:
        run = -5 * (g[-1] + g[1]) - 3 * (g[-2] + g[2])
    if any(t[a] and t[b] for a, b in runs):
        run += 20
    else:
        run += 5 * (t[-1] + t[1]) + 3 * (t[-2] + t[2])
    of_rank = {other for other in range(52) if other % 13 == rank}
    n_gone = len((gone | {card}) & of_rank)
    return run + {1: 4, 2: -4}.get(n_gone, -10) + 20 * (len(theirs & of_rank) >= 2)


def _hope(cards: Cards, unseen: Cards) -> float:
    best = sorted(
        min(_deadwood((cards | {drawn}) - {out}) for out in (*cards, drawn)) for drawn in unseen
    )
    return sum(best[:7]) / len(best[:7]) if best else _deadwood(cards)


def _camper(hand: TwinHand, early: bool) -> set[int]:
    own, after, turn = hand.hands[hand.seat], _after(hand), hand.n_sheds[hand.seat] + 1
    least = min(after.values())
    if least == 0 or (early and turn <= 3 and least <= min(10, hand.limit)):
        return {KNOCK + card for card in after if after[card] == least}
    shown = [set().union(*melds_) for melds_ in twin.arrangements(own)]
    loose = {card for card in after if any(card not in melded for melded in shown)} or set(after)
    high = {card for card in loose if _pips(card) >= max(map(_pips, loose)) - 5}
    kept = {card for card in high if after[card] <= least + 5} or set(after)
    gone, theirs, unseen = own | set(hand.pile), _theirs(hand), hand.unseen(hand.seat)
    scores = {
        card: after[card]
        + 18 * 0.9 ** (turn - 1) * _hope(own - {card}, unseen)
        + _camper_danger(card, gone, theirs)
        for card in kept
    }
    lowest = min(scores.values())
    return {card for card in kept if math.isclose(scores[card], lowest, abs_tol=1e-9)}


def right_moves(name: str, hand: TwinHand, scores: list[int]) -> set[int]:
    """The moves that a scripted player may make by its description."""
    if name == "random":
        return set(hand.legal())
    if hand.phase != SHED:
        refuse = PASS if hand.phase == OFFER else DRAW_STOCK
        if name == "novice":
            return {DRAW_TOP, refuse}
        return {DRAW_TOP if _takes(name, hand) else refuse}
    if BIG_GIN in hand.legal() and hand.rules.big_gin_bonus >= hand.rules.gin_bonus:
        return {BIG_GIN}
    if name == "careful":
        return _careful(hand, scores)
    if name in ("camper", "hunter"):
        return _camper(hand, name == "camper")
    after = _after(hand)
    least = min(after.values())
    cards = {card for card in after if after[card] == least}
    knocks = {action for action in hand.legal() if KNOCK <= action < DRAW_STOCK}
    if name == "novice" and least > 0:
        return knocks or cards
    if name == "knocker":
        cards = {card for card in cards if _pips(card) == max(map(_pips, cards))}
    return {KNOCK + card for card in cards} if least <= hand.limit else cards


@pytest.mark.parametrize("rules", TABLES, ids=lambda rules: rules.label)
@pytest.mark.parametrize("name", POLICY_IDS)
def test_players_move_as_they_are_described(name: str, rules: Rules) -> None:
    """In one seat the player, in the others any; late knocks of the others are put off, so that hands grow long."""
    rng, record = Random(f"{name} {rules.label}"), as_records(rules.to_record())
    table, seen = np.zeros(52, np.int16), Counter[str]()
    for _ in range(3 if PLAIN else 25):
        state, deck = new_states(1), random_deck(rng)
        dealer, own = rng.randrange(rules.players), rng.randrange(rules.players)
        batch.seed_games(state, ONE, np.array([rng.getrandbits(64)], np.uint64))
        batch.deal_games(state, ONE, record, np.array([deck], np.int8), np.array([dealer]))
        scores = [rng.randrange(rules.target or 1) for _ in range(rules.players)]
        state["scores"][0, : rules.players] = scores
        hand, s = TwinHand(rules, deck, dealer), state[0]
        others = rng.choices([*POLICY_IDS], k=4)
        while hand.phase != OVER:
            player = name if hand.seat == own else others[hand.seat]
            action = int(choose(s, record[0], POLICY_IDS[player], table))
            if hand.seat == own:
                right = right_moves(name, hand, scores)
                assert action in right, (rules, deck, dealer, sorted(right), action)
                seen[{SHED: "discard"}.get(hand.phase, "draw")] += 1
            if KNOCK <= action < DRAW_STOCK and rng.random() < 0.7:
                action -= KNOCK
            play.step(s, record[0], action)
            hand.step(action)
    assert seen["draw"] > 0
    assert seen["discard"] > 0


def test_a_player_described_otherwise_is_found() -> None:
    """Else the comparison would compare nothing: players are told from one another."""
    rules = dataclasses.replace(TABLES[0], big_gin_bonus=31)
    rng, record, table = Random(3), as_records(rules.to_record()), np.zeros(52, np.int16)
    differs: set[tuple[str, str]] = set()
    for _ in range(3 if PLAIN else 30):
        state, deck = new_states(1), random_deck(rng)
        batch.deal_games(state, ONE, record, np.array([deck], np.int8), np.array([0]))
        hand, s = TwinHand(rules, deck, 0), state[0]
        while hand.phase != OVER:
            actions = {
                n: int(choose(s.copy(), record[0], POLICY_IDS[n], table)) for n in POLICY_IDS
            }
            for described in POLICY_IDS:
                right = right_moves(described, hand, [0, 0])
                differs |= {(described, n) for n in POLICY_IDS if actions[n] not in right}
            action = actions["camper"]
            play.step(s, record[0], action)
            hand.step(action)
    if not PLAIN:
        told = {(a, b) for a in POLICY_IDS for b in POLICY_IDS if a not in (b, "random")}
        told -= {("novice", "simple"), ("novice", "knocker")}  # what they do it may do, too
        assert told <= differs
