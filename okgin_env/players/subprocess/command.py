"""The checks of a program before it is ever started, and its command line as a name."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence

MOST_LETTERS = 100  # of a name, as everywhere


def need_psutil() -> None:
    """Checks that the programs of a bot can be found.

    Raises:
        ImportError: psutil is not installed.
    """
    try:
        import psutil  # noqa: F401
    except ImportError as error:
        raise ImportError("cmd: players need: pip install okgin-env[arena]") from error


def checked_command(command: str | Sequence[str]) -> tuple[str, ...]:
    """A command line (a text is split like a shell does) with its program's whole path.

    Raises:
        ValueError: There is no such program.
    """
    try:
        words = shlex.split(command) if isinstance(command, str) else [*command]
    except ValueError as error:
        raise ValueError(f"player 'cmd:{command}': {str(error).lower()}") from error
    if not words or not words[0]:
        raise ValueError("player 'cmd:'; allowed: cmd: and a command, as in 'cmd:./bot --flag'")
    found = shutil.which(words[0])
    if found is None:
        raise ValueError(
            f"player 'cmd:{shlex.join(words)}': there is no program {words[0]!r} that can be run"
        )
    return (os.path.abspath(found), *words[1:])


def short_command(command: Sequence[str]) -> str:
    """The command without folders, as a name: on one line, the middle of a long one left out."""
    words = " ".join(re.sub(r"[^=]*/", "", word) for word in command).split()
    name = printable(" ".join(words))
    return name if len(name) <= MOST_LETTERS else f"{name[:60].strip()}…{name[-38:].strip()}"


def printable(text: str) -> str:
    """A text that a terminal can be shown."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
