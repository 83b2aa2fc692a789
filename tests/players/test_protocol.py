"""What programs are told: the truth, all of it that their seat may know, and nothing else."""

from __future__ import annotations

import json
import re
import shutil
import sys
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from okgin_env import Rules, cards, players
from okgin_env.engine.decisions import view_of
from okgin_env.kernel.jit import PLAIN
from okgin_env.kernel.policies import choose
from okgin_env.kernel.state import as_records
from okgin_env.layout import BIG_GIN, DISCARD, KNOCK, N_ACTIONS, N_CARDS, OVER, SHED
from okgin_env.players import ProcessPlayer
from okgin_env.players.base import fault_action
from okgin_env.players.subprocess import messages
from okgin_env.positions import position
from okgin_env.view import action_text
from tests.helpers.hidden import TABLES, unseen_by
from tests.helpers.random_tables import random_deck
from tests.helpers.talking import (
    ROOT,
    Conversation,
    deal,
    decisions_of,
    play_out,
    simple_choose,
    step,
    talker,
)

N_HANDS = 2 if PLAIN else 8


# --- hands for all tests ------------------------------------------------------------------------------
def _log(rules: Rules, deck: list[int], dealer: int, rng: Random) -> list[int]:
    """The actions of a hand between scripted players; knocks are often put off."""
    state, table = deal(rules, deck, dealer, 1), np.zeros(N_CARDS, np.int16)
    policies = [rng.randrange(7) for _ in range(4)]
    log: list[int] = []
    while state["phase"][0] != OVER:
        s = state[0]
        action = int(choose(s, as_records(rules.to_record())[0], policies[s["seat"]], table))
        if action >= KNOCK and s["phase"] == SHED and action != BIG_GIN and rng.random() < 0.5:
            action -= KNOCK - DISCARD
        log.append(action)
        step(state, rules, action)
    return log


def _told(
    monkeypatch: pytest.MonkeyPatch,
    rules: Rules,
    deck: list[int],
    log: list[int],
    seat: int,
    dealer: int,
) -> tuple[ProcessPlayer, Conversation, NDArray[np.void]]:
    """What a seat's program is told when a hand goes as in the log; and the hand after it."""
    said: list[int] = []
    player, conversation = talker(monkeypatch, lambda request: action_text(said[-1]))
    state = deal(rules, deck, dealer, 1)
    for action in log:
        if state["seat"][0] == seat:
            said.append(action)
            decisions = decisions_of(state, rules)
            decisions.words[:] = 7
            assert player.act(decisions).tolist() == [action], player.last_trouble
        step(state, rules, action)
    return player, conversation, state


class Follower:
    """A bot that believes events only: own cards, pile, and what others took."""

    def __init__(self) -> None:
        self.seat, self.cards, self.pile, self.taken = -1, set[str](), list[str](), [set[str]()]

    def hear(self, message: dict[str, Any]) -> None:
        if message["type"] == "hand":
            self.seat, self.cards = message["seat"], set(message["cards"])
            self.pile = [message["upcard"]]
            self.taken = [set[str]() for _ in message["scores"]]
        elif message["type"] == "event":
            self._move(message["seat"], message["move"].split()[0], message["card"])

    def _move(self, seat: int, verb: str, card: str | None) -> None:
        own = seat == self.seat
        if verb == "take":
            assert card == self.pile.pop()
            self.taken[seat].add(card)
        elif verb in ("discard", "knock"):
            assert card is not None
            self.pile.append(card)
            self.taken[seat].discard(card)
            self.cards -= {card} if own else set()
        if verb in ("take", "draw") and own:
            assert card is not None
            self.cards.add(card)
        if verb == "pass" or (verb == "draw" and not own):
            assert card is None

    def check(self, request: dict[str, Any]) -> None:
        assert sorted(self.cards) == sorted(request["cards"])
        assert self.pile == request["pile"]
        assert [sorted(taken) for taken in self.taken] == [sorted(k) for k in request["known"]]


def _follow(messages: list[dict[str, Any]]) -> int:
    """Checks every request against the events before it; returns how many there were."""
    follower, n_requests = Follower(), 0
    for message in messages:
        if message["type"] == "request":
            follower.check(message)
            n_requests += 1
        follower.hear(message)
    return n_requests


# --- the truth ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("rules", TABLES, ids=lambda rules: rules.label)
def test_events_alone_tell_the_whole_hand(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(5)
    for _ in range(N_HANDS):
        deck, dealer = random_deck(rng), rng.randrange(rules.players)
        log = _log(rules, deck, dealer, rng)
        for seat in range(rules.players):
            player, conversation, state = _told(monkeypatch, rules, deck, log, seat, dealer)
            if not conversation.lines:
                continue  # the hand ended before its first decision
            view = view_of(state, rules, as_records(rules.to_record()), seat, reveal=True)
            player.hand_over(view)
            messages = conversation.messages
            assert _follow(messages) > 0
            assert [m["type"] for m in messages[:2]] == ["hello", "hand"]
            size = rules.hand_size
            assert (
                messages[1]["cards"] == cards.text(cards.mask(deck[seat * size :][:size])).split()
            )
            events = [m for m in messages if m["type"] == "event"]
            asked = [m["move"] for m in events if m["move"] != "draw"]  # one draw may be forced
            assert asked == [action_text(a) for a in log if a != 104]
            assert messages[-1]["type"] == "end"
            assert messages[-1]["hands"] == view.hands
            assert messages[-1]["points"] == state["points"][0, : rules.players].tolist()
            for request in (m for m in messages if m["type"] == "request"):
                held = set(request["cards"])
                assert request["drawn"] is None or request["drawn"] in held
                assert (request["phase"] == "discard") == (
                    (request["drawn"] or request["taken"]) is not None
                )


def test_mixed_hands_are_told_whole_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """One program, twelve hands at a time, asked in any order: each request follows its own hand's events."""
    rng, rules = Random(3), Rules.preset("classic")
    chosen = simple_choose()
    player, conversation = talker(monkeypatch, chosen)
    states = [deal(rules, random_deck(rng), k % 2, k) for k in range(12)]
    while going := [state for state in states if state["phase"][0] != OVER]:
        state = rng.choice(going)
        step(state, rules, int(player.act(decisions_of(state, rules))[0]))
    assert _follow(conversation.messages) > 100
    assert not player.last_trouble


def test_a_hand_entered_in_the_middle_says_what_it_does_not_know(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rules, rng = Rules.preset("classic"), Random(8)
    deck = random_deck(rng)
    log = _log(rules, deck, 0, rng)
    state = deal(rules, deck, 0, 1)
    for action in log[:12]:
        step(state, rules, action)
    player, conversation = talker(monkeypatch, lambda request: request["legal"][0])
    decisions = decisions_of(state, rules)
    player.act(decisions)
    hand = next(m for m in conversation.messages if m["type"] == "hand")
    request = next(m for m in conversation.messages if m["type"] == "request")
    draws = [m for m in conversation.messages if m["type"] == "event" and m["move"] == "draw"]
    assert hand["cards"] is None
    assert draws
    assert all(m["card"] is None for m in draws)
    assert request["cards"] == decisions.view(0).hand


def test_a_hand_goes_on_after_the_rules_have_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What its first decision told was forgotten with the hands of the old rules."""
    player, conversation = talker(monkeypatch, lambda request: request["legal"][-1])
    for name in ("classic", "gin"):
        rules = Rules.preset(name)
        play_out(deal(rules, list(range(N_CARDS)), 0, 1), rules, [player, player])
    assert not player.last_trouble
    hands = [m for m in conversation.messages if m["type"] == "hand"]
    assert all(m["cards"] is not None for m in hands)
    assert [m["type"] for m in conversation.messages].count("hello") == 2


@pytest.mark.parametrize("pile", ["Jh", "Jh 8c 4d"])
@pytest.mark.parametrize("seat", [0, 1])
def test_a_hand_set_up_as_a_position_is_told(
    pile: str, seat: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    hands = ["As 2s 3s 7h 7d 7c Kd Qc 9h 8d", "4c 5c 6c Td Th Ts 2h 3d 5h 9s"]
    rules = Rules.preset("classic")
    for chosen in (lambda request: request["legal"][-1], simple_choose()):
        state = position(rules, hands=hands, pile=pile, seat=seat)
        player, conversation = talker(monkeypatch, chosen)
        play_out(state, rules, [players.make("knocker"), player])
        assert not player.last_trouble
        messages = conversation.messages
        assert [m["type"] for m in messages].count("hand") == 1
        if messages[1]["cards"] is not None:
            assert messages[1]["cards"] == cards.text(cards.mask(hands[1])).split()
        for message in messages:
            if message["type"] == "event" and message["move"] == "take":
                assert message["card"] is not None or len(pile) > 2
        assert messages[-1]["type"] == "end"


def test_requests_say_what_the_view_says(monkeypatch: pytest.MonkeyPatch) -> None:
    rules, rng = Rules.preset("classic"), Random(2)
    deck = random_deck(rng)
    player, conversation, state = _told(
        monkeypatch, rules, deck, (log := _log(rules, deck, 1, rng))[:8], 0, 1
    )
    assert len(log) > 8
    while state["seat"][0] != 0:
        step(state, rules, int(log[state["n_log"][0]]))
    conversation.choose = lambda request: request["legal"][0]
    view = decisions_of(state, rules).view(0)
    player.act(decisions_of(state, rules))
    request = conversation.messages[-1]
    assert request["legal"] == [action_text(action) for action in view.legal]
    for name in ("phase", "deadwood", "taken", "top", "pile", "stock_left", "known", "discards"):
        assert request[name] == getattr(view, name), name
    for name in ("declined", "seat", "dealer", "upcard", "limit", "scores"):
        assert request[name] == getattr(view, name), name
    assert re.fullmatch("[0-9a-f]{16}", request["random"])


# --- nothing else ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("rules", TABLES, ids=lambda rules: rules.label)
def test_hidden_cards_are_never_sent(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same hand over a deck in which the cards a seat never saw have changed places: the same bytes."""
    rng, n_moved = Random(11), 0
    record = as_records(rules.to_record())
    for _ in range(N_HANDS):
        deck, dealer = random_deck(rng), rng.randrange(rules.players)
        log = _log(rules, deck, dealer, rng)
        for seat in range(rules.players):
            for length in (rng.randrange(1, len(log)), len(log) - 1):
                whole = [*log[:length], N_ACTIONS]  # forfeited: all that is hidden stays hidden
                player, conversation, state = _told_forfeit(
                    monkeypatch, rules, deck, whole, seat, dealer
                )
                player.hand_over(view_of(state, rules, record, seat))
                unseen = unseen_by(state, rules, seat)
                hidden = [card for card in deck if unseen >> card & 1]
                moved = dict(zip(hidden, rng.sample(hidden, len(hidden)), strict=True))
                other = [moved.get(card, card) for card in deck]
                n_moved += other != deck
                player, again, state = _told_forfeit(monkeypatch, rules, other, whole, seat, dealer)
                player.hand_over(view_of(state, rules, record, seat))
                assert again.sent == conversation.sent
    assert n_moved > 0


def _told_forfeit(
    monkeypatch: pytest.MonkeyPatch,
    rules: Rules,
    deck: list[int],
    log: list[int],
    seat: int,
    dealer: int,
) -> tuple[ProcessPlayer, Conversation, NDArray[np.void]]:
    """As `_told`, for a log that ends with an illegal action, which is nobody's word."""
    player, conversation, state = _told(monkeypatch, rules, deck, log[:-1], seat, dealer)
    step(state, rules, log[-1])
    return player, conversation, state


# --- answers --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"null", b"[]", b"7", b'"move"', b"{}", b'{"type":"hello"}', b"NaN", b"9" * 5000),
        *(b'{"type":"move"}', b'{"type":"move","id":3}', b'{"type":"move","id":"3","move":"draw"}'),
        *(b'{"type":"move","id":3.5,"move":"draw"}', b'{"type":"move","id":3,"move":104}'),
        *(b'{"type":"move","id":1e999,"move":"draw"}', b'{"type":"move","id":true,"move":"draw"}'),
    ],
)
def test_lines_that_are_no_answer(line: bytes) -> None:
    with pytest.raises(messages.Nonsense) as caught:
        messages.read_move(line, 3)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_lines_that_are_answers() -> None:
    assert messages.read_move(b'{"type":"move","id":3,"move":"draw","why":1}\r', 3) == "draw"
    assert messages.read_move(b'{"type":"move","id":4,"move":"draw"}', 3) is None
    for number in (b"3.0", b"3e0", b"0.3e1"):  # as some languages write numbers
        assert messages.read_move(b'{"type":"move","id":%s,"move":"draw"}' % number, 3) == "draw"
    assert messages.read_hello(b'{"type":"hello"}') == ""
    for name in ('"\\u001b[31m"', "7", '"' + "x" * 65 + '"'):
        with pytest.raises(messages.Nonsense):
            messages.read_hello(b'{"type":"hello","name":%s}' % name.encode())


def test_moves_in_words_are_action_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(messages.ACTIONS.values()) == list(range(N_ACTIONS))
    rules = Rules.preset("classic")
    state = deal(rules, list(range(N_CARDS)), 0, 1)
    for said, action in (("take", 105), ("discard As", 0), ("Take", fault_action("illegal"))):
        player, _ = talker(monkeypatch, lambda request, said=said: said)
        assert player.act(decisions_of(state, rules)).tolist() == [action]


# --- the page -------------------------------------------------------------------------------------------
def _transcript(monkeypatch: pytest.MonkeyPatch) -> str:
    """The hand of docs/protocol.md: the program sits in seat 1, against knocker."""
    rules = Rules.preset("classic")
    player, conversation = talker(monkeypatch, simple_choose())
    rng = Random(TRANSCRIPT_SEED)
    state = deal(rules, random_deck(rng), 0, TRANSCRIPT_SEED)
    play_out(state, rules, [players.make("knocker"), player])
    player.close()
    arrows = {"program": "> ", "bot": "< "}
    return "".join(arrows[who] + line.decode() for who, line in conversation.lines)


TRANSCRIPT_SEED = 297


def test_the_pages_transcript_is_what_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "protocol.md").read_text()
    shown = re.findall(r"```text\n(> .*?)```", page, re.DOTALL)
    assert len(shown) == 1
    assert shown[0] == _transcript(monkeypatch)


def test_the_page_names_every_field(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "protocol.md").read_text()
    sections = dict(re.findall(r"\n### `(\w+)`.*?\n(.*?)(?=\n##)", page, re.DOTALL))
    for line in _transcript(monkeypatch).splitlines():
        message = json.loads(line[2:])
        if line.startswith("<"):
            continue
        for name in message:
            assert f"`{name}`" in sections[message["type"]], (message["type"], name)


# --- the example bots -----------------------------------------------------------------------------------
def _hands(command: list[str], rules: Rules, n_hands: int) -> list[bytes]:
    """The moves of hands between a bot and scripted players."""
    bot = ProcessPlayer(command, move_time=30.0, start_time=30.0)
    others = [players.make(name) for name in ("simple", "camper", "novice")]
    logs = []
    rng = Random(21)
    for k in range(n_hands):
        seated: list[Any] = others[: rules.players - 1]
        seated.insert(k % rules.players, bot)
        state = deal(rules, random_deck(rng), rng.randrange(rules.players), k)
        logs.append(play_out(state, rules, seated))
        assert state["ending"][0] != 6, bot.last_trouble
    assert not bot.last_trouble
    assert bot.said_name == "simple_bot"
    bot.close()
    return logs


@pytest.mark.parametrize("rules", [TABLES[0], TABLES[3]], ids=lambda rules: rules.label)
def test_example_bots_play_legally_and_alike(rules: Rules) -> None:
    pytest.importorskip("psutil")
    bots = ROOT / "examples" / "bots"
    n_hands = 20 if PLAIN else 150
    logs = _hands([sys.executable, "-S", str(bots / "simple_bot.py")], rules, n_hands)
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    assert _hands([node, str(bots / "simple_bot.mjs")], rules, n_hands) == logs
