"""What `tools/fuzz_adapters.py` plays at, and what must hold of whatever an adapter gives back."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

import numpy as np

from okgin_env.kernel.policies import POLICY_IDS
from okgin_env.layout import ENDINGS, MAX_TURNS, N_ACTIONS, POINTS_PER_REWARD, layout
from okgin_env.rules import PRESETS, Rules
from tests.helpers.absurd import Broken
from tests.helpers.random_tables import random_rules

HAND_FIELDS = {"ending", "knocker", "points", "deadwood", "scores", "turns"}
MATCH_FIELDS = {"match_winner", "match_points"}
LEARNER = ("rules", "players", "seat", "opponent", "episode", "reward")
CLOSE = 1e-6  # SB3's rewards are float32


@dataclass(frozen=True)
class Table:
    """What an adapter is made with.

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


class Adapter(Protocol):
    """One adapter at one table. What is wrong is raised as `Broken`."""

    n_games: int
    goes_on: bool  # whether it takes steps after its end

    def masks(self) -> np.ndarray:
        """(N, 108) int8, what is legal now."""
        ...

    def reset(self, seed: int | None, options: dict[str, Any], rng: Random) -> None:
        """Starts anew."""
        ...

    def step(self, actions: np.ndarray) -> object:
        """Takes (N,) actions, checks what comes back and returns it, for comparison."""
        ...

    def absurd(self, rng: Random) -> None:
        """Makes a call that must be refused."""
        ...

    def copies(self) -> list[Adapter]:
        """Copies that must go on as this one does."""
        ...

    def seen(self) -> bytes:
        """All of the games."""
        ...

    def saved(self) -> bytes | None:
        """The record of a game in the middle of a hand, for `options`."""
        ...


def hold(condition: object, what: str) -> None:
    """Raises `Broken` where a condition does not hold."""
    if not condition:
        raise Broken(what)


def check_rows(observations: np.ndarray, masks: np.ndarray, table: Table, n: int) -> None:
    """Observations and masks of n games."""
    hold(observations.shape == (n, table.size), f"observations of shape {observations.shape}")
    hold(masks.shape == (n, N_ACTIONS), f"masks of shape {masks.shape}")
    hold(observations.dtype == masks.dtype == np.int8, f"{observations.dtype}, {masks.dtype}")
    for rows in (observations, masks):
        hold(not (rows & ~1).any(), "numbers other than 0 and 1")
    hold(masks.any(1).all(), "an empty mask")


def check_hand(info: dict[str, Any], table: Table, reward: float, forfeit: bool, seat: int) -> None:
    """What is said of a hand that has ended, and what was paid for it."""
    n, fields = table.rules.players, HAND_FIELDS | (MATCH_FIELDS if table.match else set())
    hold(fields <= {*info}, f"info lacks {fields - {*info}}")
    hold(info["ending"] in ENDINGS[1:], f"ending {info['ending']}")
    hold(-1 <= info["knocker"] < n, f"knocker {info['knocker']}")
    hold(0 <= info["turns"] <= min(table.rules.max_turns, MAX_TURNS), f"turns {info['turns']}")
    for name in ("points", "deadwood", "scores"):
        hold(
            len(info[name]) == n and np.asarray(info[name]).dtype.kind == "i",
            f"{name}: {info[name]}",
        )
    hold(bool(info.get("illegal_action")) == forfeit, f"illegal_action, after {forfeit}")
    # in a match a hand may have ended before the learner's first decision, and is paid with it
    hold(not forfeit or reward == -1.0 or table.match, f"an illegal action pays {reward}")
    if not forfeit and not table.match and table.settings["reward"] == "points":
        points = np.asarray(info["points"], float)
        others = (points.sum() - points[seat]) / (n - 1)
        hold(abs(reward - (points[seat] - others) / POINTS_PER_REWARD) < CLOSE * max(1, abs(reward)), f"pays {reward} for {points}")  # fmt: skip
    if table.settings["reward"] != "points":
        hold(abs(reward) <= 1, f"pays {reward}")


def flat(said: Any) -> Any:
    """What was said, as something that compares by its values."""
    if isinstance(said, dict):
        return [(name, flat(value)) for name, value in said.items()]
    if isinstance(said, (list, tuple)) or (isinstance(said, np.ndarray) and said.dtype == object):
        return [flat(value) for value in said]
    return (said.dtype.str, said.tobytes()) if isinstance(said, np.ndarray) else said


def is_legal(masks: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """(N,) whether each action is legal."""
    inside = (actions >= 0) & (actions < N_ACTIONS)
    return inside & (masks[np.arange(len(actions)), np.where(inside, actions, 0)] == 1)
