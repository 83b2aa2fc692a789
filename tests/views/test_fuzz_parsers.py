"""Damaged input to every reader of strangers' bytes; `tools/fuzz_parsers.py` looks further, led by coverage."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from okgin_env import Rules, cards, players
from okgin_env.cli.serve import serve
from okgin_env.players.subprocess import messages
from tests.helpers import parsers
from tests.helpers.damage import damaged


@pytest.mark.parametrize("name", parsers.TARGETS)
@settings(max_examples=16 * settings().max_examples)
@given(choice=st.data())
def test_damaged_input_is_refused_in_one_line(name: str, choice: st.DataObject) -> None:
    seeds = parsers.TARGETS[name].seeds()
    parsers.is_taken(name, choice.draw(damaged(seeds)))


@pytest.mark.parametrize("name", parsers.TARGETS)
def test_good_input_is_taken(name: str) -> None:
    for data in parsers.TARGETS[name].seeds():
        parsers.read(name, data)


def _breaks(error: BaseException) -> Callable[[bytes], object]:
    def read(data: bytes) -> None:
        raise error

    return read


@pytest.mark.parametrize(
    "error", [KeyError("x"), ValueError("a\nb"), ValueError(""), MemoryError(), ValueError("x" * 3000)]
)  # fmt: skip
def test_anything_else_is_a_finding(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    target = parsers.Target(_breaks(error), lambda: [b""])
    monkeypatch.setitem(parsers.TARGETS, "cards", target)
    with pytest.raises(parsers.Finding):
        parsers.read("cards", b"")


# --- found by it ----------------------------------------------------------------------------------------
def test_a_refusal_does_not_repeat_endless_input() -> None:
    for call in (cards.ids, Rules.from_label, Rules.preset):
        with pytest.raises(ValueError, match="allowed") as caught:
            call("classic" + "[" * 100_000)
        assert len(str(caught.value)) < 300


def _told() -> list[dict]:
    return [json.loads(line) for line in parsers.TARGETS["served"].seeds()[1].splitlines()]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seat": 100}, "seat=100; allowed: 0 to 1"),
        ({"seat": -1}, "seat=-1; allowed: 0 to 1"),
        ({"dealer": 7}, "dealer=7; allowed: 0 to 1"),
        ({"limit": 90}, "limit=90; allowed: 0 to 10"),
        ({"stock_left": 50}, "the 52 cards once each"),
        ({"stock_left": -5}, "next_card=57; allowed: 0 to 49"),
        ({"cards": ["As"]}, "hands: seat . has 1 cards; allowed: 10"),
        ({"phase": "over"}, "phase=3; allowed: 0 to 2"),
        ({"scores": [1, 2, 3]}, "scores|shape"),
        ({"scores": {}}, "scores={}; allowed: as docs/protocol.md has it"),
        ({"phase": "x"}, "phase='x'; allowed: offer, draw, discard, over"),
        ({"random": "f" * 40}, "OverflowError"),
        ({"taken": "Ks"}, "the card taken is not in the hand"),
        ({"pile": None}, "bad cards None"),
    ],
)
def test_a_request_that_no_hand_makes_is_refused(changes: dict, said: str) -> None:
    """Compiled code looks at no bounds, so nothing of the kind may reach it."""
    *before, request = _told()
    lines = [json.dumps(message) for message in (*before, request | changes)]
    with pytest.raises(ValueError, match=said) as caught:
        serve(players.make("camper"), lines, io.StringIO())
    assert str(caught.value).startswith("message ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [*messages.FIELDS, "id", "random"])
def test_a_request_that_lacks_a_field_is_refused_by_the_fields_name(name: str) -> None:
    *before, request = _told()
    lines = [json.dumps(m) for m in (*before, {k: v for k, v in request.items() if k != name})]
    out = io.StringIO()
    if not messages.FIELDS.get(name, messages.Field(record=name)).record and name != "cards":
        serve(players.make("camper"), lines, out)  # it follows from others
        assert '"type": "move"' in out.getvalue()
        return
    with pytest.raises(ValueError, match=rf"^message .*: {name} is missing; docs/protocol.md"):
        serve(players.make("camper"), lines, out)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[]", "no message; allowed: a JSON object"),
        ("{}", "type is missing"),
        ('{"type": "hello"}', "rules is missing"),
    ],
)
def test_a_line_that_is_no_message_is_refused(line: str, said: str) -> None:
    with pytest.raises(ValueError, match=f"^message .*: {said}"):
        serve(players.make("camper"), [line], io.StringIO())


def test_an_error_of_the_player_is_its_own() -> None:
    class Broken(players.Bot):
        name = "broken"

        def choose(self, view: object, rng: object) -> int:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        serve(Broken(), [json.dumps(message) for message in _told()], io.StringIO())
