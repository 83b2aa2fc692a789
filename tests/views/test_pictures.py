"""Pictures: what they show in every phase, whole documents, and no hidden card unless asked for."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from okgin_env import Rules, cards, players
from okgin_env.engine.decisions import view_of
from okgin_env.env import OklahomaGinEnv
from okgin_env.kernel import play
from okgin_env.kernel.state import as_records
from okgin_env.layout import N_ACTIONS, PHASES
from okgin_env.positions import position
from okgin_env.render.pieces import Rect, Shape, Text
from okgin_env.render.scene import Scene, compose, table_height
from okgin_env.render.style import THEMES
from okgin_env.view import SeatView

ONE = np.zeros(1, np.int64)


def _views(
    seats: int, rules: str = "french", n_hands: int = 6, reveal: bool = False
) -> list[SeatView]:
    """The learner's view before each of its decisions and after the end of some hands."""
    env = OklahomaGinEnv(rules=rules, players=seats, opponent="simple")
    camper, views = players.make("camper"), []
    for seed in range(n_hands):
        env.reset(seed=seed)
        done = False
        while not done:
            views.append(env.view(reveal))
            done = env.step(camper.act(env.games.decisions(ONE))[0])[2]
        views.append(env.view(reveal))
    return views


def _texts(scene: Scene) -> list[str]:
    return [part.text for part in scene.parts if isinstance(part, Text)]


def _faces(scene: Scene) -> int:
    """Cards that lie face up: the ranks drawn at a card's corner."""
    ranks = {*"A23456789JQK", "10"}
    return sum(isinstance(p, Text) and p.text in ranks and p.size == 18 for p in scene.parts)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_phase_says_what_matters(seats: int) -> None:
    seen: set[str] = set()
    for view in _views(seats):
        seen.add(view.phase)
        scene = compose(view)
        said = " ".join(_texts(scene))
        assert ("gin only" if view.limit == 0 else f"knock with {view.limit} or less") in said
        if view.phase == "over" and view.knocker is not None:
            assert f"deadwood {view.counted[view.seat]}" in said
            assert said.count(" points") == seats
            assert _faces(scene) == sum(len(hand) for hand in view.hands)
        else:
            assert f"stock {view.stock_left}" in said
            assert f"deadwood {view.deadwood}" in said
            known = sum(len(view.known[s]) for s in range(seats) if s != view.seat)
            assert _faces(scene) == len(view.hand) + known + min(len(view.pile), 14)
        for part in scene.parts:  # nothing sticks out
            if isinstance(part, Rect):
                assert part.x >= 0
                assert part.x + part.w <= scene.width
                assert part.y + part.h <= scene.height
    assert seen == set(PHASES)


def test_laid_off_cards_are_marked() -> None:
    marked = [v for v in _views(2, "gin", 40) if "laid off" in _texts(compose(v))]
    assert marked
    for view in marked:
        good = THEMES["light"].good
        edges = sum(isinstance(p, Rect) and p.edge == good for p in compose(view).parts)
        loose_before = view.rules.hand_size
        assert 1 <= edges < loose_before


@pytest.mark.parametrize("theme", sorted(THEMES))
@pytest.mark.parametrize("four_colours", [False, True])
def test_svg_is_a_whole_document(theme: str, four_colours: bool) -> None:
    for view in _views(4, n_hands=1):
        root = ET.fromstring(view.svg(theme, four_colours))
        assert root.tag.endswith("svg")
        assert root[0].text.startswith("Oklahoma Gin: ")  # pyright: ignore[reportOptionalMemberAccess]
        fills = set(re.findall(r'fill="(#\w+)"', view.svg(theme, four_colours)))
        assert THEMES[theme].paper in fills
    assert view._repr_svg_() == view.svg("light")
    with pytest.raises(ValueError, match="theme='pink'; allowed: light, dark"):
        view.svg("pink")


def test_four_colours_are_four_and_two_are_two() -> None:
    for four, n in ((False, 2), (True, 4)):
        used = set()
        for view in _views(2, n_hands=3):
            scene = compose(view, four_colours=four)
            used |= {part.fill for part in scene.parts if isinstance(part, Shape)}
        assert len(used) == n


@pytest.mark.parametrize("seats", [2, 4])
def test_hidden_cards_are_drawn_only_when_revealed(seats: int) -> None:
    for hidden, open_ in zip(
        _views(seats, n_hands=2), _views(seats, n_hands=2, reveal=True), strict=True
    ):
        assert not hidden.revealed
        assert open_.revealed
        if hidden.phase == "over":
            continue
        assert _faces(compose(open_)) == _faces(compose(hidden)) + sum(
            len(open_.hands[s]) - len(hidden.known[s]) for s in range(seats) if s != hidden.seat
        )
        assert cards.mask(" ".join(open_.hand)) == cards.mask(" ".join(hidden.hand))


def test_rgb_array_shows_the_same_scene() -> None:
    pytest.importorskip("PIL")
    env = gym.make("okgin_env/OklahomaGin-v0", render_mode="rgb_array")
    env.reset(seed=3)
    picture = env.render()
    assert isinstance(picture, np.ndarray)
    view = env.unwrapped.view()  # pyright: ignore[reportAttributeAccessIssue]
    scene = compose(view)
    assert picture.shape == (round(table_height(2)), round(scene.width), 3)
    assert table_height(2) == scene.height
    assert picture.dtype == np.uint8
    felt = tuple(bytes.fromhex(THEMES["light"].felt[1:]))
    assert (picture == felt).all(axis=2).sum() > 10_000  # the panel of the table
    env.step(105)
    again = env.render()
    assert isinstance(again, np.ndarray)
    assert not np.shares_memory(picture, again)


def test_window_shows_and_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("PIL")
    pytest.importorskip("pygame")
    monkeypatch.setitem(os.environ, "SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(OklahomaGinEnv.metadata, "render_fps", 1000)
    env = OklahomaGinEnv(render_mode="human")
    env.reset(seed=1)
    env.step(105)
    assert env._screen._window is not None
    env.close()
    assert env._screen._window is None


def test_pictures_of_variants_and_long_piles() -> None:
    rules = replace(Rules.preset("classic"), knock_limit=0, max_turns=100)
    env = OklahomaGinEnv(rules=rules, opponent="hunter")
    hunter, done = players.make("hunter"), False
    env.reset(seed=0)
    while not done:
        assert "gin only" in _texts(compose(env.view()))
        done = env.step(hunter.act(env.games.decisions(ONE))[0])[2]


def _seen(seat: int, state: dict[str, Any], step: int | None = None) -> SeatView:
    """What a seat sees of a position, whoever is to move, and after an action."""
    rules = Rules.preset("classic")
    states, record = position(rules, **state), as_records(rules.to_record())
    if step is not None:
        play.step(states[0], record[0], step)
    return view_of(states, rules, record, seat)


TAKEN = {
    "hands": ["As 2s 3s 4s 5c 6c 7c 8s 8d 8h", "2d 4d 7d 9d Jd Kd 3h 5h Th Qh Kc"],
    "pile": "Qs",
    "seat": 1,
    "phase": "discard",
    "taken": "Kc",
}


def test_only_who_has_taken_a_card_is_said_to_keep_it() -> None:
    assert "keeps K♣ this turn" in _texts(compose(_seen(1, TAKEN)))
    assert not any("keeps" in text for text in _texts(compose(_seen(0, TAKEN))))


@pytest.mark.parametrize("step", [None, N_ACTIONS])
def test_all_cards_of_who_is_to_discard_are_drawn(step: int | None) -> None:
    """Also after a forfeit, which moves none."""
    view = _seen(0, TAKEN, step)
    assert view.phase == ("discard" if step is None else "over")
    backs = [
        p for p in compose(view).parts if isinstance(p, Rect) and p.fill == THEMES["light"].back
    ]
    assert len(backs) == 2 * (10 + 1)  # its hidden ones and the stock, two rectangles each
