"""A training run as one dataclass: its fields are the command line of `train.py`."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from okgin_env import PRESETS as RULES
from okgin_env import Rules, players
from okgin_env.engine.games import check_episode
from okgin_env.players import runs_code
from okgin_env.players.base import check_rules
from okgin_env.rules import as_rules
from okgin_env.utils.commands import option
from okgin_env.utils.errors import check_choice, shown

DEVICES = ("cpu", "cuda", "mps", "auto")
PRECISIONS = ("auto", "float32", "bfloat16")
AGENT = "agent"  # what tables call the learner
SELF = "self"  # among the opponents: a past self of the run
NOBODY = "none"  # to imitate
ABOVE_0, ENDLESS = sys.float_info.min, sys.float_info.max
MANY, AGES = 10**9, 10**13
RANGES: dict[str, tuple[float, float]] = {  # least and most
    "imitate_moves": (1, MANY), "steps": (1, AGES), "games": (1, 1 << 20), "rollout": (1, 1 << 20),
    "batch": (1, 1 << 24), "epochs": (1, 1000), "threads": (1, 1024), "final_hands": (1, MANY),
    "checkpoint_every": (1, AGES), "evaluation_hands": (1, MANY), "seed": (0, 2**32 - 1),
    "learning_rate": (ABOVE_0, ENDLESS), "clip": (ABOVE_0, ENDLESS), "entropy": (0, ENDLESS),
    "value_weight": (0, ENDLESS), "gae_lambda": (0, 1),
}  # fmt: skip
MOST_MOVES = 1 << 24  # between two updates
MOST_LAYERS, WIDEST = 32, 1 << 14
MOST_BYTES = 1 << 20  # of a configuration's file
Preset = Literal["smoke", "quick", "full", "gpu"]


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Trains a player with MaskablePPO against scripted opponents.

    smoke: seconds, to see that everything works. quick: minutes, beats `simple`, `knocker` and
    `camper`. full: the same for 20 million steps, which is what made `expert`. gpu: a larger network,
    past selves among its opponents and thousands of games at once, for a graphics card with 16 cores.
    """

    preset: Preset = option("quick", "where the defaults of all other options come from")
    out: Path | None = option(
        None, "run folder, which must be new; by default runs/PRESET-DATE-TIME"
    )
    resume: Path | None = option(
        None, "goes on with the run in this folder, with its own options; all others are ignored"
    )
    rules: str = option(
        "classic",
        f"preset ({', '.join(RULES)}) or a variant such as 'classic(gin_bonus=20)'",
    )
    seats: int | None = option(None, "seats at the table, 2 to 4 (default: 2)")
    episode: str = option("hand", "what an episode is: hand or match")
    reward: str = option("points", "points, win, or (with match episodes) match")
    opponents: tuple[str, ...] = option(
        ("simple", "knocker", "camper"),
        "whom to train against, each in an equal share of the games; self is a past self of the run: "
        "the newest for the first self, for others one drawn at every checkpoint",
    )
    imitate: str = option(
        "camper", "whose moves are copied before training; none: learn from nothing"
    )
    imitate_moves: int = option(1_000_000, "how many of its moves")
    outlook: bool = option(
        True,
        "whether it sees the outlook of its own hand, too, as OklahomaGinEnv(outlook=True); "
        "without it learning takes several times the steps",
    )
    steps: int = option(6_000_000, "decisions of the learner in all")
    games: int = option(512, "games played at once")
    rollout: int = option(64, "decisions of each game between two updates")
    batch: int = option(2048, "minibatch size; must divide games * rollout")
    epochs: int = option(2, "passes over each rollout")
    learning_rate: float = option(4e-4, "at the start; it falls linearly to zero")
    entropy: float = option(0.005, "entropy bonus")
    clip: float = option(0.2, "clip range of the policy update")
    gae_lambda: float = option(
        0.95, "lambda of the advantage estimate (gamma is 1: hands are short and pay at their end)"
    )
    value_weight: float = option(
        8.0, "weight of the value loss; large, since rewards are hundredths of points"
    )
    layers: tuple[int, ...] = option(
        (128, 128), "hidden layers of the policy and of the value network (ReLU)"
    )
    seed: int = option(0, "seed of everything")
    device: str = option("cpu", "torch device; auto: a GPU where there is one")
    precision: str = option(
        "auto",
        "of the hidden layers while learning: float32, bfloat16, or auto: bfloat16 where the processor multiplies it. "
        "Files and play are float32",
    )
    threads: int = option(
        1,
        "threads of torch and of the environment. More help on an idle machine only: torch's threads "
        "wait for each other, and with anything else running two of them on two cores were seen to "
        "be seven times slower than one",
    )
    checkpoint_every: int = option(1_000_000, "steps between checkpoints (and between evaluations)")
    evaluation_hands: int = option(
        4000, "hands of each evaluation during training, against everyone on the ladder"
    )
    final_hands: int = option(20_000, "hands against each player in the table at the end")
    ladder: tuple[str, ...] = option(
        ("simple", "knocker", "camper", "random"), "whom the agent is evaluated against"
    )
    trust: bool = option(
        False,
        "with resume: goes on with a run whose players are classes or programs of your own, too. "
        "They run code, so only for a run folder that nobody else has made",
    )

    def __post_init__(self) -> None:
        if not isinstance(self.rules, str):  # kept as text, as files have it
            object.__setattr__(self, "rules", as_rules(self.rules).label)

    def table(self) -> Rules:
        """The rules of the table.

        Raises:
            ValueError: They are none, or have another number of seats.
        """
        return as_rules(self.rules, self.seats)

    def check(self) -> None:
        """Checks every option.

        Raises:
            ValueError: An option out of its range, by name, value and what is allowed.
            FileNotFoundError: A model file that is missing.
        """
        if "(" not in self.rules:  # no label
            check_choice("rules", self.rules, tuple(RULES))
        rules = self.table()
        check_episode(rules, self.episode, self.reward)
        for name, (least, most) in RANGES.items():
            check_range(name, getattr(self, name), least, most)
        check_range("final_hands", self.final_hands, rules.players, MANY)
        check_range("games * rollout", self.games * self.rollout, 1, MOST_MOVES)
        if (self.games * self.rollout) % self.batch:
            raise ValueError(
                f"batch={self.batch}; allowed: a divisor of games * rollout = {self.games * self.rollout}"
            )
        if not 0 < len(self.layers) <= MOST_LAYERS or not all(0 < n <= WIDEST for n in self.layers):
            raise ValueError(
                f"layers={shown(self.layers)}; allowed: 1 to {MOST_LAYERS} widths of 1 to {WIDEST}"
            )
        if not re.fullmatch(f"({'|'.join(DEVICES)})(:[0-9]{{1,3}})?", self.device):
            raise ValueError(f"device={shown(self.device)}; allowed: {', '.join(DEVICES)}")
        check_choice("precision", self.precision, PRECISIONS)
        self._check_players(rules)

    def _check_players(self, rules: Rules) -> None:
        """Checks that there are such players, and that they can play by the rules."""
        if not self.opponents or not self.ladder:
            raise ValueError("opponents and ladder; allowed: at least one player each")
        opponents = [spec for spec in self.opponents if spec != SELF]
        teacher = [] if self.imitate == NOBODY else [self.imitate]
        rungs = [players.make(spec) for spec in self.ladder]
        for player in (*map(players.make, (*opponents, *teacher)), *rungs):
            check_rules(player, rules)
        names = [AGENT, *(player.name for player in rungs)]
        if len(set(names)) < len(names):  # the table at the end tells them apart by it
            raise ValueError(
                f"ladder: players named {shown(names[1:])}; allowed: different names, and not {AGENT!r}"
            )

    def to_json(self) -> str:
        """The configuration as JSON text."""
        return json.dumps(dataclasses.asdict(self), indent=1, default=str) + "\n"

    @classmethod
    def from_json(cls, text: str) -> TrainConfig:
        """The configuration from JSON text.

        Raises:
            ValueError: It is no configuration of this version, or an option is of another type.
        """
        try:
            content: Any = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"no configuration of this version: {error}") from error
        kinds = get_type_hints(cls)
        if not isinstance(content, dict) or not content.keys() <= kinds.keys():
            stray = [*(content.keys() - kinds.keys())] if isinstance(content, dict) else content
            raise ValueError(f"no configuration of this version: {shown(stray)}")
        for name, value in content.items():
            if isinstance(value, list):
                content[name] = tuple(value)
            elif isinstance(value, str) and Path in get_args(kinds[name]):
                content[name] = Path(value)
            if not _fits(content[name], kinds[name]):
                raise ValueError(f"{name}={shown(value)}; allowed: {cls.__annotations__[name]}")
        return cls(**content)

    @classmethod
    def of_run(cls, folder: Path, trust: bool = False) -> TrainConfig:
        """The configuration of a run that is to go on.

        Args:
            folder: The run's folder, which may be a stranger's.
            trust: Whether its players may be classes and programs.

        Raises:
            ValueError: The folder of no run, a bad option, or a player that runs code and is not trusted.
            FileNotFoundError: A model file that is missing.
        """
        path = folder / "config.json"
        if not path.is_file():
            raise ValueError(f"resume={shown(str(folder))}; allowed: the folder of an earlier run")
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"'{path}' has over {MOST_BYTES} bytes; allowed: a configuration")
        config = cls.from_json(path.read_text())
        foreign = [s for s in (config.imitate, *config.opponents, *config.ladder) if runs_code(s)]
        if foreign and not trust:
            raise ValueError(
                f"'{path}' has the player {shown(foreign[0])}, which runs code; allowed with --trust"
            )
        config.check()
        return config


def check_range(name: str, value: float, least: float, most: float) -> None:
    """Checks that a number is neither too small nor too large.

    Raises:
        ValueError: It is, by name, value and what is allowed.
    """
    if not least <= value <= most:
        lower = "above 0" if least == ABOVE_0 else f"{least} or more"
        allowed = lower if value < least or most == ENDLESS else f"{least} to {most}"
        raise ValueError(f"{name}={shown(value)}; allowed: {allowed}")


def _fits(value: object, kind: Any) -> bool:
    """Whether a value is of the type that a field is declared with."""
    if get_origin(kind) is tuple:
        return isinstance(value, tuple) and all(_fits(v, get_args(kind)[0]) for v in value)
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if isinstance(value, bool) and kind is not bool:
        return False
    return isinstance(value, (int, float) if kind is float else kind)


PRESETS: dict[str, TrainConfig] = {
    "smoke": TrainConfig(
        preset="smoke",
        imitate_moves=60_000,
        learning_rate=3e-5,  # in so few steps a larger one only unlearns what was copied
        steps=32_768,
        games=64,
        rollout=32,
        batch=512,
        checkpoint_every=8192,
        evaluation_hands=200,
        final_hands=400,
    ),
    "quick": TrainConfig(),
    "full": TrainConfig(preset="full", steps=20_000_000),
    "gpu": TrainConfig(
        preset="gpu",
        opponents=("camper", "camper", "self", "self", "simple", "knocker"),
        imitate_moves=3_000_000,
        steps=100_000_000,
        games=8192,
        rollout=32,
        batch=16_384,
        layers=(512, 512),
        device="cuda",
        threads=16,
        checkpoint_every=5_000_000,
    ),
}
