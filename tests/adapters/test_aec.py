"""The PettingZoo environment: PettingZoo's own tests, the golden hands, and the same game as Gymnasium's."""

from __future__ import annotations

import dataclasses
import importlib
import json
import warnings

import numpy as np
import pytest

pytest.importorskip("pettingzoo")

from pettingzoo.test import api_test, render_test, seed_test

from okgin_env import Rules, aec, cards
from okgin_env.env import OklahomaGinEnv
from okgin_env.players import Player
from tests.helpers.paths import DATA

HANDS = DATA / "hands.json"


def _allow_dicts() -> None:
    """The observation is a Dict with the mask in it, as in all of PettingZoo's classic games.

    api_test warns of every such environment that it is no array, and no Box or Discrete.
    """
    for said in ("Observation is not a NumPy array", "Observation space for each agent probably"):
        warnings.filterwarnings("ignore", message=said)


@pytest.mark.parametrize("rules", ["classic", "french", "eaai"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_pettingzoos_own_tests(rules: str, players: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _allow_dicts()
        api_test(aec.env(rules=rules, players=players), num_cycles=200)
        seed_test(lambda: aec.env(rules=rules, players=players), num_cycles=50)


@pytest.mark.parametrize("episode", ["hand", "match"])
@pytest.mark.parametrize("reward", ["points", "win"])
def test_parameters(episode: str, reward: str) -> None:
    env = aec.env(rules="gin", episode=episode, reward=reward, render_mode="ansi")
    with warnings.catch_warnings():
        _allow_dicts()
        api_test(env, num_cycles=100)
    env.reset(seed=1)
    assert "knock limit 10" in str(env.render())


def test_golden_hands_at_every_step() -> None:
    """Seat, mask, ending and points of all 150 whole hands."""
    for k, case in enumerate(json.loads(HANDS.read_text())):
        env = aec.env(rules=case["rules"], players=case["players"])
        env.reset(options={"deck": case["deck"], "dealer": case["dealer"]})
        for seat, action, legal in zip(case["seats"], case["actions"], case["legal"], strict=True):
            assert env.agent_selection == f"player_{seat}", k
            for other in env.agents:
                mask = env.observe(other)["action_mask"]
                expected = legal if other == env.agent_selection else []
                assert np.flatnonzero(mask).tolist() == expected, k
            assert not any(env.terminations.values()), k
            env.step(action)
        assert all(env.terminations.values()), k
        for info in env.infos.values():
            assert info["ending"] == case["ending"], k
            assert info["points"].tolist() == case["points"], k
        assert sum(env.rewards.values()) == pytest.approx(0), k
        own, others = case["points"][0], case["points"][1:]
        assert env.rewards["player_0"] == pytest.approx((own - np.mean(others)) / 100), k


@pytest.mark.parametrize("episode", ["hand", "match"])
def test_same_game_as_gymnasium(episode: str) -> None:
    """Same seed and actions: the same observations, rewards and ends as the single environment."""
    rules = dataclasses.replace(Rules.preset("classic"), target=40)
    table = aec.raw_env(rules=rules, episode=episode)
    bot_moves: list[int] = []

    class Follower(Player):
        """Notes what it plays, so that the other table can be played alike."""

        name = "follower"

        def act(self, decisions):
            chosen = decisions.masks.argmax(axis=1)
            bot_moves.extend(int(action) for action in chosen)
            return chosen

    single = OklahomaGinEnv(rules=rules, episode=episode, opponent=Follower())
    rng = np.random.default_rng(0)
    for seed in range(15):
        bot_moves.clear()
        observation, info = single.reset(seed=seed)
        table.reset(seed=seed)
        terminated = False
        while not terminated:
            while table.agent_selection != "player_0":
                table.step(bot_moves.pop(0))
            seen = table.observe("player_0")
            assert np.array_equal(seen["observation"], observation)
            assert np.array_equal(seen["action_mask"], info["action_mask"])
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            observation, reward, terminated, _, info = single.step(action)
            table.step(action)
            paid = table.rewards["player_0"]
            while not all(table.terminations.values()) and bot_moves:
                table.step(bot_moves.pop(0))
                paid += table.rewards["player_0"]
            assert paid == pytest.approx(reward)
            assert all(table.terminations.values()) == terminated


@pytest.mark.parametrize("illegal", [False, True])
@pytest.mark.parametrize("episode", ["hand", "match"])
def test_what_is_seen_of_the_end_stays_when_the_agents_are_gone(
    episode: str, illegal: bool
) -> None:
    """An illegal action ends the episode, while in a match the next hand is dealt."""
    env = aec.env(rules="gin", players=3, episode=episode, render_mode="ansi")
    env.reset(seed=3)
    rng = np.random.default_rng(0)
    while not all(env.terminations.values()):
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(108 if illegal else int(rng.choice(np.flatnonzero(mask))))
    raw = env.unwrapped

    def seen() -> list[object]:
        sights = [raw.observe(agent) for agent in raw.possible_agents]
        views = [str(raw.view(agent)) for agent in raw.possible_agents]
        return [[{k: v.tolist() for k, v in sight.items()} for sight in sights], views]

    at_the_end = seen()
    while env.agents:
        env.step(None)
        assert seen() == at_the_end
    assert "illegal" in at_the_end[1][0] or not illegal


def test_illegal_action_forfeits() -> None:
    env = aec.raw_env(rules="french", players=3)
    env.reset(seed=0)
    offender = env.agent_selection
    env.step(50)
    assert all(env.terminations.values())
    assert env.infos[offender]["illegal_action"]
    assert env.infos[offender]["ending"] == "illegal"
    others = [reward for agent, reward in env.rewards.items() if agent != offender]
    assert env.rewards[offender] == -1
    assert others == [0.5, 0.5]


def test_hidden_cards_change_nothing_an_agent_sees() -> None:
    deck = cards.ids(range(52))
    swapped = deck[:10] + deck[11:20] + [deck[30]] + deck[20:30] + [deck[10]] + deck[31:]
    seen = []
    for order in (deck, swapped):
        env = aec.raw_env(render_mode="ansi")
        env.reset(seed=1, options={"deck": order, "dealer": 1})
        seen.append((env.observe("player_0"), str(env.view("player_0"))))
    (first, text), (second, other_text) = seen
    assert text == other_text
    for key, value in first.items():
        assert np.array_equal(value, second[key])


@pytest.mark.parametrize(
    ("kwargs", "said"),
    [
        ({"rules": "whist"}, "preset 'whist'; allowed: classic"),
        ({"players": 5}, "players=5; allowed: 2 to 4"),
        ({"episode": "night"}, "episode='night'; allowed: hand, match"),
        ({"reward": "match"}, "reward='match'; allowed: points, win"),
        ({"rules": "openspiel", "episode": "match"}, "rules with a target"),
        ({"render_mode": "3d"}, "render_mode='3d'; allowed"),
    ],
)
def test_bad_arguments_name_what_is_allowed(kwargs: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        aec.env(**kwargs)


def test_registered_as_pettingzoo_does_it() -> None:
    """PettingZoo 1.27 has a registry of its own; importing twice does not register twice."""
    pettingzoo = pytest.importorskip("pettingzoo", minversion="1.27")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        importlib.reload(aec)
        made = pettingzoo.make("aec", "okgin_env/OklahomaGin-v0", rules="french", players=3)
    assert made.unwrapped.rules == Rules.preset("french", 3)
    assert made.possible_agents == ["player_0", "player_1", "player_2"]


@pytest.mark.parametrize("rules", ["classic", "french"])
def test_pettingzoos_render_test(rules: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("PIL")
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(aec.raw_env.metadata, "render_fps", 1000)
    render_test(lambda render_mode: aec.env(rules=rules, render_mode=render_mode))
