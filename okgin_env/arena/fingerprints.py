"""What makes two players the same, so that stored results are not mixed with those of another of the same name."""

from __future__ import annotations

import hashlib
import shutil
import sys
from functools import lru_cache
from pathlib import Path

from okgin_env.kernel.policies import EXTERNAL
from okgin_env.players.base import Player, kernel_policy
from okgin_env.players.network import NetworkPlayer


@lru_cache
def kernel_digest() -> str:
    """Digest of the sources that decide every game: the kernel and the layout."""
    folder = Path(__file__).parent.parent / "kernel"
    return _digest(
        *(path.read_bytes() for path in sorted([*folder.glob("*.py"), folder.parent / "layout.py"]))
    )


def fingerprint(player: Player) -> str:
    """A digest of what a player is made of: policy and kernel, weights, program files, or its class's source file.

    A player may say it itself by a string called `fingerprint`.
    """
    own = getattr(player, "fingerprint", None)
    if isinstance(own, str):
        return own
    if isinstance(player, NetworkPlayer):
        parts = [part.tobytes() for part in (*player.weights, *player.biases)]
        return _digest(b"network", player.activation.encode(), *parts)
    if kernel_policy(player) != EXTERNAL:
        return _digest(b"kernel", str(kernel_policy(player)).encode(), kernel_digest().encode())
    command = getattr(player, "command", None)
    if command is not None:
        words = [str(word) for word in command]
        files = [Path(found) for word in words if (found := shutil.which(word) or word)]
        return _digest(
            b"program",
            *(word.encode() for word in words),
            *(f.read_bytes() for f in files[1:] if f.is_file()),
        )
    settings = repr(
        sorted((k, v) for k, v in vars(player).items() if isinstance(v, (int, float, str, bool)))
    )
    return _digest(
        b"class", type(player).__qualname__.encode(), _source(type(player)), settings.encode()
    )


def _source(kind: type) -> bytes:
    """The file a class stands in, or nothing where there is none."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return Path(file).read_bytes() if file and Path(file).is_file() else kind.__module__.encode()


def _digest(*parts: bytes) -> str:
    sha = hashlib.sha256()
    for part in parts:
        sha.update(len(part).to_bytes(8, "little") + part)
    return sha.hexdigest()[:16]
