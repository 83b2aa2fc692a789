"""Exact card analysis on readable cards, for notebooks, bots and tests.

Cards go in as text or mask (see `okgin_env.cards`) and come out as text. All results are exact optima, from the same
compiled functions the environment plays with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from okgin_env import cards as _cards
from okgin_env.cards import CardsLike
from okgin_env.kernel import melds as _melds
from okgin_env.kernel import showdown as _showdown
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import MAX_HAND
from okgin_env.rules import RulesLike, as_rules
from okgin_env.utils.errors import shown


def _hand(cards: CardsLike, name: str = "cards", most: int = MAX_HAND, least: int = 0) -> np.uint64:
    """Checked mask of a hand."""
    ids = _cards.ids(cards)
    if not least <= len(ids) <= most:
        allowed = f"{least} to {most}" if least != most else f"{most}"
        raise ValueError(f"{name}: {len(ids)} cards ({_cards.text(ids)}); allowed: {allowed}")
    return np.uint64(_cards.mask(ids))


def _meld(cards: CardsLike) -> np.uint64:
    """Checked mask of one meld: a set or a run (rules.md, Cards and notation)."""
    ids = sorted(_cards.ids(cards))
    mask = np.uint64(_cards.mask(ids))
    ranks, suits = {card % 13 for card in ids}, {card // 13 for card in ids}
    is_set = len(ids) in (3, 4) and len(ranks) == 1
    is_run = len(ids) >= 3 and len(suits) == 1 and max(ranks) - min(ranks) == len(ids) - 1
    if not (is_set or is_run):
        raise ValueError(
            f"bad meld '{_cards.text(ids)}'; allowed: 3 or 4 of a rank, or a run of 3+"
        )
    return mask


def _check_list(name: str, value: Any, of: str) -> None:
    """Checks that something is a list, of hands or of melds."""
    if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, (str, bytes)):
        raise ValueError(f"{name}={shown(value)}; allowed: a list of {of}")


def _check_whole(name: str, value: Any, most: int, low: str = "0") -> None:
    """Checks a number from 0 to `most`; `low` is how the error calls the 0."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not 0 <= value <= most:
        raise ValueError(f"{name}={shown(value)}; allowed: {low} to {most}")


def deadwood(cards: CardsLike) -> int:
    """Least deadwood of up to eleven cards over all arrangements, in pips.

    Example:
        >>> deadwood("As 2s 3s 7h 7d 7c Kd")
        10

    Raises:
        ValueError: A bad card, a card twice, or more than eleven cards.
    """
    return int(_melds.deadwood(_hand(cards)))


def arrange(cards: CardsLike) -> list[str]:
    """The melds a knocker shows: least deadwood, then least exposure, then lowest ids (Showdown 1).

    Example:
        >>> arrange("As 2s 3s 7h 7d 7c Kd")
        ['As 2s 3s', '7c 7d 7h']

    Raises:
        ValueError: As for `deadwood`.
    """
    melds = np.zeros(_showdown.MAX_MELDS, np.uint64)
    n_melds = _showdown.arrange(_hand(cards), melds)
    return [_cards.text(int(meld)) for meld in melds[:n_melds]]


def knock_discards(cards: CardsLike, limit: int, taken: CardsLike | None = None) -> str:
    """The cards that may be discarded with a knock (Turns 2 and 3).

    Args:
        cards: The hand with the card just drawn, usually eleven.
        limit: Knock limit in pips, 0 (gin only) to 10.
        taken: The card just taken from the discard pile, which must stay.

    Raises:
        ValueError: Bad cards, a limit out of range, or a taken card that is not in the hand.
    """
    hand = _hand(cards, least=1)
    _check_whole("limit", limit, 10, "0 (gin only)")
    locked = _hand(taken, "taken", most=1) if taken is not None else np.uint64(0)
    if locked & ~hand:
        raise ValueError(f"taken='{_cards.text(int(locked))}'; allowed: a card of the hand")
    table = np.zeros(52, np.int16)
    _melds.discard_table(hand, table)
    free = _cards.ids(int(hand & ~locked))
    return _cards.text([card for card in free if table[card] <= limit])


def layoff(shown_melds: Sequence[CardsLike], cards: CardsLike) -> tuple[int, str]:
    """An opponent's best layoff on the knocker's melds (Showdown 3).

    Args:
        shown_melds: The knocker's melds.
        cards: The opponent's cards.

    Returns:
        The deadwood that remains, in pips, and the cards laid off.

    Raises:
        ValueError: Bad cards, something that is no meld, more than three melds, or a card twice.
    """
    _check_list("shown_melds", shown_melds, "melds")
    if len(shown_melds) > 3:
        raise ValueError(f"shown_melds: {len(shown_melds)} melds; allowed: 0 to 3")
    hand = _hand(cards)
    melds = np.zeros(_showdown.MAX_MELDS, np.uint64)
    seen = int(hand)
    for k, meld in enumerate(shown_melds):
        melds[k] = _meld(meld)
        if twice := seen & int(melds[k]):
            raise ValueError(f"card {_cards.text(twice)} stands twice; allowed: once")
        seen |= int(melds[k])
    left = int(_showdown.lay_off(hand, melds))
    laid = int(np.bitwise_or.reduce(melds) & hand)
    return left, _cards.text(laid)


@dataclass(frozen=True)
class Shown:
    """The cards of one seat as they lie in the showdown; all texts.

    Attributes:
        melds: Its own melds, each lowest card first.
        laid_off: Cards it laid off on the knocker's melds.
        loose: The cards that count against it.
    """

    melds: tuple[str, ...]
    laid_off: str
    loose: str


def showdown(knocker: int, hands: Sequence[CardsLike]) -> list[Shown]:
    """The cards of every seat as they lie after a knock or gin (The showdown).

    Args:
        knocker: The knocker's seat.
        hands: Every seat's cards; the knocker's after its discard.

    Returns:
        One entry a seat.

    Raises:
        ValueError: Bad cards, or an unknown seat.
    """
    _check_list("hands", hands, "hands")
    _check_whole("knocker", knocker, len(hands) - 1)
    masks = [_hand(cards, f"seat {seat}") for seat, cards in enumerate(hands)]
    seen = 0
    for mask in masks:
        if twice := seen & int(mask):
            raise ValueError(f"card {_cards.text(twice)} stands twice; allowed: once")
        seen |= int(mask)
    table = np.zeros(_showdown.MAX_MELDS, np.uint64)
    _showdown.arrange(masks[knocker], table)
    gin = _melds.deadwood(masks[knocker]) == 0
    laid_off = [np.uint64(0)] * len(hands)
    for k in range(1, len(hands)):
        seat = (knocker + k) % len(hands)
        before = np.bitwise_or.reduce(table)
        if not gin:
            _showdown.lay_off(masks[seat], table)
        laid_off[seat] = np.bitwise_or.reduce(table) & ~before
    entries = []
    for mask, laid in zip(masks, laid_off, strict=True):
        melds = arrange(int(mask & ~laid))
        loose = int(mask & ~laid) & ~_cards.mask(" ".join(melds))
        entries.append(Shown(tuple(melds), _cards.text(int(laid)), _cards.text(loose)))
    return entries


def settle(
    rules: RulesLike, knocker: int, hands: Sequence[CardsLike], upcard: str | None = None
) -> list[int]:
    """The points of every seat after a knock or gin (The showdown).

    Args:
        rules: Whatever `as_rules` takes; of a preset's name or label the number of hands picks the seats.
        knocker: The knocker's seat.
        hands: Every seat's cards; the knocker's after its discard, or with one card more for big gin.
        upcard: The upcard; it matters only under ``spades_double``.

    Returns:
        Points by seat.

    Raises:
        ValueError: A wrong number of hands or cards, a card twice, an unknown seat, or a missing upcard.
    """
    _check_list("hands", hands, "hands")
    if isinstance(rules, str) and not 2 <= len(hands) <= 4:
        raise ValueError(f"hands: {len(hands)} hands; allowed: 2 to 4")
    rules = as_rules(rules, len(hands) if isinstance(rules, str) else None)
    if len(hands) != rules.players:
        raise ValueError(f"hands: {len(hands)} hands; allowed: {rules.players}")
    _check_whole("knocker", knocker, rules.players - 1)
    if rules.spades_double and upcard is None:
        raise ValueError("upcard=None; allowed: a card, since the rules double under a spade")
    state = new_states(1)
    seen = 0
    big_gin = False
    for seat, cards in enumerate(hands):
        big_gin |= seat == knocker and len(_cards.ids(cards)) == rules.hand_size + 1
        size = rules.hand_size + (seat == knocker and big_gin)
        hand = _hand(cards, f"seat {seat}", size, size)
        if twice := seen & int(hand):
            raise ValueError(f"card {_cards.text(twice)} stands twice; allowed: once")
        seen |= int(hand)
        state["hands"][0, seat] = hand
    if big_gin and (rules.big_gin_bonus == 0 or deadwood(hands[knocker]) > 0):
        raise ValueError(
            f"seat {knocker}: {rules.hand_size + 1} cards; allowed: {rules.hand_size}, "
            "or one more, all melded, where the rules have a big_gin_bonus"
        )
    state["upcard"] = _cards.card_id(upcard) if upcard is not None else 51
    state["knocker"] = knocker
    _showdown.settle(state[0], as_records(rules.to_record())[0], big_gin)
    return [int(points) for points in state["points"][0, : rules.players]]
