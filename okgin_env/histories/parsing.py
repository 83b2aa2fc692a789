"""Text to hand, line by line: every error names its line, what stands there and what is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from okgin_env import cards
from okgin_env.histories.hand import HandHistory, check_name
from okgin_env.histories.text import ACTIONS, END, MAX_LINE, MAX_LINES, TITLE
from okgin_env.layout import ENDINGS, N_CARDS, NONE
from okgin_env.rules import Rules


class _Lines:
    """The lines of one hand, taken one after another."""

    def __init__(self, lines: Sequence[str], first: int) -> None:
        self._lines = lines
        self._first = first
        self._taken = 0

    @property
    def number(self) -> int:
        """The number of the line taken last."""
        return self._first + self._taken - 1

    def _found(self) -> str:
        return self._lines[self._taken] if self._taken < len(self._lines) else ""

    def refuse(self, found: str, allowed: str) -> ValueError:
        """The error for the line taken last."""
        return ValueError(f"line {self.number}: {found[:80]!r}; allowed: {allowed}")

    def maybe(self, key: str, pattern: str = ".+") -> re.Match[str] | None:
        """Takes the line ``key: value``, or leaves it where something else stands."""
        match = re.fullmatch(f"{key}: ({pattern})", self._found())
        self._taken += match is not None
        return match

    def value(self, key: str, pattern: str = ".+", allowed: str = "…") -> str:
        """Takes the line ``key: value``."""
        match = self.maybe(key, pattern)
        if match is None:
            found = self._found()
            self._taken += 1
            raise self.refuse(found, f"'{key}: {allowed}'")
        return match[1]

    def row(self, key: str, count: int) -> tuple[int, ...]:
        """Takes a line of one number for each seat."""
        pattern = " ".join(["[0-9]{1,7}"] * count)
        return tuple(int(x) for x in self.value(key, pattern, f"{count} numbers").split(" "))

    def exactly(self, line: str) -> None:
        """Takes a line that reads just so."""
        found = self._found()
        self._taken += 1
        if found != line:
            raise self.refuse(found, repr(line))

    def close(self) -> None:
        """Makes sure that nothing is left."""
        if self._taken < len(self._lines):
            found = self._found()
            self._taken += 1
            raise self.refuse(found, f"nothing after '{END}'")

    @contextmanager
    def here(self) -> Iterator[None]:
        """Puts the number of the line taken last before a ValueError."""
        try:
            yield
        except ValueError as error:
            raise ValueError(f"line {self.number}: {error}") from error


def parse(text: str, line: int = 1) -> HandHistory:
    """Reads one hand. The text is checked here, the play by `HandHistory.replay`.

    Args:
        text: What `HandHistory.to_text` gives.
        line: The number of its first line, for messages.

    Raises:
        ValueError: In one line: the line's number, what stands there and what is allowed.
    """
    if len(text) > MAX_LINES * MAX_LINE or text.count("\n") > MAX_LINES:
        raise ValueError(f"line {line}: too long for a hand; allowed: {MAX_LINES} lines")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")  # as editors on Windows write it
    lines = _Lines(text.rstrip("\n").split("\n"), line)
    lines.exactly(TITLE)
    label = lines.value("rules", allowed="a preset's name, and what differs in brackets")
    with lines.here():
        rules = Rules.from_label(label)
    n = rules.players
    seed = lines.maybe("seed", "[0-9]{1,39}")
    played = lines.row("played", 1)[0]
    won = lines.row("won", n)
    scores_before = lines.row("scores", n)
    names = _names(lines, n)
    dealer = int(lines.value("dealer", f"[0-{n - 1}]", f"0 to {n - 1}"))
    deck = _deck(lines, rules)
    actions = _actions(lines, n)
    ending = lines.value("ending", "|".join(ENDINGS[NONE + 1 :]), "an ending, or an action")
    knocker = lines.value("knocker", f"none|[0-{n - 1}]", "a seat, or none")
    points = lines.row("points", n)
    deadwood = lines.row("deadwood", n)
    scores = lines.row("scores after", n)
    lines.exactly(END)
    lines.close()
    with lines.here():
        return HandHistory(
            rules=rules,
            dealer=dealer,
            deck=deck,
            actions=actions,
            ending=ending,
            knocker=None if knocker == "none" else int(knocker),
            points=points,
            deadwood=deadwood,
            scores=scores,
            scores_before=scores_before,
            won=won,
            played=played,
            names=names,
            seed=int(seed[1]) if seed else None,
            line=line,
        )


def _names(lines: _Lines, n_players: int) -> tuple[str, ...]:
    """A name for every seat, or none at all."""
    names: list[str] = []
    for p in range(n_players):
        match = lines.maybe(f"name {p}")
        if match is None and p == 0:
            break
        names.append(match[1] if match else lines.value(f"name {p}", allowed="as for seat 0"))
        with lines.here():
            check_name(names[-1])
    return tuple(names)


def _deck(lines: _Lines, rules: Rules) -> tuple[int, ...]:
    """The hands by seat, the upcard and the stock, as 52 card ids."""
    sizes = {f"cards {p}": rules.hand_size for p in range(rules.players)} | {"upcard": 1}
    sizes["stock"] = N_CARDS - sum(sizes.values())
    deck: list[int] = []
    for key, size in sizes.items():
        text = lines.value(key, allowed=f"{size} cards")
        with lines.here():
            found = cards.ids(text)
            if len(found) != size:
                raise ValueError(f"{len(found)} cards; allowed: {size}")
            deck = cards.ids([*deck, *found])
    return tuple(deck)


def _actions(lines: _Lines, n_players: int) -> tuple[tuple[int, int], ...]:
    """The actions with their seats, up to the first line that is none."""
    actions: list[tuple[int, int]] = []
    while match := lines.maybe("seat ([0-9])", ".*"):
        seat, words = int(match[1]), match[2].split("#")[0].strip()
        if seat >= n_players or words not in ACTIONS:
            allowed = f"seat 0 to {n_players - 1}, then an action such as 'discard Td'"
            raise lines.refuse(match[0], allowed)
        actions.append((seat, ACTIONS[words]))
    return tuple(actions)
