"""Policy files name the features they were trained on, and play on whatever observations have besides."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from okgin_env import layout as layouts
from okgin_env.engine.games import Games
from okgin_env.layout import FEATURES, Feature, Layout, first_layout, layout
from okgin_env.players import NetworkPlayer
from okgin_env.players import network as networks

SCORES = [feature.name for feature in FEATURES].index("score_k")
KINDS = [(False, False), (False, True), (True, False), (True, True)]  # match, outlook


@pytest.fixture(autouse=True)
def _fresh_plans() -> Any:
    """What is copied from where is kept by layout: not from one test, with its own layouts, to the next."""
    networks._copies.cache_clear()
    yield
    networks._copies.cache_clear()


def _network(n_in: int, features: str = "") -> NetworkPlayer:
    rng = np.random.default_rng(7)
    sizes = (n_in, 16, 108)
    weights = tuple(rng.normal(size=(b, a)).astype(np.float32) for a, b in pairwise(sizes))
    biases = tuple(np.zeros(b, np.float32) for b in sizes[1:])
    return NetworkPlayer("net", weights, biases, "relu", features)


def _decisions(match: bool) -> Any:
    games, everyone = Games(40, episode="match" if match else "hand"), np.arange(40)
    games.seed(everyone, np.arange(40, dtype=np.uint64))
    written = games.reset(everyone)
    for _ in range(5):
        written = games.step(written.masks.argmax(axis=1).astype(np.int64), everyone, True)
    return games.decisions(everyone, np.zeros(40, np.int64))


@pytest.mark.parametrize(("match", "outlook"), KINDS)
def test_a_file_without_names_is_one_of_version_0_1(match: bool, outlook: bool) -> None:
    first = first_layout(2, match, outlook)
    named, unnamed = _network(first.size, first.described), _network(first.size)
    for episode in (False, True):
        decisions = _decisions(episode)
        assert np.array_equal(named.inputs(decisions), unnamed.inputs(decisions))
        assert np.array_equal(named.act(decisions), unnamed.act(decisions))


@pytest.mark.parametrize(("match", "outlook"), KINDS)
@pytest.mark.parametrize("at", [0, 3, SCORES])
def test_a_new_feature_changes_no_move(
    match: bool, outlook: bool, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the plane stands: the inputs are those of before, for files with names and without."""
    old = layout(2, match, outlook)
    plane = Feature("glimpse", 52, "cards that would lie in a meld", only=FEATURES[at].only)
    features = (*FEATURES[:at], plane, *FEATURES[at:])
    monkeypatch.setattr(
        networks,
        "layout",
        lambda n, m=False, o=False, **k: Layout(n, m, k.get("outlook", o), features),
    )
    decisions, players = _decisions(match), (_network(old.size, old.described), _network(old.size))
    before = layout(2, match, False)
    seen = Layout(2, match, False, features)
    observations = np.ones((len(decisions), seen.size), np.int8)  # the new plane is all ones
    for name, part in before.slices.items():
        observations[:, seen.slices[name]] = decisions.observations[:, part]
    later = dataclasses.replace(decisions, observations=observations)
    for player in players:
        inputs = player.inputs(later)
        for name, part in before.slices.items():
            assert np.array_equal(inputs[:, old.slices[name]], decisions.observations[:, part]), (
                name
            )


def test_two_planes_that_change_places_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    order = [1, 0, *range(2, len(FEATURES))]
    swapped = tuple(FEATURES[k] for k in order)
    old, new = layout(2), Layout(2, False, False, swapped)
    monkeypatch.setattr(
        networks,
        "layout",
        lambda n, m=False, o=False, **k: Layout(n, m, k.get("outlook", o), swapped),
    )
    decisions = _decisions(False)
    observations = np.empty_like(decisions.observations)
    for name, part in old.slices.items():
        observations[:, new.slices[name]] = decisions.observations[:, part]
    later = dataclasses.replace(decisions, observations=observations)
    for player in (_network(old.size, old.described), _network(old.size)):
        assert np.array_equal(player.inputs(later), decisions.observations)


@pytest.mark.parametrize(
    ("features", "said"),
    [
        ("hand:52 glance:5", "made for the feature glance:5, which observations do not have"),
        ("hand:51 top:52", "made for the feature hand:51, which observations do not have"),
        (layout(3).described, "made for 3 players; allowed: tables of as many"),
        ("hand:50", "inputs; allowed: as many as its features have"),
    ],
)
def test_a_file_of_other_features_is_refused(features: str, said: str) -> None:
    n_in = sum(int(entry.split(":")[1]) for entry in features.split())
    if features in ("hand:52 glance:5", "hand:51 top:52"):
        features += " opponent_1_known:52"
        n_in += 52
    player = _network(n_in + (features == "hand:50"), features)
    with pytest.raises(ValueError, match=said):
        player.check_rules(Games(1).rules)


def test_every_feature_is_written_by_the_kernel() -> None:
    """A feature that the list names and no code writes would be zero for ever."""
    seen: dict[tuple[bool, bool], np.ndarray] = {}
    for match, outlook in KINDS:
        games = Games(400, episode="match" if match else "hand", outlook=outlook, opponent="camper")
        everyone, rng = np.arange(400), np.random.default_rng(3)
        games.seed(everyone, np.arange(400, dtype=np.uint64))
        written = games.reset(everyone)
        found = written.observations.any(axis=0)
        for _ in range(150):
            chances = rng.random(written.masks.shape) * written.masks
            knocks = np.arange(108) // 52 == 1
            actions = np.where(
                written.masks[:, knocks].any(axis=1),
                (chances + 2 * knocks * written.masks).argmax(axis=1),
                chances.argmax(axis=1),
            )
            written = games.step(actions, everyone, True)
            found |= written.observations.any(axis=0)
        for name, part in layouts.layout(2, match, outlook).slices.items():
            assert found[part].any(), name
        seen[match, outlook] = found
