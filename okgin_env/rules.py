"""The rules of a table as one frozen, checked object (rules.md, Presets)."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from okgin_env.layout import MAX_TURNS, NEXT_DEALER, RULES_DTYPE, VOID_DEALER
from okgin_env.utils.errors import shown

PRESETS = ("classic", "french", "gin", "eaai", "openspiel")

_RANGES: dict[str, tuple[int, int]] = {
    "players": (2, 4),
    "hand_size": (5, 10),
    "ace_limit": (0, 1),
    "gin_bonus": (0, 1000),
    "undercut_bonus": (0, 1000),
    "big_gin_bonus": (0, 1000),
    "game_bonus": (0, 10_000),
    "box_bonus": (0, 1000),
    "max_turns": (1, MAX_TURNS),
}
_FLAGS = ("undercut_on_tie", "spades_double", "shutout")


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What is played at a table. The defaults are the preset ``classic``.

    A variant is made with ``dataclasses.replace(Rules.preset("classic"), gin_bonus=20)``.

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
        box_bonus: Match points for each hand won.
        shutout: Whether the winner's score and game bonus double when nobody else scored.
        max_turns: Turns (of all seats together) after which a hand is void.
    """

    players: int = 2
    hand_size: int = 10
    knock_limit: int | Literal["upcard"] = "upcard"
    ace_limit: int = 1
    gin_bonus: int = 25
    undercut_bonus: int = 10
    undercut_on_tie: bool = True
    big_gin_bonus: int = 0
    spades_double: bool = False
    first_dealer: int | Literal["random"] = "random"
    next_dealer: Literal["winner", "loser", "alternates"] = "winner"
    void_dealer: Literal["same", "alternates"] = "same"
    target: int | None = 100
    game_bonus: int = 0
    box_bonus: int = 0
    shutout: bool = False
    max_turns: int = 100

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            self._check_int(name, low, high)
        for name in _FLAGS:
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                self._refuse(name, "True or False")
        if self.knock_limit != "upcard":
            self._check_int("knock_limit", 0, 10, " or 'upcard'")
        if self.first_dealer != "random":
            self._check_int("first_dealer", 0, self.players - 1, " or 'random'")
        if self.next_dealer not in NEXT_DEALER:
            self._refuse("next_dealer", f"one of {', '.join(NEXT_DEALER)}")
        if self.void_dealer not in VOID_DEALER:
            self._refuse("void_dealer", f"one of {', '.join(VOID_DEALER)}")
        if self.target is not None:
            self._check_int("target", 1, 100_000, " or None")

    def _check_int(self, name: str, low: int, high: int, also: str = "") -> None:
        value = getattr(self, name)
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole or not low <= value <= high:
            self._refuse(name, f"{low} to {high}{also}")

    def _refuse(self, name: str, allowed: str) -> None:
        raise ValueError(f"rules: {name}={shown(getattr(self, name))}; allowed: {allowed}")

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
            raise ValueError(f"rules {label[:80]!r}; allowed: such as 'classic(gin_bonus=20)'")
        changed: dict[str, Any] = {}
        fields = [field.name for field in dataclasses.fields(cls)]
        for part in re.split(", ?", match[2]) if match[2] else []:
            name, _, value = part.partition("=")
            if name not in fields or name in changed:
                raise ValueError(f"rules: {part!r:.80}; allowed: each once: {', '.join(fields)}")
            named = {"True": True, "False": False, "None": None}
            number = re.fullmatch("-?[0-9]{1,9}", value)
            changed[name] = int(value) if number else named.get(value, value)
        preset = cls.preset(match[1], changed.get("players", players))
        return dataclasses.replace(preset, **changed)

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

    def to_record(self) -> np.ndarray:
        """The rules as compiled code reads them: a (1,) array of `layout.RULES_DTYPE`."""
        record = np.zeros(1, RULES_DTYPE)
        for field in dataclasses.fields(self):
            record[field.name] = self._code(field.name)
        return record

    def _code(self, name: str) -> int:
        value = getattr(self, name)
        if name == "next_dealer":
            return NEXT_DEALER.index(value)
        if name == "void_dealer":
            return VOID_DEALER.index(value)
        if value in ("upcard", "random"):
            return -1
        return 0 if value is None else int(value)


def as_rules(rules: Rules | str, players: int | None = None) -> Rules:
    """Rules from a preset's name or a `Rules`; `players` picks the seats of a preset.

    Raises:
        ValueError: An unknown preset, or `players` contradicts a given `Rules`.
    """
    if isinstance(rules, str):
        return Rules.preset(rules, players)
    if not isinstance(rules, Rules):
        raise ValueError(f"rules={shown(rules)}; allowed: a preset's name or a Rules object")
    if players is not None and (isinstance(players, np.ndarray) or players != rules.players):
        raise ValueError(
            f"players={shown(players)}; allowed: {rules.players}, as in the given Rules"
        )
    return rules
