"""Hand histories: print, parse, replay, files that survive a kill, tables, and the recorded playthroughs."""

from __future__ import annotations

import dataclasses
import re
import sys
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

pytest.importorskip("hypothesis")

from hypothesis import given, settings
from hypothesis import strategies as st

import okgin_env.histories as histories
from okgin_env import PRESETS, Rules, cards
from okgin_env.engine.games import Games
from okgin_env.histories import ILLEGAL, HandHistory, append, parse, read, scan, to_frame, write
from okgin_env.histories import files as history_files
from okgin_env.kernel import conceal, match, play
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import ENDINGS, KNOCK, N_ACTIONS, N_CARDS, OVER
from tests.helpers.paths import PLAYTHROUGHS
from tests.helpers.random_tables import random_deck, random_rules
from tests.helpers.twin import TwinHand

ONE = np.zeros(1, np.int64)


def random_record(rng: Random, rules: Rules) -> np.ndarray:
    """A hand played to its end in the kernel: somewhere in a match, now and then forfeited."""
    states, record = new_states(1), as_records(rules.to_record())
    s, n = states[0], rules.players
    mask, table = np.zeros(N_ACTIONS, np.int8), np.zeros(N_CARDS, np.int16)
    match.new_match(s)
    s["deck"] = random_deck(rng)
    play.deal(s, record[0], rng.randrange(n))
    if rng.random() < 0.7:
        s["scores"][:n] = [rng.randrange(100) for _ in range(n)]
        s["boxes"][:n] = [rng.randrange(10) for _ in range(n)]
        s["n_hands"] = rng.randrange(100)
    illegal_at = rng.randrange(60) if rng.random() < 0.3 else -1
    n_actions = 0
    while s["phase"] != OVER:
        play.legal(s, record[0], mask, table)
        legal = np.flatnonzero(mask).tolist()
        ends = [action for action in legal if KNOCK <= action < KNOCK + N_CARDS]
        action = rng.choice(ends if ends and rng.random() < 0.3 else legal)
        play.step(s, record[0], N_ACTIONS if n_actions == illegal_at else action)
        n_actions += 1
    return states


def random_hand(seed: int, **more: Any) -> HandHistory:
    rng = Random(seed)
    rules = random_rules(rng)
    return HandHistory.from_record(random_record(rng, rules), rules, **more)


@pytest.fixture(scope="module")
def hands() -> list[HandHistory]:
    return read(PLAYTHROUGHS)


def edited(hand: HandHistory, old: str, new: str) -> str:
    text = hand.to_text()
    assert old in text
    return text.replace(old, new, 1)


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


# --- recorded playthroughs ---------------------------------------------------------------------------
def test_playthroughs_cover_endings_presets_and_players(hands: list[HandHistory]) -> None:
    assert {hand.ending for hand in hands} == set(ENDINGS[1:])
    assert {hand.rules.players for hand in hands} == {2, 3, 4}
    presets = {re.split(r"\W", hand.rules.label)[0] for hand in hands}
    assert presets == set(PRESETS)
    assert any(hand.played > 0 for hand in hands)  # a match goes on
    forced = [hand for hand in hands if " draws " in hand.to_text()]
    assert len(forced) > 1


def test_playthroughs_print_back_byte_for_byte(hands: list[HandHistory]) -> None:
    assert "\n".join(str(hand) for hand in hands).encode() == PLAYTHROUGHS.read_bytes()


def test_playthroughs_replay_state_by_state_as_the_twin_plays_them(
    hands: list[HandHistory],
) -> None:
    """Kernel and twin go through the same cards after every action, to the stated result."""
    for hand in hands:
        n = hand.rules.players
        twin = TwinHand(hand.rules, hand.deck, hand.dealer)
        states = list(hand.replay())
        assert len(states) == len(hand.actions)
        for (seat, action), after in zip(hand.actions, states, strict=True):
            assert twin.seat == seat
            twin.step(action)
            s = after[0]
            assert after.shape == (1,)
            assert [cards.ids(int(held)) for held in s["hands"][:n]] == [
                sorted(held) for held in twin.hands
            ]
            assert s["pile"][: s["n_pile"]].tolist() == twin.pile
            assert s["deck"][s["next_card"] :].tolist() == twin.stock
            assert (s["phase"], s["n_turns"]) == (twin.phase, twin.n_turns)
            assert s["phase"] == OVER or s["seat"] == twin.seat
        assert (hand.ending, hand.knocker) == (twin.ending, twin.knocker)
        assert (list(hand.points), list(hand.deadwood)) == (twin.points, twin.deadwood)


def test_remarks_are_the_cards_that_came_to_hand(hands: list[HandHistory]) -> None:
    for hand in hands:
        remarks = [line for line in str(hand).split("\n") if line.startswith("seat ")]
        before = hand.start()
        for line, after in zip(remarks, hand.replay(), strict=True):
            gained = [
                cards.text(int(new & ~old))
                for new, old in zip(after["hands"][0], before["hands"][0], strict=True)
                if new & ~old
            ]
            assert line.partition("#")[2].split()[-1:] == gained
            before = after


# --- print, parse, replay ----------------------------------------------------------------------------
_NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=100).filter(
    lambda name: name.isprintable() and name == name.strip()
)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**9),
    name=st.none() | _NAMES,
    stream=st.none() | st.integers(0, 2**128 - 1),
)
def test_what_is_printed_parses_back(seed: int, name: str | None, stream: int | None) -> None:
    rng = Random(seed)
    rules = random_rules(rng)
    record = random_record(rng, rules)
    names = None if name is None else [name, *(f"player {p}" for p in range(1, rules.players))]
    hand = HandHistory.from_record(record, rules, names, stream)
    text = str(hand)
    assert parse(text) == hand
    assert str(parse(text)) == text
    assert max(len(line.encode()) for line in text.split("\n")) <= histories.text.MAX_LINE
    *_, final = hand.replay()
    for field in ("hands", "points", "scores", "boxes", "n_hands", "match_points", "pile"):
        assert (final[field] == record[field]).all()
    assert final["match_winner"] == record["match_winner"]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_preset_and_table_size(preset: str, players: int) -> None:
    rules, rng = Rules.preset(preset, players), Random(players)
    for _ in range(5):
        hand = HandHistory.from_record(random_record(rng, rules), rules)
        assert parse(str(hand)) == hand


def test_replay_gives_fresh_states() -> None:
    states = list(random_hand(1).replay())
    assert not any(np.shares_memory(one, other) for one, other in pairwise(states))


def test_illegal_action_is_written_and_replayed(hands: list[HandHistory]) -> None:
    for hand in (hand for hand in hands if hand.ending == "illegal"):
        seat, action = hand.actions[-1]
        assert action == ILLEGAL
        assert f"\nseat {seat}: illegal\nending: illegal\nknocker: none\n" in str(hand)
        assert hand.points == tuple(0 if p == seat else 100 for p in range(hand.rules.players))


# --- records that make no history --------------------------------------------------------------------
def test_unfinished_hidden_and_foreign_records_are_refused() -> None:
    rules = Rules.preset("classic")
    record = random_record(Random(1), rules)
    hidden = new_states(1)
    conceal.conceal(record[0], as_records(rules.to_record())[0], 0, hidden[0])
    with pytest.raises(ValueError, match="deck is hidden"):
        HandHistory.from_record(hidden, rules)
    with pytest.raises(ValueError, match="has not ended"):
        HandHistory.from_record(HandHistory.from_record(record, rules).start(), rules)
    with pytest.raises(ValueError, match=r"allowed: a \(1,\) array"):
        HandHistory.from_record(np.zeros(2, record.dtype), rules)
    with pytest.raises(ValueError, match=r"\S"):
        HandHistory.from_record(record, Rules.preset("classic", 3))
    record["pile"][0, 0] ^= 1
    with pytest.raises(ValueError, match="pile is not what a replay"):
        HandHistory.from_record(record, rules)


def test_full_information_is_said_so() -> None:
    """Histories hold hidden cards by design; the documentation must not leave that open."""
    assert "every card, the hidden ones and the stock too" in (histories.__doc__ or "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dealer": 2}, "dealer=2; allowed: 0 to 1"),
        ({"deck": (0,) * 52}, "card As stands twice"),
        ({"points": (1,)}, "points=.*allowed: 2 numbers"),
        ({"won": (0, 99_999)}, "won=.*allowed: 2 numbers from 0 to 30000"),
        ({"played": -1}, "played=-1; allowed"),
        ({"names": ("a",)}, "names: 1 names; allowed: 2"),
        ({"names": ("a", "b\nend")}, "name 'b.nend'; allowed: 1 to 100 printable"),
        ({"names": ("a", " b")}, "name ' b'; allowed"),
        ({"names": ("a", "b" * 101)}, "allowed: 1 to 100"),
        ({"seed": -1}, "seed=-1; allowed"),
        ({"ending": "draw"}, "ending='draw'; allowed: knock"),
        ({"actions": ()}, "actions: 0; allowed: 1 to"),
        ({"actions": ((0, 109),)}, "allowed: a seat below 2 and an action id"),
    ],
)
def test_impossible_fields_are_refused(
    hands: list[HandHistory], change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(hands[0], **change)


# --- texts that are wrong ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("okgin hand 1", "okgin hand 2", "line 1: 'okgin hand 2'; allowed: 'okgin hand 1'"),
        ("rules: classic", "rules: chess", "line 2: rules: preset 'chess'; allowed: classic"),
        ("rules: classic", "rules: classic(x=1)", "line 2: rules: field 'x'; allowed"),
        ("rules: classic", "rules: classic(gin_bonus=x)", "line 2: rules: gin_bonus='x'; allowed"),
        (
            "rules: classic",
            "rules: __import__('os')",
            "line 2: .*; allowed: a preset's name, or such as",
        ),
        ("rules: classic", "rules: classic(players=3)", "line 5: 'won: 0 0'; allowed: .*3 numbers"),
        ("seed: 1", "seed: x", "line 3: 'seed: x'; allowed: 'played: 1 numbers'"),
        ("scores: 0 0", "scores: 0 -1", "line 6: 'scores: 0 -1'; allowed: 'scores: 2 numbers'"),
        ("name 1: simple\n", "", "line 8: 'dealer: 1'; allowed: 'name 1"),
        ("dealer: 1", "dealer: 2", "line 9: 'dealer: 2'; allowed: 'dealer: 0 to 1'"),
        ("cards 0: Jh", "cards 0: 11h", "line 10: bad card '11h'; allowed"),
        ("cards 0: Jh ", "cards 0: ", "line 10: 9 cards; allowed: 10"),
        ("cards 1: Td", "cards 1: Jh", "line 11: card Jh stands twice; allowed: once"),
        ("seat 0: pass", "seat 0: fold", "line 14: 'seat 0: fold'; allowed: seat 0 to 1, then"),
        ("seat 0: pass", "seat 2: pass", "line 14: 'seat 2: pass'; allowed: seat 0 to 1, then"),
        ("seat 0: pass", "0: pass", "line 14: '0: pass'; allowed: 'ending: an ending, or"),
        ("knocker: 0", "knocker: 2", "'knocker: 2'; allowed: 'knocker: a seat, or none'"),
        ("\nend\n", "\n", "line 50: ''; allowed: 'end'"),
        ("\nend\n", "\nend\nmore\n", "line 51: 'more'; allowed: nothing after 'end'"),
    ],
)
def test_bad_text_names_its_line(
    hands: list[HandHistory], old: str, new: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        parse(edited(hands[0], old, new))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "part", "message"),
    [
        ("seat 1: pass", "seat 0: pass", "seat 0: pass  #", "seat 0 acts; allowed: seat 1"),
        ("discard Th", "discard As", "discard As", "'discard As'; allowed: a legal action"),
        ("seat 0: discard Th", "seat 0: illegal", "seat 1: draw", "the hand is over; allowed"),
        ("seat 0: knock 2h\n", "", "ending", "the hand goes on; allowed: an action of 0"),
        ("knock 2h", "discard 2h", "ending", "the hand goes on; allowed: an action of 1"),
        ("ending: knock", "ending: gin", "ending", "'ending: gin'; allowed: 'ending: knock'"),
        ("points: 13 0", "points: 12 0", "points", "'points: 12 0'; allowed: 'points: 13 0'"),
        ("after: 13 0", "after: 0 13", "scores after", "allowed: 'scores after: 13 0'"),
    ],
)
def test_a_hand_that_does_not_replay_names_its_line(
    hands: list[HandHistory], old: str, new: str, part: str, message: str
) -> None:
    text = edited(hands[0], old, new)
    if new == "seat 0: pass":  # the one before it reads the same
        number = line_of(text, part)
    else:
        number = line_of(text, new if part in new else part)
    hand = parse(text, 101)
    with pytest.raises(ValueError, match=f"line {number + 100}: .*{re.escape(message)}") as caught:
        hand.final()
    assert "\n" not in str(caught.value)


def test_any_damage_is_an_error_in_one_line(hands: list[HandHistory]) -> None:
    """Bytes changed anywhere: either a hand that says so when it is replayed, or a ValueError."""
    rng = Random(1)
    for _ in range(300):
        text = list(str(rng.choice(hands)))
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(text))
            text[at] = rng.choice(["", "\n", " ", "0", "9", "x", "é", text[at] * 2])
        try:
            parse("".join(text)).final()
        except ValueError as error:
            assert re.fullmatch(r"line \d+: .+", str(error))  # noqa: PT017 - most raise, not all


def test_endless_text_is_refused() -> None:
    with pytest.raises(ValueError, match="line 1: too long for a hand"):
        parse("okgin hand 1\n" * 10_000)


# --- files --------------------------------------------------------------------------------------------
def test_append_write_and_read_are_the_same_file(tmp_path: Path, hands: list[HandHistory]) -> None:
    whole, grown = tmp_path / "whole.okgin", tmp_path / "new" / "grown.okgin"
    write(whole, hands)
    append(grown, hands[0])
    append(grown, hands[1:4])
    append(grown, iter(hands[4:]))
    assert whole.read_bytes() == grown.read_bytes() == PLAYTHROUGHS.read_bytes()
    assert read(grown) == list(scan(str(grown))) == hands
    grown.write_bytes(grown.read_bytes().replace(b"\n", b"\r\n"))  # through an editor
    assert read(grown) == hands


def test_errors_name_file_and_line(tmp_path: Path, hands: list[HandHistory]) -> None:
    path = tmp_path / "hands.okgin"
    path.write_text(PLAYTHROUGHS.read_text().replace("dealer: 1", "dealer: 7", 2))
    second = [k for k, line in enumerate(path.read_text().split("\n"), 1) if line == "dealer: 7"]
    found = scan(path)
    with pytest.raises(ValueError, match=f"hands.okgin: line {second[0]}: 'dealer: 7'; allowed"):
        next(found)
    bad = dataclasses.replace(hands[1], points=(9, 9))
    write(path, [hands[0], bad])
    number = line_of(path.read_text(), "points: 9 9")
    with pytest.raises(ValueError, match=f"line {number}: 'points: 9 9'; allowed"):
        read(path)[1].final()


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.97, -1, -2, -4, -5])
def test_a_torn_hand_is_noticed_and_can_be_left_out(
    tmp_path: Path, hands: list[HandHistory], keep: float
) -> None:
    """A kill in the middle of a write costs that hand only, also when recording goes on after it."""
    path = tmp_path / "hands.okgin"
    append(path, hands[:2])
    size = path.stat().st_size
    append(path, hands[2])
    content = path.read_bytes()
    at = size + int(keep * (len(content) - size)) if keep > 0 else int(keep)
    path.write_bytes(content[:at])
    if keep == -1:  # only the last line feed is gone: nothing is lost
        assert read(path) == hands[:3]
    else:
        with pytest.raises(ValueError, match=r"line \d+: the hand from line \d+ on is torn"):
            read(path)
        assert read(path, strict=False) == hands[:2]
    append(path, hands[3:])
    kept = hands[:2] if keep != -1 else hands[:3]
    assert read(path, strict=False) == kept + hands[3:]


def test_limits_on_memory(
    tmp_path: Path, hands: list[HandHistory], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "hands.okgin"
    path.write_bytes(b"x" * 10_000)
    with pytest.raises(ValueError, match="line 1: too long; allowed: 1000 bytes"):
        read(path)
    path.write_bytes(b"x\n" * 10_000)
    with pytest.raises(ValueError, match=r"the hand goes on; allowed: \d+ lines"):
        read(path)
    path.write_bytes(b"okgin hand 1\nname: \xff\nend\n")
    with pytest.raises(ValueError, match="line 1: not UTF-8"):
        read(path)
    write(path, hands)
    monkeypatch.setattr(history_files, "MAX_BYTES", 100)
    with pytest.raises(ValueError, match=r"bytes; allowed: 100, or one by one with scan\(\)"):
        read(path)
    assert list(scan(path)) == hands


def test_what_editors_on_windows_write_is_read(tmp_path: Path, hands: list[HandHistory]) -> None:
    for hand in hands[:3]:
        text = str(hand).replace("\n", "\r\n")
        assert parse(text) == parse(f"\ufeff{text}") == parse(f"\ufeff{hand}") == hand
    path = tmp_path / "a.okgin"
    histories.write(path, hands[:3])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert histories.read(path) == hands[:3]


def test_other_suffixes_are_refused(tmp_path: Path, hands: list[HandHistory]) -> None:
    for save in (append, write):
        with pytest.raises(ValueError, match=r"allowed: a name that ends in \.okgin"):
            save(tmp_path / "hands.txt", hands)


# --- tables -------------------------------------------------------------------------------------------
def test_to_frame_has_a_row_a_hand(hands: list[HandHistory]) -> None:
    pytest.importorskip("pandas")
    frame = to_frame(hands)
    assert len(frame) == len(hands)
    assert frame["ending"].tolist() == [hand.ending for hand in hands]
    assert frame["actions"].tolist() == [len(hand.actions) for hand in hands]
    assert frame["upcard"][0] == "5h"
    assert frame["limit"][0] == 5
    for k, hand in enumerate(hands):
        n, row = hand.rules.players, frame.iloc[k]
        for p in range(n):
            assert row[f"points_{p}"] == hand.points[p]
            assert row[f"score_{p}"] - row[f"score_before_{p}"] == hand.points[p]
            assert row[f"name_{p}"] == hand.names[p]
        for p in range(n, 4):
            assert frame[f"points_{p}"].isna()[k]
        assert frame["winner"].isna()[k] == (not any(hand.points))
        assert frame["knocker"].isna()[k] == (hand.knocker is None)
    knocks = frame[frame["ending"] == "knock"]
    assert (knocks["winner"] == knocks["knocker"]).all()
    assert frame["match_winner"].iloc[-1] == 0
    assert to_frame([]).shape[0] == 0


def test_to_frame_checks_hands(hands: list[HandHistory]) -> None:
    pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="'points: 9 9'; allowed"):
        to_frame([dataclasses.replace(hands[0], points=(9, 9))])


def test_to_frame_without_pandas_names_the_extra(
    hands: list[HandHistory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install okgin-env\[notebooks\]"):
        to_frame(hands)


def test_finals_of_a_batch_make_histories() -> None:
    games = Games(64, "classic", opponent="simple")
    everyone = np.arange(64)
    games.seed(everyone, everyone.astype(np.uint64))
    written = games.reset(everyone)
    ended: set[int] = set()
    while len(ended) < 64:
        running = np.array(sorted(set(range(64)) - ended))
        actions = np.zeros(64, np.int64)
        for i in running.tolist():
            actions[i] = np.flatnonzero(written.masks[i])[-1]
        written = games.step(actions, running, False)
        ended |= set(np.flatnonzero(written.dones).tolist())
    for i in range(64):
        hand = HandHistory.from_record(games.finals[i : i + 1], games.rules, seed=i)
        assert parse(str(hand)) == hand
