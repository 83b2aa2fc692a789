"""The decks of a tournament: from a seed that everybody may know, or from a secret that players are never given."""

from __future__ import annotations

import hashlib
import re
import secrets
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from okgin_env.layout import N_SUITS
from okgin_env.rules import Rules

FRESH = "-fresh"  # at the end of a label: each game has a deck of its own
LABEL = f"([0-9]{{1,1000}}|secret-[0-9a-f]{{16}})({FRESH})?"  # of decks, as a regular expression
_BLOCK = 8  # words of a digest
_HASH_START, _HASH_FACTOR = 0x8B51F9DD, 0x58F38DED  # of NumPy's SeedSequence.generate_state


def deal_streams(seed: int, first: int, n_deals: int) -> NDArray[np.uint64]:
    """(n_deals,) the random streams of deals `first`, `first + 1`, … of a seed, however many are asked for.

    They are the words of NumPy's `SeedSequence(seed).generate_state` from `first` on, without those before them: making them, too,
    would slow a tournament down with every deal. Each half of a word is a number of the seed's pool, hashed with its own power of
    a constant.
    """
    pool = np.random.SeedSequence(seed).pool
    n, begin = 2 * n_deals, 2 * first
    factors = np.full(n + 1, _HASH_FACTOR, np.uint32)
    factors[0] = _HASH_START * pow(_HASH_FACTOR, begin, 1 << 32) % (1 << 32)
    hashes = np.multiply.accumulate(factors, dtype=np.uint32)
    halves = pool[(begin + np.arange(n)) % len(pool)] ^ hashes[:-1]
    halves *= hashes[1:]
    halves ^= halves >> np.uint32(16)
    return halves.astype("<u4").view("<u8").astype(np.uint64)


def drawn_secret() -> str:
    """A new secret: 256 random bits as hexadecimal digits."""
    return secrets.token_hex(32)


def check_secret(secret: str) -> None:
    """Checks that a text is a secret.

    Raises:
        ValueError: It is none.
    """
    if not re.fullmatch("[0-9a-f]{64}", secret):
        raise ValueError("secret; allowed: 64 hexadecimal digits, as in the JSON of its tournament")


def secret_label(secret: str) -> str:
    """The name of a secret, from which it cannot be computed: what stored results are known by."""
    return f"secret-{hashlib.sha256(bytes.fromhex(secret)).hexdigest()[:16]}"


class Chance(NamedTuple):
    """What is left to chance in D deals of R rotations, drawn before anybody plays.

    Attributes:
        decks: (D, R) uint64, what each game's dealing stream begins from: in all rotations of a deal the same.
        words: (D, R, R) uint64, the random stream of each seat; None: it follows from the deck's.
        order: (D, R) int64, the rotations in the order in which they are played.
        suits: (D, R, 4) int8: suit s of the table is shown as suit `suits[d, r, s]`.
    """

    decks: NDArray[np.uint64]
    words: NDArray[np.uint64] | None
    order: NDArray[np.int64]
    suits: NDArray[np.int8]


@dataclass(frozen=True)
class Decks:
    """The decks of a tournament.

    With a seed all pairs play the same decks, which whoever knows the seed knows too. With a secret each pair and kind of
    game has its own, and everything comes from a keyed hash: of all that a player is given, none tells of any other.

    Attributes:
        source: The seed, or a secret's digits.
        fresh: Whether each rotation of a deal has a deck of its own, so that no deck comes twice.
    """

    source: int | str = field(repr=False)
    fresh: bool = False

    @classmethod
    def of(cls, label: int | str, known: Mapping[str, str]) -> Decks:
        """The decks of a label.

        Args:
            label: As `label` has it.
            known: Secrets by their labels.

        Raises:
            ValueError: They come from a secret that is not known.
        """
        name = str(label).removesuffix(FRESH)
        if not name.isdecimal() and name not in known:
            raise ValueError(f"decks of {name}; allowed: those of a secret that is known")
        return cls(int(name) if name.isdecimal() else known[name], str(label).endswith(FRESH))

    @property
    def label(self) -> int | str:
        """What results are stored under: a seed as it is, a secret by its name."""
        name = secret_label(self.source) if isinstance(self.source, str) else self.source
        return f"{name}{FRESH}" if self.fresh else name

    def chance(
        self,
        rules: Rules,
        series: str,
        first: int,
        n_deals: int,
        mirrors: bool = True,
    ) -> Chance:
        """What is left to chance in a run of deals; the same deals come out the same in any other run.

        Args:
            rules: The rules of the tables.
            series: The players and the kind of game, on which a secret's decks hang.
            first: The first deal.
            n_deals: D.
            mirrors: Whether order and suits matter; if not, with a seed, rotations come in order and suits are themselves.
        """
        n = rules.players
        each = n if self.fresh else 1  # decks of a deal
        begin, count = first * each, n_deals * each
        size = 2 + n + n * n  # a deck, an order, suits and seats of each rotation
        if mirrors or isinstance(self.source, str):
            made = self._words(series, begin, count, size)
        else:
            made = np.zeros((count, size), np.uint64)
        table = np.broadcast_to(made.reshape(n_deals, each, size), (n_deals, n, size))
        rotations = np.arange(n)
        decks, words = table[:, :, 0], None
        if isinstance(self.source, int):
            streams = deal_streams(self.source, begin, count).reshape(n_deals, each)
            decks = np.broadcast_to(streams, (n_deals, n))
        else:
            words = table[:, :, 2 + n :].reshape(n_deals, n, n, n)[:, rotations, rotations]
        orders = np.array([*permutations(range(n))])
        suits = _suits(rules)
        return Chance(
            decks,
            words,
            orders[table[:, 0, 1] % np.uint64(len(orders))],
            suits[table[:, rotations, 2 + rotations] % np.uint64(len(suits))],
        )

    def _words(self, series: str, begin: int, count: int, size: int) -> NDArray[np.uint64]:
        """(count, size) random words of each deal: BLAKE2b's digests of its number, with the secret as the key."""
        if isinstance(self.source, str):
            keyed = hashlib.blake2b(series.encode() + b"\0", key=bytes.fromhex(self.source))
        else:
            keyed = hashlib.blake2b(f"seed {self.source}\0".encode())
        blocks = []
        n_blocks = -(-size // _BLOCK)
        for deal in range(begin, begin + count):
            for k in range(n_blocks):
                block = keyed.copy()
                block.update(struct.pack("<QQ", deal, k))
                blocks.append(block.digest())
        words = np.frombuffer(b"".join(blocks), "<u8").reshape(count, n_blocks * _BLOCK)
        return words[:, :size].astype(np.uint64)


def _suits(rules: Rules) -> NDArray[np.int8]:
    """(N, 4) every way to name the suits, themselves first; where spades count more they stay spades."""
    ways = np.array([*permutations(range(N_SUITS))], np.int8)
    return ways[ways[:, 0] == 0] if rules.spades_double else ways
