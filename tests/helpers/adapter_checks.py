"""Checks of whatever an adapter gives back: arrays, masks, infos and rewards."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env import cards
from okgin_env.kernel.policies import POLICY_IDS
from okgin_env.layout import ENDINGS, MAX_TURNS, N_ACTIONS, POINTS_PER_REWARD, layout
from okgin_env.rules import PRESETS, Rules
from tests.helpers.random_tables import random_rules

HAND_FIELDS = {
    "ending", "knocker", "points", "deadwood", "scores", "turns", "illegal_action", "knock_limit", "upcard",
}  # fmt: skip
MATCH_FIELDS = {"match_winner", "match_points"}
CLOSE = 1e-6  # SB3's rewards are float32


class Broken(AssertionError):
    """Something that must hold does not."""


def hold(condition: object, what: str) -> None:
    """Raises `Broken` where a condition does not hold."""
    if not condition:
        raise Broken(what)


@dataclass(frozen=True)
class Table:
    """Arguments that an adapter is made with.

    Attributes:
        rules: The rules.
        settings: Its other arguments but those of one adapter only.
        n_games: Games of a batch.
    """

    rules: Rules
    settings: dict[str, Any]
    n_games: int

    @classmethod
    def draw(cls, rng: Random) -> Table:
        """Any table."""
        settings: dict[str, Any] = {}
        if rng.random() < 0.3:
            settings = {"rules": rng.choice(PRESETS), "players": rng.choice((2, 3, 4))}
            rules = Rules.preset(settings["rules"], settings["players"])
        else:
            settings["rules"] = rules = random_rules(rng)
        match = rules.target is not None and rng.random() < 0.4
        settings["episode"] = "match" if match else "hand"
        settings["reward"] = rng.choice(("points", "win", "match") if match else ("points", "win"))
        settings["outlook"] = rng.random() < 0.2
        return cls(rules, settings, rng.choice((1, 2, 3, 7)))

    def against(self, rng: Random) -> dict[str, Any]:
        """The settings of an adapter with a learner in one seat."""
        names, others = [*POLICY_IDS], self.rules.players - 1
        opponent = rng.choice((rng.choice(names), [rng.choice(names) for _ in range(others)]))
        return {**self.settings, "opponent": opponent, "seat": rng.randrange(self.rules.players)}

    @property
    def match(self) -> bool:
        """Whether an episode is a match."""
        return self.settings["episode"] == "match"

    @property
    def size(self) -> int:
        """Features of an observation."""
        return layout(self.rules.players, self.match, self.settings["outlook"]).size


def check_rows(
    observations: NDArray[Any], masks: NDArray[Any], table: Table, n: int | None = None
) -> None:
    """Observations and masks of n games (None: of all)."""
    n = table.n_games if n is None else n
    hold(observations.shape == (n, table.size), f"observations of shape {observations.shape}")
    hold(masks.shape == (n, N_ACTIONS), f"masks of shape {masks.shape}")
    hold(observations.dtype == masks.dtype == np.int8, f"{observations.dtype}, {masks.dtype}")
    for rows in (observations, masks):
        hold(not (rows & ~1).any(), "numbers other than 0 and 1")
    hold(masks.any(1).all(), "an empty mask")


def check_hand(info: dict[str, Any], table: Table, reward: float, forfeit: bool, seat: int) -> None:
    """Info on a hand that has ended, and the reward that was paid for it."""
    n, fields = table.rules.players, HAND_FIELDS | (MATCH_FIELDS if table.match else set())
    hold(fields <= {*info}, f"info lacks {fields - {*info}}")
    hold(info["ending"] in ENDINGS[1:], f"ending {info['ending']}")
    hold(-1 <= info["knocker"] < n, f"knocker {info['knocker']}")
    hold(0 <= info["turns"] <= min(table.rules.max_turns, MAX_TURNS), f"turns {info['turns']}")
    hold(0 <= info["knock_limit"] <= 10, f"knock_limit {info['knock_limit']}")
    hold(len(cards.ids(info["upcard"])) == 1, f"upcard {info['upcard']}")
    for name in ("points", "deadwood", "scores"):
        values = np.asarray(info[name])
        hold(len(values) == n and values.dtype.kind == "i", f"{name}: {info[name]}")
    hold(info["illegal_action"] == forfeit, f"illegal_action, after {forfeit}")
    # in a match a hand may have ended before the learner's first decision, and is paid with it
    hold(not forfeit or reward == -1.0 or table.match, f"an illegal action pays {reward}")
    if not forfeit and not table.match and table.settings["reward"] == "points":
        points = np.asarray(info["points"], float)
        mean = (points.sum() - points[seat]) / (n - 1)
        wrong = abs(reward - (points[seat] - mean) / POINTS_PER_REWARD)
        hold(wrong < CLOSE * max(1, abs(reward)), f"pays {reward} for {points}")
    if table.settings["reward"] != "points":
        hold(abs(reward) <= 1, f"pays {reward}")


def check_no_hand(info: dict[str, Any], table: Table) -> None:
    """Info of a reset, or of a step in which no hand has ended: the same fields, with what stands for nothing."""
    fields = HAND_FIELDS | (MATCH_FIELDS if table.match else set())
    hold({*info} == fields | {"action_mask"}, f"info {[*info]}")
    nothing = (info["ending"], info["knocker"], info["turns"], bool(info["illegal_action"]))
    hold(nothing == ("", -1, 0, False), f"info {nothing} of no hand")
    hold(not np.any(info["points"]) and not np.any(info["deadwood"]), "points of no hand")
    hold(info.get("match_winner", -1) == -1, "a match is won by no hand")


def comparable(said: Any) -> Any:
    """An answer as something that compares by its values."""
    if isinstance(said, dict):
        return [(name, comparable(value)) for name, value in said.items()]
    if isinstance(said, (list, tuple)) or (isinstance(said, np.ndarray) and said.dtype == object):
        return [comparable(value) for value in said]
    return (said.dtype.str, said.tobytes()) if isinstance(said, np.ndarray) else said


def is_legal(masks: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(N,) whether each action is legal."""
    inside = (actions >= 0) & (actions < N_ACTIONS)
    return inside & (masks[np.arange(len(actions)), np.where(inside, actions, 0)] == 1)
