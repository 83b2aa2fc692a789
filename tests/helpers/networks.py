"""Small networks, as players and as weights files."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np

from okgin_env.layout import N_ACTIONS, layout
from okgin_env.players import weights
from okgin_env.players.network import NetworkPlayer


def network(n_in: int, *hidden: int, activation: str = "relu", seed: int = 0) -> NetworkPlayer:
    rng = np.random.default_rng(seed)
    sizes = [n_in, *hidden, N_ACTIONS]
    pairs = list(pairwise(sizes))
    weights = tuple(rng.normal(0, 1 / np.sqrt(a), (b, a)).astype(np.float32) for a, b in pairs)
    biases = tuple(rng.normal(0, 0.3, b).astype(np.float32) for _, b in pairs)
    return NetworkPlayer("net", weights, biases, activation)


def network_file(dtype: str = "float32") -> bytes:
    """A weights file with a network of two hidden units, for two players."""
    short, n_in = {"float32": "F32", "float16": "F16"}[dtype], layout(2).size
    prefix = "mlp_extractor.policy_net."
    shapes = {f"{prefix}0.weight": (2, n_in), f"{prefix}0.bias": (2,)}
    shapes |= {"action_net.weight": (N_ACTIONS, 2), "action_net.bias": (N_ACTIONS,)}
    header: dict[str, object] = {"__metadata__": {"format": weights.FORMAT, "activation": "tanh"}}
    data = b""
    for key, shape in shapes.items():
        more = np.ones(shape, dtype).tobytes()
        span = [len(data), len(data) + len(more)]
        header[key] = {"dtype": short, "shape": shape, "data_offsets": span}
        data += more
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data
