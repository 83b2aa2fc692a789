"""The rules of a table as one frozen, checked object (rules.md, Presets)."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from okgin_env.layout import FORFEIT_POINTS, MAX_PLAYERS, MAX_TURNS, NEXT_DEALER, VOID_DEALER
from okgin_env.utils.errors import shown

MOST_PIPS = 10  # of a card
PRESETS = ("classic", "french", "gin", "eaai", "openspiel")
EXAMPLE = "'classic(gin_bonus=20)'"  # of a label, in errors


@dataclass(frozen=True)
class Allowed:
    """The values that a field of `Rules` may have.

    Attributes:
        low: The least whole number; None: no numbers.
        high: The greatest.
        words: Texts (or None) and the number that stands for each in compiled code.
        flag: Whether it is True or False instead.
    """

    low: int | None = None
    high: int = 0
    words: Mapping[str | None, int] = dataclasses.field(default_factory=dict)
    flag: bool = False

    def has(self, value: Any) -> bool:
        """Whether a value is allowed."""
        if isinstance(value, (bool, np.bool_)):
            return self.flag
        if isinstance(value, (int, np.integer)):
            return self.low is not None and self.low <= int(value) <= self.high
        return (value is None or isinstance(value, str)) and value in self.words

    def code(self, value: Any) -> int:
        """The number that compiled code reads for an allowed value."""
        return self.words[value] if value is None or isinstance(value, str) else int(value)

    def __str__(self) -> str:
        if self.flag:
            return "True or False"
        if self.low is None:
            return f"one of {', '.join(map(str, self.words))}"
        return " or ".join([f"{self.low} to {self.high}", *map(repr, self.words)])


def _number(
    default: Any, low: int, high: int, words: Mapping[str | None, int] | None = None
) -> Any:
    """A field that holds a whole number, or a word in its place."""
    return dataclasses.field(default=default, metadata={"allowed": Allowed(low, high, words or {})})


def _word(default: str, words: Sequence[str]) -> Any:
    """A field that holds one of some words; compiled code reads its place among them."""
    codes: dict[str | None, int] = {word: code for code, word in enumerate(words)}
    return dataclasses.field(default=default, metadata={"allowed": Allowed(words=codes)})


def _flag(default: bool) -> Any:
    """A field that is True or False."""
    return dataclasses.field(default=default, metadata={"allowed": Allowed(flag=True)})


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules of a table. The defaults are the preset ``classic``.

    A variant is made with ``dataclasses.replace(Rules.preset("classic"), gin_bonus=20)``; wherever rules are taken, its
    label and its dict are rules, too (`as_rules`).

    Attributes:
        players: Seats at the table, 2 to 4.
        hand_size: Cards dealt to each, 5 to 10.
        knock_limit: Most deadwood to knock with: "upcard" (its pips) or a fixed 0 to 10.
        ace_limit: The limit under an ace upcard: 1, or 0 for gin only.
        gin_bonus: Points for gin, once, on top of the opponents' deadwood.
        undercut_bonus: Points for an undercut, on top of the difference.
        undercut_on_tie: Whether equal deadwood is an undercut (else nobody scores).
        big_gin_bonus: Points for all eleven cards melded; 0: there is no big gin.
        spades_double: Whether a spade upcard doubles all points of the hand.
        first_dealer: "random" or a seat.
        next_dealer: Who deals the next hand: its "winner", its "loser", or the next seat ("alternates").
        void_dealer: Who deals after a void hand: the "same" dealer or the next seat ("alternates").
        target: Points that end a match; None: single hands only.
        game_bonus: Match points for winning the match.
        box_bonus: Match points for each box: a hand won is one, or as the next two fields say.
        gin_boxes: Boxes of a hand won by gin or big gin; twice as many where a spade doubles its points.
        undercut_boxes: Boxes of a hand won by an undercut, the same.
        shutout: Whether the winner's score and game bonus double when nobody else scored.
        max_turns: Turns (of all seats together) after which a hand is void.
    """

    players: int = _number(2, 2, MAX_PLAYERS)
    hand_size: int = _number(10, 5, 10)
    knock_limit: int | Literal["upcard"] = _number("upcard", 0, 10, {"upcard": -1})
    ace_limit: int = _number(1, 0, 1)
    gin_bonus: int = _number(25, 0, 1000)
    undercut_bonus: int = _number(10, 0, 1000)
    undercut_on_tie: bool = _flag(True)
    big_gin_bonus: int = _number(0, 0, 1000)
    spades_double: bool = _flag(False)
    first_dealer: int | Literal["random"] = _number("random", 0, MAX_PLAYERS - 1, {"random": -1})
    next_dealer: Literal["winner", "loser", "alternates"] = _word("winner", NEXT_DEALER)
    void_dealer: Literal["same", "alternates"] = _word("same", VOID_DEALER)
    target: int | None = _number(100, 1, 100_000, {None: 0})
    game_bonus: int = _number(0, 0, 10_000)
    box_bonus: int = _number(0, 0, 1000)
    gin_boxes: int = _number(1, 0, 10)
    undercut_boxes: int = _number(1, 0, 10)
    shutout: bool = _flag(False)
    max_turns: int = _number(100, 1, MAX_TURNS)

    def __post_init__(self) -> None:
        for name, allowed in ALLOWED.items():
            if name == "first_dealer":  # a seat of this table
                allowed = dataclasses.replace(allowed, high=self.players - 1)
            if not allowed.has(value := getattr(self, name)):
                raise ValueError(f"rules: {name}={shown(value)}; allowed: {allowed}")

    @classmethod
    def preset(cls, name: str, players: int | None = None) -> Rules:
        """The named rules (rules.md, Presets), with its own fields for the number of players.

        Args:
            name: classic, french, gin, eaai or openspiel.
            players: 2 (default), 3 or 4. Three and four players hold seven cards; only ``french`` has a
                published text for them, the other presets then borrow its deal.

        Raises:
            ValueError: An unknown name or number of players.
        """
        seats = 2 if players is None else players
        hand_size = 10 if isinstance(seats, (int, np.integer)) and seats == 2 else 7
        common: dict[str, Any] = {"players": seats, "hand_size": hand_size}
        if name == "classic":
            return cls(**common)
        if name == "french":
            return cls(**common, ace_limit=0, undercut_bonus=20)
        if name == "gin":
            return cls(**common, knock_limit=10, undercut_bonus=25, next_dealer="loser")
        if name == "eaai":
            return cls(**common, knock_limit=10, undercut_bonus=25, next_dealer="alternates")
        if name == "openspiel":
            return cls(
                **common,
                ace_limit=0,
                undercut_bonus=25,
                undercut_on_tie=False,
                first_dealer=1,
                next_dealer="alternates",
                target=None,
            )
        raise ValueError(f"rules: preset {shown(name)}; allowed: {', '.join(PRESETS)}")

    @classmethod
    def from_label(cls, label: str, players: int | None = None) -> Rules:
        """Rules from their `label`: a preset's name and, in brackets, every field that differs.

        Args:
            label: Such as ``classic`` or ``classic(gin_bonus=20)``; spaces after the commas do not matter.
            players: Seats of the preset; None: as the label says, or 2.

        Raises:
            ValueError: It is no such label, or a field has a value that is not allowed.
        """
        match = re.fullmatch(r"([a-z]+)(?:\((.*)\))?", label)
        if match is None:
            raise ValueError(
                f"rules={shown(label)}; allowed: a preset's name, or such as {EXAMPLE}"
            )
        changed: dict[str, Any] = {}
        for part in re.split(", *", match[2]) if match[2] else []:
            name, _, value = part.partition("=")
            if name in changed:
                raise ValueError(f"rules: {name} twice in {shown(label)}; allowed: once")
            named = {"True": True, "False": False, "None": None}
            number = re.fullmatch("-?[0-9]{1,9}", value)
            changed[name] = int(value) if number else named.get(value, value)
        return cls.variant(match[1], changed, players)

    @classmethod
    def variant(cls, name: str, changed: Mapping[str, Any], players: int | None = None) -> Rules:
        """A preset with some fields changed, such as those of a `dataclasses.asdict(rules)`.

        Args:
            name: The preset.
            changed: Fields and their values.
            players: Seats of the preset, where `changed` does not say; None: 2.

        Raises:
            ValueError: An unknown preset or field, or a value that is not allowed.
        """
        for field in changed:
            if field not in ALLOWED:
                raise ValueError(f"rules: field {shown(field)}; allowed: {', '.join(ALLOWED)}")
        return dataclasses.replace(cls.preset(name, changed.get("players", players)), **changed)

    @property
    def label(self) -> str:
        """The nearest preset and what differs from it, such as ``classic(gin_bonus=20)``."""
        nearest, changed = "", [field.name for field in dataclasses.fields(self)] + [""]
        for name in PRESETS:
            other = Rules.preset(name, self.players)
            differs = [
                field.name
                for field in dataclasses.fields(self)
                if getattr(self, field.name) != getattr(other, field.name)
            ]
            if len(differs) < len(changed):
                nearest, changed = name, differs
        shown = [f"players={self.players}"] if self.players > 2 else []
        shown += [f"{name}={getattr(self, name)}" for name in changed]
        return f"{nearest}({', '.join(shown)})" if shown else nearest

    @property
    def most_points(self) -> int:
        """Points of a hand that no seat can have more of; a bound, which no hand may reach."""
        deadwood = (self.players - 1) * self.hand_size * MOST_PIPS
        gin = deadwood + max(self.gin_bonus, self.big_gin_bonus)
        undercut = self.most_knocked + self.undercut_bonus
        return max(max(gin, undercut) * (2 if self.spades_double else 1), FORFEIT_POINTS)

    @property
    def most_knocked(self) -> int:
        """The most deadwood that any upcard lets a player knock with."""
        return MOST_PIPS if isinstance(self.knock_limit, str) else self.knock_limit

    def to_record(self) -> np.ndarray:
        """The rules as compiled code reads them: a (1,) array of `RULES_DTYPE`."""
        record = np.zeros(1, RULES_DTYPE)
        for name, allowed in ALLOWED.items():
            record[name] = allowed.code(getattr(self, name))
        return record


ALLOWED: dict[str, Allowed] = {f.name: f.metadata["allowed"] for f in dataclasses.fields(Rules)}
"""The allowed values of every field."""
RULES_DTYPE = np.dtype([(name, np.int64) for name in ALLOWED])
"""The rules as compiled code reads them: a number a field, flags as 0 and 1, words as `Allowed.words` has them."""


RulesLike = Rules | str | Mapping[str, Any]


def as_rules(rules: RulesLike, players: int | None = None) -> Rules:
    """Rules from whatever stands for them, wherever rules are taken.

    Args:
        rules: A preset's name, a label such as ``classic(gin_bonus=20)``, a `Rules`, or its fields as
            ``dataclasses.asdict`` has them; fields that are missing there are those of ``classic``.
        players: Seats of the preset; None: as `rules` say, or 2.

    Raises:
        ValueError: They are no rules, or `players` contradicts them.
    """
    if isinstance(rules, str):
        made = Rules.from_label(rules, players)
    elif isinstance(rules, Mapping) and rules:
        made = Rules.variant("classic", rules, players)
    elif isinstance(rules, Rules):
        made = rules
    else:
        raise ValueError(
            f"rules={shown(rules)}; allowed: a preset's name or a Rules object, a label such as {EXAMPLE}, or a dict"
        )
    if players is not None and (isinstance(players, np.ndarray) or players != made.players):
        raise ValueError(
            f"players={shown(players)}; allowed: {made.players}, as in the given Rules"
        )
    return made
