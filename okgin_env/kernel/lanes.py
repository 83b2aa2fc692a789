"""Card sets and rows of 52 numbers in a few vector instructions: what loops over the cards of a hand would do.

A row is an int16 array with one number a card, such as what discarding the card leaves. Rows are read and written suit by suit,
so that a processor can hand what was just written to the next reader. As all compiled code these trust their indices,
and here `NUMBA_BOUNDSCHECK` sees nothing: rows have 52 entries. Each function has a plain twin for uncompiled runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from okgin_env.kernel.jit import PLAIN, as_word
from okgin_env.layout import N_CARDS, N_RANKS, N_SUITS

_WIDE = 64
_NOTHING = (1 << 15) - 1  # the least of no cards
_I8, _I16, _I32, _I64 = (ir.IntType(n) for n in (8, 16, 32, 64))
_SUIT = ir.VectorType(_I16, N_RANKS)  # a suit's part of a row


def _place(
    context: Any, builder: Any, signature: Any, args: Any, k: int, at: Any, kind: Any
) -> Any:
    """Pointer to a vector of `kind` in argument k, an array, from element `at`."""
    data = context.make_array(signature.args[k])(context, builder, args[k]).data
    return builder.bitcast(builder.gep(data, [at]), kind.as_pointer())


def _index(context: Any, builder: Any, signature: Any, args: Any, k: int) -> Any:
    return context.cast(builder, args[k], signature.args[k], types.intp)


def _suit(context: Any, builder: Any, signature: Any, args: Any, suit: int) -> Any:
    """A suit's part of the row in the first argument."""
    at = ir.Constant(_I64, N_RANKS * suit)
    return builder.load(_place(context, builder, signature, args, 0, at, _SUIT), align=2)


def _splat(context: Any, builder: Any, signature: Any, args: Any, k: int) -> Any:
    """Argument k, a number, for each card of a suit."""
    number = context.cast(builder, args[k], signature.args[k], types.int16)
    nothing = ir.Constant(_SUIT, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(_I32, 0))
    zeros = ir.Constant(ir.VectorType(_I32, N_RANKS), [0] * N_RANKS)
    return builder.shuffle_vector(first, nothing, zeros)


def _plain_spread(mask: Any, array: Any, at: int) -> None:
    """Writes the 52 low bits of a mask as 52 bytes of 0 and 1, from index `at` of an int8 array."""
    array[at : at + N_CARDS] = [int(mask) >> k & 1 for k in range(N_CARDS)]


@intrinsic
def _spread(typingctx: Any, mask: Any, array: Any, at: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = builder.bitcast(
            as_word(context, builder, signature, args, 0), ir.VectorType(ir.IntType(1), _WIDE)
        )
        wide = builder.zext(bits, ir.VectorType(_I8, _WIDE))
        index = ir.Constant(ir.VectorType(_I32, N_CARDS), list(range(N_CARDS)))
        row = builder.shuffle_vector(wide, ir.Constant(wide.type, ir.Undefined), index)
        offset = _index(context, builder, signature, args, 2)
        builder.store(row, _place(context, builder, signature, args, 1, offset, row.type), align=1)
        return context.get_dummy_value()

    return types.void(mask, array, at), build


def _plain_at_most(row: Any, limit: Any) -> Any:
    """Mask of the cards whose entry is at most `limit`."""
    return np.uint64(sum(1 << k for k in range(N_CARDS) if row[k] <= limit))


@intrinsic
def _at_most(typingctx: Any, row: Any, limit: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        most = _splat(context, builder, signature, args, 1)
        mask = ir.Constant(_I64, 0)
        for suit in range(N_SUITS):
            flags = builder.icmp_signed("<=", _suit(context, builder, signature, args, suit), most)
            word = builder.zext(builder.bitcast(flags, ir.IntType(N_RANKS)), _I64)
            mask = builder.or_(mask, builder.shl(word, ir.Constant(_I64, N_RANKS * suit)))
        return mask

    return types.uint64(row, limit), build


def _plain_least(row: Any, cards_mask: Any) -> int:
    """The least entry of the cards of a set; more than any deadwood for no cards."""
    return min((int(row[k]) for k in range(N_CARDS) if int(cards_mask) >> k & 1), default=_NOTHING)


@intrinsic
def _least(typingctx: Any, row: Any, cards_mask: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cards = as_word(context, builder, signature, args, 1)
        nothing = found = ir.Constant(_SUIT, [_NOTHING] * N_RANKS)
        for suit in range(N_SUITS):
            own = builder.lshr(cards, ir.Constant(_I64, N_RANKS * suit))
            flags = builder.trunc(own, ir.IntType(N_RANKS))
            held = builder.bitcast(flags, ir.VectorType(ir.IntType(1), N_RANKS))
            entries = _suit(context, builder, signature, args, suit)
            asked = builder.select(held, entries, nothing)
            found = builder.select(builder.icmp_signed("<", asked, found), asked, found)
        wide = ir.VectorType(_I16, 16)
        index = ir.Constant(ir.VectorType(_I32, 16), [*range(N_RANKS), 0, 0, 0])
        padded = builder.shuffle_vector(found, nothing, index)
        name = "llvm.vector.reduce.smin.v16i16"
        reduce = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_I16, [wide]), name)
        return builder.sext(builder.call(reduce, [padded]), _I64)

    return types.int64(row, cards_mask), build


def _plain_lower(row: Any, at: int, table: Any, start: int, more: int) -> None:
    """Lowers 13 entries of a row from `at` to those of an int8 table from `start`, plus `more`, where that is less.

    The table must go on for 16 entries from `start`.
    """
    for k in range(N_RANKS):
        row[at + k] = min(int(row[at + k]), int(table[start + k]) + int(more))


@intrinsic
def _lower(typingctx: Any, row: Any, at: Any, table: Any, start: Any, more: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        offset = _index(context, builder, signature, args, 1)
        place = _place(context, builder, signature, args, 0, offset, _SUIT)
        start = _index(context, builder, signature, args, 3)
        narrow, wide = ir.VectorType(_I8, 16), ir.VectorType(_I16, 16)
        stored = builder.load(_place(context, builder, signature, args, 2, start, narrow), align=1)
        index = ir.Constant(ir.VectorType(_I32, N_RANKS), list(range(N_RANKS)))
        entries = builder.shuffle_vector(
            builder.sext(stored, wide), ir.Constant(wide, ir.Undefined), index
        )
        new = builder.add(entries, _splat(context, builder, signature, args, 4))
        old = builder.load(place, align=2)
        less = builder.icmp_signed("<", new, old)
        builder.store(builder.select(less, new, old), place, align=2)
        return context.get_dummy_value()

    return types.void(row, at, table, start, more), build


spread: Callable[[Any, Any, int], None] = _plain_spread if PLAIN else _spread  # pyright: ignore
at_most: Callable[[Any, Any], Any] = _plain_at_most if PLAIN else _at_most  # pyright: ignore
least: Callable[[Any, Any], int] = _plain_least if PLAIN else _least  # pyright: ignore
lower: Callable[[Any, Any, Any, Any, Any], None] = _plain_lower if PLAIN else _lower  # pyright: ignore
