"""The outlook of the own hand, the same everywhere and from what the seat may see; `tools/lockstep_twin.py` checks its values."""

from __future__ import annotations

import numpy as np
import pytest

from okgin_env import Rules, aec, players
from okgin_env.engine.games import Games
from okgin_env.env import OklahomaGinEnv
from okgin_env.layout import OUTLOOK_SIZE, layout
from okgin_env.sb3 import OklahomaGinVecEnv
from okgin_env.vector import OklahomaGinVectorEnv
from tests.helpers.networks import network


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize("episode", ["hand", "match"])
def test_it_follows_the_other_features_in_every_adapter(seats: int, episode: str) -> None:
    """Env, vector, SB3 and PettingZoo, on the same games; the rest of the observation is as it is without."""
    options = {"rules": "french", "players": seats, "episode": episode}
    plain = OklahomaGinEnv(**options)
    rich = OklahomaGinEnv(**options, outlook=True)
    n_plain = layout(seats, episode == "match").size
    n = layout(seats, episode == "match", True).size
    assert n == n_plain + OUTLOOK_SIZE
    assert rich.observation_space.shape == (n,)
    vector = OklahomaGinVectorEnv(3, **options, outlook=True)
    native = OklahomaGinVecEnv(3, **options, outlook=True, seed=5)
    (a, info), (b, _), (c, _), d = (
        plain.reset(seed=5),
        rich.reset(seed=5),
        vector.reset(seed=5),
        native.reset(),
    )
    rng = np.random.default_rng(1)
    told = 0
    for _ in range(60):
        assert np.array_equal(a, b[:n_plain])
        assert np.array_equal(b, c[0])
        assert np.array_equal(b, d[0])
        told += int(b[n_plain:].any())
        action = rng.choice(np.flatnonzero(info["action_mask"]))
        a, _, over, _, info = plain.step(action)
        b = rich.step(action)[0]
        if over:
            break
        others = [rng.choice(np.flatnonzero(mask)) for mask in native.action_masks()[1:]]
        actions = np.array([action, *others])
        c = vector.step(actions)[0]
        d = native.step(actions)[0]
    assert told > 5


def test_pettingzoo_has_it_for_the_agent_to_move() -> None:
    env = aec.env(rules="gin", outlook=True)
    env.reset(seed=3)
    size = layout(2, False, True).size
    for agent in env.agent_iter(40):
        seen, _, over, _, _ = env.last()
        assert seen is not None
        assert (
            seen["observation"].shape
            == env.observation_space(agent)["observation"].shape
            == (size,)
        )
        assert over or seen["observation"][-OUTLOOK_SIZE:].any()
        other = next(name for name in env.possible_agents if name != agent)
        assert not env.observe(other)["observation"][-OUTLOOK_SIZE:].any()
        env.step(None if over else int(np.flatnonzero(seen["action_mask"])[0]))
    env.close()


@pytest.mark.parametrize("episode", ["hand", "match"])
@pytest.mark.parametrize("trained_on", ["hand", "match"])
def test_a_network_gets_it_from_the_concealed_record(episode: str, trained_on: str) -> None:
    """What a network plays by is what it was trained on, byte by byte, though players are handed no outlook."""
    rules, everyone = Rules.preset("classic"), np.arange(64)
    seen = []
    n_plain = layout(2, trained_on == "match").size
    player = network(n_plain + OUTLOOK_SIZE, 8)
    for outlook in (True, False):
        games = Games(64, rules, episode=episode, outlook=outlook)
        games.seed(everyone, everyone.astype(np.uint64))
        written = games.reset(everyone)
        inputs = []
        for _ in range(25):
            asked = games.decisions(everyone)
            if outlook:
                rows = np.zeros((64, n_plain + OUTLOOK_SIZE), np.int8)
                both = min(n_plain, layout(2, episode == "match").size)
                rows[:, :both] = written.observations[:, :both]
                rows[:, n_plain:] = written.observations[:, -OUTLOOK_SIZE:]
                inputs.append(rows)
            else:
                inputs.append(player.inputs(asked))
            written = games.step(players.make("camper").act(asked), everyone, autoreset=True)
        seen.append(np.stack(inputs))
    assert np.array_equal(*seen)
