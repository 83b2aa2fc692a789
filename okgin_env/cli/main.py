"""``python -m okgin_env COMMAND``: which command there is for what, and where it is."""

from __future__ import annotations

import importlib
import sys

PROG = "python -m okgin_env"
COMMANDS = {
    "play": "you against any player, in the terminal",
    "serve": "lends a player to a table elsewhere, as a program (docs/protocol.md)",
    "train": "trains a player (extra: train)",
    "refine": "makes a trained player stronger with hindsight (extra: train)",
    "evaluate": "says who is better, and by how much (extra: arena)",
}
"""What each command does; it is the module of `okgin_env.cli` of its name."""


def main(argv: list[str] | None = None) -> int:
    """Runs a command; returns the exit status."""
    words = sys.argv[1:] if argv is None else argv
    if words and words[0] in COMMANDS:
        command = importlib.import_module(f"okgin_env.cli.{words[0]}")
        return command.main(words[1:], prog=f"{PROG} {words[0]}")
    listed = "\n".join(f"  {name:10}{text}" for name, text in COMMANDS.items())
    usage = f"usage: {PROG} COMMAND ...\n\nOklahoma Gin from the command line.\n\n{listed}\n\n{PROG} COMMAND --help says more."
    if words and words[0] in ("-h", "--help"):
        print(usage)
        return 0
    if words:
        print(f"{PROG}: {words[0][:80]!r}; allowed: {', '.join(COMMANDS)}", file=sys.stderr)
    else:
        print(usage)
    return 2
