"""`expert`: the trained networks in the package."""

from __future__ import annotations

import re

import gymnasium as gym
import numpy as np
import pytest

from okgin_env import Rules, players
from okgin_env.arena.match import play
from okgin_env.arena.statistics import clustered_mean
from okgin_env.players.expert import FIXED, FOLDER, UPCARD
from tests.helpers.paths import python


@pytest.mark.parametrize("rules", ["classic", "eaai"])
def test_it_beats_the_scripted_players(rules: str) -> None:
    """A slice of what its card says, on fixed decks: the interval must clear nothing at all."""
    for name in ("simple", "knocker", "camper"):
        results = play(players.make("expert"), players.make(name), Rules.preset(rules), 3000, 4)
        assert clustered_mean(results.points)[1] > 0, name


def test_it_plays_every_preset_for_two() -> None:
    expert = players.make("expert")
    for rules in ("classic", "french", "gin", "eaai", "openspiel"):
        results = play(expert, players.make("random"), Rules.preset(rules), 50, 1)
        assert results.points.mean() > 20, rules
        assert not results.faults.any()


def test_the_rules_say_which_network_plays() -> None:
    expert = players.ExpertPlayer()
    assert expert.network(Rules.preset("classic")) is expert.network(Rules.preset("french"))
    assert expert.network(Rules.preset("eaai")) is expert.network(Rules.preset("gin"))
    assert UPCARD.read_bytes() != FIXED.read_bytes()


def test_more_than_two_seats_are_refused_before_anything_is_played() -> None:
    with pytest.raises(ValueError, match="expert: players=3; allowed: 2"):
        play(players.make("expert"), players.make("simple"), Rules.preset("french", 3), 10, 0)
    done = python(
        *["evaluate.py", "search:8,base=expert", "camper", "--rules", "french", "--seats", "4"]
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "players=4; allowed: 2" in done.stderr


def test_it_is_an_opponent_by_name_and_needs_no_library() -> None:
    code = (
        "import sys, gymnasium, okgin_env; env = gymnasium.make('okgin_env/OklahomaGin-v0', opponent='expert')\n"
        "observation, info = env.reset(seed=1); over = False\n"
        "while not over:\n"
        "    observation, _, over, _, info = env.step(env.action_space.sample(info['action_mask']))\n"
        "print({'torch', 'safetensors', 'stable_baselines3'} & set(sys.modules))"
    )
    done = python("-c", code)
    assert done.stdout.strip() == "set()", done.stderr


def test_it_meets_itself_in_a_pool_and_in_search() -> None:
    env = gym.make_vec(
        "okgin_env/OklahomaGin-v0", num_envs=4, vectorization_mode="vector_entry_point", opponent="expert"
    )  # fmt: skip
    env.reset(seed=3)
    rules = Rules.preset("classic")
    search = players.make("search:8,base=expert")
    assert search.name == "search:8,base=expert"
    assert not play(search, players.make("expert"), rules, 3, 1).faults.any()


def test_small_files_with_their_cards() -> None:
    assert sum(path.stat().st_size for path in (UPCARD, FIXED)) <= 4_000_000
    for path in (UPCARD, FIXED):
        card = (FOLDER / f"{path.stem}.md").read_text()
        for row in ("trained by", "commit", "seed", "steps", "hours"):
            assert re.search(rf"^\| {row} \| .+ \|$", card, re.MULTILINE), row
        assert "## Strength" in card
        assert "## Weaknesses" in card
        rows = [line for line in card.splitlines() if line.startswith("| expert |")]
        assert len(rows) == 5
    assert isinstance(players.ExpertPlayer().network(Rules.preset("eaai")).weights[0], np.ndarray)
