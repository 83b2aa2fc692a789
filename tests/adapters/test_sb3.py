"""The native stable-baselines3 VecEnv: equal to single environments, fresh arrays, masks, training."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from okgin_env import Rules
from okgin_env.env import OklahomaGinEnv
from okgin_env.kernel.jit import PLAIN
from okgin_env.layout import N_ACTIONS, PASS
from okgin_env.players import Bot
from okgin_env.view import SeatView
from tests.helpers.bots import Bungler, Cheater, Outside

pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecMonitor

from okgin_env.sb3 import OklahomaGinVecEnv

pytestmark = pytest.mark.skipif(PLAIN, reason="many games: compiled code only")

INFO_FIELDS = {"ending", "knocker", "points", "deadwood", "scores", "turns", "illegal_action", "knock_limit", "upcard"}  # fmt: skip
MATCH_FIELDS = {"match_winner", "match_points"}
CASES: list[dict[str, Any]] = [
    {},
    {"rules": "french", "players": 3, "seat": 1, "reward": "win"},
    {"rules": "gin", "episode": "match", "reward": "match"},
    {"rules": "eaai", "episode": "match", "opponent": "novice"},
    {"rules": "french", "players": 4, "opponent": ("random", "novice", "knocker")},
    {"opponent": Bungler()},
    {"opponent": Cheater(), "players": 3, "episode": "match"},
    {"opponent": (Outside("random"), "simple"), "players": 3},
    {"rules": Rules(big_gin_bonus=50, target=30, max_turns=10), "episode": "match"},
]


class Chancer(Bot):
    """Plays by its own dice, from the game's stream."""

    def choose(self, view: SeatView, rng: np.random.Generator) -> int:
        """Any legal action."""
        return int(rng.choice(view.legal))


def random_actions(masks: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    """A random legal action of every game."""
    return np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1)


def same_info(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two infos hold the same fields and values."""
    return one.keys() == other.keys() and all(
        np.array_equal(value, other[name]) for name, value in one.items()
    )


# --- equal to single environments ----------------------------------------------------------------------------------
@pytest.mark.parametrize("options", CASES, ids=str)
def test_each_game_is_that_of_a_single_environment(options: dict[str, Any]) -> None:
    """Game i equals `OklahomaGinEnv.reset(seed=seed + i)`, step by step, over many episodes."""
    n, seed = 6, 40
    vec = OklahomaGinVecEnv(n, seed=seed, **options)
    singles = [OklahomaGinEnv(**options) for _ in range(n)]
    rng = np.random.default_rng(1)
    observations, masks = vec.reset(), vec.action_masks()
    for i, env in enumerate(singles):
        observation, info = env.reset(seed=seed + i)
        assert observation.tobytes() == observations[i].tobytes()
        assert (info["action_mask"].astype(bool) == masks[i]).all()
    n_ended = 0
    for step in range(150):
        actions = random_actions(masks, rng)
        if step % 40 == 39:
            actions[step % n] = N_ACTIONS - 1  # big gin: hardly ever legal
        observations, rewards, dones, infos = vec.step(actions)
        masks = vec.action_masks()
        for i, env in enumerate(singles):
            observation, reward, terminated, truncated, info = env.step(actions[i])
            assert np.float32(reward) == rewards[i]
            assert terminated == dones[i]
            if terminated:
                n_ended += 1
                del info["action_mask"]  # all ones: the masks of the next episode count
                ends = {"terminal_observation": observation, "TimeLimit.truncated": truncated}
                assert same_info(infos[i], info | ends)
                match = MATCH_FIELDS if options.get("episode") == "match" else set()
                assert set(info) == INFO_FIELDS | match
                observation, info = env.reset()
            else:
                assert not infos[i].keys() & {"terminal_observation", "TimeLimit.truncated"}
            assert observation.tobytes() == observations[i].tobytes()
            assert (info["action_mask"].astype(bool) == masks[i]).all()
    assert n_ended > 0


def test_given_decks_and_states_reach_every_game() -> None:
    deck = [int(card) for card in np.random.default_rng(1).permutation(52)]
    vec, env = OklahomaGinVecEnv(3, seed=1), OklahomaGinEnv()
    vec.set_options({"deck": deck, "dealer": 1})
    expected, info = env.reset(options={"deck": deck, "dealer": 1})
    assert (vec.reset() == expected).all()
    state = env.state()
    assert not (vec.reset() == expected).all()  # options hold for one reset
    vec.set_options({"state": state})
    assert (vec.reset() == expected).all()
    assert (vec.action_masks() == info["action_mask"]).all()
    vec.set_options({"dealer": 7})
    with pytest.raises(ValueError, match="dealer=7; allowed: 0 to 1"):
        vec.reset()


def test_seeds() -> None:
    one, other = OklahomaGinVecEnv(4, seed=9), OklahomaGinVecEnv(4)
    first = one.reset()
    assert not np.array_equal(other.reset(), first)
    assert not np.array_equal(one.reset(), first)  # goes on
    for vec in (one, other):
        assert list(vec.seed(9)) == [9, 10, 11, 12]
        assert np.array_equal(vec.reset(), first)
    assert np.array_equal(one.reset(), other.reset())
    rows = OklahomaGinVecEnv(2, seed=11).reset()
    assert np.array_equal(rows, first[2:])


@pytest.mark.parametrize("opponent", ["simple", "random"])
def test_one_thread_and_two_play_the_same(opponent: str) -> None:
    n = 256
    one, two = (OklahomaGinVecEnv(n, opponent=opponent, seed=3, threads=t) for t in (1, 2))
    assert two.games._threads.n == 2
    rng = np.random.default_rng(3)
    assert np.array_equal(one.reset(), two.reset())
    for _ in range(60):
        actions = random_actions(one.action_masks(), rng)
        a, b = one.step(actions), two.step(actions)
        for x, y in zip(a[:3], b[:3], strict=True):
            assert np.array_equal(x, y)
        assert all(same_info(x, y) for x, y in zip(a[3], b[3], strict=True))
        assert np.array_equal(one.action_masks(), two.action_masks())
    assert pickle.loads(pickle.dumps(two)).reset().tobytes() == two.reset().tobytes()


def test_pool_gives_each_game_its_opponents() -> None:
    pool = ["random", Bungler(), "knocker"]
    vec = OklahomaGinVecEnv(6, pool=pool, seed=5)
    alone = [OklahomaGinVecEnv(1, opponent=pool[i % 3], seed=5 + i) for i in range(6)]
    rng = np.random.default_rng(5)
    rows = [env.reset()[0] for env in alone]
    assert np.array_equal(vec.reset(), rows)
    for _ in range(60):
        actions = random_actions(vec.action_masks(), rng)
        observations, rewards, dones, _ = vec.step(actions)
        for i, env in enumerate(alone):
            observation, reward, done, _ = env.step(actions[i : i + 1])
            assert np.array_equal(observation[0], observations[i])
            assert (reward[0], done[0]) == (rewards[i], dones[i])


# --- arrays and masks -------------------------------------------------------------------------------------------------
def test_arrays_are_fresh_each_step() -> None:
    """Algorithms keep the last observation until after the next step."""
    vec = OklahomaGinVecEnv(8, seed=2)
    rng = np.random.default_rng(2)
    kept: list[tuple[NDArray[Any], bytes]] = []
    observations = vec.reset()
    for _ in range(40):
        masks = vec.action_masks()
        kept += [(array, array.tobytes()) for array in (observations, masks)]
        observations, rewards, dones, infos = vec.step(random_actions(masks, rng))
        kept += [(array, array.tobytes()) for array in (rewards, dones)]
        kept += [
            (value, value.tobytes())
            for info in infos
            for value in info.values()
            if isinstance(value, np.ndarray)
        ]
    assert all(array.tobytes() == before for array, before in kept)
    arrays = [array for array, _ in kept[-12:]]
    for k, array in enumerate(arrays):
        assert not np.shares_memory(array, vec.games.states)
        assert not np.shares_memory(array, vec.games.finals)
        assert not any(np.shares_memory(array, other) for other in arrays[:k] if other.base is None)
    assert (observations.dtype, rewards.dtype, dones.dtype) == (np.int8, np.float32, np.bool_)
    assert vec.action_masks().dtype == np.bool_


def test_actions_handed_in_are_left_as_they_are() -> None:
    vec = OklahomaGinVecEnv(4, seed=2)
    vec.reset()
    actions = np.array([-1, N_ACTIONS, PASS, 10**9])
    _, rewards, dones, infos = vec.step(actions)
    assert actions.tolist() == [-1, N_ACTIONS, PASS, 10**9]
    assert dones[[0, 1, 3]].all()
    assert (rewards[[0, 1, 3]] == -1).all()
    assert all(infos[i]["illegal_action"] and infos[i]["ending"] == "illegal" for i in (0, 1, 3))


def test_masks_reach_maskable_algorithms() -> None:
    """One mask a game, by method and by attribute, with statistics around it and without."""
    n = 5
    vec = OklahomaGinVecEnv(n, seed=2)
    rng = np.random.default_rng(2)
    for env in (vec, VecMonitor(vec)):
        env.reset()
        for _ in range(20):
            masks = vec.action_masks()
            rows = env.env_method("action_masks")
            assert len(rows) == n
            assert all(np.array_equal(row, mask) for row, mask in zip(rows, masks, strict=True))
            stacked = get_action_masks(env)
            assert (stacked.shape, stacked.dtype, type(stacked)) == (
                (n, N_ACTIONS),
                bool,
                np.ndarray,
            )
            assert np.array_equal(stacked, masks)
            assert not np.shares_memory(stacked, masks)
            assert np.array_equal(np.stack(rows[1:]), masks[1:])
            assert np.array_equal(np.stack(rows, axis=1), masks.T)
            assert np.array_equal(np.concatenate(rows), masks.ravel())
            assert np.array_equal(env.env_method("action_masks", indices=3)[0], masks[3])
            assert masks.any(axis=1).all()
            env.step(random_actions(masks, rng))
        assert is_masking_supported(env)
        own = env.get_attr("action_masks")
        assert len(own) == n
        env.step(random_actions(vec.action_masks(), rng))
        assert np.array_equal(own[1](), vec.action_masks()[1])  # as the game stands now
        assert own[1]().shape == (N_ACTIONS,)
        with pytest.raises(AttributeError, match="method 'teach'; allowed: 'action_masks'"):
            env.env_method("teach")


def test_the_rest_of_the_interface() -> None:
    vec = OklahomaGinVecEnv(3, seed=2)
    assert vec.env_is_wrapped(VecMonitor) == [False] * 3
    assert vec.get_attr("render_mode") == [None] * 3
    with pytest.raises(AttributeError, match="'rules' cannot be set"):
        vec.set_attr("rules", "gin")
    with pytest.raises(AttributeError):
        vec.get_attr("nothing_of_this_name")
    vec.close()
    with pytest.raises(ValueError, match="num_envs=0; allowed: 1 or more"):
        OklahomaGinVecEnv(0)
    with pytest.raises(ValueError, match="threads=0; allowed: 1 or more"):
        OklahomaGinVecEnv(2, threads=0)


# --- training and evaluation ----------------------------------------------------------------------------------------------
def _model(env: Any, **options: Any) -> MaskablePPO:
    settings = {"n_steps": 32, "batch_size": 64, "n_epochs": 1, "seed": 1, "device": "cpu"}
    return MaskablePPO("MlpPolicy", env, policy_kwargs={"net_arch": [16]}, **(settings | options))


def test_maskable_ppo_trains_and_is_evaluated() -> None:
    """With episode statistics, without an illegal action, and with finite weights."""
    env = VecMonitor(OklahomaGinVecEnv(8, seed=1))
    model = _model(env)
    illegal: list[bool] = []

    def look(local: dict[str, Any], _: dict[str, Any]) -> bool:
        illegal.extend(info.get("illegal_action", False) for info in local["infos"])
        return True

    model.learn(600, callback=look)
    assert illegal
    assert not any(illegal)
    assert len(model.ep_info_buffer or ()) > 0
    weights = model.policy.state_dict().values()
    assert all(bool(weight.isfinite().all()) for weight in weights)
    result, lengths = evaluate_policy(
        model, VecMonitor(OklahomaGinVecEnv(4, seed=50)), n_eval_episodes=8,
        return_episode_rewards=True,
    )  # fmt: skip
    assert len(result) == len(lengths) == 8
    assert all(length > 0 for length in lengths)
    masks = OklahomaGinVecEnv(4, seed=1)
    observations = masks.reset()
    actions, _ = model.predict(observations, action_masks=masks.action_masks())
    assert masks.action_masks()[np.arange(4), actions].all()


def test_rollouts_are_the_same_as_with_single_environments() -> None:
    """The same training, whether the games are native or single ones in a DummyVecEnv."""
    parts = ("observations", "actions", "rewards", "episode_starts", "action_masks")
    buffers = []
    for env in (OklahomaGinVecEnv(4), DummyVecEnv([OklahomaGinEnv] * 4)):
        model = _model(env)  # its seed reaches the games
        model.learn(128)
        buffers.append([np.ravel(getattr(model.rollout_buffer, part)) for part in parts])
    for native, single in zip(*buffers, strict=True):
        assert np.array_equal(native, single)


def test_a_model_plays_on_after_saving(tmp_path: Any) -> None:
    env = OklahomaGinVecEnv(4, seed=1)
    model = _model(env)
    model.learn(128)
    model.save(tmp_path / "model")
    again = MaskablePPO.load(tmp_path / "model", env=OklahomaGinVecEnv(4, seed=1))
    observations, masks = env.reset(), env.action_masks()
    expected, _ = model.predict(observations, action_masks=masks, deterministic=True)
    actions, _ = again.predict(observations, action_masks=masks, deterministic=True)
    assert (actions == expected).all()
    again.learn(128)


# --- workers and pickles ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "opponent", ["simple", Bungler(), Chancer(), Outside("novice")], ids=lambda one: str(one)[:30]
)
def test_pickled_games_go_on_alike(opponent: Any) -> None:
    vec = OklahomaGinVecEnv(4, opponent=opponent, seed=1)
    rng = np.random.default_rng(1)
    vec.reset()
    for _ in range(10):
        vec.step(random_actions(vec.action_masks(), rng))
    other = pickle.loads(pickle.dumps(vec))
    assert np.array_equal(other.action_masks(), vec.action_masks())
    for _ in range(40):
        actions = random_actions(vec.action_masks(), rng)
        a, b = vec.step(actions), other.step(actions)
        for x, y in zip(a[:3], b[:3], strict=True):
            assert np.array_equal(x, y)


def _single() -> OklahomaGinEnv:
    return OklahomaGinEnv(opponent=Bungler())


@pytest.mark.slow
def test_subprocesses_have_masks_and_options() -> None:
    """Two workers, an own bot as the opponent: the same games as in this process."""
    native = OklahomaGinVecEnv(2, opponent=Bungler(), seed=30)
    workers = SubprocVecEnv([_single] * 2, start_method="spawn")
    try:
        workers.seed(30)
        observations = workers.reset()
        assert np.array_equal(observations, native.reset())
        rng = np.random.default_rng(3)
        for _ in range(30):
            masks = get_action_masks(workers)
            assert masks.shape == (2, N_ACTIONS)
            assert np.array_equal(masks, native.action_masks())
            actions = random_actions(masks, rng)
            a, b = workers.step(actions), native.step(actions)
            for x, y in zip(a[:3], b[:3], strict=True):
                assert np.array_equal(x, y)
        model = _model(workers, n_steps=16, batch_size=16)
        model.learn(64)
        evaluate_policy(model, VecMonitor(workers), n_eval_episodes=2)
    finally:
        workers.close()


def test_options_of_each_game() -> None:
    """One dictionary for all games, or one a game, arrays in them too."""
    vec = OklahomaGinVecEnv(3, seed=0)
    decks = [np.random.default_rng(k).permutation(52) for k in range(3)]
    vec.set_options([{"deck": deck, "dealer": 1} for deck in decks])
    vec.reset()
    assert [list(deck) for deck in decks] == vec.games.states["deck"].tolist()
    vec.set_options({"deck": decks[0], "dealer": 1})
    observations = vec.reset()
    assert (observations == observations[0]).all()
