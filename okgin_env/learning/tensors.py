"""Arrays in safetensors files: written whole or not at all; reading one runs no code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import load_file, save

from okgin_env.utils.files import write_bytes

Arrays = dict[str, NDArray[Any]]


def write(path: Path, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, str]) -> None:
    """Writes arrays, and what the file says of itself."""
    # The library takes the bytes as they lie, whatever the strides.
    content = {name: np.require(value, requirements="C") for name, value in arrays.items()}
    write_bytes(path, save(content, metadata=dict(about) or None))


def metadata(path: Path) -> dict[str, str]:
    """The description of itself that a file carries, be it one of the networks that come with the package (``.npz``)."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            return {name: str(text) for name, text in file.items() if text.dtype.kind == "U"}
    with safe_open(path, framework="numpy") as file:
        return dict(file.metadata() or {})


def names(path: Path) -> set[str]:
    """The names of a file's arrays."""
    with safe_open(path, framework="numpy") as file:
        return set(file.keys())


def read_all(path: Path) -> Arrays:
    """All arrays of a file of one's own."""
    return load_file(path)


def read(path: Path, expected: Mapping[str, NDArray[Any]]) -> Arrays:
    """Reads arrays of which each is as the expected one; takes no more memory than those do.

    Raises:
        SafetensorError: It is no such file, or there is no such array.
        ValueError: One has another shape or type.
    """
    arrays: Arrays = {}
    with safe_open(path, framework="numpy") as file:
        for name, like in expected.items():
            shape = tuple(file.get_slice(name).get_shape())
            if shape != like.shape:
                raise ValueError(f"{name} has shape {shape}; allowed: {like.shape}")
            arrays[name] = array = file.get_tensor(name)
            if array.dtype != like.dtype:
                raise ValueError(f"{name} holds {array.dtype}; allowed: {like.dtype}")
    return arrays
