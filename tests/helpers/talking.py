"""Hands played in the open, and a program that is none: what is sent to it is kept, and a function answers."""

from __future__ import annotations

import itertools
import json
import runpy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from okgin_env import Rules
from okgin_env.engine.decisions import answer, ask, view_of
from okgin_env.kernel import batch, play
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import OVER
from okgin_env.players import Decisions, ProcessPlayer
from okgin_env.players.subprocess import player as process

ROOT = Path(__file__).parents[2]
ONE = np.zeros(1, np.int64)
Answers = Callable[[dict], str]
_TALKING: dict[str, Any] = {}  # every conversation, by the argument of its command


def simple_choose() -> Answers:
    """The function that decides in examples/bots/simple_bot.py."""
    return runpy.run_path(str(ROOT / "examples" / "bots" / "simple_bot.py"))["choose"]


class Conversation:
    """Takes the place of `Program`: all that was said, and a function that answers requests."""

    is_ours = True
    stderr = b""

    def __init__(self, choose: Answers) -> None:
        self.choose = choose
        self.lines: list[tuple[str, bytes]] = []  # "program" or "bot", and what it said
        self.waiting: list[bytes] = []

    @property
    def sent(self) -> bytes:
        return b"".join(line for who, line in self.lines if who == "program")

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(line) for who, line in self.lines if who == "program"]

    def send(self, data: bytes) -> None:
        for line in data.splitlines(keepends=True):
            assert len(line) < 1 << 16
            self.lines.append(("program", line))
            message = json.loads(line)
            if message["type"] == "hello":
                self._say({"type": "hello", "name": "example"})
            elif message["type"] == "request":
                move = self.choose(message)
                self._say({"type": "move", "id": message["id"], "move": move})

    def _say(self, message: dict) -> None:
        line = json.dumps(message, separators=(",", ":")).encode()
        self.lines.append(("bot", line + b"\n"))
        self.waiting.append(line)

    def line(self, deadline: float) -> bytes:
        return self.waiting.pop(0)

    def listen_afresh(self) -> None:
        pass

    def wait_end(self, deadline: float) -> None:
        pass

    def stop(self) -> None:
        pass


def talker(monkeypatch: pytest.MonkeyPatch, choose: Answers) -> tuple[ProcessPlayer, Conversation]:
    """A `ProcessPlayer` whose program is a `Conversation`; ids count from 1."""
    conversation = Conversation(choose)
    numbers = itertools.count(1)
    monkeypatch.setattr(process, "Program", lambda command: _TALKING[command[1]])
    monkeypatch.setattr(process.secrets, "randbits", lambda n: next(numbers))
    name = str(len(_TALKING))
    _TALKING[name] = conversation
    pytest.importorskip("psutil")
    return ProcessPlayer(["sh", name]), conversation


def deal(rules: Rules, deck: Sequence[int], dealer: int, seed: int) -> NDArray[np.void]:
    """A (1,) state with a given deck dealt."""
    state = new_states(1)
    batch.seed_games(state, ONE, np.array([seed], np.uint64))
    decks, dealers = np.array([deck], np.int8), np.array([dealer])
    batch.deal_games(state, ONE, as_records(rules.to_record()), decks, dealers)
    return state


def decisions_of(
    state: NDArray[np.void], rules: Rules, seat: int | None = None, episode: int = batch.HAND
) -> Decisions:
    """What the seat to move, or another, is asked."""
    seats = np.array([state["seat"][0] if seat is None else seat], np.int64)
    return ask(state, ONE, rules, as_records(rules.to_record()), seats, episode)


def step(state: NDArray[np.void], rules: Rules, action: int) -> None:
    play.step(state[0], as_records(rules.to_record())[0], action)


def play_out(state: NDArray[np.void], rules: Rules, seated: Sequence[Any]) -> bytes:
    """Plays a hand to its end, one player a seat, and tells those who listen; returns the log of its moves."""
    while state["phase"][0] != OVER:
        player = seated[int(state["seat"][0])]
        step(state, rules, int(answer(player, decisions_of(state, rules))[0]))
    record = as_records(rules.to_record())
    for seat, player in enumerate(seated):
        if hasattr(player, "hand_over"):
            player.hand_over(view_of(state, rules, record, seat, reveal=True))
    return state["log"][0, : state["n_log"][0]].tobytes()
