"""The vector instructions of `kernel.lanes` against their plain twins, on random rows and card sets."""

from __future__ import annotations

import numpy as np
import pytest

from okgin_env.kernel import lanes
from okgin_env.kernel.jit import PLAIN, compiled

pytestmark = pytest.mark.skipif(PLAIN, reason="there are only the plain ones")


@compiled
def _at_most(row, limit):
    return lanes.at_most(row, limit)


@compiled
def _least(row, cards_mask):
    return lanes.least(row, cards_mask)


@compiled
def _spread(mask, array, at):
    lanes.spread(mask, array, at)


@compiled
def _lower(row, at, table, start, more):
    lanes.lower(row, at, table, start, more)


def test_vector_instructions_do_what_their_plain_twins_do() -> None:
    rng = np.random.default_rng(5)
    table = rng.integers(-30, 128, 13 * 9 + 3).astype(np.int8)
    for _ in range(300):
        row = rng.integers(-5, 200, 52).astype(np.int16)
        cards_mask = np.uint64(rng.integers(0, 1 << 52) & rng.integers(0, 1 << 52))
        limit = int(rng.integers(-6, 200))
        assert _at_most(row, limit) == lanes._plain_at_most(row, limit)
        assert _least(row, cards_mask) == lanes._plain_least(row, cards_mask)
        at = int(rng.integers(0, 9))
        spread, plain = np.full((2, 70), 7, np.int8)
        _spread(cards_mask, spread, at)
        lanes._plain_spread(cards_mask, plain, at)
        assert np.array_equal(spread, plain)
        lowered, plain = row.copy(), row.copy()
        place, start, more = 13 * rng.integers(0, 4), 13 * rng.integers(0, 9), rng.integers(0, 111)
        _lower(lowered, place, table, start, more)
        lanes._plain_lower(plain, int(place), table, int(start), int(more))
        assert np.array_equal(lowered, plain)


def test_least_of_no_cards_is_more_than_any_deadwood() -> None:
    row = np.zeros(52, np.int16)
    assert _least(row, np.uint64(0)) == lanes._plain_least(row, np.uint64(0)) > 1000
