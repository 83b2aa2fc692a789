"""Cards as text, ids and masks; the analysis functions' errors, and their results against the twin's."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.helpers import twin

pytest.importorskip("hypothesis")

from hypothesis import given, settings
from hypothesis import strategies as st

from okgin_env import Rules, analysis, cards, positions
from okgin_env.kernel import melds
from okgin_env.kernel.jit import PLAIN
from tests.helpers.random_tables import random_deck, random_rules

N_DECKS = 30 if PLAIN else 300
card_lists = st.lists(st.integers(0, 51), unique=True, max_size=52)
hands = st.lists(st.integers(0, 51), unique=True, max_size=11)
derandomized = settings(derandomize=True, deadline=None, max_examples=20 if PLAIN else 200)


def rich_hands(seed: int, *sizes: int) -> list[list[list[int]]]:
    """Disjoint hands from decks that are often rich in melds."""
    rng = Random(seed)
    found = []
    for _ in range(N_DECKS):
        deck, table = random_deck(rng), []
        for size in sizes:
            table.append(deck[:size])
            deck = deck[size:]
        found.append(table)
    return found


def spellings(card: int) -> list[str]:
    """All ways to write a card that people have."""
    rank, suit = cards.card_text(card)
    ranks = [rank, rank.lower(), *(["10"] if rank == "T" else [])]
    signs = {"s": "♠♤", "c": "♣♧", "d": "♦♢", "h": "♥♡"}[suit]
    return [r + s for r in ranks for s in (suit, suit.upper(), *signs, f"{signs[0]}\ufe0f")]


# --- text, ids, masks --------------------------------------------------------------------------------------
@derandomized
@given(card_lists)
def test_text_ids_and_mask_round_trips(ids: list[int]) -> None:
    text = cards.text(ids)
    assert cards.ids(text) == ids
    assert cards.ids(text.split()) == ids
    assert cards.ids(tuple(ids)) == cards.ids(iter(ids)) == ids
    assert cards.text(text) == text
    mask = cards.mask(ids)
    assert mask == sum(1 << card for card in ids)
    assert mask == cards.mask(text) == cards.mask(mask)
    assert cards.ids(mask) == sorted(ids)
    assert cards.text(mask) == cards.text(sorted(ids))
    assert type(mask) is int


@derandomized
@given(st.integers(0, (1 << 52) - 1))
def test_mask_round_trips(mask: int) -> None:
    for given_mask in (mask, np.uint64(mask), np.int64(mask)):
        assert cards.mask(given_mask) == mask
    assert cards.mask(cards.text(mask)) == mask
    assert len(cards.ids(mask)) == mask.bit_count()


@derandomized
@given(card_lists)
def test_arrays_of_ids_are_sequences(ids: list[int]) -> None:
    assert cards.ids([np.int8(card) for card in ids]) == ids
    for dtype in (np.int8, np.int64):
        assert cards.ids(np.array(ids, dtype)) == ids
        assert cards.text(np.array(ids, dtype)) == cards.text(ids)


@derandomized
@given(st.text(max_size=4))
def test_any_other_text_is_refused_by_name(text: str) -> None:
    deck = {spelling: card for card in range(52) for spelling in spellings(card)}
    plain = text.strip(" ,\t\n\ufeff")
    if plain in deck:
        assert cards.card_id(text) == deck[plain]
    else:
        with pytest.raises(ValueError, match=re.escape(f"bad card {text!r}; allowed: one of")):
            cards.card_id(text)


@derandomized
@given(st.integers().filter(lambda card: not 0 <= card < 52))
def test_any_other_id_is_refused_by_name(card: int) -> None:
    with pytest.raises(ValueError, match=f"bad card id {card}; allowed: 0 to 51"):
        cards.card_text(card)
    with pytest.raises(ValueError, match=f"bad card id {card}; allowed: 0 to 51"):
        cards.ids([0, card])


@pytest.mark.parametrize("card", range(52))
def test_a_card_is_read_however_people_write_it(card: int) -> None:
    other = cards.card_text((card + 1) % 52)
    for spelling in spellings(card):
        assert cards.card_id(spelling) == card
        for text in (
            f"{spelling},{other}",
            f"\ufeff {spelling} , {other}\n",
            f"{spelling} {other},",
        ):
            assert cards.ids(text) == [card, cards.card_id(other)]


def test_decks_positions_and_upcards_are_read_the_same_way() -> None:
    order = [*range(52)]
    assert positions.check_deck(", ".join(spellings(c)[-1] for c in order)).tolist() == order
    hands = ["as 2S 3♠ 4s 5s 6s 7s 8s 9s", "ac,2c,3c,4c,5c,6c,7c,8c,9c,10C"]
    state = {"hands": hands, "pile": "10♥", "seat": 0, "dealer": 1, "upcard": "10h"}
    state["hands"][0] += " 10s"
    read = positions.check_state(state, Rules())[0]
    assert cards.text(int(read["hands"][0])) == "As 2s 3s 4s 5s 6s 7s 8s 9s Ts"
    assert cards.card_text(int(read["upcard"])) == cards.card_text(int(read["pile"][0])) == "Th"
    doubles = Rules(spades_double=True)
    hands = ["As 2s 3s 4s 5s 6s 7s 8s 9s 10s", "Ac 2c 3c 4c 5c 6c 7c 8c 9c Kd"]
    assert analysis.settle(doubles, 0, hands, "k♠") == [2 * (10 + 25), 0]


BAD_CARDS: list[tuple[Any, str]] = [
    ("As 1s", "bad card '1s'; allowed: one of A23456789TJQK then one of scdh, as in 'Td'"),
    ("110s", "bad card '110s'; allowed"),
    ("11s", "bad card '11s'; allowed"),
    ("sA", "bad card 'sA'; allowed"),
    ("As;2s", "bad card 'As;2s'; allowed"),
    ("10h, T♥", "card Th stands twice; allowed: once"),
    (None, "bad cards None; allowed: text, a mask, or a sequence of cards"),
    ("As 2s As", "card As stands twice; allowed: once"),
    (["As", 0], "card As stands twice; allowed: once"),
    ([51, 51], "card Kh stands twice; allowed: once"),
    (-1, "bad card mask -1; allowed: 0 to 2**52 - 1"),
    (1 << 52, f"bad card mask {1 << 52}; allowed: 0 to 2**52 - 1"),
    (True, "bad cards True; allowed: text, a mask, or a sequence of cards"),
    ([52], "bad card id 52; allowed: 0 to 51"),
    ([-1], "bad card id -1; allowed: 0 to 51"),
]
TAKERS: list[Callable[[Any], Any]] = [
    cards.ids,
    cards.mask,
    cards.text,
    analysis.deadwood,
    analysis.arrange,
    lambda bad: analysis.knock_discards(bad, 10),
    lambda bad: analysis.layoff([], bad),
    lambda bad: analysis.layoff([bad], "Kd"),
    lambda bad: analysis.settle("classic", 0, [bad, "As"]),
]


@pytest.mark.parametrize(("bad", "error"), BAD_CARDS, ids=str)
def test_a_bad_card_is_named_wherever_cards_are_taken(bad: Any, error: str) -> None:
    for take in TAKERS:
        with pytest.raises(ValueError, match=re.escape(error)) as raised:
            take(bad)
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize("bad", [[0.5], [3.0], [None], [[0]], [b"As"], None, 2.0, [True]], ids=str)
def test_what_is_no_card_is_refused(bad: Any) -> None:
    """Not rounded, not taken for something else."""
    with pytest.raises((TypeError, ValueError)):
        cards.ids(bad)


ELEVEN = "As 2s 3s 4s 5s 6s 7s 8s 9s Ts Js"
BAD_CALLS: list[tuple[Callable[[], Any], str]] = [
    (lambda: analysis.deadwood(f"{ELEVEN} Qs"), f"cards: 12 cards ({ELEVEN} Qs); allowed: 0 to 11"),
    (lambda: analysis.arrange((1 << 12) - 1), "cards: 12 cards"),
    (lambda: analysis.knock_discards("", 10), "cards: 0 cards (); allowed: 1 to 11"),
    (lambda: analysis.knock_discards("As", -1), "limit=-1; allowed: 0 (gin only) to 10"),
    (lambda: analysis.knock_discards("As", 11), "limit=11; allowed: 0 (gin only) to 10"),
    (lambda: analysis.knock_discards("As", 1, "2s"), "taken='2s'; allowed: a card of the hand"),
    (
        lambda: analysis.knock_discards("As 2s", 1, "As 2s"),
        "taken: 2 cards (As 2s); allowed: 0 to 1",
    ),
    (lambda: analysis.knock_discards("As", 1, "1s"), "bad card '1s'"),
    (lambda: analysis.knock_discards("As", "5"), "limit='5'; allowed: 0 (gin only) to 10"),  # pyright: ignore[reportArgumentType]
    (lambda: analysis.showdown(None, ["As", "2s"]), "knocker=None; allowed: 0 to 1"),  # pyright: ignore[reportArgumentType]
    (lambda: analysis.settle("classic", 0.5, ["As", "2s"]), "knocker=0.5; allowed: 0 to 1"),  # pyright: ignore[reportArgumentType]
    (lambda: analysis.layoff("4s 5s 6s", "7s"), "shown_melds='4s 5s 6s'; allowed: a list of melds"),
    (lambda: analysis.layoff(["As 2s"], "Kd"), "bad meld 'As 2s'; allowed: 3 or 4 of a rank"),
    (lambda: analysis.layoff(["Qs Ks As"], "Kd"), "bad meld 'As Qs Ks'"),
    (lambda: analysis.layoff(["Ks Ac 2c"], "Kd"), "bad meld 'Ks Ac 2c'"),
    (lambda: analysis.layoff(["As 2s 4s"], "Kd"), "bad meld 'As 2s 4s'"),
    (lambda: analysis.layoff(["As Ac 2d"], "Kd"), "bad meld 'As Ac 2d'"),
    (lambda: analysis.layoff([""], "Kd"), "bad meld ''"),
    (lambda: analysis.layoff(["As 2s 3s"], "As"), "card As stands twice; allowed: once"),
    (lambda: analysis.layoff(["As 2s 3s", "3s 4s 5s"], ""), "card 3s stands twice; allowed: once"),
    (
        lambda: analysis.layoff(["As 2s 3s", "5s 6s 7s", "9s Ts Js", "Kc Kd Kh"], "2d"),
        "shown_melds: 4 melds; allowed: 0 to 3",
    ),
    (lambda: analysis.settle("classic", 0, ["As"]), "hands: 1 hands; allowed: 2 to 4"),
    (lambda: analysis.settle(Rules(), 0, ["As"] * 3), "hands: 3 hands; allowed: 2"),
    (lambda: analysis.settle("bridge", 0, ["As", "2s"]), "preset 'bridge'; allowed"),
    (lambda: analysis.settle("classic", 2, ["As", "2s"]), "knocker=2; allowed: 0 to 1"),
    (lambda: analysis.settle("classic", -1, ["As", "2s"]), "knocker=-1; allowed: 0 to 1"),
    (lambda: analysis.settle("classic", 0, ["As", "2s"]), "seat 0: 1 cards (As); allowed: 10"),
    (lambda: analysis.settle("french", 0, ["As", "2s", "3s"]), "seat 0: 1 cards (As); allowed: 7"),
    (
        lambda: analysis.settle("classic", 0, [(1 << 10) - 1, (1 << 11) - 2]),
        "card 2s 3s 4s 5s 6s 7s 8s 9s Ts stands twice; allowed: once",
    ),
    (
        lambda: analysis.settle("classic", 1, [(1 << 11) - 1, ((1 << 10) - 1) << 20]),
        "seat 0: 11 cards",
    ),
    (
        lambda: analysis.settle("classic", 0, [(1 << 11) - 1, ((1 << 10) - 1) << 20]),
        "seat 0: 11 cards; allowed: 10, or one more, all melded, where the rules have a big_gin_bonus",
    ),
    (
        lambda: analysis.settle(Rules(spades_double=True), 0, [1023, 1023 << 20]),
        "upcard=None; allowed: a card, since the rules double under a spade",
    ),
    (lambda: analysis.settle("classic", 0, [1023, 1023 << 20], "Xs"), "bad card 'Xs'"),
    (lambda: analysis.settle(None, 0, ["As", "2s"]), "rules=None; allowed: a preset's name"),  # pyright: ignore[reportArgumentType]
    (lambda: analysis.settle("classic", 0, None), "hands=None; allowed: a list of hands"),  # pyright: ignore[reportArgumentType]
    (lambda: analysis.showdown(0, None), "hands=None; allowed: a list of hands"),  # pyright: ignore[reportArgumentType]
    (lambda: analysis.layoff(None, "As"), "shown_melds=None; allowed: a list of melds"),  # pyright: ignore[reportArgumentType]
]


@pytest.mark.parametrize(("call", "error"), BAD_CALLS, ids=[error[:40] for _, error in BAD_CALLS])
def test_a_bad_call_is_one_clear_line(call: Callable[[], Any], error: str) -> None:
    with pytest.raises(ValueError, match=re.escape(error)) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_no_cards_at_all() -> None:
    assert analysis.deadwood("") == analysis.deadwood(0) == analysis.deadwood([]) == 0
    assert analysis.arrange("") == []
    assert analysis.layoff([], "") == (0, "")
    assert analysis.knock_discards("Kd", 0) == "Kd"


# --- against the twin ----------------------------------------------------------------------------------------
@derandomized
@given(hands)
def test_deadwood_of_any_hand(ids: list[int]) -> None:
    """In any form, any order."""
    expected = twin.deadwood(ids)
    for form in (ids, cards.text(ids), cards.mask(ids), ids[::-1]):
        assert analysis.deadwood(form) == expected


@pytest.mark.parametrize("size", range(1, 12))
def test_deadwood_and_arrangements_of_rich_hands(size: int) -> None:
    for (ids,) in rich_hands(size, size):
        least = twin.deadwood(ids)
        assert analysis.deadwood(ids) == least, cards.text(ids)
        shown = analysis.arrange(ids)
        assert [tuple(sorted(cards.ids(meld))) for meld in shown] == list(twin.shown(ids))
        rest = cards.mask(ids)
        for meld in shown:
            rest &= ~cards.mask(meld)
        assert sum(cards.pips(card) for card in cards.ids(rest)) == least
        melded = int(melds.melded(np.uint64(cards.mask(ids))))
        assert cards.ids(melded) == sorted(frozenset().union(*twin.melds_of(ids)))


@pytest.mark.parametrize("size", [8, 11])
def test_knock_discards_of_rich_hands(size: int) -> None:
    """Under every limit, with and without a card just taken."""
    rng = Random(3)
    for (ids,) in rich_hands(20 + size, size):
        limit = rng.randint(0, 10)
        for taken in (None, rng.choice(ids)):
            text = None if taken is None else cards.card_text(taken)
            found = analysis.knock_discards(ids, limit, text)
            assert set(cards.ids(found)) == twin.knock_discards(ids, limit, taken)
            assert cards.ids(found) == sorted(cards.ids(found))


@pytest.mark.parametrize("sizes", [(10, 10), (7, 7), (11, 10), (10, 11)])
def test_layoffs_of_rich_hands(sizes: tuple[int, int]) -> None:
    n_laid = 0
    for ids, other in rich_hands(sum(sizes), *sizes):
        shown = twin.shown(ids)
        left, laid, _ = twin.layoff(shown, other)
        found = analysis.layoff([cards.text(meld) for meld in shown], other)
        assert (found[0], set(cards.ids(found[1]))) == (left, laid), (shown, cards.text(other))
        n_laid += bool(laid)
    assert n_laid > 0


@pytest.mark.parametrize("players", [2, 3, 4])
def test_settlements_of_rich_hands(players: int) -> None:
    rng = Random(players)
    for _ in range(N_DECKS):
        rules = random_rules(rng)
        while rules.players != players:
            rules = random_rules(rng)
        deck, size = random_deck(rng), rules.hand_size
        table = [deck[at * size : (at + 1) * size] for at in range(players)]
        knocker, upcard = rng.randrange(players), deck[players * size]
        _, points, _ = twin.settle(rules, knocker, table, spade_upcard=upcard < 13)
        found = analysis.settle(rules, knocker, table, cards.card_text(upcard))
        assert found == points, (rules, knocker, [cards.text(hand) for hand in table])


@derandomized
@given(hands.filter(lambda ids: len(ids) >= 2), st.integers(0, 10))
def test_properties_of_any_hand(ids: list[int], limit: int) -> None:
    """What holds whatever the twin says: bounds, and what one card more or less can do."""
    own = analysis.deadwood(ids)
    assert 0 <= own <= sum(map(cards.pips, ids))
    assert all(len(meld.split()) >= 3 for meld in analysis.arrange(ids))
    for card in ids:
        rest = [other for other in ids if other != card]
        assert own <= analysis.deadwood(rest) + cards.pips(card)
    for card in cards.ids(analysis.knock_discards(ids, limit)):
        assert analysis.deadwood([other for other in ids if other != card]) <= limit
    left, laid = analysis.layoff(analysis.arrange(ids[:5]), ids[5:])
    assert left <= analysis.deadwood(ids[5:])
    assert set(cards.ids(laid)) <= set(ids[5:])
