"""The quoting of values in errors, and the check of arguments that are one of a few words."""

from __future__ import annotations

from collections.abc import Sequence

MOST = 80  # characters of a value
LONGEST = 200  # of an error


def shown(value: object) -> str:
    """A value in one line of bounded length, whatever it is: an array, a page of text, or an endless list."""
    return " ".join(repr(value)[: 4 * MOST].split())[:MOST]


def told(error: BaseException) -> str:
    """The text of somebody else's error, in one line of bounded length; its type where it says nothing."""
    return " ".join(str(error)[: 4 * LONGEST].split())[:LONGEST] or type(error).__name__


def check_choice(name: str, value: object, allowed: Sequence[str | None]) -> None:
    """Checks that an argument is one of a few words.

    Raises:
        ValueError: It is none of them.
    """
    if not (value is None or isinstance(value, str)) or value not in allowed:
        raise ValueError(f"{name}={shown(value)}; allowed: {', '.join(map(str, allowed))}")
