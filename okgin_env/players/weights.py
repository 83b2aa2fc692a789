"""Reads the layers of a network from a file that may come from a stranger: numbers only, nothing in it is run."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from okgin_env.layout import N_ACTIONS
from okgin_env.utils.errors import shown, told

FORMAT = "okgin_env policy 1"
ACTIVATION_NAMES = ("relu", "tanh")
MAX_FILE_BYTES = 1 << 29
_DTYPES = (np.dtype(np.float32), np.dtype(np.float16))

Arrays: TypeAlias = tuple[NDArray[np.float32], ...]


class Layers(NamedTuple):
    """The content of a policy file.

    Attributes:
        weights: One (n_out, n_in) matrix a layer.
        biases: One (n_out,) vector a layer.
        activation: One of `ACTIVATION_NAMES`, applied between layers.
        features: What its inputs are, as `Layout.described` has it; empty: the file does not say.
    """

    weights: Arrays
    biases: Arrays
    activation: str
    features: str


def read_layers(path: Path) -> Layers:
    """A policy file: ``.safetensors``, stable-baselines3's ``.zip``, or the package's own ``.npz``.

    Raises:
        FileNotFoundError: No such file.
        ValueError: The file holds no policy of this kind.
        ImportError: The extra that reads such files is not installed.
    """
    if not path.is_file():
        raise FileNotFoundError(f"model file '{path}' does not exist")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ValueError(f"model file '{path}' has over {MAX_FILE_BYTES >> 20} MB")
    readers = {".zip": _read_zip, ".npz": _read_npz}
    tensors, activation, features = readers.get(path.suffix, _read_safetensors)(path)
    if not isinstance(features, str) or not re.fullmatch(
        r"(\w{1,40}:\d{1,4}( |$)){0,200}", features
    ):
        raise ValueError(f"model file '{path}': features {shown(features)}; allowed: name:width …")
    return Layers(*_layers(path, tensors), activation, features)


Read: TypeAlias = tuple[dict[str, NDArray[Any]], str, Any]


def _read_safetensors(path: Path) -> Read:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise ImportError(
            "reading a .safetensors model needs: pip install 'okgin-env[arena]'"
        ) from error
    try:
        with safe_open(path, framework="numpy") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
            about = file.metadata() or {}
    except (SafetensorError, OSError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"model file '{path}' is no safetensors file: {_why(error)}") from error
    return _checked(path, tensors, about)


def _read_npz(path: Path) -> Read:
    """The networks that come with the package, which are read without any library but NumPy."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
    except Exception as error:  # whatever a broken or hostile archive provokes is one clear line
        raise ValueError(f"model file '{path}' is no npz file: {_why(error)}") from error
    about = {name: str(a) for name, a in arrays.items() if a.dtype.kind == "U" and a.ndim == 0}
    return _checked(path, {n: a for n, a in arrays.items() if n not in about}, about)


def _checked(path: Path, tensors: dict[str, NDArray[Any]], about: Mapping[str, str]) -> Read:
    """Tensors and what a file says of them, of a format of this package."""
    if about.get("format") != FORMAT or about.get("activation") not in ACTIVATION_NAMES:
        raise ValueError(f"model file '{path}' holds no policy of format '{FORMAT}'")
    for name, tensor in tensors.items():
        if tensor.dtype not in _DTYPES:
            raise ValueError(
                f"model file '{path}': {shown(name)} holds {tensor.dtype}; allowed: float32"
            )
    return tensors, about["activation"], about.get("features", "")


def _read_zip(path: Path) -> Read:
    try:
        import torch
    except ImportError as error:
        raise ImportError("reading a .zip model needs: pip install okgin-env[train]") from error
    try:
        with zipfile.ZipFile(path) as archive:
            _check_unpacked(member.file_size for member in archive.infolist())
            data = json.loads(archive.read("data"))
            weights = io.BytesIO(archive.read("policy.pth"))
        with zipfile.ZipFile(weights) as inner:  # torch's older format would allocate what it names
            _check_unpacked(member.file_size for member in inner.infolist())
        weights.seek(0)
        state = torch.load(weights, map_location="cpu", weights_only=True)
        if not isinstance(state, dict) or not all(
            isinstance(name, str) and isinstance(tensor, torch.Tensor)
            for name, tensor in state.items()
        ):
            raise ValueError("its policy.pth holds no tensors by name")
        # One stored number can stand for any number of elements, until it is copied.
        _check_unpacked(4 * tensor.numel() for tensor in state.values())
        tensors = {name: tensor.float().numpy() for name, tensor in state.items()}
    except Exception as error:  # see above
        raise ValueError(f"model file '{path}' holds no readable policy: {_why(error)}") from error
    named = str(_entry(data, "policy_kwargs").get("activation_fn", "Tanh"))
    activation = _activation(named)
    if activation not in ACTIVATION_NAMES:
        told_name = " ".join(named.split())[:80]
        raise ValueError(f"model file '{path}': activation {told_name}; allowed: ReLU or Tanh")
    return tensors, activation, _entry(data, "observation_space").get("features", "")


def _why(error: Exception) -> str:
    """The reason why a file cannot be read: what the library says, unless it is only of its own insides."""
    insides = (TypeError, AttributeError, LookupError, AssertionError, NotImplementedError)
    is_said = isinstance(error, KeyError) and "archive" in str(error)  # zipfile: no such member
    return "it is damaged" if isinstance(error, insides) and not is_said else told(error)


def _entry(data: Any, name: str) -> dict[str, Any]:
    """One of a model's settings, as stable-baselines3 has written it in plain text."""
    found = data.get(name) if isinstance(data, dict) else None
    return found if isinstance(found, dict) else {}


def _activation(named: str) -> str:
    """This package's name of an activation, by its class: LeakyReLU and ReLU6 are no ReLU."""
    return (re.findall(r"\w+", named) or [""])[-1].lower()


def _check_unpacked(sizes: Iterable[int]) -> None:
    """Checks how many bytes something takes before they are asked for."""
    if sum(sizes) > MAX_FILE_BYTES:
        raise ValueError(f"unpacks to over {MAX_FILE_BYTES >> 20} MB")


def _layers(path: Path, tensors: dict[str, NDArray[Any]]) -> tuple[Arrays, Arrays]:
    """The policy's matrices and biases in order, with their shapes checked."""
    prefix = "mlp_extractor.policy_net."
    parts = [name[len(prefix) :].split(".")[0] for name in tensors if name.startswith(prefix)]
    for part in parts:
        if not re.fullmatch("[0-9]{1,4}", part):
            raise ValueError(f"model file '{path}': layer {shown(part)}; allowed: a number")
    hidden = sorted(set(map(int, parts)))
    names = [f"{prefix}{k}" for k in hidden] + ["action_net"]
    try:
        weights = tuple(np.ascontiguousarray(tensors[f"{n}.weight"], np.float32) for n in names)
        biases = tuple(np.ascontiguousarray(tensors[f"{n}.bias"], np.float32) for n in names)
    except KeyError as error:
        raise ValueError(f"model file '{path}' lacks the layer {error}") from error
    n_in = None  # as many as the first layer takes
    for weight, bias in zip(weights, biases, strict=True):
        fits = weight.ndim == 2 and n_in in (None, weight.shape[1])
        if not fits or bias.shape != weight.shape[:1]:
            raise ValueError(f"model file '{path}' has layers that do not fit together")
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise ValueError(f"model file '{path}' holds numbers that are not finite")
        n_in = weight.shape[0]
    if n_in != N_ACTIONS:
        raise ValueError(f"model file '{path}' has {n_in} actions; allowed: {N_ACTIONS}")
    return weights, biases
