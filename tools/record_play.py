"""Records the terminal session of docs/playing.md: a whole match from a seed, by entries.

    python -m tools.record_play > session.txt

The first entries are those of `FIRST`; after them the person follows the hint player without asking.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from okgin_env import Rules, players
from okgin_env.cli.entry import typed
from okgin_env.cli.session import Session

SEED = 33
AGAINST = "careful"
FIRST = ("help", "p", "hint", "7x", "Kh", "d", "undo", "Jc", "undo", "8c")


class Seat:
    """A person who types the entries given and then follows the hint player; it keeps the screen.

    Attributes:
        lines: What the terminal shows, prompts and entries included.
        session: The session it sits in.
    """

    def __init__(self, entries: Sequence[str] = ()) -> None:
        self.entries = list(entries)
        self.lines: list[str] = []
        self.session: Session | None = None

    def read(self, prompt: str) -> str:
        """The next entry."""
        assert self.session is not None
        entry = self.entries.pop(0) if self.entries else typed(self.session.advice())
        self.lines.append(f"{prompt}{entry}".rstrip())
        return entry

    def say(self, text: str) -> None:
        """Keeps what is shown."""
        self.lines += text.split("\n")


def record(
    rules: Rules, against: Sequence[str], seed: int, entries: Sequence[str] = (), **more: Any
) -> Seat:
    """Plays a session to its end."""
    seat = Seat(entries)
    made = [players.make(name) for name in against]
    read: Callable[[str], str] = more.pop("read", seat.read)
    hinter = players.make(more.pop("hinter", "camper"))
    seat.session = Session(rules, made, hinter, seed=seed, read=read, say=seat.say, **more)
    seat.session.run()
    return seat


if __name__ == "__main__":
    print("\n".join(record(Rules.preset("classic"), [AGAINST], SEED, FIRST).lines))
