"""Players that cheat: one knows the seed and so every deck, others remember a deal until it comes again with the seats changed.

`Honest` plays as they do without what they know: it tries its moves in worlds that fit what its seat may see. A cheat's worlds
hold what it knows, too. For two seats.
"""

from __future__ import annotations

import json
import os
import uuid
from functools import lru_cache
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okgin_env import cards
from okgin_env.engine.games import Games
from okgin_env.kernel.batch import NOBODY, choose_games
from okgin_env.kernel.policies import EXTERNAL, POLICY_IDS
from okgin_env.kernel.state import as_records
from okgin_env.layout import N_CARDS, N_RANKS
from okgin_env.players import Bot, Decisions
from okgin_env.rules import Rules
from okgin_env.view import SeatView

N_WORLDS = 8
DEALS = 1000  # of the seed that a cheat looks up
MEMORY = "OKGIN_CHEAT_FILE"  # environment variable: where `WithFile` keeps what it remembers
_ALL = (1 << N_CARDS) - 1
_SUITS = np.array([*permutations(range(4))])
_SHOWN = (
    N_RANKS * _SUITS[:, np.arange(N_CARDS) // N_RANKS] + np.arange(N_CARDS) % N_RANKS
)  # (24, 52)


@lru_cache
def _playouts(rules: Rules, seat: int) -> Games:
    games = Games(N_WORLDS * 32, rules, no_learner=NOBODY)
    games.policies[:] = POLICY_IDS["simple"]
    games.policies[:, seat] = POLICY_IDS["camper"]
    games.restore(games.states.copy(), games.finals.copy())
    return games


class Honest(Bot):
    """Plays as camper, but where another move is surely better in worlds drawn at random, played out by camper against simple."""

    name = "honest"
    deals_per_task = 1  # pyright: ignore[reportAssignmentType]

    def choose(self, view: SeatView, rng: np.random.Generator) -> int:
        """The move that makes most on average."""
        if len(view.legal) == 1:
            return view.legal[0]
        seat, moves = view.seat, np.array(view.legal)
        worlds = self.worlds(view, rng)
        games = _playouts(view.rules, seat)
        n = len(worlds) * len(moves)
        games.states[:n] = np.repeat(worlds, len(moves))
        actions = np.zeros(len(games.states), np.int64)
        actions[:n] = np.tile(moves, len(worlds))
        games.step(actions, np.arange(n), False)
        points = games.states["points"][:n].astype(np.float64)
        margins = (points[:, seat] - points[:, 1 - seat]).reshape(-1, len(moves))
        gains = margins - margins[:, [view.legal.index(_campers(view))]]
        sure = gains.mean(axis=0) - 2 * gains.std(axis=0, ddof=1) / np.sqrt(N_WORLDS)
        return int(moves[sure.argmax()])

    def worlds(self, view: SeatView, rng: np.random.Generator) -> NDArray[np.void]:
        """(N_WORLDS,) whole records that fit what the seat sees, and what is known besides."""
        known = int(view.record["known"][0][1 - view.seat])
        held = known | self.still_held(view)
        if held.bit_count() > view.rules.hand_size:
            held = known  # another deal's
        unseen = _ids(_ALL & ~(cards.mask(view.hand) | cards.mask(view.pile) | held))
        orders = rng.permuted(np.tile(np.array(unseen), (N_WORLDS, 1)), axis=1)
        n_drawn = view.rules.hand_size - held.bit_count()
        drawn = np.bitwise_or.reduce(np.uint64(1) << orders[:, :n_drawn].astype(np.uint64), axis=1)
        return _whole(view, drawn | np.uint64(held), orders[:, n_drawn:])

    def still_held(self, view: SeatView) -> int:
        """Cards that the other seat is known to hold, as a mask: an honest player knows of none but those on the table."""
        return 0


def _campers(view: SeatView) -> int:
    """The move that camper would make."""
    action = np.zeros(1, np.int64)
    record, word = as_records(view.rules.to_record()), np.zeros(1, np.uint64)
    choose_games(view.record.copy(), record, POLICY_IDS["camper"], word, action)
    return int(action[0])


def _ids(mask: int) -> list[int]:
    return [card for card in range(N_CARDS) if mask >> card & 1]


def _whole(view: SeatView, theirs: Any, stocks: NDArray[Any]) -> NDArray[np.void]:
    """Records with the other seat's cards, and with (N_WORLDS, K) stocks."""
    made = np.repeat(view.record, N_WORLDS)
    made["hands"][:, 1 - view.seat] = theirs
    made["deck"][:, N_CARDS - stocks.shape[1] :] = stocks
    return made


class KnowsSeed(Honest):
    """Deals the decks of seed 0 for itself, and finds the one that is being played by its own cards and the upcard."""

    name = "knows-seed"
    _last: tuple[SeatView | None, tuple[int, int] | None] = (None, None)

    def worlds(self, view: SeatView, rng: np.random.Generator) -> NDArray[np.void]:
        """The true one, if it is found."""
        found = self.deal(view)
        if found is None:
            return super().worlds(view, rng)
        deal, suits = found
        stock = _SHOWN[suits][_decks_of_seed(view.rules)[0][deal]][N_CARDS - view.stock_left :]
        theirs = _ALL & ~cards.mask([*view.hand, *view.pile]) & ~_mask(stock)
        return _whole(view, np.uint64(theirs), stock[None])

    def deal(self, view: SeatView) -> tuple[int, int] | None:
        """The number of the deal, and how its suits are named."""
        if self._last[0] is not view:
            self._last = view, self._looked_up(view)
        return self._last[1]

    def _looked_up(self, view: SeatView) -> tuple[int, int] | None:
        _, started, upcards = _decks_of_seed(view.rules)
        seen = cards.mask({*view.hand, *view.discards[view.seat]})
        fits = (started[view.seat] & ~np.uint64(seen)) == 0
        found = np.argwhere(fits & (upcards == cards.card_id(view.upcard)))
        return (int(found[0][0]), int(found[0][1])) if len(found) else None


def _mask(ids: Any) -> int:
    return sum(1 << int(card) for card in ids)


@lru_cache
def _decks_of_seed(rules: Rules) -> tuple[NDArray[np.int8], list[NDArray[np.uint64]], NDArray[Any]]:
    """(D, 52) decks of seed 0; of each seat (D, 24) its cards, and (D, 24) the upcard, however suits are named."""
    games, every = Games(DEALS, rules, no_learner=NOBODY), np.arange(DEALS)
    games.policies[:] = EXTERNAL
    games.seed(every, np.random.SeedSequence(0).generate_state(DEALS, np.uint64))
    games.reset(every)
    decks, size = games.states["deck"].copy(), rules.hand_size
    shown = _SHOWN[:, decks].swapaxes(0, 1)  # (D, 24, 52)
    bits = np.uint64(1) << shown.astype(np.uint64)
    started = [np.bitwise_or.reduce(bits[:, :, k * size : (k + 1) * size], 2) for k in range(2)]
    return decks, started, shown[:, :, 2 * size]


class Seen(NamedTuple):
    """How a hand began, for the seat that remembers it.

    Attributes:
        life: Which life has seen it.
        number: Its number in that life.
        seat: The seat.
        dealer: The dealer's.
        upcard: The upcard's id.
        hand: The seat's cards, as a mask.
    """

    life: str
    number: int
    seat: int
    dealer: int
    upcard: int
    hand: int


class Remembers(Honest):
    """Remembers how hands began, and takes its own cards of one for the other seat's when it comes again."""

    name = "remembers"

    def __init__(self) -> None:
        self._life, self._number, self._now, self._seen = "", 0, {}, []

    @property
    def fingerprint(self) -> str:
        """What it remembers is no setting."""
        return self.name

    def remembered(self) -> list[Seen]:
        """All hands, the last one last; may be added to."""
        return self._seen

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Looks at all decisions before the first answer."""
        for k in range(len(decisions)):
            if not decisions.records["n_acts"][k][decisions.seats[k]]:
                self._note(decisions.view(k))
        return super().act(decisions)

    def _note(self, view: SeatView) -> None:
        self._life = self._life or uuid.uuid4().hex
        self._number += 1
        places = self._number, view.seat, view.dealer, cards.card_id(view.upcard)
        seen = Seen(self._life, *places, cards.mask(view.hand))
        self._now[seen.seat, seen.dealer, seen.upcard] = seen
        self.keep(seen)

    def keep(self, seen: Seen) -> None:
        """Remembers a hand."""
        self.remembered().append(seen)
        del self.remembered()[:-200]

    def still_held(self, view: SeatView) -> int:
        """What is left of the other seat's first cards, if the deal is known."""
        now = self._now.get((view.seat, view.dealer, cards.card_id(view.upcard)))
        if now is None:
            return 0
        for old in reversed(self.remembered()):
            near = abs(old.number - now.number) <= 1 and old.dealer == now.dealer
            theirs = _renamed(old, now) if near and old.seat != now.seat else None
            if theirs is not None:
                return theirs & ~cards.mask({*view.hand, *view.pile, *view.discards[1 - view.seat]})
        return 0


def _renamed(old: Seen, now: Seen) -> int | None:
    """The cards of an old hand by the suits of a new one, if they can be of the same deal; of several ways the first."""
    ids = _ids(old.hand)
    for shown in _SHOWN:
        if shown[old.upcard] == now.upcard and not (theirs := _mask(shown[ids])) & now.hand:
            return theirs
    return None


class RemembersInClass(Remembers):
    """The same, for all its copies together."""

    name = "remembers-in-class"
    everything: list[Seen] = []  # noqa: RUF012

    def remembered(self) -> list[Seen]:
        """Of all copies."""
        return self.everything


class RemembersInFile(Remembers):
    """The same, in a file for all processes."""

    name = "remembers-in-file"

    def remembered(self) -> list[Seen]:
        """Of all processes."""
        path = Path(os.environ[MEMORY])
        lines = path.read_text().splitlines()[-200:] if path.exists() else []
        return [Seen(*json.loads(line)) for line in lines]

    def keep(self, seen: Seen) -> None:
        """Adds a line."""
        with Path(os.environ[MEMORY]).open("a") as file:
            file.write(json.dumps(seen) + "\n")


class KnowsAgain(KnowsSeed):
    """Knows the whole deck of a deal once it has played it, in any of its lives."""

    name = "knows-again"
    met: set[int] = set()  # noqa: RUF012

    def __init__(self) -> None:
        self._again: dict[int, bool] = {}

    def worlds(self, view: SeatView, rng: np.random.Generator) -> NDArray[np.void]:
        """The true one, of a deal that comes again."""
        found = self.deal(view)
        if found is None:
            return Honest.worlds(self, view, rng)
        deal = found[0]
        if deal not in self._again:
            self._again[deal] = deal in self.met
            self.met.add(deal)
        return super().worlds(view, rng) if self._again[deal] else Honest.worlds(self, view, rng)
