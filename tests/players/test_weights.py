"""Policy files from anybody: read as the library reads them, refused in one line where they are not as they should be."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("hypothesis")

from hypothesis import given, settings
from hypothesis import strategies as st

from okgin_env import players
from okgin_env.layout import N_ACTIONS, layout
from okgin_env.players.network import NetworkPlayer
from okgin_env.players.weights import FORMAT

D = layout(2).size
META = {"format": FORMAT, "activation": "relu"}


def tensors(dtype: str = "f4", n_in: int = D, hidden: int = 6) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    shapes = {
        "mlp_extractor.policy_net.0.weight": (hidden, n_in),
        "mlp_extractor.policy_net.0.bias": (hidden,),
        "action_net.weight": (N_ACTIONS, hidden),
        "action_net.bias": (N_ACTIONS,),
    }
    return {name: rng.normal(size=shape).astype(dtype) for name, shape in shapes.items()}


def packed(header: Any, data: bytes) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def content(**changes: Any) -> bytes:
    """A good file, with entries of its header replaced."""
    header: dict[str, Any] = {"__metadata__": META}
    data = b""
    for name, array in tensors().items():
        end = len(data) + array.nbytes
        header[name] = {
            "dtype": "F32",
            "shape": list(array.shape),
            "data_offsets": [len(data), end],
        }
        data += array.tobytes()
    for name, value in changes.items():
        if name == "metadata":
            header["__metadata__"] = value
        else:
            header["action_net.bias"][name] = value
    return packed(header, data)


@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_numbers_are_those_the_library_wrote(dtype: str, tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    from safetensors.numpy import save_file

    path, written = tmp_path / "a.safetensors", tensors(dtype)
    save_file(written, path, metadata=META)
    player = NetworkPlayer.load(path)
    for got, name in zip(player.weights, ("mlp_extractor.policy_net.0", "action_net"), strict=True):
        assert got.dtype == np.float32
        assert np.array_equal(got, written[f"{name}.weight"].astype(np.float32))
    for got, name in zip(player.biases, ("mlp_extractor.policy_net.0", "action_net"), strict=True):
        assert np.array_equal(got, written[f"{name}.bias"].astype(np.float32))


NO_FILE = "is no safetensors file"
BAD = {
    "empty": (b"", NO_FILE),
    "short": (b"1234", NO_FILE),
    "header of all bytes there are": (struct.pack("<Q", 2**63) + b"{}", NO_FILE),
    "header cut off": (struct.pack("<Q", 900) + b"{}", NO_FILE),
    "header of a gigabyte": (struct.pack("<Q", 1 << 30) + b" " * 2000, NO_FILE),
    "no JSON": (packed(b"\x80\x04K\x01.", b""), NO_FILE),
    "no object": (packed([1, 2], b""), NO_FILE),
    "a number": (packed(6, b""), NO_FILE),
    "deep": (packed(b"[" * 200_000, b""), NO_FILE),
    "metadata a list": (content(metadata=[1]), NO_FILE),
    "entry a number": (packed({"a": 3}, b""), NO_FILE),
    "beyond the end": (content(data_offsets=[0, 1 << 40]), NO_FILE),
    "overlong": (content(shape=[1 << 40], data_offsets=[0, 1 << 42]), NO_FILE),
    "other size": (content(shape=[N_ACTIONS - 1]), NO_FILE),
    "negative": (content(shape=[-1]), NO_FILE),
    "negative twice": (content(shape=[-N_ACTIONS, -1]), NO_FILE),
    "begins before": (content(data_offsets=[-432, 0]), NO_FILE),
    "flags for numbers": (content(shape=[True]), NO_FILE),
    "text for numbers": (content(shape="108"), NO_FILE),
    "other type": (content(dtype="I64"), "is no safetensors file"),
    "type a list": (content(dtype=["F32"]), NO_FILE),
    "other format": (content(metadata={}), "holds no policy of format"),
    "activation a list": (
        content(metadata={**META, "activation": ["relu"]}),
        "is no safetensors file",
    ),
    "a layer gone": (packed({"__metadata__": META}, b""), "lacks the layer"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_policy_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(BAD[name][0])
    with pytest.raises(ValueError, match=BAD[name][1]) as caught:
        players.make(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300 + len(str(path))


def saved(**arrays: Any) -> bytes:
    """An `.npz` file with the arrays of a policy, some of them others."""
    buffer, about = io.BytesIO(), {name: np.array(text) for name, text in META.items()}
    np.savez(buffer, **{**tensors(), **about, **arrays})
    return buffer.getvalue()


FIRST = "mlp_extractor.policy_net.0"
CRAFTED = {
    "layer of no number": (saved(**{"mlp_extractor.policy_net.x.weight": np.zeros(3, "f4")}), "layer 'x'; allowed: a number"),
    "weight of no dimension": (saved(**{f"{FIRST}.weight": np.float32(1)}), "layers that do not fit together"),
    "weight of three": (saved(**{f"{FIRST}.weight": np.zeros((2, 2, 2), "f4")}), "layers that do not fit together"),
    "bias of no dimension": (saved(**{"action_net.bias": np.float32(1)}), "layers that do not fit together"),
    "numbers of another kind": (saved(**{"action_net.bias": np.zeros(N_ACTIONS)}), r"'action_net\.bias' holds float64; allowed: float32"),
    "objects": (saved(**{"action_net.bias": np.array([{}, []], object)}), "is no npz file"),
    "cut off": (saved()[:900], "is no npz file"),
    "one bit": (saved()[:300] + b"\xff" + saved()[301:], "is no npz file"),
}  # fmt: skip


@pytest.mark.parametrize("name", CRAFTED)
def test_a_crafted_file_is_refused_by_what_is_wrong_with_which_file(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(CRAFTED[name][0])
    with pytest.raises(ValueError, match=rf"^model file '{path}'.*{CRAFTED[name][1]}") as caught:
        NetworkPlayer.load(path)
    said = str(caught.value)
    assert not [word for word in ("object", "NoneType", "invalid literal", "index out") if f"'{word}" in said]  # fmt: skip
    assert "\n" not in said


@pytest.mark.parametrize("state", [5, [1], {1: 2}, {"a": 1}, {3: None}, None], ids=str)
def test_a_zip_without_tensors_is_refused_in_words(state: Any, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    buffer = io.BytesIO()
    torch.save(state, buffer)
    path = _zipped(tmp_path / "a.zip", buffer.getvalue())
    with pytest.raises(ValueError, match=r"its policy\.pth holds no tensors by name") as caught:
        NetworkPlayer.load(path)
    assert str(path) in str(caught.value)


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_a_file_that_is_changed_anywhere_plays_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = bytearray(content())
    n_header = 8 + int.from_bytes(whole[:8], "little")
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, n_header + 20))
        whole[at] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("weights") / "a.safetensors"
    path.write_bytes(whole[: data.draw(st.sampled_from([len(whole), n_header, n_header // 2]))])
    refused = ""
    try:
        assert len(NetworkPlayer.load(path).weights) == 2
    except ValueError as error:
        refused = str(error)
    assert "\n" not in refused


def _zipped(path: Path, policy: bytes, deflate: bool = False) -> Path:
    with zipfile.ZipFile(
        path, "w", zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
    ) as file:
        file.writestr("data", json.dumps({"policy_kwargs": {}}))
        file.writestr("policy.pth", policy)
    return path


@pytest.mark.parametrize("kind", ["one number for many", "packed twice", "older format"])
def test_a_small_zip_takes_no_endless_memory(kind: str, tmp_path: Path) -> None:
    """Two kilobytes could ask for twelve gigabytes."""
    torch = pytest.importorskip("torch")
    state = {name: torch.from_numpy(array) for name, array in tensors().items()}
    buffer = io.BytesIO()
    torch.save(state, buffer)
    assert NetworkPlayer.load(_zipped(tmp_path / "good.zip", buffer.getvalue())).weights
    buffer, said = io.BytesIO(), "unpacks to over 512 MB"
    if kind == "one number for many":
        state["mlp_extractor.policy_net.0.weight"] = torch.ones(1).expand(3_000_000, D)
        torch.save(state, buffer)
    elif kind == "packed twice":
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as inner:
            for k in range(9):
                inner.writestr(f"archive/data/{k}", bytes(1 << 26))
    else:
        torch.save(state, buffer, _use_new_zipfile_serialization=False)
        said = "File is not a zip file"
    path = _zipped(tmp_path / "a.zip", buffer.getvalue(), deflate=True)
    assert path.stat().st_size < 1 << 20
    with pytest.raises(ValueError, match=said) as caught:
        NetworkPlayer.load(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("named", "reads"), [("ReLU", "relu"), ("Tanh", "tanh"), ("LeakyReLU", None), ("ReLU6", None)]
)
def test_the_activation_of_a_zip_is_the_one_it_names(
    tmp_path: Path, named: str, reads: str | None
) -> None:
    """One with LeakyReLU was played with ReLU: by another policy, and nobody was told."""
    torch = pytest.importorskip("torch")
    weights, path = io.BytesIO(), tmp_path / "model.zip"
    torch.save({name: torch.from_numpy(array) for name, array in tensors().items()}, weights)
    kind = f"<class 'torch.nn.modules.activation.{named}'>"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", json.dumps({"policy_kwargs": {"activation_fn": kind}}))
        archive.writestr("policy.pth", weights.getvalue())
    if reads:
        assert NetworkPlayer.load(path).activation == reads
        return
    with pytest.raises(ValueError, match=rf"{named}'>; allowed: ReLU or Tanh"):
        NetworkPlayer.load(path)
