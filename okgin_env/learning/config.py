"""A training run as one dataclass: its fields are the command line of `train.py`."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from okgin_env import PRESETS as RULES
from okgin_env import Rules, players
from okgin_env.engine.games import check_episode
from okgin_env.players import runs_code
from okgin_env.players.base import check_rules
from okgin_env.utils.errors import shown

DEVICES = ("cpu", "cuda", "mps", "auto")
AGENT = "agent"  # what tables call the learner
SELF = "self"  # among the opponents: a past self of the run
MOST = {
    "imitate_moves": 10**9, "steps": 10**13, "games": 1 << 20, "rollout": 1 << 20, "batch": 1 << 24, "epochs": 1000,
    "threads": 1024, "final_hands": 10**9, "checkpoint_every": 10**13, "evaluation_hands": 10**9, "seed": 2**32 - 1,
}  # fmt: skip
MOST_MOVES = 1 << 24  # between two updates
MOST_LAYERS, WIDEST = 32, 1 << 14
MOST_BYTES = 1 << 20  # of a configuration's file
Preset = Literal["smoke", "quick", "full", "gpu"]


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Trains a player with MaskablePPO against scripted opponents.

    smoke: seconds, to see that everything works. quick: minutes, beats `simple`, `knocker` and `camper`. full: the same for
    20 million steps, which is what made `expert`. gpu: a larger network, past selves among its opponents and
    thousands of games at once, for a graphics card with 16 cores.
    """

    preset: Preset = "quick"
    """Where the defaults of all other options come from."""
    out: Path | None = None
    """Run folder, which must be new; by default runs/<preset>-<date>-<time>."""
    resume: Path | None = None
    """Goes on with the run in this folder, with its own options; all others are ignored."""
    rules: str = "classic"
    """Rules preset: classic, french, gin, eaai or openspiel."""
    seats: int = 2
    """Seats at the table, 2 to 4."""
    episode: str = "hand"
    """An episode is a "hand" or a "match"."""
    reward: str = "points"
    """"points", "win", or (with match episodes) "match"."""
    opponents: tuple[str, ...] = ("simple", "knocker", "camper")
    """Whom to train against, each in an equal share of the games; "self" is a past self of the run: the newest for the first
    "self", for others one drawn at every checkpoint."""
    imitate: str = "camper"
    """Scripted player whose moves are copied before training; "none": learn from nothing."""
    imitate_moves: int = 1_000_000
    """How many of its moves."""
    outlook: bool = True
    """Whether it sees the outlook of its own hand, too, as `OklahomaGinEnv(outlook=True)`; without it learning takes
    several times the steps."""
    steps: int = 6_000_000
    """Decisions of the learner in all."""
    games: int = 512
    """Games played at once."""
    rollout: int = 64
    """Decisions of each game between two updates."""
    batch: int = 2048
    """Minibatch size; must divide games * rollout."""
    epochs: int = 2
    """Passes over each rollout."""
    learning_rate: float = 4e-4
    """At the start; it falls linearly to zero."""
    entropy: float = 0.005
    """Entropy bonus."""
    clip: float = 0.2
    """Clip range of the policy update."""
    gae_lambda: float = 0.95
    """Lambda of the advantage estimate (gamma is 1: hands are short and pay at their end)."""
    value_weight: float = 8.0
    """Weight of the value loss; large, since rewards are hundredths of points."""
    layers: tuple[int, ...] = (128, 128)
    """Hidden layers of the policy and of the value network (ReLU)."""
    seed: int = 0
    """Seed of everything."""
    device: str = "cpu"
    """Torch device; auto: a GPU where there is one."""
    threads: int = 1
    """Threads of torch and of the environment. More help on an idle machine only: torch's threads wait for each other,
    and with anything else running two of them on two cores were seen to be seven times slower than one."""
    checkpoint_every: int = 1_000_000
    """Steps between checkpoints (and between evaluations)."""
    evaluation_hands: int = 4000
    """Hands of each evaluation during training, against every opponent in `ladder`."""
    final_hands: int = 20_000
    """Hands against each player in the table at the end."""
    ladder: tuple[str, ...] = ("simple", "knocker", "camper", "random")
    """Whom the agent is evaluated against."""

    trust: bool = False
    """With resume: goes on with a run whose players are classes or programs of your own, too. They run code, so only
    for a run folder that nobody else has made."""

    def check(self) -> None:
        """Checks every option.

        Raises:
            ValueError: An option out of its range, by name, value and what is allowed.
            FileNotFoundError: A model file that is missing.
        """
        _check_among("rules", self.rules, RULES)
        rules = Rules.preset(self.rules, self.seats)
        check_episode(rules, self.episode, self.reward)
        for name, most in MOST.items():
            _check_range(name, getattr(self, name), 0 if name == "seed" else 1, most)
        _check_range("games * rollout", self.games * self.rollout, 1, MOST_MOVES)
        if (self.games * self.rollout) % self.batch:
            raise ValueError(
                f"batch={self.batch}; allowed: a divisor of games * rollout = {self.games * self.rollout}"
            )
        if not self.opponents or not self.ladder:
            raise ValueError("opponents and ladder; allowed: at least one player each")
        if not 0 < len(self.layers) <= MOST_LAYERS or not all(0 < n <= WIDEST for n in self.layers):
            raise ValueError(
                f"layers={shown(self.layers)}; allowed: 1 to {MOST_LAYERS} widths of 1 to {WIDEST}"
            )
        for name in ("learning_rate", "clip"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name}={getattr(self, name)}; allowed: above 0")
        for name in ("entropy", "value_weight"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name}={getattr(self, name)}; allowed: 0 or more")
        if not 0 <= self.gae_lambda <= 1:
            raise ValueError(f"gae_lambda={self.gae_lambda}; allowed: 0 to 1")
        if not re.fullmatch(f"({'|'.join(DEVICES)})(:[0-9]{{1,3}})?", self.device):
            raise ValueError(f"device={shown(self.device)}; allowed: {', '.join(DEVICES)}")
        _check_range("final_hands", self.final_hands, rules.players, MOST["final_hands"])
        specs = [*self.opponents, *([] if self.imitate == "none" else [self.imitate])]
        for spec in specs:
            if spec != SELF:
                check_rules(players.make(spec), rules)
        rungs = [players.make(spec) for spec in self.ladder]
        for player in rungs:
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


def _check_among(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name}={shown(value)}; allowed: {', '.join(allowed)}")


def _check_range(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        allowed = f"{least} or more" if value < least else f"{least} to {most}"
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
        imitate_moves=20_000,
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
