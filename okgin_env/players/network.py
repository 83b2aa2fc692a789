"""A trained network as a player: plain matrices, read from a file without running anything in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from okgin_env.kernel import network
from okgin_env.kernel.outlook import outlook_all
from okgin_env.layout import N_ACTIONS, OUTLOOK_SIZE, Layout, layout
from okgin_env.players.base import Decisions
from okgin_env.players.weights import read_layers
from okgin_env.rules import Rules

ACTIVATIONS = {"relu": network.RELU, "tanh": network.TANH}


@dataclass(frozen=True)
class NetworkPlayer:
    """A multi-layer perceptron from observation to action scores; plays its best legal action.

    Attributes:
        name: What tables call it.
        weights: One (n_out, n_in) float32 matrix a layer; the last has 108 rows.
        biases: One (n_out,) float32 vector a layer.
        activation: Key of `ACTIVATIONS`, applied between layers.
    """

    name: str
    weights: tuple[NDArray[np.float32], ...]
    biases: tuple[NDArray[np.float32], ...]
    activation: str

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
        kind = self._kind(decisions.rules)
        if not kind.outlook:
            return (
                decisions.observations
            )  # features beyond the network's are ignored, missing ones are 0
        n_plain = kind.size - OUTLOOK_SIZE
        inputs = np.zeros((len(decisions), kind.size), np.int8)
        n_seen = min(n_plain, decisions.observations.shape[1])
        inputs[:, :n_seen] = decisions.observations[:, :n_seen]
        outlook_all(decisions.records, inputs[:, n_plain:])
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
        """Checks that the network was made for tables of this size.

        Raises:
            ValueError: It was not.
        """
        self._kind(rules)

    def _kind(self, rules: Rules) -> Layout:
        """The layout of the observations that the network was made for."""
        n_in = self.weights[0].shape[1]
        kinds = [layout(rules.players, *kind) for kind in product((False, True), repeat=2)]
        for kind in kinds:
            if kind.size == n_in:
                return kind
        raise ValueError(
            f"{self.name}: made for observations of {n_in} features; allowed here: "
            f"{', '.join(str(kind.size) for kind in kinds)} ({rules.players} players)"
        )

    @classmethod
    def load(cls, path: Path, name: str = "") -> NetworkPlayer:
        """Reads a ``.safetensors`` file of this package or a stable-baselines3 ``.zip``.

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


def _name(path: Path) -> str:
    """What tables call a model: its run's folder too, since every run calls its files the same."""
    return f"{path.parent.name}/{path.stem}" if path.parent.name else path.stem
