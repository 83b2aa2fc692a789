"""A trained network as a player: plain matrices, read from a file without running anything in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from okgin_env.kernel import network
from okgin_env.kernel.outlook import outlook_all
from okgin_env.layout import N_ACTIONS, OUTLOOK_SIZE, first_layout, layout
from okgin_env.players.base import Decisions, Player
from okgin_env.players.weights import read_layers
from okgin_env.rules import Rules
from okgin_env.utils.errors import shown

Copies = list[tuple[slice, slice]]  # (columns of the inputs, columns they are copied from)
ACTIVATIONS = {"relu": network.RELU, "tanh": network.TANH}


@dataclass(frozen=True)
class NetworkPlayer(Player):
    """A multi-layer perceptron from observation to action scores; plays its best legal action.

    Attributes:
        name: What tables call it.
        weights: One (n_out, n_in) float32 matrix a layer; the last has 108 rows.
        biases: One (n_out,) float32 vector a layer.
        activation: Key of `ACTIVATIONS`, applied between layers.
        features: What its inputs are, as `Layout.described` has it. It plays as long as observations have them, whatever
            else they have. Empty: not told, so those of version 0.1 of this package, or of today, by their number.
    """

    name: str
    weights: tuple[NDArray[np.float32], ...]
    biases: tuple[NDArray[np.float32], ...]
    activation: str
    features: str = ""

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """The legal action of highest score in each decision."""
        actions = np.empty(len(decisions), np.int64)
        network.best_actions(self.inputs(decisions), decisions.masks, *self.compiled, actions)
        return actions

    def scores(self, decisions: Decisions) -> NDArray[np.float32]:
        """(M, 108) action scores (logits) before masking.

        A network that was trained on single hands does not see a match's scores; one that was trained on matches sees zeros
        in single hands.
        """
        return self.forward(self.inputs(decisions))

    def forward(self, inputs: NDArray[np.int8]) -> NDArray[np.float32]:
        """(M, 108) action scores of (M, n_in) observations of 0 and 1."""
        scores = np.empty((len(inputs), N_ACTIONS), np.float32)
        network.score_all(inputs, *self.compiled, scores)
        return scores

    def inputs(self, decisions: Decisions) -> NDArray[np.int8]:
        """(M, n_in) observations as the network was trained on them."""
        seen, own = self._copies(decisions.rules.players, decisions.match)
        inputs = np.zeros((len(decisions), self.weights[0].shape[1]), np.int8)
        for into, part in seen:
            inputs[:, into] = decisions.observations[:, part]
        if own:
            outlook = np.empty((len(decisions), OUTLOOK_SIZE), np.int8)
            outlook_all(decisions.records, outlook)
            for into, part in own:
                inputs[:, into] = outlook[:, part]
        return inputs

    @cached_property
    def compiled(self) -> tuple[NDArray[np.float32], NDArray[np.int64], int]:
        """Weights, sizes and activation as `kernel.network` takes them."""
        parts = [
            part
            for weight, bias in zip(self.weights, self.biases, strict=True)
            for part in (bias, weight.T.ravel())
        ]
        sizes = [self.weights[0].shape[1], *(len(bias) for bias in self.biases)]
        return np.concatenate(parts), np.array(sizes, np.int64), ACTIVATIONS[self.activation]

    def check_rules(self, rules: Rules) -> None:
        """Checks that the network was made for tables of this size, and of features that there are.

        Raises:
            ValueError: It was not.
        """
        self._copies(rules.players, False)

    def _copies(self, players: int, match: bool) -> tuple[Copies, Copies]:
        """The copies that `inputs` makes from the observation and from the outlook."""
        try:
            return _copies(self.features, self.weights[0].shape[1], players, match)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error

    @classmethod
    def load(cls, path: Path, name: str = "") -> NetworkPlayer:
        """Reads a ``.safetensors`` file of this package, a stable-baselines3 ``.zip``, or an ``.npz`` that comes with the package.

        Only numbers are read: of a ``.zip`` the weights (with PyTorch's weights-only loader) and the name of the
        activation, never the pickled parts, so that a stranger's file can run no code.

        Args:
            path: The file.
            name: What tables are to call it; by default its folder's and its own name.

        Raises:
            FileNotFoundError: No such file.
            ValueError: The file holds no policy of this kind.
            ImportError: The extra that reads such files is not installed.
        """
        path = Path(path)
        return cls(name or _name(path), *read_layers(path))


@lru_cache
def _copies(features: str, n_in: int, players: int, match: bool) -> tuple[Copies, Copies]:
    """The inputs of a network by the part of the observation, or of the outlook, from which each comes.

    Args:
        features: As `NetworkPlayer.features`.
        n_in: Number of inputs.
        players: Seats at the table.
        match: Whether observations have a match's scores; where they do not these inputs are 0.

    Raises:
        ValueError: The network was not made for such tables, or for a feature that there is none of.
    """
    wanted = [entry.split(":") for entry in (features or _unnamed(n_in, players)).split()]
    if sum(int(width) for _, width in wanted) != n_in:
        raise ValueError(f"{n_in} inputs; allowed: as many as its features have, {shown(features)}")
    n_opponents = len({name.split("_")[1] for name, _ in wanted if name.startswith("opponent_")})
    if n_opponents != players - 1:
        raise ValueError(f"made for {n_opponents + 1} players; allowed: tables of as many")
    here = layout(players, match, outlook=True).slices
    n_seen = layout(players, match).size
    copies: tuple[Copies, Copies] = [], []
    at = 0
    for name, width in wanted:
        part, into = here.get(name), slice(at, at := at + int(width))
        if part is None and name in layout(players, match=True).slices:
            continue  # a match's score, in single hands
        if part is None or part.stop - part.start != int(width):
            raise ValueError(f"made for the feature {name}:{width}, which observations do not have")
        own = part.start >= n_seen
        start = part.start - n_seen * own
        _join(copies[own], into, slice(start, start + int(width)))
    return copies


def _join(copies: Copies, into: slice, part: slice) -> None:
    """Adds a copy, as part of the last one where it goes on from there."""
    if copies and (copies[-1][0].stop, copies[-1][1].stop) == (into.start, part.start):
        last_into, last_part = copies.pop()
        into, part = slice(last_into.start, into.stop), slice(last_part.start, part.stop)
    copies.append((into, part))


def _unnamed(n_in: int, players: int) -> str:
    """The features of a network that does not name them, by their number."""
    kinds = [*product((False, True), repeat=2)]
    made = [kind(players, *which) for kind in (first_layout, layout) for which in kinds]
    for kind in made:
        if kind.size == n_in:
            return kind.described
    sizes = ", ".join(dict.fromkeys(str(kind.size) for kind in made))
    raise ValueError(
        f"made for observations of {n_in} features; allowed here: {sizes} ({players} players)"
    )


def _name(path: Path) -> str:
    """The name of a model in tables: its run's folder too, since every run calls its files the same."""
    return f"{path.parent.name}/{path.stem}" if path.parent.name else path.stem
