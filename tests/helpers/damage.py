"""Good inputs changed as hypothesis likes it: bytes, words, lines and numbers; cut, doubled, swapped, taken from another input."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from hypothesis import strategies as st

MAX_INPUT = 20_000  # bytes
TOKENS = (b"", b"\n", b"\r\n", b" ", b"\0", b"0", b"-1", b"9" * 20, b"1e999", b"NaN", b"null", b"true", b"[]", b"{}",
          b'"', b"'", b"\xff", b"\xe2\x80\xa8", "é".encode(), "٣".encode(), b"As", b"[" * 2000, b"2147483648", b"0x1")  # fmt: skip
NUMBERS = (0, 1, 3, 11, 52, 108, -1, 10**9)


@st.composite
def damaged(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    """One of some good inputs after one change or several."""
    data, rng = draw(st.sampled_from(seeds)), Random(draw(st.integers(0, (1 << 32) - 1)))
    for _ in range(draw(st.sampled_from((1, 1, 1, 2, 3, 8)))):
        data = changed(data, rng, seeds)
    return data[:MAX_INPUT]


def changed(data: bytes, rng: Random, others: Sequence[bytes]) -> bytes:
    """One change of an input."""
    at = rng.randrange(len(data) + 1)
    kind = rng.randrange(8)
    if kind == 0 and data:  # a byte
        at %= len(data)
        return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    if kind == 1:  # a piece goes
        return data[:at] + data[at + rng.choice((1, 1, 2, 8, 100)) :]
    if kind == 2:  # a piece comes twice
        end = at + rng.choice((1, 4, 30, 300))
        return data[:end] + data[at:end] * rng.choice((1, 1, 3)) + data[end:]
    if kind == 3:  # the end goes
        return data[:at]
    if kind == 4 and (words := [*re.finditer(rb"[\w.+-]+", data)]):  # a word is replaced
        word, number = rng.choice(words), str(rng.choice((*NUMBERS, rng.randrange(300)))).encode()
        return data[: word.start()] + rng.choice((*TOKENS, number, number)) + data[word.end() :]
    if kind == 5:  # lines change places
        lines = data.split(b"\n")
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[i]
        return b"\n".join(lines)
    if kind == 6:  # a piece of another one
        other = rng.choice(others)
        start = rng.randrange(len(other) + 1)
        return data[:at] + other[start : start + rng.choice((2, 20, 200))] + data[at:]
    return data[:at] + rng.choice(TOKENS) + data[at:]
