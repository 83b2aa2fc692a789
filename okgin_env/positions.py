"""Given decks and positions: what `reset(options=…)` takes, checked before anything is dealt."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env import cards
from okgin_env.cards import CardsLike
from okgin_env.kernel.melds import PIPS
from okgin_env.kernel.play import STOCK_AT_VOID
from okgin_env.kernel.rng import seed_streams
from okgin_env.kernel.state import STATE, as_records, new_states
from okgin_env.layout import (
    MAX_LOG,
    MAX_TURNS,
    N_ACTIONS,
    N_CARDS,
    NONE,
    OFFER,
    OVER,
    PHASES,
    SHED,
)
from okgin_env.rules import Rules
from okgin_env.utils.errors import check_choice, shown

MAX_SCORE = 1_000_000


def check_options(options: Any) -> Mapping[str, Any]:
    """The options of `reset(options=…)`, None as an empty mapping; what is in it is checked when it is used.

    Raises:
        ValueError: It is no mapping, or has a state and a deal.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ValueError(f"options={shown(options)}; allowed: a mapping with deck, dealer or state")
    if options.get("state") is not None and len(options.keys() & {"deck", "dealer"}):
        raise ValueError("options: state with deck or dealer; allowed: one or the other")
    return options


def check_deck(deck: CardsLike) -> NDArray[np.int8]:
    """A whole deck as (52,) int8 card ids: seat 0's cards, seat 1's, …, upcard, stock top first.

    Raises:
        ValueError: Not 52 different cards.
    """
    if isinstance(deck, np.ndarray):
        deck = deck.tolist()
    ids = cards.ids(deck)
    if len(ids) != N_CARDS:
        raise ValueError(f"deck: {len(ids)} cards; allowed: all {N_CARDS}")
    return np.array(ids, np.int8)


def check_dealer(dealer: Any, rules: Rules) -> int:
    """A dealer's seat, or -1 for None: as the rules say.

    Raises:
        ValueError: No seat of the table.
    """
    if dealer is None:
        return -1
    check_seat("dealer", dealer, rules)
    return int(dealer)


def position(
    rules: Rules,
    *,
    hands: list[CardsLike],
    pile: CardsLike,
    seat: int,
    phase: str = "draw",
    stock: CardsLike | None = None,
    upcard: str | None = None,
    taken: str | None = None,
    dealer: int = 0,
    scores: list[int] | None = None,
    seed: int = 0,
) -> NDArray[np.void]:
    """A position set up by hand, for `reset(options={"state": …})`.

    Args:
        rules: The rules of the table.
        hands: Every seat's cards; in the discard phase the seat to move has one more.
        pile: The discard pile, the top last.
        seat: The seat to move.
        phase: "offer", "draw" or "discard".
        stock: The stock, its top first; None: all other cards, shuffled with `seed`.
        upcard: The card that set the limit; None: the bottom of the pile.
        taken: In the discard phase, the card just taken from the pile.
        dealer: The dealer's seat.
        scores: Match scores; None: all zero.
        seed: Seed of the random streams.

    Returns:
        A (1,) array of `kernel.state.STATE`.

    Raises:
        ValueError: Cards missing, twice or too many, or a seat, phase or score out of range.
    """
    if not isinstance(seed, (int, np.integer)):
        raise ValueError(f"seed={shown(seed)}; allowed: a whole number")
    if not isinstance(hands, Sequence) or isinstance(hands, str):
        raise ValueError(f"hands={shown(hands)}; allowed: a list of {rules.players} hands")
    if len(hands) != rules.players:
        raise ValueError(f"hands: {len(hands)} hands; allowed: {rules.players}")
    states = new_states(1)
    seed_streams(states[0], np.uint64(int(seed) & 0xFFFFFFFFFFFFFFFF))
    s = states[0]
    pile_ids = cards.ids(pile)
    dealt = [card for hand in hands for card in cards.ids(hand)] + pile_ids
    unseen = [card for card in range(N_CARDS) if card not in dealt]
    shuffled = np.random.default_rng(abs(int(seed))).permutation(unseen)
    stock_ids = cards.ids(shuffled if stock is None else stock)
    deck = cards.ids([*dealt, *stock_ids])  # names a card that stands twice
    if len(deck) != N_CARDS:
        missing = cards.text([card for card in range(N_CARDS) if card not in deck])
        raise ValueError(f"position: {len(deck)} cards; allowed: all {N_CARDS} (missing {missing})")
    for name, value in (("seat", seat), ("dealer", dealer)):
        check_seat(name, value, rules)
    if scores is not None and (
        not isinstance(scores, Sequence)
        or len(scores) != rules.players
        or not all(isinstance(s, (int, np.integer)) and 0 <= s <= MAX_SCORE for s in scores)
    ):
        raise ValueError(
            f"scores={shown(scores)}; allowed: {rules.players} numbers, 0 to {MAX_SCORE}"
        )
    check_choice("phase", phase, PHASES[:OVER])
    if upcard is None and not pile_ids:
        raise ValueError("upcard=None; allowed with an empty pile: the card that set the limit")
    s["hands"][: rules.players] = [cards.mask(hand) for hand in hands]
    s["upcard"] = pile_ids[0] if upcard is None else cards.card_id(upcard)
    if rules.knock_limit != "upcard":
        s["limit"] = rules.knock_limit
    else:
        s["limit"] = rules.ace_limit if s["upcard"] % 13 == 0 else PIPS[s["upcard"]]
    s["pile"] = -1
    s["pile"][: len(pile_ids)] = pile_ids
    s["n_pile"] = len(pile_ids)
    s["deck"] = deck
    s["next_card"] = N_CARDS - len(stock_ids)
    s["seat"] = s["first_seat"] = seat
    s["dealer"], s["phase"] = dealer, PHASES.index(phase)
    if s["phase"] == OFFER:
        s["n_passes"] = (seat - dealer - 1) % rules.players
    s["taken"] = -1 if taken is None else cards.card_id(taken)
    if taken is not None:
        s["known"][seat] = 1 << cards.card_id(taken)
    s["scores"][: rules.players] = scores or 0
    s["knocker"] = s["hand_winner"] = s["match_winner"] = -1
    return check_state(states, rules)


def check_state(state: Any, rules: Rules, seed: int = 0) -> NDArray[np.void]:
    """A state given from outside as a (1,) `STATE` array, every index in it checked.

    Args:
        state: A `STATE` record or (1,) array, its `tobytes()`, or a mapping of `position`'s arguments.
        rules: The rules of the table.
        seed: Seed of what a mapping leaves to chance, unless it has a seed itself.

    Raises:
        ValueError: It is no state, or not one of a hand in progress under these rules.
    """
    if isinstance(state, Mapping):
        known = list(inspect.signature(position).parameters)[1:]
        unknown = [key for key in state if key not in known]
        if unknown:
            raise ValueError(f"state: {shown(unknown[0])}; allowed: {', '.join(known)}")
        missing = [key for key in ("hands", "pile", "seat") if key not in state]
        if missing:
            raise ValueError(f"state: {missing[0]!r} is missing; needed: hands, pile, seat")
        return position(rules, **{"seed": seed, **state})
    if isinstance(state, (bytes, bytearray)):
        if len(state) != STATE.itemsize:
            raise ValueError(f"state: {len(state)} bytes; allowed: {STATE.itemsize}")
        state = np.frombuffer(bytes(state), STATE)
    if not isinstance(state, (np.ndarray, np.void)) or state.dtype != STATE:
        raise ValueError("state: allowed: a record of kernel.state.STATE, its bytes, or a mapping")
    states = as_records(np.array(state).reshape(-1).copy())
    if len(states) != 1:
        raise ValueError(f"state: {len(states)} records; allowed: 1")
    check_record(states[0], rules)
    return states


def check_record(s: Any, rules: Rules, concealed: bool = False) -> None:
    """Checks what compiled code relies on, since it looks at no bounds.

    Args:
        s: A `STATE` record.
        rules: The rules of the table.
        concealed: Whether it holds only what the seat to move may see: others' hands in part, no place of the deck.

    Raises:
        ValueError: It is not one of a hand in progress under these rules.
    """
    n, shed, offer = rules.players, s["phase"] == SHED, s["phase"] == OFFER
    to_come = 2 * (rules.max_turns - int(s["n_turns"])) + (n if offer else 0)
    hidden = -1 if concealed else 0
    for name, low, high in (
        *((name, 0, n - 1) for name in ("seat", "first_seat", "dealer")),
        ("phase", OFFER, SHED),
        ("ending", NONE, NONE),
        ("limit", 0, 10),
        ("upcard", 0, N_CARDS - 1),
        ("n_pile", 0 if shed else 1, N_CARDS),
        ("next_card", 0, N_CARDS - STOCK_AT_VOID - (not shed)),
        ("n_passes", 0, n - 1 if offer else n),
        ("n_turns", 0, rules.max_turns - 1),
        ("n_log", 0, MAX_LOG - to_come),
        ("taken", -1, N_CARDS - 1),
        *((name, -1, -1) for name in ("knocker", "hand_winner", "match_winner")),
        ("deck", hidden, hidden or N_CARDS - 1),
        ("scores", 0, MAX_SCORE),
        ("n_sheds", 0, MAX_TURNS),
        ("n_acts", 0, MAX_LOG),
    ):
        _check_range(name, s[name], low, high)
    _check_range("pile", s["pile"][: s["n_pile"]], 0, N_CARDS - 1)
    _check_range("log", s["log"][: s["n_log"]], 0, N_ACTIONS - 1)
    masks = [s[name] for name in ("hands", "known", "discards", "declined")]
    stray = any((mask >> np.uint64(N_CARDS) != 0).any() or (mask[n:] != 0).any() for mask in masks)
    settled = any(s[name].any() for name in ("points", "deadwood", "match_points"))
    if stray or settled or not np.isfinite(s["unpaid"]):
        raise ValueError("state: damaged; allowed: a record saved by this package")
    _check_cards(s, rules, concealed)


def _check_cards(s: Any, rules: Rules, concealed: bool) -> None:
    """Checks that the 52 cards are there once each, as far as they are seen, and that hands have their sizes."""
    n, pile = rules.players, s["pile"][: s["n_pile"]].tolist()
    stock = s["deck"][s["next_card"] :].tolist()
    hands = [cards.ids(int(held)) for held in s["hands"][:n]]
    sizes = [rules.hand_size + (p == s["seat"] and s["phase"] == SHED) for p in range(n)]
    for p, (hand, size) in enumerate(zip(hands, sizes, strict=True)):
        least = 0 if concealed and p != s["seat"] else size
        if not least <= len(hand) <= size:
            raise ValueError(f"state: hands: seat {p} has {len(hand)} cards; allowed: {size}")
    seen = [card for part in (*hands, pile, [] if concealed else stock) for card in part]
    total = sum(sizes) + len(pile) + len(stock)
    if total != N_CARDS or len(set(seen)) != len(seen):
        raise ValueError("state: hands, pile and stock must hold the 52 cards once each, in size")
    if s["taken"] >= 0 and s["taken"] not in hands[s["seat"]]:
        raise ValueError("state: the card taken is not in the hand of the seat to move")
    if s["taken"] >= 0 and s["phase"] != SHED:
        raise ValueError(f"state: taken={int(s['taken'])}; allowed before the discard phase: none")
    if (s["known"] & ~s["hands"] != 0).any():
        raise ValueError("state: damaged; allowed: known cards are in the hand of their seat")


def _check_range(name: str, value: Any, low: int, high: int) -> None:
    """Checks a number, or every one in an array."""
    numbers = np.ravel(value)
    wrong = numbers[(numbers < low) | (numbers > high)]
    if len(wrong):
        has = "=" if np.ndim(value) == 0 else " holds "
        raise ValueError(f"state: {name}{has}{wrong[0]}; allowed: {low} to {high}")


def check_seat(name: str, seat: Any, rules: Rules) -> None:
    """Checks that an argument is a seat of the table.

    Raises:
        ValueError: It is none.
    """
    whole = isinstance(seat, (int, np.integer)) and not isinstance(seat, bool)
    if not whole or not 0 <= seat < rules.players:
        raise ValueError(f"{name}={shown(seat)}; allowed: 0 to {rules.players - 1}")
