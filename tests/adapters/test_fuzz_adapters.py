"""A bounded slice of `tools/fuzz_adapters.py`, that it notices what it looks for, and what it found."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("pettingzoo")

from okgin_env import aec
from okgin_env.env import OklahomaGinEnv
from okgin_env.sb3 import OklahomaGinVecEnv
from okgin_env.vector import OklahomaGinVectorEnv
from tests.helpers import absurd, adapter_checks
from tests.helpers.absurd import Broken
from tests.helpers.adapter_checks import Table
from tests.helpers.adapters import ADAPTERS, Aec, Sb3, Single, Vector
from tools import fuzz_adapters

HAND = {
    "hands": ["As 2s 3s 4s 5s 6s 7s 8s 9s Ts", "Ac 2c 3c 4c 5c 6c 7c 8c 9c Tc"],
    "pile": "Kd",
    "seat": 0,
}


@pytest.mark.parametrize("start", range(len(ADAPTERS)))
@pytest.mark.filterwarnings("error")
def test_whatever_is_played_holds(start: int) -> None:
    counts: Counter[str] = Counter()
    for index in range(start, 7 * len(ADAPTERS), len(ADAPTERS)):
        fuzz_adapters.fuzz_table(5, index, counts)
    assert counts[[*ADAPTERS][start]] == 7
    assert min(counts[name] for name in ("refusals", "resets", "copies")) > 0


# --- it notices -----------------------------------------------------------------------------------------
TABLE = Table.draw(Random(3))


@pytest.mark.parametrize(
    "change",
    [
        lambda seen, mask: mask.fill(0),
        lambda seen, mask: seen.fill(2),
        lambda seen, mask: mask.fill(-1),
    ],
)
def test_damage_is_noticed(change: Any) -> None:
    rows = np.zeros((2, TABLE.size), np.int8), np.ones((2, 108), np.int8)
    adapter_checks.check_rows(*rows, TABLE, 2)
    with pytest.raises(Broken, match="shape"):
        adapter_checks.check_rows(rows[0][:, 1:], rows[1], TABLE, 2)
    change(*rows)
    with pytest.raises(Broken, match=r"empty mask|other than 0 and 1"):
        adapter_checks.check_rows(*rows, TABLE, 2)


def test_a_wrong_reward_is_noticed() -> None:
    table = Table.draw(Random(1))
    n = table.rules.players
    info = dict.fromkeys(("points", "deadwood", "scores", "match_points"), np.arange(n))
    info |= {"ending": "knock", "knocker": 0, "turns": 1, "match_winner": -1}
    with pytest.raises(Broken, match="pays"):
        adapter_checks.check_hand(info, table, 17.0, False, 0)
    with pytest.raises(Broken, match="illegal_action"):
        adapter_checks.check_hand(info, table, -1.0, True, 0)


def _raise(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize(
    "call",
    [
        lambda: None,
        lambda: _raise(ValueError("seed\nof two lines")),
        lambda: _raise(ValueError("something is wrong")),
        lambda: _raise(KeyError("seed")),
        lambda: _raise(ValueError("seed" + "x" * 5000)),
    ],
)
def test_what_is_not_refused_in_one_line_is_noticed(call: Any) -> None:
    with pytest.raises(Broken):
        absurd.refused("a seed", call, ("seed",), int)


def test_a_change_by_what_is_refused_is_noticed() -> None:
    seen: list[int] = []

    def call() -> None:
        seen.append(1)
        raise ValueError("seed")

    with pytest.raises(Broken, match="the game is another"):
        absurd.refused("a seed", call, ("seed",), lambda: len(seen))


# --- found by it ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("action", [3.7, float("nan"), None, "7", [5]])
def test_what_is_no_whole_number_is_no_action(action: Any) -> None:
    """3.7 used to discard card 3, None and NaN were a TypeError or forfeited the hand."""
    single, turns = OklahomaGinEnv(), aec.raw_env()
    for env in (single, turns):
        env.reset(seed=1)
        with pytest.raises(ValueError, match=r"action=.*; allowed: a whole number"):
            env.step(action)


def test_a_refused_reset_leaves_the_game() -> None:
    """Its seed or some of its seeds had been used already, and its first deck had been dealt."""
    deck = "As"
    made: list[Any] = [OklahomaGinEnv(), OklahomaGinVectorEnv(2)]
    for env in made:
        env.reset(seed=1)
        before = env.games.states.tobytes()
        with pytest.raises(ValueError, match="deck: 1 cards"):
            env.reset(seed=2, options={"deck": deck})
        assert env.games.states.tobytes() == before
    with pytest.raises(ValueError, match="seed=-1; allowed: a whole number, 0 or more"):
        made[1].reset(seed=[5, -1])
    assert made[1].games.states.tobytes() == before
    vec = OklahomaGinVecEnv(2, seed=1)
    vec.reset()
    before = vec.games.states.tobytes()
    vec.set_options([{}, {"deck": deck}])
    with pytest.raises(ValueError, match="deck: 1 cards"):
        vec.reset()
    assert vec.games.states.tobytes() == before


def test_a_position_is_the_same_game_in_every_adapter() -> None:
    """PettingZoo's took what a position leaves to chance from seed 0, whatever the seed, and a state with a deck."""
    stocks = set()
    for seed in (1, 2):
        single, turns = OklahomaGinEnv(), aec.raw_env()
        for env in (single, turns):
            env.reset(seed=seed, options={"state": HAND})
        assert single.games.states.tobytes() == turns._states.tobytes()
        stocks.add(single.games.states["deck"].tobytes())
    assert len(stocks) == 2
    with pytest.raises(ValueError, match="state with deck or dealer"):
        turns.reset(options={"state": HAND, "dealer": 0})


def test_errors_quote_arrays_in_one_line() -> None:
    wide = np.zeros((60, 60))
    for call in (
        lambda: OklahomaGinEnv(seat=wide),  # pyright: ignore
        lambda: OklahomaGinEnv(episode=wide),  # pyright: ignore
        lambda: OklahomaGinVectorEnv(2).reset(options={"reset_mask": wide}),
    ):
        with pytest.raises((ValueError, TypeError), match="=array") as caught:
            call()
        assert len(str(caught.value).splitlines()) == 1
        assert len(str(caught.value)) < 300


def test_every_adapter_is_played() -> None:
    assert [*ADAPTERS.values()] == [Single, Vector, Sb3, Aec]
