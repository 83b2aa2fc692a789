"""Hands played in the compiled kernel and in the plain twin at the same time, with everything compared.

At every decision: seat, phase, limit, turns, the whole legal mask, `is_legal` of some actions, and
every feature of the observation (of the seat to move, and of an onlooker). At the end of a hand: ending,
knocker, points, counted deadwood, hands, pile, rewards, scores, hands won, the next dealer, and the winner
and points of the match. Rules are presets for 2-4 players and random variants of every field; decks are
shuffled or rich in melds; players are random, sensible, patient (they wait for gin and big gin) and, now
and then, act illegally. `tools/lockstep_twin.py` plays many of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeAlias

import numpy as np

from okgin_env import cards as cardtext
from okgin_env.kernel import batch, conceal, match, play
from okgin_env.kernel.observe import observe
from okgin_env.kernel.rng import seed_streams
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import (
    BIG_GIN,
    DRAW_STOCK,
    DRAW_TOP,
    ENDINGS,
    FORFEIT_POINTS,
    KNOCK,
    N_ACTIONS,
    N_CARDS,
    OFFER,
    OVER,
    PASS,
    PHASES,
    POINTS_PER_REWARD,
    REWARDS,
    SHED,
    layout,
)
from okgin_env.rules import Rules
from tests.helpers import twin
from tests.helpers.random_tables import random_deck, random_rules
from tests.helpers.twin import TwinHand, TwinMatch

Mover: TypeAlias = Callable[[TwinHand, list[int], Random], int]
ONE = np.zeros(1, np.int64)
MOST_HANDS = 8  # hands a table plays at most
OUTLOOK = ("outlook_1", "outlook_2", "outlook_3", "hope")  # slow in plain Python:
OUTLOOK_EVERY = 200  # decisions between two at which they are compared
STRAY_ACTIONS = (-(10**9), -1, N_ACTIONS, 10**9)


class Mismatch(AssertionError):
    """A difference between kernel and twin."""


# --- moves ----------------------------------------------------------------------------------------
def _random(hand: TwinHand, legal: list[int], rng: Random) -> int:
    return rng.choice(legal)


def _wants_top(hand: TwinHand) -> bool:
    own, top = hand.hands[hand.seat], hand.pile[-1]
    return min(twin.deadwood((own | {top}) - {card}) for card in own) < twin.deadwood(own)


def _least_discard(hand: TwinHand, rng: Random) -> tuple[int, int]:
    """A discard of least deadwood, and that deadwood."""
    own = hand.hands[hand.seat]
    after = {card: twin.deadwood(own - {card}) for card in sorted(own) if card != hand.taken}
    least = min(after.values())
    return rng.choice([card for card in after if after[card] == least]), least


def _sensible(hand: TwinHand, legal: list[int], rng: Random) -> int:
    """Lowers its deadwood; knocks as soon as it may, mostly."""
    if hand.phase != SHED:
        if _wants_top(hand):
            return DRAW_TOP
        return PASS if hand.phase == OFFER else DRAW_STOCK
    card, _ = _least_discard(hand, rng)
    knocks = KNOCK + card in legal and rng.random() < 0.9
    return KNOCK + card if knocks else card


def _patient(hand: TwinHand, legal: list[int], rng: Random) -> int:
    """Waits for gin, and often on for big gin."""
    if hand.phase != SHED:
        return _sensible(hand, legal, rng)
    if BIG_GIN in legal:
        return BIG_GIN
    card, least = _least_discard(hand, rng)
    waits = hand.rules.big_gin_bonus > 0 and rng.random() < 0.7
    return KNOCK + card if least == 0 and not waits else card


def _tosser(hand: TwinHand, legal: list[int], rng: Random) -> int:
    """Takes the top card whenever it can: hands go round until `max_turns`."""
    if hand.phase != SHED:
        return DRAW_TOP
    return rng.choice([action for action in legal if action < KNOCK])


MOVERS: dict[str, Mover] = {
    "random": _random,
    "sensible": _sensible,
    "patient": _patient,
    "tosser": _tosser,
}


# --- comparing ------------------------------------------------------------------------------------
@dataclass
class Table:
    """One table: kernel and twin side by side, and what it takes to play it again."""

    seed: int
    index: int
    rules: Rules
    twin_rules: Rules
    counts: Counter[str]
    match: TwinMatch
    state: np.ndarray = field(default_factory=lambda: new_states(1))
    deck: list[int] = field(default_factory=list)
    dealer: int = 0
    n_hands: int = 0
    actions: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.record = as_records(self.rules.to_record())
        self.is_match = self.rules.target is not None
        size = layout(self.rules.players, self.is_match, True).size
        self.observation = np.zeros(size, np.int8)
        self.mask = np.zeros(N_ACTIONS, np.int8)
        self.table = np.zeros(N_CARDS, np.int16)

    def same(self, what: str, kernel: Any, plain: Any) -> None:
        """Raises `Mismatch`, with everything needed to reproduce it, where the two differ."""
        if kernel == plain:
            return
        where = f"seed {self.seed}, table {self.index}, hand {self.n_hands}"
        raise Mismatch(
            f"{where}: {what} differs after {len(self.actions)} actions\n"
            f"  kernel:  {kernel!r}\n  twin:    {plain!r}\n"
            f"  rules:   {self.rules!r}\n  dealer:  {self.dealer}\n"
            f"  deck:    {cardtext.text(self.deck)}\n  (seat, action): {self.actions}\n"
            f"  again:   python -m tools.lockstep_twin --seed {self.seed} --table {self.index}"
        )

    def compare_decision(self, hand: TwinHand, rng: Random) -> None:
        """Everything the kernel says at a decision."""
        s = self.state[0]
        self.same("seat", int(s["seat"]), hand.seat)
        self.same("phase", PHASES[s["phase"]], PHASES[hand.phase])
        self.same("limit", int(s["limit"]), hand.limit)
        self.same("turns", int(s["n_turns"]), hand.n_turns)
        self.same("stock", play.stock_left(s), hand.stock_left)
        self.same("conserved", bool(conceal.conserved(s, self.record[0])), True)
        legal = hand.legal()
        self.observe(hand.seat)
        self.same("legal actions", np.flatnonzero(self.mask).tolist(), legal)
        for action in (*STRAY_ACTIONS, *rng.sample(range(N_ACTIONS), 4)):
            allowed = bool(play.is_legal(s, self.record[0], action))
            self.same(f"is_legal({action})", allowed, action in legal)
        scores = self.match.scores if self.is_match else None
        outlook = self.counts["decisions"] % OUTLOOK_EVERY == 0
        self.compare_features(hand.features(hand.seat, scores, outlook=outlook))
        if rng.random() < 0.2:
            onlooker = (hand.seat + rng.randrange(1, self.rules.players)) % self.rules.players
            self.observe(onlooker)
            self.compare_features(self.onlooker_features(hand, onlooker))
        self.counts["decisions"] += 1

    def observe(self, seat: int) -> None:
        """Observation of a seat and mask of the seat to move, into arrays full of rubbish."""
        self.observation[:] = 7
        self.mask[:] = 7
        self.table[:] = 777
        s, rules = self.state[0], self.record[0]
        play.legal(s, rules, self.mask, self.table)
        observe(s, rules, seat, self.is_match, self.observation, self.table)
        self.same("0/1 observation", bool(np.isin(self.observation, (0, 1)).all()), True)

    def compare_features(self, plain: dict[str, Any]) -> None:
        """Every decoded feature of the observation just written."""
        decoded = layout(self.rules.players, self.is_match, True).decode(self.observation)
        if "hope" not in plain:
            decoded = {name: v for name, v in decoded.items() if name not in OUTLOOK}
        self.same("feature names", list(decoded), list(plain))
        for name, value in decoded.items():
            self.same(f"feature {name}", value, plain[name])

    def onlooker_features(self, hand: TwinHand, seat: int) -> dict[str, Any]:
        """What a seat that is not to move sees: the same, but no prospects of a decision."""
        scores = self.match.scores if self.is_match else None
        plain = hand.features(seat, scores)
        plain["deadwood"] = twin._stepped(twin.deadwood(hand.hands[seat]))
        plain["best_discards"] = []
        plain["top_melds"] = plain["top_lowers"] = plain["top_knocks"] = False
        return plain

    def compare_end(self, hand: TwinHand) -> None:
        """A finished hand, its booking, and the match."""
        s, n = self.state[0], self.rules.players
        self.same("phase", PHASES[s["phase"]], PHASES[hand.phase])
        self.same("ending", ENDINGS[s["ending"]], hand.ending)
        self.same("knocker", int(s["knocker"]), -1 if hand.knocker is None else hand.knocker)
        self.same("points", s["points"].tolist(), hand.points + [0] * (4 - n))
        self.same("deadwood", s["deadwood"].tolist(), hand.deadwood + [0] * (4 - n))
        hands = [sorted(held) for held in hand.hands]
        self.same("hands", [cardtext.ids(int(held)) for held in s["hands"][:n]], hands)
        self.same("pile", s["pile"][: s["n_pile"]].tolist(), hand.pile)
        self.same("stock", s["deck"][s["next_card"] :].tolist(), hand.stock)
        self.same("conserved", bool(conceal.conserved(s, self.record[0])), True)
        self.same("turns", int(s["n_turns"]), hand.n_turns)
        self.same("log", s["log"][: s["n_log"]].tolist(), self.legal_actions_taken(hand))
        self.match.add(hand)
        self.same("scores", s["scores"].tolist(), self.match.scores + [0] * (4 - n))
        self.same("boxes", s["boxes"].tolist(), self.match.boxes + [0] * (4 - n))
        self.same("next dealer", int(match.next_dealer(s, self.record[0])), self.match.dealer)
        self.same("number of hands", int(s["n_hands"]), self.n_hands)
        winner = self.match.winner
        self.same("match winner", int(s["match_winner"]), -1 if winner is None else winner)
        if winner is not None:
            points = s["match_points"].tolist()
            self.same("match points", points, self.match.match_points + [0] * (4 - n))
        self.compare_rewards(hand)
        self.counts[hand.ending] += 1
        self.counts["hands"] += 1

    def legal_actions_taken(self, hand: TwinHand) -> list[int]:
        """What the log of a hand that is over must hold."""
        taken = [action for _, action in self.actions]
        return taken[:-1] if hand.ending == "illegal" else taken

    def compare_rewards(self, hand: TwinHand) -> None:
        """Every seat's reward of every kind (docs/environment.md, Observation Space): own minus the mean of the others'."""
        n, s = self.rules.players, self.state[0]
        for seat in range(n):
            for kind, name in enumerate(REWARDS):
                values = [0.0] * n
                if hand.ending == "illegal":
                    values = [0.0 if p == hand.seat else 1.0 for p in range(n)]
                    plain = -1.0 if seat == hand.seat else 1.0 / (n - 1)
                else:
                    if name == "points":
                        values = [points / POINTS_PER_REWARD for points in hand.points]
                    elif name == "win" and any(hand.points):
                        start = hand.seat if hand.knocker is None else hand.knocker
                        order = [(start + k) % n for k in range(n)]
                        values[max(order, key=lambda p: hand.points[p])] = 1.0
                    elif name == "match" and self.match.winner is not None:
                        values[self.match.winner] = 1.0
                    plain = values[seat] - (sum(values) - values[seat]) / (n - 1)
                reward = match.hand_reward(s, self.record[0], kind, seat)
                self.same(f"reward {name} of seat {seat}", round(reward, 9), round(plain, 9))


def play_table(
    seed: int,
    index: int,
    counts: Counter[str],
    rules: Rules | None = None,
    twin_rules: Rules | None = None,
) -> None:
    """Plays one table to the end of its match, or a few hands.

    Args:
        seed: Same seed and index, same table.
        index: Number of the table.
        counts: Receives what was seen.
        rules: The rules; None: random ones.
        twin_rules: Other rules for the twin, to test that a difference is found.

    Raises:
        Mismatch: Kernel and twin differ.
    """
    rng = Random(f"{seed}/{index}")
    drawn = random_rules(rng)
    rules = rules or drawn
    twin_rules = twin_rules or rules
    dealer = rng.randrange(rules.players)
    if rules.first_dealer != "random":
        dealer = int(rules.first_dealer)
    table = Table(seed, index, rules, twin_rules, counts, TwinMatch(twin_rules, dealer))
    seed_streams(table.state[0], np.uint64(rng.getrandbits(64)))
    while table.n_hands < MOST_HANDS and table.match.winner is None:
        play_hand(table, rng)
        if not table.is_match and table.n_hands >= 2:
            break
    counts["matches won"] += table.match.winner is not None
    counts["tables"] += 1


def play_hand(table: Table, rng: Random) -> None:
    """Plays one hand of a table with players drawn for it."""
    rules = table.rules
    table.deck, table.dealer, table.actions = random_deck(rng), table.match.dealer, []
    names = [rng.choice(("random", "sensible", "sensible", "patient")) for _ in range(4)]
    if rng.random() < 0.05:
        names = ["tosser"] * 4
    illegal_at = rng.randrange(30) if rng.random() < 0.15 else -1
    s = table.state[0]
    deck = np.array([table.deck], np.int8)
    if table.n_hands == 0:  # the rules' own first dealer, or the one drawn here
        given = -1 if rules.first_dealer != "random" else table.dealer
        batch.deal_games(table.state, ONE, table.record, deck, np.array([given]))
    else:
        s["deck"] = deck[0]
        play.deal(s, table.record[0], match.next_dealer(s, table.record[0]))
    table.n_hands += 1
    table.same("dealer", int(s["dealer"]), table.dealer)
    hand = TwinHand(table.twin_rules, table.deck, table.dealer)
    while hand.phase != OVER:
        table.compare_decision(hand, rng)
        action = MOVERS[names[hand.seat]](hand, hand.legal(), rng)
        if len(table.actions) == illegal_at:
            action = rng.choice((*STRAY_ACTIONS, rng.randrange(N_ACTIONS)))
        table.actions.append((hand.seat, action))
        play.step(s, table.record[0], action)
        hand.step(action)
    if hand.ending == "illegal":
        table.same("forfeit", sum(hand.points), FORFEIT_POINTS * (rules.players - 1))
    if hand.ending == "void" and hand.stock_left > 2:
        table.counts["void by max_turns"] += 1
    table.compare_end(hand)
