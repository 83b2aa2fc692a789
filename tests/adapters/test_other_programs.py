"""What other people's programs do with the environments: datasets, films, subprocesses, missing extras."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled

from okgin_env import ENV_ID, Rules, aec, cards
from okgin_env.env import OklahomaGinEnv
from okgin_env.players import Bot
from okgin_env.vector import OklahomaGinVectorEnv
from okgin_env.wrappers import DeadwoodShaping

OPTIONS: list[dict[str, Any]] = [
    {},
    {"rules": "french", "players": 3, "opponent": "knocker"},
    {"episode": "match", "rules": "classic(target=20)", "opponent": "camper"},
]


def _episode(env: gym.Env[Any, Any], seed: int, illegal_at: int = -1) -> list[dict[str, Any]]:
    """The infos of an episode of random legal actions, with an illegal one if so wished."""
    rng, infos = np.random.default_rng(seed), [env.reset(seed=seed)[1]]
    over = False
    while not over:
        action = int(rng.choice(np.flatnonzero(infos[-1]["action_mask"])))
        if len(infos) == illegal_at:
            action = -1
        _, _, over, _, info = env.step(action)
        infos.append(info)
    return infos


# --- datasets ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_info_has_the_same_fields_of_the_same_types_at_every_step(options: dict[str, Any]) -> None:
    """Whoever collects infos, as Minari does, makes a column of each."""
    env = DeadwoodShaping(gym.make(ENV_ID, **options), 0.01)
    for seed in range(4):
        infos = _episode(env, seed, illegal_at=5 if seed == 3 else -1)
        kinds = [{k: (type(v), getattr(v, "shape", None)) for k, v in i.items()} for i in infos]
        assert all(kind == kinds[0] for kind in kinds)
        assert infos[-1]["ending"]
        assert infos[-1]["illegal_action"] == (seed == 3)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_info_tells_limit_and_upcard_of_the_hand(options: dict[str, Any]) -> None:
    env = gym.make(ENV_ID, **options)
    _, info = env.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(150):
        view = env.unwrapped.view()  # pyright: ignore
        assert (info["knock_limit"], info["upcard"]) == (view.limit, view.upcard)
        assert info["scores"].tolist() == view.scores
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        _, _, over, _, info = env.step(action)
        if info["ending"]:  # the hand that has ended, not the next one of the match
            final = env.unwrapped.games.finals[0]  # pyright: ignore
            assert info["knock_limit"] == final["limit"]
            assert info["upcard"] == cards.card_text(int(final["upcard"]))
            _, info = env.reset()
        assert not over or not info["ending"]


def test_minari_collects_hands_with_their_infos(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    env = minari.DataCollector(gym.make(ENV_ID, rules=Rules.preset("french")), record_infos=True)
    ends = [_episode(env, seed)[-1] for seed in range(3)]
    data = env.create_dataset("okgin/test-v0", algorithm_name="random")
    for episode, end in zip(data.iterate_episodes(), ends, strict=True):
        assert episode.infos["points"][-1].tolist() == end["points"].tolist()
        assert episode.infos["ending"][-1].decode() == end["ending"]


# --- films ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("players", [2, 3, 4])
def test_all_frames_of_an_environment_have_one_size(players: int) -> None:
    pytest.importorskip("PIL")
    env = gym.make(ENV_ID, players=players, opponent="knocker", render_mode="rgb_array")
    shapes, showdowns = set(), 0
    for seed in range(4):
        env.reset(seed=seed)
        over = False
        while not over:
            shapes.add(env.render().shape)  # pyright: ignore[reportOptionalMemberAccess]
            mask = env.unwrapped.action_masks()  # pyright: ignore[reportAttributeAccessIssue]
            _, _, over, _, info = env.step(int(np.flatnonzero(mask)[-1]))
        shapes.add(env.render().shape)  # pyright: ignore[reportOptionalMemberAccess]
        showdowns += info["knocker"] >= 0
    assert showdowns > 0
    assert len(shapes) == 1


def test_a_hand_can_be_filmed(tmp_path: Path) -> None:
    pytest.importorskip("moviepy")
    from gymnasium.wrappers import RecordVideo

    env = gym.make(ENV_ID, opponent="knocker", render_mode="rgb_array")
    film = RecordVideo(env, str(tmp_path), episode_trigger=lambda _: True, disable_logger=True)
    film.reset(seed=0)
    over = False
    while not over:
        mask = env.unwrapped.action_masks()  # pyright: ignore[reportAttributeAccessIssue]
        over = film.step(int(np.flatnonzero(mask)[-1]))[2]
    film.close()
    assert [path.suffix for path in tmp_path.iterdir()] == [".mp4"]


# --- extras -----------------------------------------------------------------------------------------
MAKERS = {"make": OklahomaGinEnv, "make_vec": OklahomaGinVectorEnv, "PettingZoo": aec.raw_env}


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize(
    ("mode", "module"), [("rgb_array", "PIL"), ("human", "PIL"), ("human", "pygame")]
)
def test_a_missing_extra_is_named_when_the_environment_is_made(
    maker: str, mode: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if mode == "human" and maker == "make_vec":
        pytest.skip("no windows there")
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    with pytest.raises(DependencyNotInstalled, match=r"pip install 'okgin-env\[render\]'"):
        MAKERS[maker](render_mode=mode)
    MAKERS[maker](render_mode="ansi")


# --- opponents --------------------------------------------------------------------------------------
@pytest.mark.parametrize("opponent", [lambda o, m: 0, Bot, print], ids=["lambda", "class", "print"])
def test_a_function_is_no_opponent_and_the_error_says_what_is(opponent: Any) -> None:
    for make in (OklahomaGinEnv, OklahomaGinVectorEnv):
        with pytest.raises(
            ValueError, match=r"derived from okgin_env.players.base.Player"
        ) as raised:
            make(opponent=opponent)
        assert "\n" not in str(raised.value)


# --- subprocesses -----------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_subprocesses_find_the_id_with_its_module(method: str) -> None:
    """As in `python -c` or a cell of a notebook: nothing but the id tells the child what to import."""
    pytest.importorskip("sb3_contrib")
    code = (
        "from stable_baselines3.common.env_util import make_vec_env\n"
        "from stable_baselines3.common.vec_env import SubprocVecEnv\n"
        "from sb3_contrib.common.maskable.utils import get_action_masks\n"
        f"envs = make_vec_env('okgin_env:{ENV_ID}', 2, vec_env_cls=SubprocVecEnv, "
        f"vec_env_kwargs={{'start_method': '{method}'}})\n"
        "envs.reset()\nprint(get_action_masks(envs).shape)\nenvs.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=200
    )
    assert (done.returncode, done.stdout.strip()) == (0, "(2, 108)"), done.stderr
