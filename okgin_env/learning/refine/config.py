"""A refinement as one dataclass: its fields are the command line of `okgin refine`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from okgin_env import PRESETS, players
from okgin_env.layout import layout
from okgin_env.learning.config import ENDLESS, check_range
from okgin_env.players.network import NetworkPlayer
from okgin_env.players.scripted import ScriptedPlayer
from okgin_env.rules import as_rules
from okgin_env.utils.commands import option, options_in_words
from okgin_env.utils.errors import check_choice

HUNTER_PLAYS_ON, POLICY_PLAYS_ON = "hunter", "policy"
LEAST = {HUNTER_PLAYS_ON: 0.003, POLICY_PLAYS_ON: 0.01}
"""How likely a move must be to be played out, by who plays on."""


@dataclass(frozen=True)
class Refinement:
    """Makes a trained policy stronger with hindsight, the second stage of training.

    In each round the policy plays, and its likely moves are played out; then it is trained to prefer
    what came out best, on the positions of this round and of the one before. Against whom it then
    stands how is in FOLDER/rounds.csv. A run that was stopped, even killed, goes on with the same
    command: finished rounds and gathered positions are kept.
    """

    policy: str
    rules: str = option("classic", "preset or a variant such as 'classic(gin_bonus=20)'")
    opponents: tuple[str, ...] = option(
        ("camper", "camper", "camper", "simple", "simple", "knocker"),
        "scripted players, each in an equal share of the games",
    )
    rounds: int = option(3, "of gathering and learning")
    positions: int = option(4_000_000, "of a round; above 500000 in files of that many")
    epochs: int = option(3, "passes over them")
    learning_rate: float = option(1e-3, "at its highest")
    seed: int = option(0, "of the run")
    plays_on: str = option(
        HUNTER_PLAYS_ON,
        "who plays a tried move on: hunter, and the policy where it may knock, or policy",
    )

    def check(self) -> None:
        """Checks every option.

        Raises:
            ValueError: An option out of its range, by name, value and what is allowed.
            FileNotFoundError: No such policy.
        """
        if "(" not in self.rules:  # no label
            check_choice("rules", self.rules, PRESETS)
        as_rules(self.rules, 2)
        check_choice("plays_on", self.plays_on, tuple(LEAST))
        for name, least in (("rounds", 1), ("positions", 1), ("epochs", 1), ("seed", 0)):
            check_range(name, getattr(self, name), least, ENDLESS)
        if not 0 < self.learning_rate < 1:
            raise ValueError(f"learning_rate={self.learning_rate}; allowed: above 0, below 1")
        for name in self.opponents:
            if not isinstance(players.make(name), ScriptedPlayer):
                raise ValueError(f"opponent {name!r}; allowed: scripted players")
        self._check_policy()

    def _check_policy(self) -> None:
        """Checks that the policy is of the one kind that can be refined."""
        if Path(self.policy).suffix not in (".safetensors", ".npz"):
            raise ValueError(
                f"policy={self.policy!r}; allowed: a .safetensors file, or one of the package's own .npz"
            )
        player = NetworkPlayer.load(Path(self.policy))
        if player.activation != "relu":
            raise ValueError(f"policy={self.policy!r} has {player.activation}; allowed: relu")
        n_in, today = player.weights[0].shape[1], layout(2, False, True)
        if n_in != today.size or player.features not in ("", today.described):
            raise ValueError(
                f"policy={self.policy!r} sees {n_in} features; allowed: the {today.size} of today (two seats, "
                "single hands, outlook)"
            )

    def to_json(self) -> str:
        """The options as JSON text."""
        return json.dumps(asdict(self), indent=1) + "\n"

    def command(self) -> str:
        """The command line, but for the names of file and folder."""
        words = options_in_words(self)
        return " ".join(["okgin refine POLICY --out FOLDER", *words])
