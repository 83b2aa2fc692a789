"""The Gymnasium environment: checkers, options, seeding, fresh arrays, rewards, opponents, documentation."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import random
import re
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray

import okgin_env
from okgin_env import ENV_ID, PRESETS, Rules, cards, players
from okgin_env.env import OklahomaGinEnv
from okgin_env.kernel.policies import POLICY_IDS
from okgin_env.kernel.state import STATE
from okgin_env.layout import (
    BIG_GIN,
    DRAW_STOCK,
    DRAW_TOP,
    ENDINGS,
    FEATURES,
    KNOCK,
    MAX_TURNS,
    N_ACTIONS,
    N_CARDS,
    PASS,
    Layout,
    layout,
)
from okgin_env.players import Bot, Decisions
from okgin_env.positions import check_state, position
from okgin_env.view import SeatView, action_text
from tests.helpers.bots import Bungler, Cheater, Outside
from tests.helpers.follow import deck_of
from tests.helpers.random_tables import random_rules

ONE = np.zeros(1, np.int64)
Trace = list[tuple[bytes, float, bool, str]]
CASES = [(preset, n) for preset in PRESETS for n in (2, 3, 4)]


class SeatKeeper(Bot):
    """Plays its first legal action and remembers where it sat."""

    def __init__(self) -> None:
        self.seats: set[int] = set()

    def choose(self, view: SeatView, rng: np.random.Generator) -> int:
        """The first legal action."""
        self.seats.add(view.seat)
        return view.legal[0]


def play(
    env: gym.Env[Any, Any], seed: int | None, n_steps: int = 60, move_seed: int = 0, **options: Any
) -> Trace:
    """Random legal actions; goes on with new episodes where one ends."""
    rng = np.random.default_rng(move_seed)
    observation, info = env.reset(seed=seed, options=options or None)
    trace: Trace = [(observation.tobytes(), 0.0, False, "")]
    for _ in range(n_steps):
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        observation, reward, terminated, _, info = env.step(action)
        trace.append((observation.tobytes(), float(reward), terminated, _plain(info)))
        if terminated:
            observation, info = env.reset()
            trace.append((observation.tobytes(), 0.0, False, _plain(info)))
    return trace


def _plain(info: dict[str, Any]) -> str:
    return repr(
        {key: value.tolist() if hasattr(value, "tolist") else value for key, value in info.items()}
    )


def _scripted(env: OklahomaGinEnv, name: str = "simple") -> int:
    """What a scripted player would do in the learner's place."""
    return int(players.make(name).act(env.games.decisions(ONE))[0])


def _walk(
    env: OklahomaGinEnv, seed: int, name: str = "simple"
) -> Iterator[tuple[float, bool, Any]]:
    """One episode, the learner played by a script: reward, terminated, info of every step."""
    env.reset(seed=seed)
    terminated = False
    while not terminated:
        _, reward, terminated, truncated, info = env.step(_scripted(env, name))
        assert truncated is False
        yield float(reward), terminated, info


# --- checkers ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("episode", ["hand", "match"])
@pytest.mark.parametrize("render_mode", [None, "ansi"])
def test_gymnasium_checker(episode: str, render_mode: str | None) -> None:
    """Every warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gym.make(ENV_ID, episode=episode, render_mode=render_mode)
        check_env(env.unwrapped)
        env.close()


@pytest.mark.parametrize(("preset", "n"), CASES)
def test_gymnasium_checker_for_every_preset_and_number_of_players(preset: str, n: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(OklahomaGinEnv(preset, players=n), skip_render_check=True)


def test_sb3_checker() -> None:
    """Every warning is an error."""
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(OklahomaGinEnv())
        checker.check_env(OklahomaGinEnv("french", players=4, episode="match"))


def test_registered_under_its_name() -> None:
    for name in (ENV_ID, f"okgin_env:{ENV_ID}"):
        assert isinstance(gym.make(name).unwrapped, OklahomaGinEnv)
    assert ENV_ID == "okgin_env/OklahomaGin-v0"
    assert gym.spec(ENV_ID).max_episode_steps is None
    assert okgin_env.__version__


# --- options survive -----------------------------------------------------------------------------------------------
OPTIONS: list[dict[str, Any]] = [
    {},
    {"rules": "french", "players": 3, "opponent": ("novice", "knocker"), "seat": 2},
    {"rules": dataclasses.replace(Rules.preset("gin"), gin_bonus=40, big_gin_bonus=60)},
    {"rules": "eaai", "episode": "match", "reward": "match"},
    {"reward": "win", "opponent": Bungler(), "illegal": "raise"},
    {"rules": "classic", "episode": "match", "reward": "points", "opponent": Cheater()},
]


def _settings(env: gym.Env[Any, Any]) -> Any:
    inner = env.unwrapped
    assert isinstance(inner, OklahomaGinEnv)
    games = inner.games
    return (
        inner.rules, games.rules, games.seat, games.episode, games.reward, inner._illegal,
        games.policies.tolist(), [player.name for player in games._opponents.outside],
    )  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options_survive(options: dict[str, Any]) -> None:
    """A seeded reset, pickling, copying, and the spec."""
    env = gym.make(ENV_ID, **options)
    settings, expected = _settings(env), play(env, 5)
    assert play(env, 5) == expected
    assert _settings(env) == settings
    assert env.spec is not None
    twins: dict[str, Callable[[], gym.Env[Any, Any]]] = {
        "pickle": lambda: pickle.loads(pickle.dumps(env)),
        "deepcopy": lambda: copy.deepcopy(env),
        "spec": lambda: gym.make(env.spec),
        "pickled spec": lambda: gym.make(pickle.loads(pickle.dumps(env.spec))),
        "vector": lambda: gym.make_vec(
            ENV_ID, num_envs=2, vectorization_mode="sync", **options
        ).envs[1],  # pyright: ignore[reportAttributeAccessIssue]
    }
    for name, make in twins.items():
        other = make()
        assert _settings(other) == settings, name
        assert play(other, 5) == expected, name


def test_a_copy_in_the_middle_of_a_hand_goes_on_alike() -> None:
    env = OklahomaGinEnv("french", ("novice", "simple"), players=3)
    _, info = env.reset(seed=8)
    env.step(int(np.flatnonzero(info["action_mask"])[0]))
    others = [pickle.loads(pickle.dumps(env)), copy.deepcopy(env)]
    rng = np.random.default_rng(1)
    terminated = False
    while not terminated:
        action = int(rng.choice(np.flatnonzero(env.action_masks())))
        observation, reward, terminated, _, info = env.step(action)
        for other in others:
            observation_2, reward_2, terminated_2, _, info_2 = other.step(action)
            assert observation_2.tobytes() == observation.tobytes()
            assert (reward_2, terminated_2, _plain(info_2)) == (reward, terminated, _plain(info))
    assert env.reset()[0].tobytes() == others[0].reset()[0].tobytes()  # the stream goes on, too


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"rules": "bridge"}, "preset 'bridge'; allowed: classic"),
        ({"rules": None}, "rules=None; allowed: a preset's name or a Rules object"),
        ({"players": 5}, "players=5; allowed: 2 to 4"),
        ({"episode": "game"}, "episode='game'; allowed: hand, match"),
        ({"reward": "money"}, "reward='money'; allowed: points, win"),
        ({"reward": "match"}, "reward='match'; allowed: points, win"),
        ({"seat": 2}, "seat=2; allowed: 0 to 1"),
        ({"seat": -1}, "seat=-1; allowed: 0 to 1"),
        ({"illegal": "ignore"}, "illegal='ignore'; allowed: forfeit, raise"),
        ({"render_mode": "human!"}, "render_mode='human!'; allowed: None, ansi"),
        ({"opponent": "nobody"}, "player 'nobody'; allowed: random, novice, simple, knocker"),
        ({"opponent": ("simple", "simple")}, "allowed: one player, or 1 of them"),
        ({"opponent": 3}, "opponent=3; allowed: one player, or 1 of them"),
        ({"opponent": "expert", "players": 3}, "expert: players=3; allowed: 2"),
        ({"opponent": "no.such:Thing"}, "player 'no.such:Thing' cannot be made"),
        ({"rules": "openspiel", "episode": "match"}, "episode='match'; allowed: rules with a target"),
    ],
)  # fmt: skip
def test_bad_options_are_one_clear_line(options: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=re.escape(error)) as raised:
        OklahomaGinEnv(**options)
    assert "\n" not in str(raised.value)


# --- given decks, dealers and states ---------------------------------------------------------------------------------
def test_a_given_deck_may_be_text_ids_or_an_array() -> None:
    deck = [int(card) for card in np.random.default_rng(3).permutation(52)]
    env = OklahomaGinEnv(opponent="knocker")
    traces = [
        play(env, 1, 12, deck=given, dealer=1)
        for given in (deck, tuple(deck), cards.text(deck), np.array(deck), np.array(deck, np.int8))
    ]
    assert all(trace[:8] == traces[0][:8] for trace in traces)
    env.reset(options={"deck": deck, "dealer": 1})
    assert env.view().hand == cards.text(sorted(deck[:10])).split()


def test_a_given_deck_alone_leaves_the_dealer_to_the_rules() -> None:
    env = OklahomaGinEnv(opponent="knocker")
    dealers = set()
    for seed in range(30):
        env.reset(seed=seed, options={"deck": list(range(52))})
        dealers.add(env.view().dealer)
    assert dealers == {0, 1}
    for dealer in (0, 1, np.int64(1)):
        hands = set()
        for seed in range(5):
            env.reset(seed=seed, options={"dealer": dealer})
            assert env.view().dealer == dealer
            hands.add(" ".join(env.view().hand))
        assert len(hands) == 5


def test_other_options_are_ignored_and_nothing_stays_for_the_next_reset() -> None:
    env = OklahomaGinEnv()
    plain = env.reset(seed=4)[0].tobytes()
    assert env.reset(seed=4, options={"unknown": 1, "deck": None})[0].tobytes() == plain
    env.reset(seed=4, options={"deck": list(range(52)), "dealer": 1})
    assert env.reset(seed=4)[0].tobytes() == plain


DECK = list(range(52))
BAD_RESETS: list[tuple[dict[str, Any], str]] = [
    ({"deck": DECK[:51]}, "deck: 51 cards; allowed: all 52"),
    ({"deck": [*DECK[:51], 0]}, "card As stands twice; allowed: once"),
    ({"deck": [*DECK[:51], 52]}, "bad card id 52; allowed: 0 to 51"),
    ({"deck": "As 2s 3x"}, "bad card '3x'; allowed: one of A23456789TJQK then one of scdh"),
    ({"deck": ""}, "deck: 0 cards; allowed: all 52"),
    ({"dealer": 2}, "dealer=2; allowed: 0 to 1"),
    ({"dealer": -1}, "dealer=-1; allowed: 0 to 1"),
    ({"dealer": "0"}, "dealer='0'; allowed: 0 to 1"),
    ({"dealer": 0.0}, "dealer=0.0; allowed: 0 to 1"),
    ({"state": b"123"}, "state: 3 bytes; allowed: "),
    ({"state": "abc"}, "state: allowed: a record of kernel.state.STATE, its bytes, or a mapping"),
    ({"state": np.zeros(2, STATE)}, "state: 2 records; allowed: 1"),
    ({"state": np.zeros(1, STATE)}, "state: "),
    ({"state": bytes(STATE.itemsize)}, "state: "),
    ({"state": b"\xff" * STATE.itemsize}, "state: "),
]


@pytest.mark.parametrize(("options", "error"), BAD_RESETS)
def test_a_bad_reset_is_one_clear_line_and_the_env_goes_on(
    options: dict[str, Any], error: str
) -> None:
    env = OklahomaGinEnv()
    env.reset(seed=1)
    with pytest.raises(ValueError, match=re.escape(error)) as raised:
        env.reset(options=options)
    assert "\n" not in str(raised.value)
    assert env.view().n_turns == 0
    assert play(env, 9) == play(OklahomaGinEnv(), 9)


def test_a_given_hand_that_ends_before_the_learner_decides_is_refused() -> None:
    """Seat 1 takes the upcard and is gin; nothing is left to decide."""
    deck = deck_of("2d 4d 7d 9d Jd Kd 3h 5h Th Qh", "As 2s 3s 4s 5c 6c 7c 8s 8d Kc", upcard="8h")
    env = OklahomaGinEnv(opponent="knocker")
    with pytest.raises(ValueError, match="the given hand ends before seat 0 has a decision"):
        env.reset(options={"deck": deck, "dealer": 0})
    env.reset(options={"deck": deck, "dealer": 1})
    match = OklahomaGinEnv(opponent="knocker", episode="match")
    match.reset(options={"deck": deck, "dealer": 0})  # there the next hand is dealt
    assert match.view().scores[1] > 25


def _position(**changes: Any) -> dict[str, Any]:
    given = {
        "hands": ["As 2s 3s 4s 5c 6c 7c 8s 8d 8h", "2d 4d 7d 9d Jd Kd 3h 5h Th Qh"],
        "pile": "Qs Kc",
        "seat": 0,
    }
    return given | changes


BAD_POSITIONS: list[tuple[dict[str, Any], str]] = [
    (_position(hands=["As"]), "hands: 1 hands; allowed: 2"),
    (_position(hands=["As 2s", "3s"]), "hands: seat 0 has 2 cards; allowed: 10"),
    (_position(pile="Qs As"), "card As stands twice; allowed: once"),
    (_position(pile=""), "upcard=None; allowed with an empty pile"),
    (_position(pile="Qx"), "bad card 'Qx'"),
    (_position(phase="over"), "phase='over'; allowed: offer, draw, discard"),
    (_position(phase="discard"), "hands: seat 0 has 10 cards; allowed: 11"),
    (_position(seat=2), "seat=2; allowed: 0 to 1"),
    (_position(seat=-1), "seat=-1; allowed: 0 to 1"),
    (_position(seat=2, taken="As"), "seat=2; allowed: 0 to 1"),
    (_position(seat=1000), "seat=1000; allowed: 0 to 1"),
    (_position(dealer=2), "dealer=2; allowed: 0 to 1"),
    (_position(stock="Ks"), "position: 23 cards; allowed: all 52 (missing"),
    (_position(scores=[1, 2, 3]), "scores=[1, 2, 3]"),
    (_position(scores=[-1, 0]), "scores=[-1, 0"),
    (_position(taken="2d"), "card taken is not in the hand"),
    (_position(taken="8h"), "state: taken=46; allowed before the discard phase: none"),
    (_position(upcard="Xx"), "bad card 'Xx'"),
]


@pytest.mark.parametrize("preset", ["classic", "gin"])
@pytest.mark.parametrize(
    ("given", "error"), BAD_POSITIONS, ids=[error for _, error in BAD_POSITIONS]
)
def test_a_bad_position_is_one_clear_line(given: dict[str, Any], error: str, preset: str) -> None:
    env = OklahomaGinEnv(preset)
    with pytest.raises(ValueError, match=re.escape(error)) as raised:
        env.reset(options={"state": given})
    assert "\n" not in str(raised.value)
    with pytest.raises(ValueError, match=re.escape(error)):
        position(Rules.preset(preset), **given)


@pytest.mark.parametrize("preset", ["classic", "gin"])
def test_a_position_is_what_it_says(preset: str) -> None:
    given = _position(pile="9s Kc", scores=[30, 40], dealer=1, upcard="9s")
    env = OklahomaGinEnv(preset, "knocker", "match")
    for state in (given, position(Rules.preset(preset), **given)):
        env.reset(seed=1, options={"state": state})
        view = env.view()
        assert (view.phase, view.to_move, view.dealer) == ("draw", 0, 1)
        assert view.pile == ["9s", "Kc"]
        assert view.limit == (9 if preset == "classic" else 10)
        assert view.scores == [30, 40]
        assert view.stock_left == 52 - 22
        assert [action_text(action) for action in view.legal] == ["draw", "take"]


class OfferWatcher(Bot):
    """Passes, and notes who was offered the upcard."""

    def __init__(self, offered: list[int]) -> None:
        self.offered = offered

    def choose(self, view: SeatView, rng: np.random.Generator) -> int:
        """Passes in the offer, else plays its first legal action."""
        if view.phase != "offer":
            return view.legal[0]
        self.offered.append(view.seat)
        return PASS


@pytest.mark.parametrize(
    ("n", "seat", "dealer"), [(2, 0, 0), (2, 0, 1), (3, 0, 0), (3, 0, 1), (4, 0, 2), (4, 2, 1)]
)
def test_a_position_in_the_offer_lets_the_dealer_pass_last(n: int, seat: int, dealer: int) -> None:
    """Whoever was asked before the seat to move is not asked again."""
    rules = Rules.preset("french", n)
    size = rules.hand_size
    hands = [list(range(size * at, size * at + size)) for at in range(n)]
    offered: list[int] = []
    env = OklahomaGinEnv(rules, [OfferWatcher(offered) for _ in range(n - 1)], seat=seat)
    state = {"hands": hands, "pile": [51], "seat": seat, "dealer": dealer, "phase": "offer"}
    env.reset(options={"state": state})
    env.step(PASS)
    n_left = (dealer - seat) % n
    assert offered == [(seat + k) % n for k in range(1, n_left + 1)]


def _every_state(rules: Rules, episode: str, seed: int, n_steps: int) -> Iterator[OklahomaGinEnv]:
    """The environment at its decisions, under random legal actions against random opponents."""
    env = OklahomaGinEnv(rules, "random", episode, seat=seed % rules.players)
    rng = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    for _ in range(n_steps):
        yield env
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        _, _, terminated, _, info = env.step(action)
        if terminated:
            _, info = env.reset()


@pytest.mark.parametrize("seed", range(4))
def test_every_saved_state_can_be_set_up_again(seed: int) -> None:
    """Any rules, any decision, also with the last card drawn and under the longest hands."""
    rng = random.Random(seed)
    tables = [random_rules(rng) for _ in range(8)]
    tables += [Rules(players=n, hand_size=10, max_turns=MAX_TURNS) for n in (2, 3, 4)]
    failures: dict[str, str] = {}
    for rules in tables:
        episode = "hand" if rules.target is None else "match"
        other = OklahomaGinEnv(rules, "random", episode, seat=seed % rules.players)
        for env in _every_state(rules, episode, seed, 70):
            saved = env.state()
            try:
                observation, info = other.reset(options={"state": saved})
            except ValueError as error:
                failures[str(error)] = f"{rules} {env.view().phase}"
                continue
            decisions = env.games.decisions(ONE)
            assert observation.tobytes() == decisions.observations.tobytes()
            assert (info["action_mask"] == env.action_masks()).all()
    assert not failures


@pytest.mark.parametrize("name", ["known", "discards", "declined"])
def test_a_state_with_cards_beyond_the_deck_is_refused(name: str) -> None:
    """Compiled code writes such planes without checking: bits above 51 are somebody else's memory."""
    env = OklahomaGinEnv()
    env.reset(seed=1)
    state = env.games.states.copy()
    state[name][0, 1] = np.uint64(1 << 60)
    with pytest.raises(ValueError, match="state: "):
        check_state(state, env.rules)  # not a reset, which would observe it


def test_a_state_with_known_cards_that_are_not_held_is_refused() -> None:
    """Whoever deals the cards that a seat does not see counts on them."""
    env = OklahomaGinEnv()
    env.reset(seed=1)
    state = env.games.states.copy()
    state["known"][0, 1] = state["hands"][0, 0] & (~state["hands"][0, 0] + np.uint64(1))
    with pytest.raises(ValueError, match="state: damaged"):
        check_state(state, env.rules)


@pytest.mark.parametrize(
    ("name", "value"), [("n_sheds", -30_000), ("n_acts", -1), ("log", -1), ("log", N_ACTIONS)]
)
def test_a_state_with_counts_or_moves_that_cannot_be_is_refused(name: str, value: int) -> None:
    """Discards so far are an index for `search` and an exponent for `camper`; the log is told to programs in words."""
    env = OklahomaGinEnv()
    env.reset(seed=1)
    state = env.games.states.copy()
    state["n_log"], state[name][0, 1] = 2, value
    with pytest.raises(ValueError, match=f"state: {name} holds {value}; allowed: 0 to"):
        check_state(state, env.rules)


@pytest.mark.parametrize("name", ["points", "deadwood", "match_points"])
def test_a_state_with_points_of_a_hand_in_progress_is_refused(name: str) -> None:
    """They would be added to what the hand comes to, a void one too."""
    env = OklahomaGinEnv()
    env.reset(seed=1)
    state = env.games.states.copy()
    state[name][0, 0] = 5
    with pytest.raises(ValueError, match="state: damaged"):
        check_state(state, env.rules)


@pytest.mark.parametrize("kind", ["bytes", "array", "record"])
def test_a_saved_state_goes_on_alike(kind: str) -> None:
    rules = Rules.preset("french", 3)
    env = OklahomaGinEnv(rules, ("novice", "random"), "match")
    other = OklahomaGinEnv(rules, ("novice", "random"), "match")
    rng = np.random.default_rng(2)
    _, info = env.reset(seed=3)
    for _ in range(15):
        _, _, _, _, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
    saved = {"bytes": env.state(), "array": env.games.states.copy(), "record": env.games.states[0]}
    other.reset(options={"state": saved[kind]})
    for _ in range(60):
        action = int(rng.choice(np.flatnonzero(env.action_masks())))
        a, b = env.step(action), other.step(action)
        assert a[0].tobytes() == b[0].tobytes()
        assert a[1:4] == b[1:4]
        assert _plain(a[4]) == _plain(b[4])
        if a[2]:
            assert env.reset()[0].tobytes() == other.reset()[0].tobytes()


# --- masks and arrays ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("episode", ["hand", "match"])
@pytest.mark.parametrize(("preset", "n"), CASES)
def test_masks_are_never_empty_and_say_what_is_legal(preset: str, n: int, episode: str) -> None:
    if preset == "openspiel" and episode == "match":
        pytest.skip("single hands")
    env = OklahomaGinEnv(preset, "novice", episode, players=n, illegal="raise")
    rng = np.random.default_rng(n)
    observation, info = env.reset(seed=n)
    for _ in range(120):
        mask = info["action_mask"]
        assert (mask.dtype, mask.shape) == (np.int8, (N_ACTIONS,))
        assert mask.any()
        assert np.flatnonzero(mask).tolist() == env.view().legal
        assert (env.action_masks() == mask.astype(bool)).all()
        assert env.action_masks().dtype == np.bool_
        assert env.observation_space.contains(observation)
        assert mask[env.action_space.sample(mask=mask)]
        action = int(rng.choice(np.flatnonzero(mask)))
        observation, _, terminated, _, info = env.step(action)
        if terminated:
            assert info["action_mask"].all()
            observation, info = env.reset()


def _arrays(value: Any) -> list[NDArray[Any]]:
    """All arrays in what a call returned, nested ones included."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        return [array for part in value.values() for array in _arrays(part)]
    if isinstance(value, (tuple, list)):
        return [array for part in value for array in _arrays(part)]
    return []


@pytest.mark.parametrize("opponent", ["simple", Bungler()], ids=["kernel", "bot"])
def test_all_arrays_are_fresh(opponent: Any) -> None:
    """No two calls share memory, and what is written into them changes no game."""
    env, untouched = (OklahomaGinEnv(opponent=opponent, episode="match") for _ in range(2))
    rng = np.random.default_rng(6)
    returned: list[Any] = [env.reset(seed=6)]
    untouched.reset(seed=6)
    ended = 0
    for _ in range(150):
        action = int(rng.choice(np.flatnonzero(untouched.action_masks())))
        returned.append((env.action_masks(), env.step(action)))
        expected = untouched.step(action)
        assert returned[-1][1][0].tobytes() == expected[0].tobytes()
        assert _plain(returned[-1][1][4]) == _plain(expected[4])
        ended += bool(expected[4]["ending"])
        recent = [_arrays(call) for call in returned[-3:]]
        for k, arrays in enumerate(recent):
            for earlier in recent[:k]:
                assert not any(np.shares_memory(a, b) for a in arrays for b in earlier)
            for a in arrays:
                assert not np.shares_memory(a, env.games.states)
                assert not np.shares_memory(a, env.games.finals)
        for array in recent[-1]:
            array[...] = 1  # spoils what we were given, not the game
    assert ended > 0


# --- seeding ------------------------------------------------------------------------------------------------------------
def test_seeded_then_unseeded_resets_are_repeatable() -> None:
    env, other = OklahomaGinEnv(), OklahomaGinEnv()
    firsts = []
    for e in (env, other):
        e.reset(seed=77)
        firsts.append([e.reset()[0].tobytes() for _ in range(5)])
    assert firsts[0] == firsts[1]
    assert len(set(firsts[0])) == 5
    assert play(env, 78, 200) == play(other, 78, 200)
    assert play(env, 78, 200) != play(other, 79, 200)


def test_never_seeded_environments_differ() -> None:
    assert OklahomaGinEnv().reset()[0].tobytes() != OklahomaGinEnv().reset()[0].tobytes()


def test_the_first_reset_may_be_unseeded_and_a_seed_may_come_later() -> None:
    env = OklahomaGinEnv()
    env.reset()
    assert play(env, 3) == play(OklahomaGinEnv(), 3)


def test_the_opponent_does_not_change_the_decks() -> None:
    """Each player has its own stream, so the cards of the next hand are as they would have been."""
    hands = []
    for opponent in ("random", "knocker", Bungler()):
        env = OklahomaGinEnv("openspiel", opponent)  # its dealer is no matter of chance or play
        env.reset(seed=12)
        env.step(N_ACTIONS)  # forfeits
        env.reset()
        hands.append(env.view().hand)
    assert hands[0] == hands[1] == hands[2]


def test_global_random_state_is_untouched() -> None:
    np.random.seed(1)  # noqa: NPY002 - this is the state that must stay
    random.seed(1)
    before = np.random.get_state()[1].tobytes(), random.getstate()  # noqa: NPY002
    for opponent in (*POLICY_IDS, Bungler()):
        play(OklahomaGinEnv(opponent=opponent), None)
        play(OklahomaGinEnv(opponent=opponent, episode="match"), 3)
    assert (np.random.get_state()[1].tobytes(), random.getstate()) == before  # noqa: NPY002


# --- illegal actions ----------------------------------------------------------------------------------------------------
STRAY = [-1, N_ACTIONS, 10**6, -(2**31), 2**63 - 1, -(2**63), 2**63, 2**70, -(2**70)]


@pytest.mark.parametrize("action", STRAY)
def test_a_stray_number_forfeits_and_never_raises(action: int) -> None:
    env = OklahomaGinEnv()
    env.reset(seed=2)
    hand = env.view().hand
    _, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert info["illegal_action"] is True
    assert env.view().hand == hand


@pytest.mark.parametrize("reward", ["points", "win", "match"])
@pytest.mark.parametrize("n", [2, 3])
def test_an_illegal_action_costs_one_in_every_reward(reward: str, n: int) -> None:
    """At every decision, each illegal id: the hand is forfeited and no card moves."""
    episode = "match" if reward == "match" else "hand"
    env = OklahomaGinEnv("classic", "simple", episode, reward, players=n)
    rng = np.random.default_rng(4)
    _, info = env.reset(seed=4)
    for _ in range(25):
        mask, saved = info["action_mask"], env.state()
        before = env.view()
        for action in rng.choice(np.flatnonzero(mask == 0), 4):
            trial = copy.deepcopy(env)
            observation, paid, terminated, _, end = trial.step(action)
            assert (paid, terminated) == (-1.0, True)
            assert end["illegal_action"] is True
            assert (end["ending"], end["knocker"]) == ("illegal", -1)
            points = [0 if at == 0 else 100 for at in range(n)]
            assert end["points"].tolist() == points
            assert end["action_mask"].all()
            after = trial.view()
            assert (after.hand, after.pile, after.stock_left) == (
                before.hand, before.pile, before.stock_left,
            )  # fmt: skip
            assert layout(n, episode == "match").decode(observation)["hand"]
        assert env.state() == saved
        _, _, terminated, _, info = env.step(int(rng.choice(np.flatnonzero(mask))))
        assert info["illegal_action"] is False
        if terminated:
            _, info = env.reset()


def test_illegal_raise_is_for_debugging() -> None:
    env = OklahomaGinEnv(illegal="raise")
    env.reset(seed=2, options={"dealer": 1})
    saved = env.state()
    for action in (-1, 0, KNOCK, DRAW_STOCK, BIG_GIN, N_ACTIONS, 2**70):
        with pytest.raises(
            ValueError, match=rf"action={action} is illegal here; allowed: \[105, 106"
        ):
            env.step(action)
    assert env.state() == saved
    assert env.step(PASS)[2] is False


def test_after_the_end_nothing_happens_until_a_reset() -> None:
    """`step` may not raise: checkers and careless loops call it."""
    env = OklahomaGinEnv(reward="win")
    env.reset(seed=2)
    env.step(N_ACTIONS)
    saved = env.state()
    for action in (0, PASS, DRAW_TOP, -1):
        _, reward, terminated, truncated, info = env.step(action)
        assert (reward, terminated, truncated) == (0.0, True, False)
        assert info["action_mask"].all()
    assert env.state() == saved
    assert env.reset()[1]["action_mask"].sum() < N_ACTIONS


@pytest.mark.parametrize("convert", [int, np.int64, np.int32, np.uint8, np.array])
def test_actions_may_be_any_whole_number(convert: Callable[[int], Any]) -> None:
    env = OklahomaGinEnv()
    env.reset(seed=2, options={"dealer": 1})
    assert not env.step(convert(PASS))[4]["illegal_action"]


# --- rewards ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("reward", ["points", "win"])
def test_a_hands_reward_is_the_learners_own(reward: str, n: int) -> None:
    """Own value minus the mean of the others', with the right sign whoever ended the hand."""
    env = OklahomaGinEnv(Rules.preset("french", n), "simple", reward=reward)
    signs: set[tuple[bool, int]] = set()
    for seed in range(60):
        total = 0.0
        for paid, terminated, info in _walk(env, seed):
            total += paid
            if not terminated:
                assert paid == 0.0
                assert (info["ending"], info["knocker"], info["turns"]) == ("", -1, 0)
                continue
            points = info["points"].tolist()
            if reward == "points":
                expected = (points[0] - sum(points[1:]) / (n - 1)) / 100
            elif not any(points):
                expected = 0.0
            else:
                winner = _winner(points, info["knocker"])
                expected = 1.0 if winner == 0 else -1.0 / (n - 1)
            assert paid == pytest.approx(expected)
            signs.add((info["knocker"] == 0, int(np.sign(paid))))
            assert info["ending"] in ENDINGS[1:]
            assert (info["scores"] == info["points"]).all()  # a single hand starts at nil
        assert total == pytest.approx(paid)
    assert {(True, 1), (False, -1)} <= signs, signs


def _winner(points: list[int], knocker: int) -> int:
    n = len(points)
    order = [(max(knocker, 0) + k) % n for k in range(n)]
    return max(order, key=lambda seat: points[seat])


def test_the_reward_is_negative_when_the_opponent_goes_out() -> None:
    """A learner that never knocks against one that does: it can only lose or void, or undercut."""
    env = OklahomaGinEnv("classic", "simple")
    rng = np.random.default_rng(0)
    lost = 0
    for seed in range(20):
        _, info = env.reset(seed=seed)
        terminated = False
        while not terminated:
            legal = np.flatnonzero(info["action_mask"])
            action = int(rng.choice(legal[(legal < KNOCK) | (legal >= DRAW_STOCK)]))
            _, reward, terminated, _, info = env.step(action)
        if info["knocker"] == 1 and info["ending"] in ("knock", "gin"):
            lost += 1
            assert reward == -int(info["points"][1]) / 100 < 0
        elif info["ending"] == "undercut":
            assert reward > 0
        else:
            assert (info["ending"], reward) == ("void", 0.0)
    assert lost > 10


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_the_reward_follows_the_seat(seat: int) -> None:
    env = OklahomaGinEnv(Rules.preset("french", 3), "simple", seat=seat)
    for seed in range(15):
        *_, (paid, _, info) = _walk(env, seed)
        points = info["points"].tolist()
        own = points.pop(seat)
        assert paid == pytest.approx((own - sum(points) / 2) / 100)


# --- match episodes -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("preset", "n"), [case for case in CASES if case[0] != "openspiel"])
def test_a_match_pays_as_it_ends(preset: str, n: int) -> None:
    rules = Rules.preset(preset, n)
    for reward in ("points", "win", "match"):
        env = OklahomaGinEnv(rules, "simple", "match", reward)
        for seed in range(2):
            total, n_hands = 0.0, 0
            for paid, terminated, info in _walk(env, seed):
                total += paid
                n_hands += bool(info["ending"])
                if not terminated:
                    assert info["match_winner"] == -1
                    assert paid == 0.0 or info["ending"]
            scores = info["scores"].tolist()
            winner = info["match_winner"]
            assert scores[winner] == max(scores) >= 100
            assert n_hands >= 1
            others = scores[1:]
            if reward == "points":
                assert total == pytest.approx((scores[0] - sum(others) / (n - 1)) / 100)
            if reward == "match":
                assert paid == total == pytest.approx(1.0 if winner == 0 else -1.0 / (n - 1))


def test_scores_of_a_match_are_observed_from_the_own_seat() -> None:
    rules = Rules.preset("french", 3)
    env = OklahomaGinEnv(rules, "simple", "match", seat=1)
    env.reset(seed=3)
    for _ in range(200):
        observation, _, terminated, _, _ = env.step(_scripted(env))
        if terminated:
            break
        scores = env.view().scores
        plain = layout(3, True).decode(observation)
        steps = [sum(scores[(1 + k) % 3] * 20 > step * 100 for step in range(20)) for k in range(3)]
        assert [plain[f"score_{k}"] for k in range(3)] == steps
    assert terminated
    assert max(steps) > 0


# --- opponents ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("episode", ["hand", "match"])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_scripted_policy_plays_the_same_from_outside(n: int, episode: str) -> None:
    """`knocker` decides without chance; so asked as an outside player it gives the very same game."""
    rules = Rules.preset("french", n)
    inside = OklahomaGinEnv(rules, "knocker", episode)
    outside = OklahomaGinEnv(rules, Outside("knocker"), episode)
    mixed = OklahomaGinEnv(rules, ("knocker", *[Outside("knocker")] * (n - 2)), episode)
    expected = play(inside, 21, 120)
    assert play(outside, 21, 120) == expected
    assert play(mixed, 21, 120) == expected


def test_an_outside_players_chance_comes_from_the_game() -> None:
    """Same seed, same answers, also of a bot that draws at random."""
    traces = [play(OklahomaGinEnv(opponent=Outside("random")), 5, 80) for _ in range(2)]
    assert traces[0] == traces[1]


def test_a_bot_that_plays_badly_is_beaten() -> None:
    env = OklahomaGinEnv(opponent=Bungler())
    rewards = [reward for seed in range(25) for reward, *_ in _walk(env, seed)]
    assert sum(rewards) > 5
    assert min(rewards) >= 0  # it never knocks


@pytest.mark.parametrize("answer", [BIG_GIN, -1, -7, N_ACTIONS, 10**9])
@pytest.mark.parametrize("n", [2, 3])
def test_a_bot_that_answers_illegally_forfeits(answer: int, n: int) -> None:
    """The learner is paid, and is not called the offender."""
    opponents = (Cheater(answer), *["random"] * (n - 2))
    for episode, reward in (("hand", "points"), ("hand", "win"), ("match", "match")):
        env = OklahomaGinEnv("classic", opponents, episode, reward, players=n)
        ended = 0
        for seed in range(4):
            *_, (paid, terminated, info) = _walk(env, seed, "random")
            assert terminated
            if info["ending"] != "illegal":
                continue
            ended += 1
            assert paid == pytest.approx(1 / (n - 1))
            assert info["points"].tolist() == [100, 0, *[100] * (n - 2)]
            assert info["illegal_action"] is False
            assert info["knocker"] == -1
        assert ended > 0


@pytest.mark.parametrize("answer", [0.5, "draw", None])
def test_a_bot_that_answers_nonsense_is_named(answer: Any) -> None:
    class Nonsense(Bot):
        def act(self, decisions: Decisions) -> NDArray[Any]:
            return np.array([answer] * len(decisions))

    env = OklahomaGinEnv(opponent=Nonsense())
    with pytest.raises(TypeError, match=r"player Nonsense: act\(\) returned shape \(1,\) of"):
        play(env, 1, 20)


def test_one_player_a_seat_in_turn_order_after_the_learner() -> None:
    for n, seat in ((3, 0), (3, 1), (3, 2), (4, 1), (4, 3)):
        keepers = [SeatKeeper() for _ in range(n - 1)]
        env = OklahomaGinEnv("french", keepers, players=n, seat=seat)
        play(env, n, 10)
        assert [keeper.seats for keeper in keepers] == [{(seat + k) % n} for k in range(1, n)]


def test_bots_read_the_rules_they_are_given() -> None:
    """And hold nothing over from the last game: the same bot at another table plays by that one's rules."""
    bot = Outside("simple")
    for limit in (0, 3, 10):
        rules = dataclasses.replace(Rules.preset("gin"), knock_limit=limit)
        env = OklahomaGinEnv(rules, bot)
        knocks = 0
        for seed in range(12):
            *_, (_, _, info) = _walk(env, seed, "random")
            if info["knocker"] == 1:
                knocks += 1
                assert info["deadwood"][1] <= limit
        assert knocks > 0


# --- views and pictures -------------------------------------------------------------------------------------------------
def test_the_view_tells_the_game_so_far() -> None:
    env = OklahomaGinEnv("french", "random", players=3)
    env.reset(seed=5)
    for _ in range(12):
        view = env.view()
        assert len(view.hand) == 7 + (view.phase == "discard")
        assert view.hands[0] == view.hand
        n_discards = sum(action < DRAW_STOCK for _, action in view.history)
        assert n_discards == view.n_turns
        for seat, action in view.history:
            if action < KNOCK:
                assert action_text(action).split()[1] in view.discards[seat]
        if env.step(int(np.flatnonzero(env.action_masks())[0]))[2]:
            break


def test_the_history_of_a_position_starts_at_the_seat_to_move() -> None:
    env = OklahomaGinEnv("gin", "knocker")
    for dealer in (0, 1):
        env.reset(options={"state": _position(dealer=dealer)})
        env.step(DRAW_STOCK)
        assert env.view().history == [(0, DRAW_STOCK)]


def test_pictures_need_a_render_mode() -> None:
    env = OklahomaGinEnv(render_mode="ansi")
    env.reset(seed=1)
    text = env.render()
    assert isinstance(text, str)
    assert text == str(env.view())
    blind = OklahomaGinEnv()
    blind.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert blind.render() is None


# --- documentation ------------------------------------------------------------------------------------------------------
def _rows(heading: str) -> list[list[str]]:
    """The rows of the table in a section of the class docstring."""
    doc = inspect.cleandoc(OklahomaGinEnv.__doc__ or "")
    section = doc.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_class_docstring_has_gymnasiums_headings() -> None:
    doc = inspect.cleandoc(OklahomaGinEnv.__doc__ or "")
    headings = [line[3:] for line in doc.splitlines() if line.startswith("## ")]
    assert headings == [
        "Description", "Action Space", "Observation Space", "Starting State", "Rewards",
        "Episode End", "Information", "Arguments", "References", "Version History",
    ]  # fmt: skip


def test_the_documented_observation_is_the_layouts() -> None:
    """Names, widths, meanings and their order."""
    rows = _rows("Observation Space")
    assert [row[0] for row in rows] == [feature.name for feature in FEATURES]
    assert {row[0]: row[2] for row in rows} == {
        feature.name: feature.meaning for feature in FEATURES
    }
    for n, match, outlook in product((2, 3, 4), (False, True), (False, True)):
        made = Layout(n, match, outlook)
        assert layout(n, match, outlook).size == made.size == OklahomaGinEnv(
            "french", players=n, episode="match" if match else "hand", outlook=outlook
        ).observation_space.shape[0]  # fmt: skip  # pyright: ignore[reportOptionalSubscript]
        at = 0
        for name, part in made.slices.items():
            assert part.start == at
            at = part.stop
            documented = re.sub(r"_\d(?=_|$)", "_k", name)
            width = {row[0]: int(row[1]) for row in rows}[documented]
            assert part.stop - part.start == width, name
        assert at == made.size
        documented = {re.sub(r"_\d(?=_|$)", "_k", name) for name in made.slices}
        left_out = set() if match else {"score_k"}
        left_out |= set() if outlook else {"outlook_k", "hope"}
        assert documented == {feature.name for feature in FEATURES} - left_out


def test_the_documented_actions_are_the_layouts() -> None:
    rows = {row[0]: row[1] for row in _rows("Action Space")}
    assert list(rows) == ["0-51", "52-103", "104", "105", "106", "107"]
    assert OklahomaGinEnv().action_space == gym.spaces.Discrete(108)
    assert KNOCK == N_CARDS == 52
    words = {104: "draw", 105: "take", 106: "pass", 107: "big gin"}
    assert words == {DRAW_STOCK: "draw", DRAW_TOP: "take", PASS: "pass", BIG_GIN: "big gin"}
    for action, word in words.items():
        assert rows[str(action)].startswith(word)
        assert action_text(action) == word
    assert action_text(0) == "discard As"
    assert action_text(51) == "discard Kh"
    assert action_text(52) == "knock As"
    for action in (-1, N_ACTIONS):
        with pytest.raises(ValueError, match=f"action={action}; allowed: 0 to 107"):
            action_text(action)


def test_the_documented_arguments_are_the_constructors() -> None:
    doc = inspect.cleandoc(OklahomaGinEnv.__doc__ or "")
    section = doc.split("## Arguments\n")[1].split("\n## ")[0]
    documented = re.findall(r"^- `(\w+)`", section, re.MULTILINE)
    arguments = set(inspect.signature(OklahomaGinEnv).parameters)
    assert set(documented) == arguments


def test_the_documented_information_is_what_comes() -> None:
    doc = inspect.cleandoc(OklahomaGinEnv.__doc__ or "")
    section = doc.split("## Information\n")[1].split("\n## ")[0]
    env = OklahomaGinEnv()
    env.reset(seed=1)
    info = env.step(-1)[4]
    for name in info:
        assert f"`{name}`" in section or f"`{name}=" in section, name
    for ending in ENDINGS[1:]:
        assert ending in section


def test_decode_reads_back_what_was_observed() -> None:
    env = OklahomaGinEnv()
    observation, _ = env.reset(seed=1, options={"dealer": 1})
    plain = layout(2).decode(observation)
    assert list(plain) == list(layout(2).slices)
    assert plain["phase"] == "offer"
    assert plain["dealer"] == 1
    last, *_ = env.step(108)
    assert layout(2).decode(last)["phase"] == env.view().phase == "over"
    with pytest.raises(ValueError, match=r"observation of shape \(3,\); allowed: \(\d+,\)"):
        layout(2).decode(observation[:3])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"state": {"hand": ["As"], "pile": "Qs", "seat": 0}},
            "state: 'hand'; allowed: hands, pile",
        ),
        (
            {"state": {"hands": ["As"], "seat": 0}},
            "state: 'pile' is missing; needed: hands, pile, seat",
        ),
        ({"state": b"", "dealer": 1}, "state with deck or dealer; allowed: one or the other"),
    ],
)
def test_misspelt_positions_are_one_clear_line(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        OklahomaGinEnv().reset(seed=1, options=options)


def test_a_position_leaves_to_chance_what_the_seed_decides() -> None:
    """The stock of a position comes from the game's own stream: same seed, same stock."""
    hands = ["As 2s 3s 7h 7d 7c Kd Qc 9h 8d", "4c 5c 6c Td Th Ts 2h 3d 5h 9s"]
    options = {"state": {"hands": hands, "pile": "Jh", "seat": 0}}
    decks = []
    for seed in (1, 2, 1):
        env = OklahomaGinEnv()
        env.reset(seed=seed, options=options)
        decks.append(env.games.states["deck"][0].tolist())
    assert decks[0] == decks[2] != decks[1]


def test_a_bot_may_call_its_network_policy() -> None:
    """Only `kernel_policy` makes a player one of the kernel's."""

    class Learner(Bot):
        policy = 3
        asked = 0

        def choose(self, view: SeatView, rng: np.random.Generator) -> int:
            Learner.asked += 1
            return view.legal[0]

    env = OklahomaGinEnv(opponent=Learner())
    env.reset(seed=0)
    for _ in range(3):
        env.step(_scripted(env))
    assert Learner.asked > 0


def test_step_before_reset_is_refused() -> None:
    with pytest.raises(gym.error.ResetNeeded):
        OklahomaGinEnv().step(104)
