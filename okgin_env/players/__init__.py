"""Players: scripted, learned, or your own, all of one base class (`Player`)."""

from __future__ import annotations

import importlib
from pathlib import Path

from okgin_env.kernel.policies import POLICIES
from okgin_env.players.base import Bot, Decisions, Player
from okgin_env.players.expert import EXPERT, ExpertPlayer
from okgin_env.players.network import NetworkPlayer
from okgin_env.players.scripted import ScriptedPlayer
from okgin_env.players.search import SearchPlayer
from okgin_env.players.subprocess.player import ProcessPlayer
from okgin_env.utils.errors import shown, told

__all__ = [
    "DESCRIPTIONS",
    "Bot",
    "Decisions",
    "ExpertPlayer",
    "NetworkPlayer",
    "Player",
    "ProcessPlayer",
    "ScriptedPlayer",
    "SearchPlayer",
    "make",
    "names",
]

DESCRIPTIONS = {
    **{policy.name: policy.description for policy in POLICIES},
    "expert": "a trained network, for two seats: the strongest that does not look ahead",
    "search": "plays moves out in imagined worlds: search:1024, search:256,base=expert (docs/players.md)",
}
OTHERS = (
    "a model file (.zip of stable-baselines3, .safetensors); only its numbers are read, no code is run",
    "package.module:Class for a class of your own (its module is imported, and so runs its code)",
    "cmd: and a command line for a program in any language (docs/protocol.md)",
)
MODEL_SUFFIXES = (".zip", ".safetensors")
PROGRAM = "cmd:"
SEARCH = "search"


def names() -> list[str]:
    """The scripted players' names."""
    return [policy.name for policy in POLICIES]


def listed() -> str:
    """Everything that can be a player, a line each, for the help of a command line."""
    rows = [f"  {name:8} {text}" for name, text in DESCRIPTIONS.items()]
    return "\n".join([*rows, *(f"  {line}" for line in OTHERS)])


def runs_code(spec: str) -> bool:
    """Whether making a player from a spec, or playing it, runs code that the spec names: a program or a class."""
    built_in = spec == SEARCH or spec.startswith(f"{SEARCH}:") or spec.endswith(MODEL_SUFFIXES)
    return spec.startswith(PROGRAM) or (":" in spec and not built_in)


def make(spec: str | Path | Player, *, move_time: float = 1.0) -> Player:
    """A player from its spec.

    Args:
        spec: A scripted player's name, ``expert``, ``search`` with or without options (``search:1024,threads=2``), a model file
            (``.safetensors`` or stable-baselines3's ``.zip``), ``package.module:Class`` for a class of your own, ``cmd:``
            and a command line for a program in any language (docs/protocol.md), or a `Player` object, which is
            returned as it is. A module that is named is imported, and so runs its code;
            a program is started at its first decision; model files run no code.
        move_time: Seconds a program has for a decision.

    Raises:
        ValueError: No such name, module, class or program, or a file that holds no model.
        FileNotFoundError: The model file is missing.
        ImportError: The extra that such a player needs is not installed.
    """
    if isinstance(spec, Path):
        spec = str(spec)
    if not isinstance(spec, str):
        if isinstance(spec, Player):
            return spec
        raise ValueError(
            f"player {shown(spec)}; allowed: a name, a file, or an object of a class derived from "
            "okgin_env.players.Player (or Bot)"
        )
    if spec in names():
        return ScriptedPlayer(spec)
    if spec == EXPERT:
        return ExpertPlayer()
    if spec == SEARCH or spec.startswith(f"{SEARCH}:"):
        return SearchPlayer.parse(spec.removeprefix(SEARCH).removeprefix(":"))
    if spec.startswith(PROGRAM):
        return ProcessPlayer(spec.removeprefix(PROGRAM), move_time)
    if spec.endswith(MODEL_SUFFIXES):
        return NetworkPlayer.load(Path(spec))
    if ":" in spec:
        return _imported(spec)
    raise ValueError(
        f"player {shown(spec)}; allowed: {', '.join(names())}, {EXPERT}, search:WORLDS, a file ending in "
        f"{' or '.join(MODEL_SUFFIXES)}, package.module:Class, or cmd: and a command"
    )


def _imported(spec: str) -> Player:
    """A player from ``package.module:Class``."""
    module_name, _, class_name = spec.partition(":")
    try:
        player = getattr(importlib.import_module(module_name), class_name)()
    except (Exception, SystemExit) as error:  # whatever somebody's module does when it is imported
        raise ValueError(f"player {shown(spec)} cannot be made: {told(error)}") from error
    if not isinstance(player, Player):
        raise ValueError(
            f"player {shown(spec)} is no Player; allowed: a class derived from okgin_env.players.Player (or Bot)"
        )
    return player
