"""``okgin serve``: a player of this package as a program that speaks docs/protocol.md.

A decision is rebuilt from the messages: the concealed record of the hand, hence its observation, its mask and its view, and
its random number. What no message tells stays blank in the record: the state of the seat's random stream, and how many hands of a
match are over and were won by whom. No player of this package looks at these.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from okgin_env import cards, players, positions
from okgin_env.engine.decisions import ask
from okgin_env.kernel import batch
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import DRAW_STOCK, DRAW_TOP, N_ACTIONS, PASS
from okgin_env.players import Decisions, Player
from okgin_env.players.subprocess.command import printable
from okgin_env.players.subprocess.messages import ACTIONS, FIELDS, MAX_NAME
from okgin_env.rules import Rules, as_rules
from okgin_env.utils.commands import run
from okgin_env.utils.errors import shown
from okgin_env.view import action_text

_ONE = np.zeros(1, np.int64)
Logged = list[tuple[int, int]]


def serve(player: Player, messages: Iterable[str], out: TextIO) -> None:
    """Answers messages until there are no more.

    Args:
        player: Who decides. What it prints goes to stderr; its `hand_over`, if it has one, is not called.
        messages: Lines of the protocol.
        out: Where the answers go.

    Raises:
        ValueError: A message is not what it should be.
    """
    rules = Rules()
    events: list[dict[str, Any]] = []
    for line in messages:
        asked, number = None, 0
        with _reading(line):
            message = json.loads(line, object_hook=_Message)
            if not isinstance(message, _Message):
                raise ValueError("no message; allowed: a JSON object")
            kind = message["type"]
            if kind == "hello":
                rules = as_rules(message["rules"])
            elif kind == "request":
                asked = rebuilt(rules, message, events)
                number = message["id"]
        if kind == "hello":
            with contextlib.redirect_stdout(sys.stderr):
                _warm_up(player, rules)
            _say(out, {"type": "hello", "name": printable(player.name)[:MAX_NAME]})
        elif kind == "hand":
            events = []
        elif kind == "event":
            events.append(message)
        elif asked is not None:
            with contextlib.redirect_stdout(sys.stderr):
                action = int(player.act(asked)[0])
            move = action_text(action) if 0 <= action < N_ACTIONS else f"action {action}"
            _say(out, {"type": "move", "id": number, "move": move})
        elif kind == "bye":
            return


class _Message(dict[str, Any]):
    """An object of JSON that says which field it lacks."""

    def __missing__(self, name: str) -> Any:
        raise ValueError(f"{name} is missing; docs/protocol.md lists the fields")


@contextlib.contextmanager
def _reading(line: str) -> Iterator[None]:
    """Makes one clear line of whatever a message that is not as it should be provokes."""
    try:
        yield
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError) as error:
        reason = (str(error).splitlines() or [""])[0][:300]
        if not isinstance(error, ValueError):
            reason = f"{type(error).__name__} {reason}"
        raise ValueError(f"message {line[:80]!r}: {reason}") from error


def rebuilt(rules: Rules, request: dict[str, Any], events: list[dict[str, Any]]) -> Decisions:
    """The decision that a request and the hand's events stand for."""
    record = _record(rules, request, _log(rules, events, request["dealer"]))
    seats = np.array([request["seat"]], np.int64)
    match = request.get("match", rules.target is not None)  # older programs do not tell
    if not isinstance(match, bool) or (match and rules.target is None):
        raise ValueError(f"match={shown(match)}; allowed: false, or true with a target")
    episode = batch.MATCH if match else batch.HAND
    asked = ask(record, _ONE, rules, as_records(rules.to_record()), seats, episode)
    word = np.array([int(request["random"], 16)], np.uint64)
    return dataclasses.replace(asked, records=record, words=word)


def _log(rules: Rules, events: list[dict[str, Any]], dealer: int) -> Logged:
    """The decisions among the events, as (seat, action id): the draw after the dealer's pass is none."""
    for event in events:
        if not isinstance(event["move"], str) or event["move"] not in ACTIONS:
            raise ValueError(f"move={shown(event['move'])}; allowed: such as 'discard Td'")
    log = [(event["seat"], ACTIONS[event["move"]]) for event in events]
    for mover, _ in log:
        positions.check_seat("seat", mover, rules)
    return [move for k, move in enumerate(log) if k == 0 or log[k - 1] != (dealer, PASS)]


def _record(rules: Rules, request: dict[str, Any], log: Logged) -> NDArray[np.void]:
    """The concealed (1,) `STATE` record of a request."""
    record = new_states(1)
    s = record[0]
    positions.check_seat("seat", request["seat"], rules)
    s["pile"] = s["deck"] = s["knocker"] = s["hand_winner"] = s["match_winner"] = -1
    for name, field in FIELDS.items():
        if field.record:
            try:
                value, n = field.value(request[name]), rules.players
                if isinstance(value, list):
                    s[field.record][: len(value) if name == "pile" else n] = value
                else:
                    s[field.record] = value
            except (TypeError, IndexError, OverflowError) as error:
                allowed = "as docs/protocol.md has it"
                raise ValueError(f"{name}={shown(request[name])}; allowed: {allowed}") from error
    s["n_pile"] = len(request["pile"])
    s["hands"] = s["known"]
    s["hands"][s["seat"]] = cards.mask(request["cards"])
    s["first_seat"] = log[0][0] if log else s["seat"]
    s["n_log"] = len(log)
    s["log"][: len(log)] = [action for _, action in log]
    for mover, action in log:
        s["n_acts"][mover] += 1
        s["n_sheds"][mover] += action not in (PASS, DRAW_STOCK, DRAW_TOP)
        s["n_passes"] += action == PASS
    positions.check_record(s, rules, concealed=True)
    return record


def _warm_up(player: Player, rules: Rules) -> None:
    """Loads what the first decision needs before its time runs: compiled code takes a moment."""
    state = new_states(1)
    record = as_records(rules.to_record())
    batch.begin_games(state, _ONE, record)
    decisions = ask(state, _ONE, rules, record, state["seat"].astype(np.int64), batch.HAND)
    _ = decisions.view(0).legal
    if player.kernel_policy >= 0:  # it keeps nothing, so it may be asked for nothing
        player.act(decisions)


def _say(out: TextIO, message: dict[str, Any]) -> None:
    print(json.dumps(message), file=out, flush=True)


def parser(prog: str) -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog,
        description="A player as a program that reads JSON lines and answers with moves (docs/protocol.md): "
        '"cmd:okgin serve mybots:Patient" seats a class of your own in a process of its own.',
    )
    made.add_argument("player", metavar="PLAYER", help="a player, as for play")
    return made


def main(argv: list[str] | None = None, prog: str = "serve") -> int:
    """Runs the command line; returns the exit status."""
    return run(
        parser(prog), lambda args: serve(players.make(args.player), sys.stdin, sys.stdout), argv
    )
