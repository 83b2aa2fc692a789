"""Reads the layers of a network from a file that may come from a stranger: numbers only, nothing in it is run."""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from okgin_env.layout import N_ACTIONS
from okgin_env.utils.errors import told

FORMAT = "okgin_env policy 1"
ACTIVATION_NAMES = ("relu", "tanh")
MAX_FILE_BYTES = 1 << 29
_MAX_HEADER_BYTES = 1 << 20
_DTYPES = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2")}

Arrays: TypeAlias = tuple[NDArray[np.float32], ...]


def read_layers(path: Path) -> tuple[Arrays, Arrays, str]:
    """The weights and biases of a policy file layer by layer, and the name of its activation.

    Raises:
        FileNotFoundError: No such file.
        ValueError: The file holds no policy of this kind.
        ImportError: The extra that reads such files is not installed.
    """
    if not path.is_file():
        raise FileNotFoundError(f"model file '{path}' does not exist")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ValueError(f"model file '{path}' has over {MAX_FILE_BYTES >> 20} MB")
    read = _read_zip if path.suffix == ".zip" else _read_safetensors
    tensors, activation = read(path)
    return *_layers(path, tensors), activation


def _read_safetensors(path: Path) -> tuple[dict[str, NDArray[Any]], str]:
    """The format is eight bytes of length, a JSON header and raw numbers, so the core needs no library to read it."""
    try:
        metadata, tensors = _parse_safetensors(path.read_bytes())
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"model file '{path}' is no safetensors file: {told(error)}") from error
    if metadata.get("format") != FORMAT or metadata.get("activation") not in ACTIVATION_NAMES:
        raise ValueError(f"model file '{path}' holds no policy of format '{FORMAT}'")
    return tensors, metadata["activation"]


def _parse_safetensors(content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Metadata and tensors; any error for content that is not exactly as it should be."""
    start = 8 + int.from_bytes(content[:8], "little")
    if not 8 < start <= min(len(content), _MAX_HEADER_BYTES):
        raise ValueError("its header is cut off")
    header: Any = json.loads(content[8:start])
    if not isinstance(header, dict):
        raise ValueError("its header is no object")
    metadata = header.pop("__metadata__", {})
    data, tensors = content[start:], {}
    for name, entry in header.items():
        if entry["dtype"] not in _DTYPES:
            raise ValueError(f"{name} is of type {entry['dtype']!r}; allowed: {', '.join(_DTYPES)}")
        dtype, shape, (begin, end) = _DTYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
        plain = all(type(n) is int and n >= 0 for n in (*shape, begin, end))
        if not plain or end > len(data) or end - begin != math.prod(shape) * dtype.itemsize:
            raise ValueError(f"{name} does not fill its place")
        tensors[name] = np.frombuffer(data[begin:end], dtype).reshape(shape)
    if not isinstance(metadata, dict):
        raise ValueError("its metadata is no object")
    return metadata, tensors


def _read_zip(path: Path) -> tuple[dict[str, NDArray[Any]], str]:
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
        # One stored number can stand for any number of elements, until it is copied.
        _check_unpacked(4 * tensor.numel() for tensor in state.values())
        tensors = {name: tensor.float().numpy() for name, tensor in state.items()}
    except Exception as error:  # whatever a broken or hostile archive provokes is one clear line
        raise ValueError(f"model file '{path}' holds no readable policy: {told(error)}") from error
    kwargs = data.get("policy_kwargs") if isinstance(data, dict) else None
    named = str(kwargs.get("activation_fn", "Tanh") if isinstance(kwargs, dict) else "Tanh")
    activation = _activation(named)
    if activation not in ACTIVATION_NAMES:
        raise ValueError(f"model file '{path}': activation {named}; allowed: ReLU or Tanh")
    return tensors, activation


def _activation(named: str) -> str:
    """What this package calls an activation, by its class: LeakyReLU and ReLU6 are no ReLU."""
    return (re.findall(r"\w+", named) or [""])[-1].lower()


def _check_unpacked(sizes: Iterable[int]) -> None:
    """Checks how many bytes something takes before they are asked for."""
    if sum(sizes) > MAX_FILE_BYTES:
        raise ValueError(f"unpacks to over {MAX_FILE_BYTES >> 20} MB")


def _layers(path: Path, tensors: dict[str, NDArray[Any]]) -> tuple[Arrays, Arrays]:
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
