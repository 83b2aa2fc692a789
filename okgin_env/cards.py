"""Cards as text, ids and masks.

Text is rank then suit, ``As 7h Td``; suits in the order ``s c d h``; card id = 13 * suit + rank with the
ace as rank 0 (rules.md, Cards and notation). A set of cards is a 52-bit mask, bit = card id.

That is how cards are written. They are read from what people type, too, in every place that takes cards: the ten as
``T`` or ``10``, suits as letters or signs (``10♥``), in any case, with spaces or commas between them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from okgin_env.layout import N_CARDS, N_RANKS
from okgin_env.utils.errors import shown

RANKS = "A23456789TJQK"
SUITS = "scdh"
_IDS = {r + s: 13 * k + n for k, s in enumerate(SUITS) for n, r in enumerate(RANKS)}
# signs of suits, also hollow ones, what parts cards, and marks that are not seen: a BOM and the two kinds of a sign
_PLAIN = str.maketrans("♠♣♦♥♤♧♢♡,", "scdhscdh ", "\ufeff\ufe0e\ufe0f")
_LONGEST = 8  # characters of a card
CardsLike: TypeAlias = "str | int | Iterable[str | int]"
"""Cards as text (``"As 2s"``), as a mask, or as a sequence of texts or ids."""


def card_id(text: str) -> int:
    """Card id of a text such as ``"Td"``, ``"10d"`` or ``"10♦"``.

    Raises:
        ValueError: The text is not rank then suit.
    """
    found = _IDS.get(text) if isinstance(text, str) else None
    if found is None and isinstance(text, str) and len(text) <= _LONGEST:
        word = text.translate(_PLAIN).strip()
        rank, suit = word[:-1].upper(), word[-1:].lower()
        found = _IDS.get(("T" if rank == "10" else rank) + suit)
    if found is None:
        raise ValueError(
            f"bad card {shown(text)}; allowed: one of {RANKS} then one of {SUITS}, as in 'Td'"
        )
    return found


def card_text(card: int) -> str:
    """Text of a card id.

    Raises:
        ValueError: The id is not 0 to 51.
    """
    whole = isinstance(card, (int, np.integer)) and not isinstance(card, bool)
    if not whole or not 0 <= card < N_CARDS:
        raise ValueError(f"bad card id {shown(card)}; allowed: 0 to {N_CARDS - 1}")
    return RANKS[card % N_RANKS] + SUITS[card // N_RANKS]


def pips(card: int) -> int:
    """Pips of a card id: ace 1, number cards their number, T J Q K 10."""
    return min(card % N_RANKS + 1, 10)


def ids(cards: CardsLike) -> list[int]:
    """Card ids in the order given (a mask: ascending).

    Args:
        cards: Text with spaces or commas between cards, a mask, or a sequence of texts or ids.

    Raises:
        ValueError: A card is malformed or stands twice, or the mask has bits above 51.
    """
    if isinstance(cards, np.ndarray):
        cards = cards.tolist()
    if isinstance(cards, (bool, np.bool_, float)):
        raise ValueError(f"bad cards {cards!r:.80}; allowed: text, a mask, or a sequence of cards")
    if isinstance(cards, (int, np.integer)):
        mask = int(cards)
        if not 0 <= mask < 1 << N_CARDS:
            raise ValueError(f"bad card mask {mask!s:.80}; allowed: 0 to 2**{N_CARDS} - 1")
        return [card for card in range(N_CARDS) if mask >> card & 1]
    if isinstance(cards, str):
        cards = cards.translate(_PLAIN).split()
    if not isinstance(cards, Iterable):
        raise ValueError(f"bad cards {shown(cards)}; allowed: text, a mask, or a sequence of cards")
    found = [card_id(card if isinstance(card, str) else card_text(card)) for card in cards]
    seen: set[int] = set()
    for card in found:
        if card in seen:
            raise ValueError(f"card {card_text(card)} stands twice; allowed: once")
        seen.add(card)
    return found


def mask(cards: CardsLike) -> int:
    """Mask of the cards, as a plain int. Errors as in `ids`."""
    total = 0
    for card in ids(cards):
        total |= 1 << card
    return total


def text(cards: CardsLike) -> str:
    """Text of the cards, a space between two, in the order given. Errors as in `ids`."""
    return " ".join(card_text(card) for card in ids(cards))
