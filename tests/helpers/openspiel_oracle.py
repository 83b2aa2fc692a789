"""Plays one hand in our kernel and in OpenSpiel's gin_rummy at the same time, comparing everything.

At every decision: seat, phase, hands, knock limit, pile, stock, known cards, deadwood, the legal
draws and discards, the legality of a knock and the discards it may be made with. At a showdown: the
cards that may be laid off, the least deadwood they leave, the points. Where OpenSpiel is known to
differ the difference is *classified*: proven to be what `CLASSES` says and counted there, exactly
once. Any other difference raises `Mismatch` with all that is needed to play the hand again.

Only actions legal in both engines are played, so the two never drift apart. OpenSpiel knocks in
several actions: 55, the discard, one action per meld shown, 54; the opponent then lays off single
cards, 54, lays its own melds, 54. The knocker is driven to show what our kernel shows, the opponent
to the best layoff that *OpenSpiel* offers, found by trying them all. (That it offers at most two cards at
one end of a run never costs it anything: three in a row are a run of one's own. So no difference in
points is ever excused here.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, NoReturn, TypeAlias

import numpy as np
import pyspiel

from okgin_env import cards as cardtext
from okgin_env.kernel import batch, melds, play, showdown
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import (
    DRAW,
    DRAW_STOCK,
    DRAW_TOP,
    ENDINGS,
    GIN,
    KNOCK,
    N_ACTIONS,
    N_CARDS,
    N_RANKS,
    OFFER,
    OVER,
    PASS,
    SHED,
    VOID,
)
from okgin_env.peers.spiel import KNOCK as OS_KNOCK
from okgin_env.peers.spiel import MELD as OS_MELD
from okgin_env.peers.spiel import PASS as OS_PASS
from okgin_env.peers.spiel import STOCK as OS_STOCK
from okgin_env.peers.spiel import TAKE as OS_TAKE
from okgin_env.peers.spiel import Layoff, best_layoff, laid_in_parts
from okgin_env.rules import Rules
from tests.helpers import twin
from tests.helpers.random_tables import random_deck

OS_MAX_UPCARD_DRAWS = 50
OPENSPIEL = Rules.preset("openspiel")
UTILS = pyspiel.gin_rummy.GinRummyUtils(13, 4, 10)
_PHASES = {
    OFFER: pyspiel.gin_rummy.Phase.FIRST_UPCARD,
    DRAW: pyspiel.gin_rummy.Phase.DRAW,
    SHED: pyspiel.gin_rummy.Phase.DISCARD,
}

CLASSES = {
    "taken_discard": "rule: the card just taken from the pile may be thrown back",
    "taken_knock_discard": "rule: the card just taken is one more discard to knock with",
    "taken_knock_only": "rule: a knock is offered that only throwing back the taken card allows",
    "knock_refused": "error: legal knock refused, deadwood of eleven cards is not the least",
    "eleven_overstated": "error: deadwood of eleven cards too high, knock not affected",
    "third_layoff": "error: third card in a row at one end of a run is not offered as a layoff",
    "wall_pass": "end: two cards left, a further player is asked but can only pass",
    "wall_knock": "end: two cards left, a further player may knock with the top card",
    "fifty_draws": "end: the fiftieth card taken from the pile ends the hand at once",
}
"""The differences that are allowed: what OpenSpiel does where docs/rules.md says otherwise."""

COMPARED = {
    "hands": "hands",
    "decisions": "decisions (seat, phase, hands, pile, stock, known cards, deadwood, draws, discards)",
    "knocks_legal": "of these: a knock legal in both (all knock discards compared)",
    "knock": "ended by knock",
    "tie": "of these: equal deadwood, 0-0",
    "gin": "ended by gin",
    "undercut": "ended by undercut",
    "void": "ended void",
    "cut": "cut short by OpenSpiel (fifty upcard draws)",
    "layoff_hands": "showdowns with a card laid off",
    "layoff_cards": "cards laid off",
    "layoff_breaks": "layoffs that break up an own meld",
}
"""What was looked at, for the report."""

Mover: TypeAlias = Callable[[np.void, list[int], np.ndarray], int]
"""Picks an action: game record, actions legal in both engines, deadwood by discard (52,) int16."""


class Mismatch(AssertionError):
    """A difference that no known behaviour of OpenSpiel explains."""


KINDS = (
    "plain",
    "plain",
    "suits",
    "ranks",
)  # of decks; where sets and runs share cards the errors are


# --- moves --------------------------------------------------------------------------------
class RandomMover:
    """Sensible play with much chance in it: uniform random play would end nearly always void.

    The temper is drawn anew for every hand, so that early knocks, patient gins, wandering hands and
    hands that live off the discard pile all occur.
    """

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.greed = rng.choice((0.0, 0.7, 1.0))  # takes the top card iff it lowers the deadwood
        self.take = rng.choice((0.1, 0.3, 0.5, 0.95))  # otherwise: takes it with this probability
        self.noise = rng.choice((0.0, 0.05, 0.3))  # discards any card
        self.knock = rng.choice((0.05, 0.3, 1.0))

    def __call__(self, s: np.void, legal: list[int], left: np.ndarray) -> int:
        """Picks an action, see `Mover`."""
        if s["phase"] != SHED:
            refuse = PASS if s["phase"] == OFFER else DRAW_STOCK
            if self.rng.random() < self.greed:
                wants = _lowers(int(s["hands"][s["seat"]]), int(s["pile"][s["n_pile"] - 1]))
            else:
                wants = self.rng.random() < self.take
            return DRAW_TOP if wants else refuse
        knocks = [action for action in legal if action >= KNOCK]
        gins = [action for action in knocks if left[action - KNOCK] == 0]
        if gins and self.rng.random() < max(0.5, self.knock):
            return self.rng.choice(gins)
        if knocks and self.rng.random() < self.knock:
            return self.rng.choice(knocks)
        discards = [action for action in legal if action < KNOCK]
        if self.rng.random() < self.noise:
            return self.rng.choice(discards)
        least = min(left[card] for card in discards)
        return self.rng.choice([card for card in discards if left[card] == least])


def _lowers(hand_mask: int, card: int) -> bool:
    """Whether taking a card allows a discard that leaves less deadwood than there is now."""
    least = melds.least_discard(np.uint64(hand_mask | 1 << card))
    return bool(least < melds.deadwood(np.uint64(hand_mask)))


def replay(actions: Iterable[int]) -> Mover:
    """A mover that plays given action ids (those that a `Mismatch` reports)."""
    rest = iter(actions)
    return lambda s, legal, left: next(rest)


# --- the comparison -----------------------------------------------------------------------------------
def play_hand(
    deck: Sequence[int], mover: Mover, counts: Counter[str], rules: Rules = OPENSPIEL
) -> None:
    """Plays one hand in both engines.

    Args:
        deck: 52 card ids, seat 0's cards first; seat 0 starts.
        mover: Picks the actions.
        counts: Receives what was compared (`COMPARED`) and what differed (`CLASSES`).
        rules: What our kernel plays. Of it OpenSpiel is told the knock limit only.

    Raises:
        Mismatch: A difference that is none of `CLASSES`.
    """
    _Duel(deck, counts, rules).run(mover)


def play_seed(seed: int, hand: int, counts: Counter[str], rules: Rules = OPENSPIEL) -> None:
    """Plays hand number `hand` of a seed; every hand is independent of all others.

    Raises:
        Mismatch: As `play_hand`.
    """
    rng = Random(f"{seed}:{hand}")
    try:
        play_hand(random_deck(rng, KINDS), RandomMover(rng), counts, rules)
    except Mismatch as error:
        raise Mismatch(f"seed {seed}, hand {hand}: {error}") from error


class _Duel:
    """One hand in both engines."""

    def __init__(self, deck: Sequence[int], counts: Counter[str], rules: Rules) -> None:
        parameters: dict[str, Any] = {"oklahoma": True}  # then an ace upcard means gin only
        if rules.knock_limit != "upcard":
            parameters = {"knock_card": rules.knock_limit}
        self.rules = as_records(rules.to_record())
        self.deck = [int(card) for card in deck]
        self.counts = counts
        self.actions: list[int] = []
        self.n_upcard_draws = 0
        self.mask = np.zeros(N_ACTIONS, np.int8)
        self.left = np.zeros(N_CARDS, np.int16)  # deadwood by discard
        states = new_states(1)
        batch.deal_games(
            states, np.arange(1), self.rules, np.array([self.deck], np.int8), np.array([-1])
        )
        self.s: Any = states[0]
        self.peer = pyspiel.load_game("gin_rummy", parameters).new_initial_state()
        for card in self.deck[:21]:
            self.peer.apply_action(card)

    def run(self, mover: Mover) -> None:
        """Plays the hand to its end in one of the engines."""
        self.counts["hands"] += 1
        while self.s["phase"] != OVER and not self.peer.is_terminal():
            self._compare_position()
            legal = self._compare_legal()
            self.counts["decisions"] += 1
            action = mover(self.s, legal, self.left)
            if action not in legal:
                self._fail(f"the mover chose {action}, which is not legal in both engines")
            self.actions.append(int(action))
            self._apply(action)
        if self.s["phase"] == OVER:
            self.counts[ENDINGS[self.s["ending"]]] += 1
        else:
            self.counts["cut"] += 1

    def _fail(self, what: str) -> NoReturn:
        raise Mismatch(
            f"{what}\n  deck '{cardtext.text(self.deck)}'\n  actions {self.actions}\n{self.peer}"
        )

    def _equal(self, what: str, ours: object, theirs: object) -> None:
        if ours != theirs:
            self._fail(f"{what}: ours {ours!r}, OpenSpiel's {theirs!r}")

    def _hand(self, seat: int) -> int:
        """Mask of a seat's cards in our record."""
        return int(self.s["hands"][seat])

    def _compare_position(self) -> None:
        s, peer = self.s, self.peer
        self._equal("phase", _PHASES[int(s["phase"])], peer.current_phase())
        self._equal("seat to move", int(s["seat"]), peer.current_player())
        self._equal("knock limit", int(s["limit"]), peer.knock_card())
        self._equal("stock size", int(play.stock_left(s)), peer.stock_size())
        up = [] if peer.upcard() is None else [peer.upcard()]
        self._equal("pile", s["pile"][: s["n_pile"]].tolist(), peer.discard_pile() + up)
        for seat in range(2):
            self._equal(f"hand {seat}", self._hand(seat), _mask(peer.hands()[seat]))
            self._equal(f"known {seat}", int(s["known"][seat]), _mask(peer.known_cards()[seat]))
            if s["phase"] != SHED or seat != s["seat"]:  # ten cards
                ours = int(melds.deadwood(s["hands"][seat]))
                self._equal(f"deadwood {seat}", ours, peer.deadwood()[seat])

    def _compare_legal(self) -> list[int]:
        """Compares the legal actions; returns our ids of those legal in both engines."""
        s = self.s
        play.legal(s, self.rules[0], self.mask, self.left)
        ours = np.flatnonzero(self.mask).tolist()
        theirs = self.peer.legal_actions()
        if s["phase"] == OFFER:
            self._equal("offer", [DRAW_TOP, PASS], ours)
            self._equal("offer", [OS_TAKE, OS_PASS], theirs)
            return ours
        if s["phase"] == DRAW:
            self._equal("draw", [DRAW_STOCK, DRAW_TOP], ours)
            self._equal("draw", [OS_TAKE, OS_STOCK], theirs)
            return ours
        taken = int(s["taken"])
        discards = [action for action in ours if action < KNOCK]
        their_discards = [action for action in theirs if action < N_CARDS]
        if taken >= 0:
            self._equal("taken card locked", False, taken in discards)
            self.counts["taken_discard"] += 1
            discards = sorted([*discards, taken])
        self._equal("discards", discards, their_discards)
        knocks = [action - KNOCK for action in ours if action >= KNOCK]
        if self._compare_knocks(knocks, taken, OS_KNOCK in theirs):
            return ours
        return [action for action in ours if action < KNOCK]

    def _compare_knocks(self, knocks: list[int], taken: int, offered: bool) -> bool:
        """Compares the knocks of a discard phase.

        Args:
            knocks: Cards that we allow to knock with.
            taken: The card taken from the pile, which we never allow, or -1.
            offered: Whether OpenSpiel offers a knock.

        Returns:
            Whether both engines allow a knock.
        """
        seat, limit = int(self.s["seat"]), int(self.s["limit"])
        hand = cardtext.ids(self._hand(seat))
        true, said = min(int(self.left[card]) for card in hand), self.peer.deadwood()[seat]
        self._equal("OpenSpiel's knock flag", said <= limit, offered)
        if said != true:
            # Theirs must be too high, as ten-card figures show: brute force and OpenSpiel's own.
            self._equal("eleven-card deadwood is too high", True, said > true)
            rests = [[card for card in hand if card != gone] for gone in hand]
            self._equal("brute-force deadwood", true, min(map(twin.deadwood, rests)))
            self._equal("its deadwood of ten", true, min(map(UTILS.min_deadwood, rests)))
        if knocks and not offered:
            proven = twin.knock_discards(hand, limit, taken if taken >= 0 else None)
            self._equal("brute-force knock discards", sorted(proven), knocks)
            self.counts["knock_refused"] += 1
            return False
        if said != true:
            self.counts["eleven_overstated"] += 1
        if not offered:
            return False
        also_taken = taken >= 0 and bool(self.left[taken] <= limit)
        allowed = sorted([*knocks, taken]) if also_taken else knocks
        self._equal("knock discards", allowed, self.peer.child(OS_KNOCK).legal_actions())
        if knocks:
            self.counts["knocks_legal"] += 1
            self.counts["taken_knock_discard"] += also_taken
        else:
            self.counts["taken_knock_only"] += 1
        return bool(knocks)

    # --- moves ---
    def _apply(self, action: int) -> None:
        """Plays one of our actions in both engines."""
        phase = int(self.s["phase"])
        play.step(self.s, self.rules[0], action)
        if action >= KNOCK and action < DRAW_STOCK:
            self._showdown(action - KNOCK)
        elif action == PASS:
            self.peer.apply_action(OS_PASS)
            if self.s["phase"] == SHED:  # all have passed: the draw is forced, we make it unasked
                self._equal("forced draw", [OS_STOCK], self.peer.legal_actions())
                self._draw_stock()
        elif action == DRAW_STOCK:
            self._draw_stock()
        elif action == DRAW_TOP:
            self.peer.apply_action(OS_TAKE)
            self.n_upcard_draws += phase == DRAW
            if self.peer.is_terminal():
                self._equal("draws at the end", OS_MAX_UPCARD_DRAWS, self.n_upcard_draws)
                self._equal("returns", [0.0, 0.0], self.peer.returns())
                self.counts["fifty_draws"] += 1
        else:
            self.peer.apply_action(action)
            if self.s["ending"] == VOID:
                self._wall()

    def _draw_stock(self) -> None:
        """Draws from OpenSpiel's stock the card that we have just drawn from ours."""
        self.peer.apply_action(OS_STOCK)
        at = int(self.s["next_card"]) - 1
        self._equal("stock", sorted(self.deck[at:]), self.peer.legal_actions())
        self.peer.apply_action(self.deck[at])

    def _wall(self) -> None:
        """Our hand is void with two cards left; OpenSpiel asks one more player, who passes."""
        wall = pyspiel.gin_rummy.Phase.WALL
        self._equal("void at", (2, wall), (self.peer.stock_size(), self.peer.current_phase()))
        legal = self.peer.legal_actions()
        if legal == [OS_PASS]:
            self.counts["wall_pass"] += 1
        else:
            self._equal("wall", [OS_PASS, OS_KNOCK], legal)
            held = [*self.peer.hands()[self.peer.current_player()], self.peer.upcard()]
            rests = [[card for card in held if card != gone] for gone in held]
            least = min(map(twin.deadwood, rests))
            self._equal("knock at the wall", True, least <= self.peer.knock_card())
            self.counts["wall_knock"] += 1
        self.peer.apply_action(OS_PASS)
        self._equal("over", True, self.peer.is_terminal())
        self._equal("returns", [0.0, 0.0], self.peer.returns())

    # --- the showdown ---
    def _peer_must(self, action: int) -> None:
        """Plays an action in OpenSpiel that it has to offer."""
        if action not in self.peer.legal_actions():
            self._fail(f"OpenSpiel does not offer {action} but {self.peer.legal_actions()}")
        self.peer.apply_action(action)

    def _peer_lays(self, cards: Iterable[int]) -> int:
        """Lays one of OpenSpiel's melds; returns its meld id."""
        meld_id = UTILS.meld_to_int(sorted(cards))
        self._peer_must(OS_MELD + meld_id)
        return meld_id

    def _showdown(self, card: int) -> None:
        """Plays a knock with a discard, all melds and layoffs in OpenSpiel; compares the points."""
        knocker = int(self.s["knocker"])
        opponent = 1 - knocker
        self._peer_must(OS_KNOCK)
        self._peer_must(card)
        shown = np.zeros(showdown.MAX_MELDS, np.uint64)
        showdown.arrange(self.s["hands"][knocker], shown)
        laid = [
            self._peer_lays(part)
            for mask in shown
            for part in laid_in_parts(cardtext.ids(int(mask)))
        ]
        self._peer_must(OS_PASS)
        own = int(self.s["deadwood"][knocker])
        self._equal("knocker's deadwood", own, self.peer.deadwood()[knocker])
        self._equal("gin", self.s["ending"] == GIN, self.peer.finished_layoffs())
        hand = cardtext.ids(self._hand(opponent))
        if self.s["ending"] == GIN:
            best = Layoff(UTILS.min_deadwood(hand), (), frozenset())
        else:
            best = self._compare_layoffs(shown, laid, hand)
        self._equal("opponent's deadwood", int(self.s["deadwood"][opponent]), best.deadwood)
        rest = [c for c in hand if c not in best.cards]
        for meld in UTILS.best_meld_group(rest):
            self._peer_lays(meld)
        self._peer_must(OS_PASS)
        self._equal("over", True, self.peer.is_terminal())
        points = float(self.s["points"][0] - self.s["points"][1])
        self._equal("returns", [points, -points], self.peer.returns())
        self.counts["tie"] += bool(self.s["ending"] != GIN and best.deadwood == own)

    def _compare_layoffs(self, shown: np.ndarray, laid: list[int], hand: list[int]) -> Layoff:
        """Compares which cards may be laid off, then lays off in OpenSpiel as well as it allows."""
        best = best_layoff(laid, hand)
        reach = _layoff_steps([cardtext.ids(int(mask)) for mask in shown if mask], hand)
        self._equal("layoffs it offers", True, best.offered <= reach.keys())
        missing = reach.keys() - best.offered
        if missing:
            self._equal("missing layoffs", [], [c for c in missing if reach[c] < 3])
            self.counts["third_layoff"] += 1
        for card in best.cards:
            self._peer_must(card)
        self._peer_must(OS_PASS)
        self.counts["layoff_hands"] += bool(best.cards)
        self.counts["layoff_cards"] += len(best.cards)
        loose = UTILS.min_deadwood(hand) - best.deadwood
        broken = bool(best.cards) and loose < sum(map(cardtext.pips, best.cards))
        self.counts["layoff_breaks"] += broken
        return best


def _mask(cards: Iterable[int]) -> int:
    total = 0
    for card in cards:
        total |= 1 << card
    return total


def _layoff_steps(shown: list[list[int]], hand: list[int]) -> dict[int, int]:
    """Cards of a hand that can be laid off on melds by docs/rules.md, and how far out each would lie.

    One step is a fourth card of a set or the next card of a run; a card that fits in two places
    counts where it is nearer.
    """
    steps: dict[int, int] = {}
    for meld in shown:
        if meld[0] % N_RANKS == meld[1] % N_RANKS:
            ends = [[card for card in hand if card % N_RANKS == meld[0] % N_RANKS]]
        else:
            low, high = min(meld), max(meld)
            suit_start = low - low % N_RANKS
            ends = [
                _unbroken(range(low - 1, suit_start - 1, -1), hand),
                _unbroken(range(high + 1, suit_start + N_RANKS), hand),
            ]
        for end in ends:
            for k, card in enumerate(end):
                steps[card] = min(k + 1, steps.get(card, N_RANKS))
    return steps


def _unbroken(cards: Iterable[int], hand: list[int]) -> list[int]:
    """The cards up to the first one that is not in the hand."""
    held = []
    for card in cards:
        if card not in hand:
            break
        held.append(card)
    return held
