"""``okgin COMMAND``: which command there is for what, and where it is."""

from __future__ import annotations

import importlib
import sys

from okgin_env import __version__

PROG = "okgin"
COMMANDS = {
    "play": "you against any player, in the terminal",
    "watch": "players against each other, move by move",
    "train": "trains a player (extra: train)",
    "refine": "makes a trained player stronger with hindsight (extra: train)",
    "evaluate": "says who is better, and by how much (extra: arena)",
    "serve": "lends a player to a table elsewhere, as a program (docs/protocol.md)",
    "warm": "compiles the game ahead of time",
}
"""What each command does; it is the module of `okgin_env.cli` of its name."""


def main(argv: list[str] | None = None) -> int:
    """Runs a command; returns the exit status."""
    words = sys.argv[1:] if argv is None else argv
    if words and words[0] in COMMANDS:
        command = importlib.import_module(f"okgin_env.cli.{words[0]}")
        return command.main(words[1:], prog=f"{PROG} {words[0]}")
    listed = "\n".join(f"  {name:10}{text}" for name, text in COMMANDS.items())
    usage = f"""usage: {PROG} COMMAND ...

Oklahoma Gin from the command line.

{listed}

{PROG} COMMAND --help says more, {PROG} --version which version this is."""
    if words[:1] == ["--version"]:
        print(f"okgin-env {__version__}")
        return 0
    if not words or words[0] in ("-h", "--help"):
        print(usage)
        return 0 if words else 2
    print(f"{PROG}: {words[0][:80]!r}; allowed: {', '.join(COMMANDS)}", file=sys.stderr)
    return 2
