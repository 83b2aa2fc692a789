"""Arguments, actions, seeds and options that no adapter takes: refused in one line that names them, and nothing is changed."""

from __future__ import annotations

from collections.abc import Callable
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
from tests.helpers.absurd import Absurd, check_refused
from tests.helpers.adapter_checks import Broken, Table
from tests.helpers.adapters import ADAPTERS, MAKERS

HAND = {
    "hands": ["As 2s 3s 4s 5s 6s 7s 8s 9s Ts", "Ac 2c 3c 4c 5c 6c 7c 8c 9c Tc"],
    "pile": "Kd",
    "seat": 0,
}


CONSTRUCTORS = [(name, argument) for name, (_, taken) in MAKERS.items() for argument in taken]


@pytest.mark.parametrize(("name", "argument"), CONSTRUCTORS)
def test_a_constructor_refuses(name: str, argument: str) -> None:
    words = absurd.ARGUMENT_WORDS.get(argument, (argument,))
    for value in absurd.ARGUMENTS[argument]:
        if argument != "players" or value is not None:
            call = Absurd(f"{argument}={value!r}", lambda v=value: MAKERS[name][0](**{argument: v}), words)  # fmt: skip
            check_refused(call, int)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ADAPTERS)
def test_steps_and_resets_refuse(name: str, seed: int) -> None:
    """Every absurd call in the middle of a game, one after the other."""
    rng = Random(seed)
    adapter = ADAPTERS[name](Table.draw(rng), rng)
    adapter.reset(seed, {}, rng)
    for call in adapter.absurd():
        check_refused(call, adapter.seen)
    adapter.env.close()


# --- the checks notice ----------------------------------------------------------------------------------
TABLE = Table.draw(Random(3))


@pytest.mark.parametrize(("row", "value"), [(1, 0), (0, 2), (1, -1)])
def test_damaged_rows_are_noticed(row: int, value: int) -> None:
    rows = np.zeros((2, TABLE.size), np.int8), np.ones((2, 108), np.int8)
    adapter_checks.check_rows(*rows, TABLE, 2)
    with pytest.raises(Broken, match="shape"):
        adapter_checks.check_rows(rows[0][:, 1:], rows[1], TABLE, 2)
    rows[row].fill(value)
    with pytest.raises(Broken, match=r"empty mask|other than 0 and 1"):
        adapter_checks.check_rows(*rows, TABLE, 2)


def test_a_wrong_reward_is_noticed() -> None:
    table = Table.draw(Random(1))
    n = table.rules.players
    info = dict.fromkeys(("points", "deadwood", "scores", "match_points"), np.arange(n))
    info |= {"ending": "knock", "knocker": 0, "turns": 1, "match_winner": -1}
    info |= {"illegal_action": False, "knock_limit": 5, "upcard": "5s"}
    with pytest.raises(Broken, match="pays"):
        adapter_checks.check_hand(info, table, 17.0, False, 0)
    with pytest.raises(Broken, match="illegal_action"):
        adapter_checks.check_hand(info, table, -1.0, True, 0)


def _raises(error: Exception) -> Callable[[], object]:
    def call() -> None:
        raise error

    return call


CALLS = [
    int,
    _raises(ValueError("seed\nof two lines")),
    _raises(ValueError("something is wrong")),
    _raises(KeyError("seed")),
    _raises(ValueError("seed" + "x" * 5000)),
    _raises(ValueError("")),
]


@pytest.mark.parametrize("call", CALLS)
def test_any_other_refusal_is_noticed(call: Callable[[], object]) -> None:
    with pytest.raises(Broken):
        check_refused(Absurd("a seed", call, ("seed",)), int)


def test_a_change_by_a_refused_call_is_noticed() -> None:
    seen: list[int] = []

    def call() -> None:
        seen.append(1)
        raise ValueError("seed")

    with pytest.raises(Broken, match="the game is another"):
        check_refused(Absurd("a seed", call, ("seed",)), lambda: len(seen))


# --- found by machines ----------------------------------------------------------------------------------
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
    before = b""
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
        assert single.games.states.tobytes() == turns.games.states.tobytes()
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
