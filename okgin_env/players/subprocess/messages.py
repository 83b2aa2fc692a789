"""The messages of docs/protocol.md: views turned into lines of JSON, and a program's lines into moves."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from okgin_env import analysis, cards
from okgin_env.histories.moves import Move
from okgin_env.layout import N_ACTIONS, N_CARDS, PHASES
from okgin_env.players.subprocess.memory import Story
from okgin_env.rules import Rules
from okgin_env.utils.errors import check_choice
from okgin_env.view import SeatView, action_text

PROTOCOL = 1
MAX_NAME = 64
ACTIONS = {action_text(action): action for action in range(N_ACTIONS)}
"""Action ids by their words."""


class Nonsense(ValueError):
    """A line that is no message of the protocol."""


class Field(NamedTuple):
    """A field of a request that its seat sees on the table, and that may be read back into a record.

    Attributes:
        view: Its name in `SeatView`; empty: it is made.
        record: Its name in `kernel.state.STATE`; empty: it follows from others.
        value: What stands there for a value in a request.
    """

    view: str = ""
    record: str = ""
    value: Callable[[Any], Any] = lambda value: value


def _phase(name: str) -> int:
    check_choice("phase", name, PHASES)
    return PHASES.index(name)


def _masks(hands: list[list[str]]) -> list[int]:
    return [cards.mask(held) for held in hands]


FIELDS = {
    "phase": Field("phase", "phase", _phase),
    "legal": Field(),
    "cards": Field("hand"),
    "deadwood": Field("deadwood"),
    "drawn": Field(),
    "taken": Field("taken", "taken", lambda card: -1 if card is None else cards.card_id(card)),
    "top": Field("top"),
    "pile": Field("pile", "pile", cards.ids),
    "stock_left": Field("stock_left", "next_card", lambda left: N_CARDS - left),
    "turns": Field("n_turns", "n_turns"),
    "known": Field("known", "known", _masks),
    "discards": Field("discards", "discards", _masks),
    "declined": Field("declined", "declined", _masks),
    "seat": Field("seat", "seat"),
    "dealer": Field("dealer", "dealer"),
    "upcard": Field("upcard", "upcard", cards.card_id),
    "limit": Field("limit", "limit"),
    "scores": Field("scores", "scores"),
}
"""Fields of a request by name, in the order in which they are sent."""


# --- to the program -----------------------------------------------------------------------------------
def line(message: dict[str, Any]) -> bytes:
    """A message as it is sent."""
    text = json.dumps(message, separators=(",", ":"), default=lambda number: number.item())
    return text.encode() + b"\n"


def hello(rules: Rules, move_time: float) -> dict[str, Any]:
    """The first message."""
    return {
        "type": "hello",
        "protocol": PROTOCOL,
        "players": rules.players,
        "move_time": move_time,
        "rules": dataclasses.asdict(rules),
    }


def hand(story: Story, number: int) -> dict[str, Any]:
    """A hand begins."""
    return {"type": "hand", "number": number, **story.hand}


def event(move: Move) -> dict[str, Any]:
    """A seat has moved."""
    card = None if move.card is None else cards.card_text(move.card)
    return {"type": "event", "seat": move.seat, "move": action_text(move.action), "card": card}


def request(
    view: SeatView, number: int, drawn: int | None, word: int, match: bool
) -> dict[str, Any]:
    """A move is wanted.

    Args:
        view: The decision.
        number: The request's id.
        drawn: Id of the card just drawn from the stock, if it is known.
        word: The decision's random number, 64 bits.
        match: Whether the hand is one of a match.
    """
    made = {
        "legal": [action_text(action) for action in view.legal],
        "drawn": None if drawn is None else cards.card_text(drawn),
    }
    fields = {
        name: getattr(view, field.view) if field.view else made[name]
        for name, field in FIELDS.items()
    }
    return {
        "type": "request",
        "id": number,
        **fields,
        "match": match,
        "random": f"{word:016x}",
    }


def end(view: SeatView) -> dict[str, Any]:
    """A hand is over; `view` shows what is to be told of it."""
    message: dict[str, Any] = {
        "type": "end",
        "ending": view.ending,
        "knocker": view.knocker,
        "forfeited": view.to_move if view.ending == "illegal" else None,
        "points": view.points,
        "scores": view.scores,
        "deadwood": view.counted,
        "hands": view.hands,
        "melds": None,
        "laid_off": None,
    }
    if view.knocker is not None:
        shown = analysis.showdown(view.knocker, view.hands)
        message["melds"] = [[meld.split() for meld in seat.melds] for seat in shown]
        message["laid_off"] = [seat.laid_off.split() for seat in shown]
    return message


def bye() -> dict[str, Any]:
    """The last message."""
    return {"type": "bye"}


# --- from the program ---------------------------------------------------------------------------------
def read_hello(data: bytes) -> str:
    """The name a program gives itself in answer to hello; empty if it gives none.

    Raises:
        Nonsense: It is no such answer.
    """
    message = _message(data, "hello")
    name = message.get("name", "")
    if not isinstance(name, str) or len(name) > MAX_NAME or not name.isprintable():
        raise Nonsense(f"hello: name={name!r:.80}; allowed: up to {MAX_NAME} printable characters")
    return name


def read_move(data: bytes, number: int) -> str | None:
    """The move in an answer to request `number`; None in an answer to another one.

    Raises:
        Nonsense: It is no answer.
    """
    message = _message(data, "move")
    answered, move = message.get("id"), message.get("move")
    whole = isinstance(answered, int) or (isinstance(answered, float) and answered.is_integer())
    if not whole or isinstance(answered, bool):  # 7.0 is how some languages write 7
        raise Nonsense(f"move: id={answered!r:.80}; allowed: the number of the request")
    if not isinstance(move, str):
        raise Nonsense(f"move: move={move!r:.80}; allowed: one of the legal moves, as text")
    return move if answered == number else None


def _message(data: bytes, kind: str) -> dict[str, Any]:
    """A line as an object of the given type."""
    try:
        message = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Nonsense(f"{data!r:.80} is no JSON") from error
    if not isinstance(message, dict) or message.get("type") != kind:
        raise Nonsense(f'{data!r:.80}; allowed: {{"type": "{kind}", …}}')
    return message
