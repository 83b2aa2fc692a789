"""A trained network as a player: plain matrices, read from a file without running anything in it."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env.kernel import network
from okgin_env.layout import N_ACTIONS, layout
from okgin_env.players.base import Decisions
from okgin_env.rules import Rules

FORMAT = "okgin_env policy 1"
MAX_FILE_BYTES = 1 << 29
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
        self.check_rules(decisions.rules)
        actions = np.empty(len(decisions), np.int64)
        network.best_actions(decisions.observations, decisions.masks, *self._compiled, actions)
        return actions

    def scores(self, decisions: Decisions) -> NDArray[np.float32]:
        """(M, 108) action scores (logits) before masking.

        A network that was trained on single hands does not see a match's scores; one that was trained on matches sees zeros
        in single hands.
        """
        self.check_rules(decisions.rules)
        scores = np.empty((len(decisions), N_ACTIONS), np.float32)
        network.score_all(decisions.observations, *self._compiled, scores)
        return scores

    @cached_property
    def _compiled(self) -> tuple[NDArray[np.float32], NDArray[np.int64], int]:
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
        n_in = self.weights[0].shape[1]
        allowed = [layout(rules.players, match=match).size for match in (False, True)]
        if n_in not in allowed:
            raise ValueError(
                f"{self.name}: made for observations of {n_in} features; allowed here: "
                f"{' or '.join(map(str, allowed))} ({rules.players} players)"
            )

    @classmethod
    def load(cls, path: Path) -> NetworkPlayer:
        """Reads a ``.safetensors`` file of this package or a stable-baselines3 ``.zip``.

        Only numbers are read: of a ``.zip`` the weights (with PyTorch's weights-only loader) and the name of the
        activation, never the pickled parts, so that a stranger's file can run no code.

        Raises:
            FileNotFoundError: No such file.
            ValueError: The file holds no policy of this kind.
            ImportError: The extra that reads such files is not installed.
        """
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"model file '{path}' does not exist")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ValueError(f"model file '{path}' has over {MAX_FILE_BYTES >> 20} MB")
        read = _read_zip if path.suffix == ".zip" else _read_safetensors
        tensors, activation = read(path)
        return cls(_name(path), *_layers(path, tensors), activation)


def _name(path: Path) -> str:
    """What tables call a model: its run's folder too, since every run calls its files the same."""
    return f"{path.parent.name}/{path.stem}" if path.parent.name else path.stem


def _read_safetensors(path: Path) -> tuple[dict[str, NDArray[Any]], str]:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise ImportError("reading .safetensors needs: pip install okgin-env[train]") from error
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(f"model file '{path}' is no safetensors file: {error}") from error
    if metadata.get("format") != FORMAT or metadata.get("activation") not in ACTIVATIONS:
        raise ValueError(f"model file '{path}' holds no policy of format '{FORMAT}'")
    return tensors, metadata["activation"]


def _read_zip(path: Path) -> tuple[dict[str, NDArray[Any]], str]:
    try:
        import torch
    except ImportError as error:
        raise ImportError("reading a .zip model needs: pip install okgin-env[train]") from error
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_FILE_BYTES:
                raise ValueError(f"unpacks to over {MAX_FILE_BYTES >> 20} MB")
            data = json.loads(archive.read("data"))
            weights = io.BytesIO(archive.read("policy.pth"))
        state = torch.load(weights, map_location="cpu", weights_only=True)
        tensors = {name: tensor.float().numpy() for name, tensor in state.items()}
    except Exception as error:  # whatever a broken or hostile archive provokes is one clear line
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"model file '{path}' holds no readable policy: {reason}") from error
    kwargs = data.get("policy_kwargs") if isinstance(data, dict) else None
    named = str(kwargs.get("activation_fn", "Tanh") if isinstance(kwargs, dict) else "Tanh")
    activation = "relu" if "ReLU" in named else "tanh" if "Tanh" in named else named
    if activation not in ACTIVATIONS:
        raise ValueError(f"model file '{path}': activation {named}; allowed: ReLU or Tanh")
    return tensors, activation


def _layers(
    path: Path, tensors: dict[str, NDArray[Any]]
) -> tuple[tuple[NDArray[np.float32], ...], tuple[NDArray[np.float32], ...]]:
    """The policy's matrices and biases in order, with their shapes checked."""
    prefix = "mlp_extractor.policy_net."
    hidden = sorted(
        {int(name[len(prefix) :].split(".")[0]) for name in tensors if name.startswith(prefix)}
    )
    names = [f"{prefix}{k}" for k in hidden] + ["action_net"]
    try:
        weights = tuple(np.ascontiguousarray(tensors[f"{n}.weight"], np.float32) for n in names)
        biases = tuple(np.ascontiguousarray(tensors[f"{n}.bias"], np.float32) for n in names)
    except KeyError as error:
        raise ValueError(f"model file '{path}' lacks the layer {error}") from error
    n_in = weights[0].shape[-1]
    for weight, bias in zip(weights, biases, strict=True):
        if weight.ndim != 2 or weight.shape[1] != n_in or bias.shape != weight.shape[:1]:
            raise ValueError(f"model file '{path}' has layers that do not fit together")
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise ValueError(f"model file '{path}' holds numbers that are not finite")
        n_in = weight.shape[0]
    if n_in != N_ACTIONS:
        raise ValueError(f"model file '{path}' has {n_in} actions; allowed: {N_ACTIONS}")
    return weights, biases
