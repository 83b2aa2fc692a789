"""Rules as a name, a label, an object or a dict: the same table wherever rules are taken."""

from __future__ import annotations

import dataclasses
import json
import random
import re
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.envs.registration import EnvSpec

from okgin_env import ENV_ID, PRESETS, Rules, analysis
from okgin_env.rules import as_rules
from tests.helpers.random_tables import random_rules

VARIANT = Rules(
    gin_bonus=20, knock_limit=7, first_dealer=1, spades_double=True, target=None, shutout=True
)
LABEL = "classic(knock_limit=7, gin_bonus=20, spades_double=True, first_dealer=1, target=None, shutout=True)"
FORMS: dict[str, Any] = {
    "label": LABEL,
    "object": VARIANT,
    "dict": dataclasses.asdict(VARIANT),
    "dict from JSON": json.loads(json.dumps(dataclasses.asdict(VARIANT))),
}


# --- one reader -------------------------------------------------------------------------------------
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_rules(form: str) -> None:
    assert as_rules(FORMS[form]) == VARIANT
    assert as_rules(FORMS[form], 2) == VARIANT


def test_labels_and_dicts_of_any_rules_are_read_back() -> None:
    rng = random.Random(5)
    for rules in [random_rules(rng) for _ in range(300)] + [Rules.preset(n, 3) for n in PRESETS]:
        assert as_rules(rules.label) == rules
        assert as_rules(dataclasses.asdict(rules)) == rules


def test_seats_come_from_the_label_or_from_beside_it() -> None:
    french = Rules.preset("french", 3)
    assert as_rules("french(players=3)") == as_rules("french", 3) == french
    assert as_rules("french(players=3,  gin_bonus=30)").gin_bonus == 30
    assert as_rules({"players": 3}) == as_rules({"gin_bonus": 25}, 3) == Rules.preset("classic", 3)
    for rules in ("french(players=3)", {"players": 3}, french):
        with pytest.raises(ValueError, match="players=2; allowed: 3, as in the given Rules"):
            as_rules(rules, 2)


BAD: list[tuple[Any, str]] = [
    ("bridge", "rules: preset 'bridge'; allowed: classic, french"),
    ("Classic!", "rules='Classic!'; allowed: a preset's name, or such as"),
    ("classic(bonus=3)", "rules: field 'bonus'; allowed: players, hand_size"),
    ("classic(gin_bonus)", "rules: gin_bonus=''; allowed: 0 to 1000"),
    ("classic(gin_bonus=1, gin_bonus=2)", "rules: gin_bonus twice in"),
    ({"bonus": 3}, "rules: field 'bonus'; allowed: players, hand_size"),
    ({3: 3}, "rules: field 3; allowed: players, hand_size"),
    ({"gin_bonus": "many"}, "rules: gin_bonus='many'; allowed: 0 to 1000"),
    ({"players": [2]}, "rules: players=[2]; allowed: 2 to 4"),
    ({}, "rules={}; allowed: a preset's name"),
    (7, "rules=7; allowed: a preset's name"),
]


@pytest.mark.parametrize(("given", "said"), BAD, ids=lambda value: str(value)[:30])
def test_what_is_no_rules_is_one_clear_line(given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as raised:
        as_rules(given)
    assert "\n" not in str(raised.value)


# --- everywhere -------------------------------------------------------------------------------------
def _sb3(rules: Any) -> Rules:
    pytest.importorskip("stable_baselines3")
    from okgin_env.sb3 import OklahomaGinVecEnv

    return OklahomaGinVecEnv(2, rules).games.rules


def _aec(rules: Any) -> Rules:
    pytest.importorskip("pettingzoo")
    from okgin_env import aec

    return aec.raw_env(rules=rules).rules


def _plan(rules: Any) -> Rules:
    pytest.importorskip("rich")
    from okgin_env.arena.plan import Plan

    return Plan(rules=rules).rules


def _training(rules: Any) -> Rules:
    from okgin_env.learning.config import TrainConfig

    config = TrainConfig(rules=rules)
    config.check()
    assert TrainConfig.from_json(config.to_json()) == config
    return config.table()


TAKERS: dict[str, Callable[[Any], Rules]] = {
    "make": lambda rules: gym.make(ENV_ID, rules=rules).unwrapped.games.rules,  # pyright: ignore
    "make_vec": lambda rules: gym.make_vec(ENV_ID, num_envs=2, rules=rules).games.rules,  # pyright: ignore
    "stable-baselines3": _sb3,
    "PettingZoo": _aec,
    "arena": _plan,
    "training": _training,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("taker", TAKERS)
def test_every_form_is_taken_everywhere(taker: str, form: str) -> None:
    assert TAKERS[taker](FORMS[form]) == VARIANT


def test_points_are_settled_under_every_form() -> None:
    gin, junk = "As 2s 3s 4s 5c 6c 7c 8s 8d 8h", "2d 4d 7d 9d Jd Kd 3h 5h Th Qh"
    found = [analysis.settle(rules, 0, [gin, junk], "2h") for rules in FORMS.values()]
    assert found == [[20 + 70, 0]] * len(FORMS)


@pytest.mark.parametrize("wrong", ["classic(gin_bonus=x)", "chess", "classic("])
def test_commands_refuse_other_rules_in_one_line(
    wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from okgin_env.cli import play, train

    lines = (
        lambda: play.main(["--rules", wrong]),
        lambda: train.main(["--preset", "smoke", "--rules", wrong]),
    )
    for line in lines:
        assert line() == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "rules" in said


def test_play_takes_a_label(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from okgin_env.cli import play

    entries = iter(["quit", "y"])
    monkeypatch.setattr("builtins.input", lambda _: next(entries))
    assert play.main(["--rules", "french(players=3, gin_bonus=30)", "--against", "simple"]) == 0
    assert "rules french(players=3, gin_bonus=30)" in capsys.readouterr().out


# --- specs ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("rules", [Rules.preset("french"), VARIANT, LABEL, {"gin_bonus": 30}])
def test_a_spec_comes_back_from_json(rules: Any) -> None:
    env = gym.make(ENV_ID, rules=rules, opponent="camper")
    vector = gym.make_vec(
        ENV_ID, num_envs=3, rules=rules, pool=["simple", "camper"], autoreset_mode="SameStep"
    )
    assert env.spec is not None
    assert vector.spec is not None
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    vector_again: Any = gym.make_vec(EnvSpec.from_json(vector.spec.to_json()))
    for one, other in ((env, again), (vector, vector_again)):
        games, others = one.unwrapped.games, other.unwrapped.games  # pyright: ignore
        assert games.rules == others.rules == as_rules(rules)
        assert (games.policies == others.policies).all()
        assert (one.reset(seed=4)[0] == other.reset(seed=4)[0]).all()
    assert vector_again.metadata == vector.metadata
