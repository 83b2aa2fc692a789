"""The plain twin of the game: docs/rules.md once more, in sets and brute force, without the kernel.

Cards are ids 0 to 51 (13 * suit + rank, suits s c d h), hands are sets, melds are frozensets. What
is best is found by looking at everything that is possible. Nothing here is shared with the
compiled code but the rules object and the numbers of `okgin_env.layout`, so that where the two
agree, two separate readings of docs/rules.md agree. Sections named in comments are those of that page.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, TypeAlias

from okgin_env import layout
from okgin_env.rules import Rules

FIELDS = frozenset(
    [
        "players",
        "hand_size",
        "knock_limit",
        "ace_limit",
        "gin_bonus",
        "undercut_bonus",
        "undercut_on_tie",
        "big_gin_bonus",
        "spades_double",
        "first_dealer",
        "next_dealer",
        "void_dealer",
        "target",
        "game_bonus",
        "box_bonus",
        "gin_boxes",
        "undercut_boxes",
        "shutout",
        "max_turns",
    ]
)
"""The fields of `Rules` that the twin plays by: it refuses rules with another, which it could only ignore."""

Arrangement: TypeAlias = tuple[tuple[int, ...], ...]
"""Melds that share no card, as a sorted tuple of sorted tuples of card ids."""

DECK = range(layout.N_CARDS)
_CACHE = 1 << 16  # entries a cache keeps: bounded, as fuzz tests play many thousand hands


def check_fields(rules: object) -> None:
    """Checks that the twin knows every field of some rules.

    Raises:
        NotImplementedError: It does not know one.
    """
    new = {field.name for field in dataclasses.fields(rules)} - FIELDS  # pyright: ignore[reportArgumentType]
    if new:
        raise NotImplementedError(
            f"rules: {', '.join(sorted(new))}; tests/helpers/twin.py must play by it, too (and name it in FIELDS)"
        )


# --- Cards and notation ---------------------------------------------------------------------------
def _pips(card: int) -> int:
    return min(card % layout.N_RANKS + 1, 10)


def _total(cards: Iterable[int]) -> int:
    return sum(_pips(card) for card in cards)


def _all_melds() -> list[frozenset[int]]:
    """Every set and every run of the deck, sorted by card ids."""
    found: list[tuple[int, ...]] = []
    for rank in range(layout.N_RANKS):
        of_rank = range(rank, layout.N_CARDS, layout.N_RANKS)
        found += [*combinations(of_rank, 3), *combinations(of_rank, 4)]
    for ace in range(0, layout.N_CARDS, layout.N_RANKS):  # the ace is low: no run starts at a king
        for low, high in combinations(range(ace, ace + layout.N_RANKS), 2):
            if high - low >= 2:
                found.append(tuple(range(low, high + 1)))
    return [frozenset(meld) for meld in sorted(found)]


_ALL_MELDS = _all_melds()
_IS_MELD = frozenset(_ALL_MELDS)


def melds_of(cards: Iterable[int]) -> list[frozenset[int]]:
    """All sets (of 3 and 4) and runs (of 3 and more) contained in the cards."""
    held = frozenset(cards)
    return [meld for meld in _ALL_MELDS if meld <= held]


def _families(melds: list[frozenset[int]]) -> Iterator[tuple[frozenset[int], ...]]:
    """Every way to pick melds of which no two share a card, picking none included."""
    if not melds:
        yield ()
        return
    first, rest = melds[0], melds[1:]
    yield from _families(rest)
    for family in _families([meld for meld in rest if not meld & first]):
        yield (first, *family)


@lru_cache(_CACHE)
def _deadwood(held: frozenset[int]) -> int:
    melded = (sum(map(_total, family)) for family in _families(melds_of(held)))
    return _total(held) - max(melded)


def deadwood(cards: Iterable[int]) -> int:
    """Least deadwood over all arrangements of the cards."""
    return _deadwood(frozenset(cards))


def _arrangement(melds: Iterable[Iterable[int]]) -> Arrangement:
    return tuple(sorted(tuple(sorted(meld)) for meld in melds))


def arrangements(cards: Iterable[int]) -> list[Arrangement]:
    """All arrangements of least deadwood, in ascending order."""
    held = frozenset(cards)
    melded = _total(held) - deadwood(held)
    families = _families(melds_of(held))
    return sorted(_arrangement(f) for f in families if sum(map(_total, f)) == melded)


# --- The showdown ---------------------------------------------------------------------------------
def _fits(card: int, meld: Iterable[int]) -> bool:
    """Whether the card can be laid off on the meld: with it, the meld is a meld still."""
    cards = frozenset(meld)
    return card not in cards and cards | {card} in _IS_MELD


def _exposure(melds: Arrangement, hand: frozenset[int]) -> int:
    """Pips of the cards outside the hand that fit on a shown meld at once (Showdown 1)."""
    return _total(c for c in DECK if c not in hand and any(_fits(c, meld) for meld in melds))


def shown(hand: Iterable[int]) -> Arrangement:
    """What the knocker shows: least deadwood, least exposure, lowest ids (Showdown 1)."""
    held = frozenset(hand)
    return min(arrangements(held), key=lambda melds: (_exposure(melds, held), melds))


def layoff(
    shown_melds: Iterable[Iterable[int]], cards: Iterable[int]
) -> tuple[int, set[int], Arrangement]:
    """The best layoff of an opponent's cards on the shown melds (Showdown 3).

    Tries every order of laying off any cards, whether or not that breaks an own meld. Of equally
    good layoffs it takes the one of fewest cards, then of the lowest card ids; a card that fits on
    a set and on a run goes on the run, where later opponents may go on from it.

    Args:
        shown_melds: The knocker's melds, with what earlier opponents laid off on them.
        cards: The opponent's hand.

    Returns:
        Deadwood left, the cards laid off, and the shown melds with them.
    """
    hand = frozenset(cards)
    start = (_arrangement(shown_melds), hand)
    reached, todo = {start}, [start]
    while todo:
        melds, held = todo.pop()
        for meld in melds:
            others = [other for other in melds if other != meld]
            for card in held:
                if _fits(card, meld):
                    state = (_arrangement([*others, (*meld, card)]), held - {card})
                    if state not in reached:
                        reached.add(state)
                        todo.append(state)

    def order(state: tuple[Arrangement, frozenset[int]]) -> tuple[Any, ...]:
        melds, held = state
        laid = sorted(hand - held)
        n_full_sets = sum(
            len({card % layout.N_RANKS for card in meld}) == 1 for meld in melds if len(meld) == 4
        )
        return deadwood(held), len(laid), laid, n_full_sets, melds

    melds, held = min(reached, key=order)
    return deadwood(held), set(hand - held), melds


def knock_discards(cards: Iterable[int], limit: int, taken: int | None) -> set[int]:
    """Cards that may be discarded with a knock (Turns 2 and 3): never the one just taken."""
    held = frozenset(cards)
    return {card for card in held if card != taken and deadwood(held - {card}) <= limit}


def settle(
    rules: Rules,
    knocker: int,
    hands: Sequence[Iterable[int]],
    big_gin: bool = False,
    spade_upcard: bool = False,
) -> tuple[str, list[int], list[int]]:
    """Settles a hand in which somebody knocked (The showdown).

    Args:
        rules: What is played.
        knocker: Seat that knocked.
        hands: Each seat's cards after the knocker's discard (big gin: without a discard).
        big_gin: Whether the knocker claims big gin.
        spade_upcard: Whether the upcard is a spade, for `Rules.spades_double`.

    Returns:
        The name of the ending, each seat's points, and each seat's deadwood: the knocker's own, an
        opponent's as it counted, after layoffs.
    """
    n_seats = len(hands)
    opponents = [(knocker + k) % n_seats for k in range(1, n_seats)]  # in turn order
    own = deadwood(hands[knocker])
    points, counted = [0] * n_seats, [0] * n_seats
    counted[knocker] = own
    if own == 0:  # Showdown 2: no layoffs, the bonus once, nobody else scores
        ending = "big_gin" if big_gin else "gin"
        for seat in opponents:
            counted[seat] = deadwood(hands[seat])
        points[knocker] = sum(counted) + (rules.big_gin_bonus if big_gin else rules.gin_bonus)
    else:  # Showdown 3: each pair on its own
        ending, melds = "knock", shown(hands[knocker])
        for seat in opponents:
            counted[seat], _, melds = layoff(melds, hands[seat])
            difference = counted[seat] - own
            if difference > 0:
                points[knocker] += difference
            elif difference < 0 or rules.undercut_on_tie:
                points[seat] = -difference + rules.undercut_bonus
                ending = "undercut"
    if rules.spades_double and spade_upcard:
        points = [2 * score for score in points]
    return ending, points, counted


# --- The deal and turns ---------------------------------------------------------------------------
class TwinHand:
    """One hand, from the deal to its settlement.

    Attributes:
        rules: What is played.
        dealer: The dealer's seat.
        seat: Seat to move.
        phase: `layout.OFFER`, `DRAW`, `SHED` or `OVER`.
        hands: Each seat's cards.
        known: Of each seat, cards the others saw it take and it still holds.
        discards: Of each seat, every card it has discarded, also where that was taken later.
        declined: Of each seat, every card it could have taken and did not.
        pile: The discard pile, its top last.
        stock: The stock, its top first.
        limit: Most deadwood to knock with; 0: gin only.
        upcard: The card turned up at the deal.
        taken: The card the seat to move has just taken from the pile, or None.
        n_turns: Discards of all seats so far, with or without a knock.
        ending: Name in `layout.ENDINGS`, "none" while the hand is played.
        knocker: Seat that knocked; None for a void or forfeited hand.
        points: Each seat's points.
        deadwood: Each seat's deadwood as it counted; all 0 where nobody knocked.
    """

    def __init__(self, rules: Rules, deck: Sequence[int], dealer: int) -> None:
        """Deals.

        Args:
            rules: What is played.
            deck: 52 card ids: seat 0's cards, seat 1's, ..., the upcard, the stock top first.
            dealer: The dealer's seat.
        """
        check_fields(rules)
        n_seats, size = rules.players, rules.hand_size
        self.rules = rules
        self.dealer = dealer
        self.hands = [set(deck[at * size : (at + 1) * size]) for at in range(n_seats)]
        self.upcard, *self.stock = deck[n_seats * size :]
        self.pile = [self.upcard]
        if rules.knock_limit != "upcard":
            self.limit = int(rules.knock_limit)
        elif _pips(self.upcard) == 1:
            self.limit = rules.ace_limit
        else:
            self.limit = _pips(self.upcard)
        self.known: list[set[int]] = [set() for _ in range(n_seats)]
        self.discards: list[set[int]] = [set() for _ in range(n_seats)]
        self.declined: list[set[int]] = [set() for _ in range(n_seats)]
        self.seat = (dealer + 1) % n_seats  # Turns 1: the offer starts left of the dealer
        self.phase = layout.OFFER
        self.taken: int | None = None
        self.n_turns = 0
        self.n_sheds = [0] * n_seats
        self.ending = "none"
        self.knocker: int | None = None
        self.points = [0] * n_seats
        self.deadwood = [0] * n_seats

    @property
    def stock_left(self) -> int:
        """Cards in the stock."""
        return len(self.stock)

    def legal(self) -> list[int]:
        """All legal action ids, ascending; none once the hand is over."""
        if self.phase == layout.OVER:
            return []
        if self.phase == layout.OFFER:
            return [layout.DRAW_TOP, layout.PASS]
        if self.phase == layout.DRAW:
            return [layout.DRAW_STOCK, layout.DRAW_TOP]
        hand = self.hands[self.seat]
        actions = [layout.DISCARD + card for card in hand if card != self.taken]
        actions += [layout.KNOCK + card for card in knock_discards(hand, self.limit, self.taken)]
        if self.rules.big_gin_bonus > 0 and deadwood(hand) == 0:
            actions.append(layout.BIG_GIN)
        return sorted(actions)

    def step(self, action: int) -> None:
        """Plays an action for the seat to move. An illegal one forfeits the hand.

        Raises:
            ValueError: The hand is over.
        """
        if self.phase == layout.OVER:
            raise ValueError("the hand is over")
        if action not in self.legal():
            self._forfeit()
        elif action == layout.PASS:
            self._pass()
        elif action == layout.DRAW_STOCK:
            self.declined[self.seat].add(self.pile[-1])
            self._draw_stock()
        elif action == layout.DRAW_TOP:
            self._take_top()
        elif action == layout.BIG_GIN:
            self._show(big_gin=True)
        elif action >= layout.KNOCK:
            self._discard(action - layout.KNOCK)
            self._show(big_gin=False)
        else:
            self._discard(action - layout.DISCARD)
            self._pass_turn()

    def _pass(self) -> None:
        """Refuses the upcard; after the dealer, who is last, comes the forced draw (Turns 1)."""
        self.declined[self.seat].add(self.upcard)
        was_last = self.seat == self.dealer
        self.seat = self._next(self.seat)
        if was_last:
            self._draw_stock()

    def _draw_stock(self) -> None:
        self.hands[self.seat].add(self.stock.pop(0))
        self.phase = layout.SHED

    def _take_top(self) -> None:
        self.taken = self.pile.pop()
        self.hands[self.seat].add(self.taken)
        self.known[self.seat].add(self.taken)
        self.phase = layout.SHED

    def _discard(self, card: int) -> None:
        self.hands[self.seat].remove(card)
        self.known[self.seat].discard(card)
        self.discards[self.seat].add(card)
        self.pile.append(card)
        self.taken = None
        self.n_turns += 1
        self.n_sheds[self.seat] += 1

    def _pass_turn(self) -> None:
        """After a discard without a knock: void (Turns 4), or the next player draws."""
        if self.stock_left <= 2 or self.n_turns >= self.rules.max_turns:
            self.ending, self.phase = "void", layout.OVER
        else:
            self.seat, self.phase = self._next(self.seat), layout.DRAW

    def _show(self, big_gin: bool) -> None:
        self.knocker, self.phase = self.seat, layout.OVER
        spade = self.upcard < layout.N_RANKS  # spades are suit 0
        ended = settle(self.rules, self.seat, self.hands, big_gin, spade)
        self.ending, self.points, self.deadwood = ended

    def _forfeit(self) -> None:
        """docs/environment.md, Rewards: no card moves, every other seat is paid."""
        self.ending, self.phase = "illegal", layout.OVER
        self.points = [layout.FORFEIT_POINTS] * self.rules.players
        self.points[self.seat] = 0

    def _next(self, seat: int) -> int:
        return (seat + 1) % self.rules.players

    # --- what a seat sees (docs/environment.md, Observation Space) ------------------------------------------------
    def unseen(self, seat: int) -> frozenset[int]:
        """Cards of which a seat does not know where they are."""
        others = (self.known[p] for p in range(self.rules.players) if p != seat)
        return frozenset(range(52)) - self.hands[seat] - {*self.pile}.union(*others)

    def outlook(self, seat: int) -> dict[str, Any]:
        """What the next draw promises a seat, as `features` tells it; slow.

        A discard's outlook is the deadwood it leaves plus 18 * 0.9 ** (own discards so far) times the hope it leaves.
        """
        hand, unseen = frozenset(self.hands[seat]), self.unseen(seat)
        plain: dict[str, Any] = {"outlook_1": [], "outlook_2": [], "outlook_3": []}
        hoped = []
        if self.phase == layout.SHED and seat == self.seat:
            after = {c: deadwood(hand - {c}) for c in hand if c != self.taken}
            kept = [card for card in sorted(after) if after[card] <= min(after.values()) + 5]
            hopes = {card: _hope(hand - {card}, unseen) for card in kept}
            weight = 18.0 * 0.9 ** self.n_sheds[seat]
            ranked = sorted(kept, key=lambda card: after[card] + weight * hopes[card])
            for k, card in enumerate(ranked[:3], start=1):
                plain[f"outlook_{k}"] = [card]
            hoped = [min(hopes.values())]
        elif self.phase != layout.OVER and seat == self.seat:
            hoped = [_hope(hand, unseen)]
        return {**plain, "hope": sum(h > step for h in hoped for step in layout.HOPE_STEPS)}

    def features(
        self, seat: int, scores: Sequence[int] | None = None, *, outlook: bool = False
    ) -> dict[str, Any]:
        """The meaning of the observation of the seat to move.

        Args:
            seat: The seat to move.
            scores: Each seat's score, by seat; None outside a match.
            outlook: Whether to work out the features of `outlook`, too, which takes a while.

        Returns:
            Keys, order and kinds of value as `okgin_env.layout.Layout.decode` gives them.
        """
        n_seats, hand = self.rules.players, self.hands[seat]
        seen: dict[str, Any] = {
            "hand": sorted(hand),
            "top": self.pile[-1:],
            "under": sorted(self.pile[:-1]),
            "taken": [] if self.taken is None else [self.taken],
            "own_discards": sorted(self.discards[seat]),
            "own_known": sorted(self.known[seat]),
            "melded": sorted(frozenset().union(*melds_of(hand))),
            "best_discards": [],
            "limit": self.limit,
            "phase": layout.PHASES[self.phase],
            "stock": min(self.stock_left - 2, layout.N_STOCK_STEPS),  # two cards are never drawn
            "deadwood": _stepped(deadwood(hand)),
            "top_melds": False,
            "top_lowers": False,
            "top_knocks": False,
            "dealer": (self.dealer - seat) % n_seats,
        }
        if self.phase == layout.SHED:
            after = {card: deadwood(hand - {card}) for card in hand if card != self.taken}
            least = min(after.values())
            seen["best_discards"] = sorted(card for card in after if after[card] == least)
            seen["deadwood"] = _stepped(least)
        else:
            top = self.pile[-1]
            with_top = hand | {top}
            least = min(deadwood(with_top - {card}) for card in hand)  # the top itself must stay
            seen["top_melds"] = any(top in meld for meld in melds_of(with_top))
            seen["top_lowers"] = least < deadwood(hand)
            seen["top_knocks"] = least <= self.limit
        for k in range(1, n_seats):
            opponent = (seat + k) % n_seats
            seen[f"opponent_{k}_known"] = sorted(self.known[opponent])
            seen[f"opponent_{k}_discards"] = sorted(self.discards[opponent])
            seen[f"opponent_{k}_declined"] = sorted(self.declined[opponent])
        if scores is not None:
            steps, target = range(layout.N_SCORE_STEPS), self.rules.target or 0
            for k in range(n_seats):
                score = scores[(seat + k) % n_seats] * layout.N_SCORE_STEPS
                seen[f"score_{k}"] = sum(score > step * target for step in steps)
        return seen | (self.outlook(seat) if outlook else {})


def _hope(hand: frozenset[int], unseen: Iterable[int]) -> float:
    """Mean of the seven least deadwoods that cards can have after drawing an unseen one and discarding any."""
    best = sorted(
        min(deadwood((hand | {drawn}) - {out}) for out in (*hand, drawn)) for drawn in unseen
    )
    return sum(best[:7]) / len(best[:7]) if best else deadwood(hand)


def _stepped(value: int) -> int:
    """Deadwood as the observation's thermometer tells it: rounded up to a step."""
    return next((step for step in layout.DEADWOOD_STEPS if step >= value), 98)


# --- The match ------------------------------------------------------------------------------------
class TwinMatch:
    """The score of a match and who deals next.

    Attributes:
        rules: What is played.
        scores: Each seat's points of all hands so far.
        boxes: Of each seat, the boxes of the hands it won.
        dealer: Dealer of the next hand.
    """

    def __init__(self, rules: Rules, first_dealer: int) -> None:
        """Starts a match at nil with its first dealer."""
        self.rules = rules
        self.scores = [0] * rules.players
        self.boxes = [0] * rules.players
        self.dealer = first_dealer

    def add(self, hand: TwinHand) -> None:
        """Books a finished hand and moves the deal.

        Raises:
            ValueError: The hand is still played.
        """
        if hand.phase != layout.OVER:
            raise ValueError("the hand is not over")
        seats = range(self.rules.players)
        self.scores = [self.scores[seat] + hand.points[seat] for seat in seats]
        # A forfeited hand has no knocker: the turn order then starts from the offender.
        start = hand.seat if hand.knocker is None else hand.knocker
        from_knocker = [(start + k) % self.rules.players for k in seats]
        next_seat = (self.dealer + 1) % self.rules.players
        if not any(hand.points):  # void, or equal deadwood where that is no undercut
            self.dealer = self.dealer if self.rules.void_dealer == "same" else next_seat
            return
        winner = max(from_knocker, key=lambda seat: hand.points[seat])  # the first of equals
        self.boxes[winner] += self._boxes(hand, winner)
        after_knocker = from_knocker[1:] + from_knocker[:1]
        loser = min(after_knocker, key=lambda seat: (hand.points[seat], -hand.deadwood[seat]))
        self.dealer = {"winner": winner, "loser": loser, "alternates": next_seat}[
            self.rules.next_dealer
        ]

    def _boxes(self, hand: TwinHand, winner: int) -> int:
        """Boxes of a hand for its winner (The match)."""
        if hand.ending == "illegal":
            return 1
        if winner != hand.knocker:
            boxes = self.rules.undercut_boxes
        elif hand.ending in ("gin", "big_gin"):
            boxes = self.rules.gin_boxes
        else:
            boxes = 1
        return boxes * (2 if self.rules.spades_double and hand.upcard < layout.N_RANKS else 1)

    @property
    def winner(self) -> int | None:
        """The one highest total once somebody reached the target; None: play on."""
        best = max(self.scores)
        if self.rules.target is None or best < self.rules.target or self.scores.count(best) > 1:
            return None
        return self.scores.index(best)

    @property
    def match_points(self) -> list[int]:
        """Scores with the match bonuses: game, then shutout, then boxes (Presets)."""
        points = list(self.scores)
        winner = self.winner
        if winner is not None:
            points[winner] += self.rules.game_bonus
            others = [score for seat, score in enumerate(self.scores) if seat != winner]
            if self.rules.shutout and not any(others):
                points[winner] *= 2
        each = self.rules.box_bonus
        return [total + each * won for total, won in zip(points, self.boxes, strict=True)]
