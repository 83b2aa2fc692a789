"""Readers of strangers' bytes, as targets: good inputs, and a function that takes any.

A target may raise a ValueError in one line and nothing else. What it takes must come back the same from its own text.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import resource
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from okgin_env import Rules, cards, players, positions
from okgin_env.cli.serve import serve
from okgin_env.engine.decisions import ask
from okgin_env.histories import files, parsing
from okgin_env.kernel import batch, play
from okgin_env.kernel.state import STATE, as_records, new_states
from okgin_env.layout import N_ACTIONS, N_CARDS, OVER
from okgin_env.players.network import NetworkPlayer
from okgin_env.players.subprocess import memory, messages
from tests.helpers.absurd import one_line
from tests.helpers.networks import network_file
from tests.helpers.paths import PLAYTHROUGHS

_ONE = np.zeros(1, np.int64)
MOST_MEMORY = (
    1 << 30
)  # by which one input may make the process grow: model files may unpack to half of it


@dataclass(frozen=True)
class Target:
    """Something that reads what strangers wrote.

    Attributes:
        read: Takes any bytes; a ValueError is its way to refuse them.
        seeds: Makes good inputs.
    """

    read: Callable[[bytes], object]
    seeds: Callable[[], list[bytes]]


@cache
def _folder() -> Path:
    """A folder for files that are read by name; it goes with the process."""
    _folder.kept = tempfile.TemporaryDirectory(prefix="fuzz-")  # pyright: ignore
    return Path(_folder.kept.name)  # pyright: ignore


def _file(name: str, content: bytes) -> Path:
    path = _folder() / name
    path.write_bytes(content)
    return path


# --- cards and rules ----------------------------------------------------------------------------------
def read_cards(data: bytes) -> None:
    found = cards.ids(data.decode(errors="replace"))
    assert cards.ids(cards.text(found)) == found
    assert cards.mask(cards.text(found)) == sum(1 << card for card in found)


def read_rules(data: bytes) -> None:
    rules = Rules.from_label(data.decode(errors="replace"))
    assert Rules.from_label(rules.label) == rules
    rules.to_record()


# --- hands --------------------------------------------------------------------------------------------
def read_histories(data: bytes) -> None:
    for hand in files.scan(_file("a.okgin", data)):
        assert parsing.parse(hand.to_text()).to_text() == hand.to_text()
        hand.final()


def _hands() -> list[bytes]:
    text = PLAYTHROUGHS.read_text()
    hands = [f"{hand.strip()}\nend\n" for hand in text.split("\nend\n")[:6]]
    return ["\n".join(hands[k : k + 2]).encode() for k in range(5)]


def read_state(data: bytes) -> None:
    """A saved record: refused, or played on to its end as any other."""
    rules = Rules.preset("classic", 2)
    record = as_records(rules.to_record())
    states = as_records(positions.check_state(data, rules))
    mask, table = np.zeros(N_ACTIONS, np.int8), np.zeros(N_CARDS, np.int16)
    while states["phase"][0] != OVER:
        ask(states, _ONE, rules, record, states["seat"].astype(np.int64), batch.MATCH)
        play.legal(states[0], record[0], mask, table)
        legal = np.flatnonzero(mask)
        play.step(states[0], record[0], int(legal[int(states["n_log"][0]) % len(legal)]))


def _states() -> list[bytes]:
    rules = Rules.preset("classic", 2)
    record = as_records(rules.to_record())
    states = new_states(4)
    batch.seed_games(states, np.arange(4), np.arange(4, dtype=np.uint64))
    batch.begin_games(states, np.arange(4), record)
    for k in range(4):
        for action in (106, 106)[: k % 3]:
            play.step(states[k], record[0], action)
    assert states.dtype == STATE
    return [state.tobytes() for state in states]


# --- protocol -----------------------------------------------------------------------------------------
def read_protocol(data: bytes) -> None:
    """Both answers of a program; the move is None, or text that is looked up."""
    for read in (messages.read_hello, lambda line: messages.read_move(line, 3)):
        try:
            read(data)
        except messages.Nonsense as error:
            one_line(error)


def read_served(data: bytes) -> None:
    serve(players.make("camper"), data.decode(errors="replace").splitlines(), io.StringIO())


def _told() -> list[bytes]:
    """What a table says to a program from hello to a request, for 2 and 3 players."""
    return [b"".join(_lines(seats, steps)) for seats, steps in ((2, 0), (2, 7), (3, 12))]


def _lines(seats: int, steps: int) -> Iterator[bytes]:
    rules = Rules.preset("french", seats)
    record = as_records(rules.to_record())
    states, player = new_states(1), players.make("camper")
    batch.seed_games(states, _ONE, np.full(1, seats, np.uint64))
    batch.begin_games(states, _ONE, record)
    for _ in range(steps):
        asked = ask(states, _ONE, rules, record, states["seat"].astype(np.int64), batch.MATCH)
        play.step(states[0], record[0], int(player.act(asked)[0]))
    asked = ask(states, _ONE, rules, record, states["seat"].astype(np.int64), batch.MATCH)
    view = asked.view(0)
    story = memory.Memory().story(view)
    yield messages.line(messages.hello(rules, 1.0))
    yield messages.line(messages.hand(story, 1))
    yield from (messages.line(messages.event(move)) for move in story.moves)
    yield messages.line(messages.request(view, 1, None, 77, True))


# --- networks -----------------------------------------------------------------------------------------
def read_weights(data: bytes) -> None:
    NetworkPlayer.load(_file("a.safetensors", data))


# --- all of them --------------------------------------------------------------------------------------
TARGETS = {
    "cards": Target(read_cards, lambda: [b"As 2s Td Kc", b"7h"]),
    "rules": Target(
        read_rules,
        lambda: [b"classic", b"french(players=3, target=None)", b"gin(gin_bonus=20, shutout=True)"],
    ),
    "histories": Target(read_histories, _hands),
    "state": Target(read_state, _states),
    "protocol": Target(
        read_protocol,
        lambda: [b'{"type":"hello","name":"x"}', b'{"type":"move","id":3,"move":"draw"}'],
    ),
    "served": Target(read_served, _told),
    "weights": Target(
        read_weights,
        lambda: [network_file(), network_file("float16")],
    ),
}
if importlib.util.find_spec("torch") and importlib.util.find_spec(
    "rich"
):  # else these are not read at all
    from tests.helpers.parsers_files import FILES

    TARGETS |= {name: Target(*parts) for name, parts in FILES.items()}


class Finding(AssertionError):
    """Something other than a ValueError in one line."""


def read(name: str, data: bytes) -> None:
    """Gives one input to a target.

    Raises:
        ValueError: It is refused as it should be.
        Finding: Anything else goes wrong, or it fills the memory.
    """
    before = _peak()
    try:
        TARGETS[name].read(data)
    except ValueError as error:
        try:
            one_line(error)
        except AssertionError as wrong:
            raise Finding(f"{name}: {wrong}\n  {data!r}") from None
        raise
    except BaseException as error:
        raise Finding(f"{name}: {type(error).__name__}: {error}\n  {data!r}") from error
    finally:
        if _peak() - before > MOST_MEMORY:
            raise Finding(f"{name}: over {MOST_MEMORY >> 20} MiB for one input\n  {data!r}")


def is_taken(name: str, data: bytes) -> bool:
    """Whether a target takes an input, which else is refused as it should be."""
    with contextlib.suppress(ValueError):
        read(name, data)
        return True
    return False


def _peak() -> int:
    """The most memory that this process has had, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
