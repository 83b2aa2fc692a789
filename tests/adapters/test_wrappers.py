"""Wrappers: named observations, shaping that changes no policy, hand histories of what was played."""

from __future__ import annotations

import pickle
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import FlattenObservation, RecordEpisodeStatistics

from okgin_env import ENV_ID, Rules, analysis, cards, layout, players
from okgin_env.env import OklahomaGinEnv
from okgin_env.histories import read
from okgin_env.positions import position
from okgin_env.vector import OklahomaGinVectorEnv
from okgin_env.wrappers import DeadwoodShaping, HandRecorder, NamedObservation, RecordHands

ONE = np.zeros(1, np.int64)


def rollout(env: gym.Env[Any, Any], seed: int, first: int | None = None) -> list[float]:
    """Rewards of an episode under random play, which is the same for the same seed."""
    rng, rewards = np.random.default_rng(seed), list[float]()
    masks = env.get_wrapper_attr("action_masks")
    terminated, action = False, first
    while not terminated:
        if action is None:
            action = int(rng.choice(np.flatnonzero(masks())))
        _, reward, terminated, truncated, info = env.step(action)
        assert truncated is False
        assert "action_mask" in info
        rewards.append(float(reward))
        action = None
    return rewards


# --- named observations ------------------------------------------------------------------------------
@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
@pytest.mark.parametrize("kwargs", [{}, {"players": 4}, {"episode": "match", "reward": "match"}])
def test_wrapped_environments_pass_the_checker(kwargs: dict[str, Any]) -> None:
    check_env(NamedObservation(OklahomaGinEnv(**kwargs)), skip_render_check=True)
    check_env(DeadwoodShaping(OklahomaGinEnv(**kwargs), 0.01), skip_render_check=True)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_named_observation_has_every_feature_and_flattens_back(n: int) -> None:
    plain = gym.make(ENV_ID, players=n, episode="match")
    named = NamedObservation(gym.make(ENV_ID, players=n, episode="match"))
    slices = layout.layout(n, True).slices
    assert isinstance(named.observation_space, spaces.Dict)
    assert list(named.observation_space) == list(slices)
    flat, info = plain.reset(seed=n)
    by_name, _ = named.reset(seed=n)
    rng, terminated = np.random.default_rng(n), False
    while not terminated:
        assert named.observation_space.contains(by_name)
        assert (np.concatenate(list(by_name.values())) == flat).all()
        assert (spaces.flatten(named.observation_space, by_name) == flat).all()
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        by_name = named.step(action)[0]
        flat, _, terminated, _, info = plain.step(action)
    assert FlattenObservation(named).observation_space.shape == (slices["score_0"].start + 20 * n,)


def test_observations_of_two_steps_share_no_memory() -> None:
    env = NamedObservation(gym.make(ENV_ID))
    one, info = env.reset(seed=1)
    other = env.step(int(np.flatnonzero(info["action_mask"])[0]))[0]
    assert not any(np.shares_memory(a, b) for a in one.values() for b in other.values())


def test_wrappers_say_what_they_go_around(tmp_path: Path) -> None:
    other = gym.make("CartPole-v1")
    with pytest.raises(TypeError, match="allowed: okgin_env/OklahomaGin-v0"):
        NamedObservation(other)
    with pytest.raises(TypeError, match="allowed: okgin_env/OklahomaGin-v0"):
        DeadwoodShaping(other, 0.1)
    with pytest.raises(TypeError, match="allowed: okgin_env/OklahomaGin-v0"):
        RecordHands(other, tmp_path / "hands.okgin")
    with pytest.raises(TypeError, match=r"observation Dict.*allowed: Box"):
        NamedObservation(NamedObservation(gym.make(ENV_ID)))  # pyright: ignore


# --- shaping -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("episode", ["hand", "match"])
@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_shaping_telescopes_to_the_first_potential(episode: str, gamma: float) -> None:
    """Whatever is played, the shaped return is the plain one minus phi of the first state."""
    kwargs: dict[str, Any] = {"players": 2, "opponent": "knocker", "episode": episode}
    plain = gym.make(ENV_ID, **kwargs)
    shaped = DeadwoodShaping(gym.make(ENV_ID, **kwargs), 0.01, gamma)
    firsts: set[float] = set()
    for seed in range(12 if episode == "hand" else 3):
        plain.reset(seed=seed)
        shaped.reset(seed=seed)
        phi = shaped.potential()
        firsts.add(phi)
        rewards, with_shaping = rollout(plain, seed), rollout(shaped, seed)
        assert len(rewards) == len(with_shaping)
        discounts = gamma ** np.arange(len(rewards))
        assert discounts @ with_shaping == pytest.approx(discounts @ rewards - phi)
    assert min(firsts) < 0
    assert len(firsts) > 1


def test_shaping_keeps_the_order_of_actions() -> None:
    """Every action of a state, then the same play: shaped returns are the plain ones, all moved by one number."""
    plain = gym.make(ENV_ID, opponent="simple", reward="points")
    shaped = DeadwoodShaping(gym.make(ENV_ID, opponent="simple", reward="points"), 0.02)
    n_states = 0
    for seed in range(6):
        _, info = plain.reset(seed=seed)
        rng = np.random.default_rng(seed)
        for _ in range(2 * seed):  # some way into the hand
            _, _, over, _, info = plain.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
            assert not over
        state = plain.get_wrapper_attr("state")()
        moved: list[float] = []
        for action in np.flatnonzero(info["action_mask"]).tolist():
            plain.reset(options={"state": state})
            shaped.reset(options={"state": state})
            phi = shaped.potential()
            moved.append(sum(rollout(shaped, 7, action)) - sum(rollout(plain, 7, action)) + phi)
        assert len(moved) > 1
        np.testing.assert_allclose(moved, 0, atol=1e-9)
        n_states += 1
    assert n_states == 6


def test_potential_is_own_least_deadwood() -> None:
    """In both phases, and not by a discard that the rules forbid."""
    env = DeadwoodShaping(gym.make(ENV_ID, opponent="simple"), 1.0)
    for seed in range(5):
        _, info = env.reset(seed=seed)
        assert env.potential() == -analysis.deadwood(env.unwrapped.view().hand)  # pyright: ignore
        while True:
            view = env.unwrapped.view()  # pyright: ignore
            if view.phase == "discard":
                free = [card for card in view.hand if card != view.taken]
                left = [analysis.deadwood([c for c in view.hand if c != card]) for card in free]
                assert env.potential() == -min(left)
            else:
                assert env.potential() == -analysis.deadwood(view.hand)
            before = env.potential()
            legal = np.flatnonzero(info["action_mask"])
            _, _, terminated, _, info = env.step(int(legal[len(legal) // 2]))
            after = 0.0 if terminated else env.potential()
            assert info["shaping"] == after - before
            if terminated:
                assert env.potential() == 0.0
                break


def test_shaping_counts_the_discard_that_is_allowed() -> None:
    """A king just taken may not go back: the best discard that is left counts."""
    rules = Rules.preset("classic")
    hands = ["As 2s 3s 4s 5h 6h 7h 8d 9d Td Ks", "Ah 2h 3h 4d 5d 6c 7c 8c 9c Jh"]
    state = position(rules, hands=list(hands), pile="Qd", seat=0, phase="discard", taken="Ks")
    env = DeadwoodShaping(gym.make(ENV_ID, rules=rules, opponent="simple"), 1.0)
    env.reset(seed=0, options={"state": state})
    assert analysis.deadwood(hands[0].replace(" Ks", "")) == 0  # what throwing it back would leave
    assert env.potential() == -10


def test_a_forfeit_ends_with_potential_zero() -> None:
    env = DeadwoodShaping(gym.make(ENV_ID), 0.01)
    env.reset(seed=1)
    phi = env.potential()
    _, reward, terminated, _, info = env.step(0 if env.unwrapped.view().phase != "discard" else 107)  # pyright: ignore
    assert terminated
    assert info["illegal_action"]
    assert float(reward) == pytest.approx(-1 - phi)


@pytest.mark.parametrize(
    ("weight", "gamma", "message"),
    [
        (-0.1, 1.0, "weight=-0.1; allowed"),
        (float("nan"), 1.0, "weight=nan"),
        (1, 0, "gamma=0"),
        (1, 1.1, "gamma=1.1"),
    ],
)
def test_shaping_checks_its_numbers(weight: float, gamma: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DeadwoodShaping(gym.make(ENV_ID), weight, gamma)


# --- recording ---------------------------------------------------------------------------------------
def test_recorded_hands_are_the_hands_that_were_played(tmp_path: Path) -> None:
    path = tmp_path / "hands.okgin"
    env = RecordHands(gym.make(ENV_ID, players=3), path, ["learner", "simple", "simple"])
    infos, rewards = list[dict[str, Any]](), list[float]()
    for seed in (5, None, 6):
        _, info = env.reset(seed=seed)
        terminated, rng = False, np.random.default_rng(seed)
        while not terminated:
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            _, reward, terminated, _, info = env.step(action)
        infos.append(info)
        rewards.append(float(reward))
        assert len(read(path)) == len(infos)  # on the disk when the step returns
    hands = read(path)
    assert [hand.seed for hand in hands] == [5, None, 6]
    for hand, info, reward in zip(hands, infos, rewards, strict=True):
        assert hand.ending == info["ending"]
        assert list(hand.points) == info["points"].tolist()
        assert list(hand.scores) == info["scores"].tolist()
        assert hand.names == ("learner", "simple", "simple")
        own, *others = hand.points
        assert reward == pytest.approx((own - sum(others) / 2) / 100)
        assert (hand.final()["points"][0, :3] == hand.points).all()


def test_a_recorded_hand_can_be_played_again(tmp_path: Path) -> None:
    """The history's deck and dealer, seed and own actions: the same hand once more."""
    path = tmp_path / "hands.okgin"
    env = RecordHands(gym.make(ENV_ID, opponent="random"), path)
    env.reset(seed=3)
    rollout(env, 3)
    hand = read(path)[0]
    env.reset(seed=hand.seed, options={"deck": hand.deck, "dealer": hand.dealer})
    for seat, action in hand.actions:
        if seat == 0:
            env.step(action)
    assert read(path) == [hand, hand]


def test_every_hand_of_a_match_is_recorded_in_order(tmp_path: Path) -> None:
    """Also the hands that opponents end between two of the learner's decisions: no score is missing."""
    path = tmp_path / "match.okgin"
    env = RecordHands(gym.make(ENV_ID, players=4, opponent="camper", episode="match"), path)
    env.reset(seed=2)
    rollout(env, 2)
    hands = read(path)
    games = env.unwrapped.games  # pyright: ignore[reportAttributeAccessIssue]
    assert len(hands) == games.finals["n_hands"][0] > 3
    assert [hand.played for hand in hands] == list(range(len(hands)))
    assert hands[0].scores_before == (0, 0, 0, 0)
    for one, other in pairwise(hands):
        assert other.scores_before == one.scores
    last = hands[-1].final()
    assert last["match_winner"] == games.finals["match_winner"] != -1
    assert (last["match_points"] == games.finals["match_points"]).all()


def test_recording_changes_nothing_that_is_played(tmp_path: Path) -> None:
    for episode in ("hand", "match"):
        plain = gym.make(ENV_ID, episode=episode)
        recorded = RecordHands(gym.make(ENV_ID, episode=episode), tmp_path / "hands.okgin")
        for seed in range(3):
            first, again = plain.reset(seed=seed)[0], recorded.reset(seed=seed)[0]
            assert (first == again).all()
            assert rollout(plain, seed) == rollout(recorded, seed)


def test_a_forfeited_hand_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "hands.okgin"
    env = RecordHands(gym.make(ENV_ID), path)
    env.reset(seed=1)
    env.step(-1)
    (hand,) = read(path)
    assert (hand.ending, hand.points) == ("illegal", (0, 100))
    assert "\nseat 0: illegal\n" in str(hand)
    hand.final()


def test_a_position_that_was_set_up_is_left_out_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "hands.okgin"
    env = RecordHands(gym.make(ENV_ID), path)
    hands = ["As 2s 3s 4s 5h 6h 7h 8d 9d Td Ks", "Ah 2h 3h 4d 5d 6c 7c 8c 9c Jh"]
    state = {"hands": hands, "pile": "Qd", "seat": 0, "phase": "discard"}
    env.reset(seed=0, options={"state": state})
    with pytest.warns(UserWarning, match="a hand is left out"):
        env.step(52 + cards.card_id("Ks"))
    env.reset(seed=0, options={"state": state})
    env.step(52 + cards.card_id("Ks"))  # the second without a word
    assert env.recorder.skipped == 2
    assert read(path) == []


def test_a_saved_game_goes_on_in_the_record(tmp_path: Path) -> None:
    """A state saved in the middle of a dealt hand has its whole log, so that hand is recorded."""
    path = tmp_path / "hands.okgin"
    env = RecordHands(gym.make(ENV_ID), path)
    _, info = env.reset(seed=4)
    env.step(int(np.flatnonzero(info["action_mask"])[0]))
    state = env.get_wrapper_attr("state")()
    other = RecordHands(gym.make(ENV_ID), path)
    other.reset(options={"state": state})
    rollout(other, 1)
    assert len(read(path)) == 1


def test_recording_can_be_pickled_and_closed(tmp_path: Path) -> None:
    path = tmp_path / "hands.okgin"
    env = RecordHands(OklahomaGinEnv(), path)
    env.reset(seed=1)
    copy = pickle.loads(pickle.dumps(env))
    for one in (env, copy):
        rollout(one, 1)
    first, second = read(path)
    assert first == second
    assert copy.unwrapped.games.recorder is copy.recorder
    env.close()
    assert env.unwrapped.games.recorder is None  # pyright: ignore[reportAttributeAccessIssue]


def test_bad_paths_and_names_are_refused_before_anything_is_played(tmp_path: Path) -> None:
    env = gym.make(ENV_ID)
    with pytest.raises(ValueError, match="ends in"):
        RecordHands(env, tmp_path / "hands.txt")
    with pytest.raises(ValueError, match="allowed: 2 names"):
        RecordHands(env, tmp_path / "hands.okgin", ["alone"])
    with pytest.raises(ValueError, match="printable"):
        RecordHands(env, tmp_path / "hands.okgin", ["a\nb", "c"])
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        RecordHands(env, tmp_path / "file" / "hands.okgin")


def test_recorder_of_a_vector_environment(tmp_path: Path) -> None:
    """The same hands as the single environments with the same seeds and actions."""
    paths = [tmp_path / f"{name}.okgin" for name in ("vector", "single")]
    rules = Rules.preset("classic")
    vector = OklahomaGinVectorEnv(8, rules, autoreset_mode="Disabled")
    vector.games.recorder = HandRecorder(paths[0], rules)
    _, info = vector.reset(seed=20)
    masks, ended = info["action_mask"], np.zeros(8, np.bool_)
    singles = [RecordHands(OklahomaGinEnv(rules), paths[1]) for _ in range(8)]
    for i, env in enumerate(singles):
        env.reset(seed=20 + i)
    while not ended.any():
        actions = np.array([np.flatnonzero(mask)[-1] for mask in masks])
        _, _, ended, _, info = vector.step(actions)
        masks = info["action_mask"]
        for env, action in zip(singles, actions, strict=True):
            env.step(int(action))
    texts = [sorted(re.sub("seed: .*\n", "", str(hand)) for hand in read(path)) for path in paths]
    assert len(texts[0]) == ended.sum() > 0
    assert texts[0] == texts[1]


def test_wrappers_go_together(tmp_path: Path) -> None:
    path = tmp_path / "hands.okgin"
    env: gym.Env[Any, Any] = RecordHands(gym.make(ENV_ID, opponent="careful"), path)
    env = NamedObservation(DeadwoodShaping(RecordEpisodeStatistics(env), 0.01))
    learner = players.make("simple")
    games = env.unwrapped.games  # pyright: ignore[reportAttributeAccessIssue]
    for seed in range(4):
        env.reset(seed=seed)
        terminated, info = False, {}
        while not terminated:
            action = int(learner.act(games.decisions(ONE))[0])
            _, _, terminated, _, info = env.step(action)
        assert info["episode"]["l"] > 0
    assert len(read(path)) == 4
    assert env.spec is not None
    assert [wrapper.name for wrapper in env.spec.additional_wrappers][-3:] == [
        "RecordEpisodeStatistics",
        "DeadwoodShaping",
        "NamedObservation",
    ]


def test_a_second_recorder_is_refused(tmp_path: Path) -> None:
    env = RecordHands(gym.make(ENV_ID), tmp_path / "first.okgin")
    with pytest.raises(ValueError, match="recorded already; allowed: one recorder"):
        RecordHands(env, tmp_path / "second.okgin")
