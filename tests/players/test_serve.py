"""A player that is served plays as it does at home, and is asked the same."""

from __future__ import annotations

import io
import json
import sys
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from okgin_env import Rules, players
from okgin_env.cli.serve import rebuilt, serve
from okgin_env.kernel import batch
from okgin_env.kernel.jit import PLAIN
from okgin_env.kernel.state import STATE
from okgin_env.layout import OVER
from okgin_env.players import Decisions, ProcessPlayer
from okgin_env.view import action_text
from tests.helpers.hidden import TABLES
from tests.helpers.random_tables import random_deck
from tests.helpers.talking import deal, decisions_of, play_out, step, talker

UNTOLD = ("seat_rng", "n_hands", "boxes", "match_points")


def _same(real: Decisions, made: Decisions) -> None:
    """Checks a decision that was rebuilt from messages against the real one."""
    assert STATE.names is not None
    for record in (real.records, made.records):
        record["pile"][0, record["n_pile"][0] :] = -1  # where cards lay that have been taken
    for name in STATE.names:
        if name not in UNTOLD:
            assert (real.records[name] == made.records[name]).all(), name
    assert (real.masks == made.masks).all()
    assert (real.words == made.words).all()
    assert (real.seats == made.seats).all()
    assert real.match == made.match
    assert real.observations.tolist() == made.observations.tolist()


@pytest.mark.parametrize("rules", TABLES, ids=lambda rules: rules.label)
def test_decisions_are_rebuilt_exactly(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """All seats are asked through their own program's messages, and everything said to a player is compared."""
    rng, n_asked = Random(4), 0
    policies = [players.make(name) for name in ("random", "camper", "knocker", "careful")]
    chosen: list[int] = []
    for hand in range(2 if PLAIN else 8):
        state = deal(rules, random_deck(rng), rng.randrange(rules.players), hand)
        state["scores"][0, : rules.players] = [rng.randrange(90) for _ in range(rules.players)]
        seated = [
            talker(monkeypatch, lambda request: action_text(chosen[-1]))
            for _ in range(rules.players)
        ]
        while state["phase"][0] != OVER:
            seat = int(state["seat"][0])
            match = hand % 2 == 1 and rules.target is not None
            real = decisions_of(state, rules, episode=batch.MATCH if match else batch.HAND)
            assert real.match == match
            chosen.append(int(policies[(seat + hand) % 4].act(real)[0]))
            player, conversation = seated[seat]
            assert player.act(real).tolist() == chosen[-1:]
            messages = conversation.messages
            events = [m for m in messages if m["type"] == "event"]
            _same(real, rebuilt(rules, messages[-1], events))
            n_asked += 1
            step(state, rules, chosen[-1])
    assert n_asked > 20


@pytest.mark.parametrize("name", ["knocker", "random"])
def test_a_served_player_plays_the_same_hands(name: str) -> None:
    pytest.importorskip("psutil")
    command = [sys.executable, "-m", "okgin_env", "serve", name]
    served = ProcessPlayer(command, move_time=60.0, start_time=120.0)
    logs = []
    for player in (served, players.make(name)):
        rng = Random(6)
        rules = Rules.preset("french", 3)
        others = [players.make("simple"), players.make("hunter")]
        hands = []
        for k in range(3 if PLAIN else 30):
            seated: list[Any] = [*others]
            seated.insert(k % 3, player)
            hands.append(play_out(deal(rules, random_deck(rng), k % 3, k), rules, seated))
        logs.append(hands)
    assert logs[0] == logs[1]
    assert not served.last_trouble
    assert served.said_name == name
    served.close()


class Noisy(players.Bot):
    """Prints, as one does."""

    def choose(self, view: Any, rng: np.random.Generator) -> int:
        print("thinking about", view.hand)
        return view.legal[0]


def test_what_a_served_player_prints_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = Rules.preset("classic")
    player, conversation = talker(monkeypatch, lambda request: request["legal"][0])
    state: NDArray[np.void] = deal(rules, list(range(52)), 0, 1)
    player.act(decisions_of(state, rules))
    out = io.StringIO()
    lines = [json.dumps(message) for message in conversation.messages]
    serve(Noisy(), lines, out)
    answers = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [answer["type"] for answer in answers] == ["hello", "move"]
    assert answers[0]["name"] == "Noisy"
    assert answers[1]["move"] == "take"
    captured = capsys.readouterr()
    assert not captured.out
    assert captured.err.startswith("thinking about")


def test_a_player_that_cannot_be_made_is_told_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    from okgin_env.cli.main import main

    assert main(["serve", "nobody"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("okgin serve: player 'nobody'; allowed: ")
    assert error.count("\n") == 1
