"""Fingerprints of players, so that stored results are not mixed with those of another player of the same name."""

from __future__ import annotations

import dataclasses
import hashlib
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from okgin_env.kernel.policies import EXTERNAL
from okgin_env.players.base import Player
from okgin_env.players.network import NetworkPlayer
from okgin_env.players.subprocess.player import ProcessPlayer


@lru_cache
def kernel_digest() -> str:
    """Digest of the sources that decide every game: the kernel and the layout."""
    folder = Path(__file__).parents[2] / "kernel"
    return _digest(
        *(path.read_bytes() for path in sorted([*folder.glob("*.py"), folder.parent / "layout.py"]))
    )


def fingerprint(player: Player) -> str:
    """A digest of what decides a player's hands: the kernel, and its policy, weights, program files, or class and settings.

    Of a class that is the file it stands in, and of its settings plain values, arrays and what is made of them. A player may
    say it itself by a string called `fingerprint`, or name more files that decide its moves in `fingerprint_files`.
    """
    if player.fingerprint is not None:
        return player.fingerprint
    return _digest(kernel_digest().encode(), *_parts(player))


def _parts(player: Player) -> list[bytes]:
    """The parts of a player, besides the kernel."""
    if isinstance(player, NetworkPlayer):
        parts = [part.tobytes() for part in (*player.weights, *player.biases)]
        return [b"network", player.activation.encode(), *parts]
    if player.kernel_policy != EXTERNAL:
        return [b"kernel", str(player.kernel_policy).encode()]
    if isinstance(player, ProcessPlayer):
        words = (*player.command, f"{player.move_time} s")
        files = [Path(word) for word in player.command if Path(word).is_file()]
        return [b"program", *(word.encode() for word in words), *(f.read_bytes() for f in files)]
    kind = type(player)
    more = [Path(file).read_bytes() for file in player.fingerprint_files]
    named = [b"class", kind.__qualname__.encode(), _source(kind)]
    return [*named, *more, *_setting(_attributes(player))]


def _attributes(player: Player) -> dict[str, Any]:
    """The attributes of a player, also where its class has slots, without fields that its dataclass does not compare."""
    if dataclasses.is_dataclass(player):
        aside = {field.name for field in dataclasses.fields(player) if not field.compare}
    else:
        aside = set()
    slots = [name for kind in type(player).__mro__ for name in getattr(kind, "__slots__", ())]
    found = {name: getattr(player, name) for name in slots if hasattr(player, name)}
    found |= getattr(player, "__dict__", {})
    return {name: value for name, value in found.items() if name not in aside}


def _setting(value: Any) -> Iterator[bytes]:
    """A setting as bytes; nothing of an object that is none, such as a module or a generator."""
    if value is None or isinstance(value, (int, float, str, bytes, Path, np.generic)):
        yield repr(value).encode()
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        yield from (f"{value.dtype} {value.shape}".encode(), value.tobytes())
    elif isinstance(value, dict):
        yield from _setting(sorted(value.items(), key=lambda item: repr(item[0])))
    elif isinstance(value, (list, tuple)):
        yield f"{len(value)} entries".encode()
        for entry in value:
            yield from _setting(entry)
    elif isinstance(value, Player) and not isinstance(value, type):
        yield fingerprint(value).encode()


def _source(kind: type) -> bytes:
    """The file a class stands in, or nothing where there is none."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return Path(file).read_bytes() if file and Path(file).is_file() else kind.__module__.encode()


def _digest(*parts: bytes) -> str:
    sha = hashlib.sha256()
    for part in parts:
        sha.update(len(part).to_bytes(8, "little") + part)
    return sha.hexdigest()[:16]
