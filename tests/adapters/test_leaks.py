"""What a seat cannot see cannot reach it: the hidden cards are swapped, the observer's bytes stay equal.

Hidden from a seat are the others' cards that nobody saw them take, the order of the stock, the order of the cards
as they were dealt, and every random stream but its own. After a knock all hands lie open; after a void or
forfeited hand they do not.
"""

from __future__ import annotations

import pickle
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from okgin_env import PRESETS, Rules, players
from okgin_env.engine.decisions import ask
from okgin_env.env import OklahomaGinEnv
from okgin_env.kernel import batch, play
from okgin_env.kernel.jit import PLAIN
from okgin_env.kernel.policies import POLICY_IDS, choose
from okgin_env.kernel.rng import seed_streams
from okgin_env.kernel.state import STATE, as_records, new_states
from okgin_env.layout import (
    BIG_GIN,
    DISCARD,
    ENDINGS,
    KNOCK,
    N_ACTIONS,
    N_CARDS,
    OVER,
    PHASES,
    SHED,
    layout,
)
from okgin_env.players import Bot, Decisions
from okgin_env.view import SeatView
from tests.helpers.hidden import TABLES, swapped, unseen_by
from tests.helpers.random_tables import random_deck

ONE = np.zeros(1, np.int64)
N_HANDS = 4 if PLAIN else 16


# --- the swap ----------------------------------------------------------------------------------------
def test_the_swap_moves_cards_and_keeps_what_is_seen() -> None:
    rules = Rules.preset("classic")
    state = new_states(1)
    seed_streams(state[0], np.uint64(3))
    batch.begin_games(state, ONE, as_records(rules.to_record()))
    other = swapped(state, rules, 0, Random(1))
    assert other["hands"][0, 0] == state["hands"][0, 0]
    assert other["hands"][0, 1] != state["hands"][0, 1]
    assert (other["pile"] == state["pile"]).all()
    at = int(state["next_card"][0])
    assert (other["deck"][0, at:] != state["deck"][0, at:]).any()


def _bytes(records: NDArray[np.void]) -> bytes:
    """All fields of records; padding between them is no part of a game."""
    assert records.dtype.names is not None
    return b"".join(records[name].tobytes() for name in records.dtype.names)


def test_a_record_has_no_padding() -> None:
    """Else `tobytes()` holds what lay in memory before, and equal games have unequal bytes."""
    assert STATE.names is not None
    assert STATE.itemsize == sum(STATE[name].itemsize for name in STATE.names)


# --- the kernel: every phase and seat ------------------------------------------------------------------------
def _walk(rules: Rules, rng: Random, n_hands: int, episode: int) -> Any:
    """Yields the state of tables before every decision and after the last: all players scripted or random."""
    record = as_records(rules.to_record())
    state, table = new_states(1), np.zeros(N_CARDS, np.int16)
    seed_streams(state[0], np.uint64(rng.getrandbits(64)))
    s = state[0]
    for hand in range(n_hands):
        deck = np.array([random_deck(rng)], np.int8)
        batch.deal_games(state, ONE, record, deck, np.array([-1]))
        if episode == batch.MATCH:
            s["scores"][: rules.players] = [rng.randrange(100) for _ in range(rules.players)]
        policies = [rng.choice([*POLICY_IDS.values()]) for _ in range(4)]
        illegal_at = rng.randrange(5) if hand % 4 == 3 else -1
        n_steps = 0
        while s["phase"] != OVER:
            yield state
            action = choose(s, record[0], policies[s["seat"]], table)
            if action >= KNOCK and s["phase"] == SHED and action != BIG_GIN and rng.random() < 0.5:
                action -= KNOCK - DISCARD  # longer hands
            play.step(s, record[0], -1 if n_steps == illegal_at else action)
            n_steps += 1
        yield state


def _seen(state: NDArray[np.void], rules: Rules, seat: int, episode: int) -> dict[str, Any]:
    """All bytes that a seat, or a player in it, can get hold of."""
    record = as_records(rules.to_record())
    decisions = ask(state.copy(), ONE, rules, record, np.array([seat]), episode)
    view = decisions.view(0)
    plain = {
        name: getattr(view, name)
        for name, value in vars(SeatView).items()
        if isinstance(value, property) or name == "legal"
    }
    seen = {
        "observation": decisions.observations.tobytes(),
        "mask": decisions.masks.tobytes(),
        "record": _bytes(decisions.records),
        "word": int(decisions.words[0]),
        "text": str(view),
        "svg": view.svg(),
        "view": repr(plain),
    }
    if state["phase"][0] != OVER and state["seat"][0] == seat:
        for name in POLICY_IDS:
            seen[f"policy {name}"] = choose(
                state.copy()[0], record[0], POLICY_IDS[name], np.zeros(N_CARDS, np.int16)
            )
            seen[f"player {name}"] = int(players.make(name).act(decisions)[0])
    return seen


@pytest.mark.parametrize("episode", [batch.HAND, batch.MATCH], ids=["hand", "match"])
@pytest.mark.parametrize("rules", TABLES, ids=lambda rules: rules.label)
def test_swapped_hidden_cards_leave_the_observers_bytes_equal(rules: Rules, episode: int) -> None:
    """Observation, mask, concealed record, view, text and every scripted choice, for each seat."""
    rng = Random(11)
    phases: Counter[str] = Counter()
    for state in _walk(rules, rng, N_HANDS, episode):
        name = PHASES[state["phase"][0]]
        phases[f"{name} {ENDINGS[state['ending'][0]]}" if name == "over" else name] += 1
        if name in ("draw", "discard") and rng.random() < 0.85:
            continue
        for seat in range(rules.players):
            other = swapped(state, rules, seat, rng)
            a, b = _seen(state, rules, seat, episode), _seen(other, rules, seat, episode)
            for what, value in a.items():
                assert b[what] == value, f"{what} of seat {seat} in {name} tells hidden cards"
    if not PLAIN:
        wanted = {"offer", "draw", "discard", "over illegal"}
        assert wanted <= set(phases), phases
        assert {"over void", "over knock", "over gin", "over undercut"} & set(phases), phases


@pytest.mark.parametrize("rules", TABLES, ids=lambda rules: rules.label)
def test_a_concealed_record_holds_no_card_the_seat_has_not_seen(rules: Rules) -> None:
    """Bit by bit: other hands are what is known of them, the deck is -1, streams are blank."""
    rng = Random(12)
    record = as_records(rules.to_record())
    for state in _walk(rules, rng, N_HANDS // 8 + 1, batch.HAND):
        for seat in range(rules.players):
            decisions = ask(state.copy(), ONE, rules, record, np.array([seat]), batch.HAND)
            seen = decisions.records[0]
            unseen = unseen_by(state, rules, seat)
            for name in ("hands", "known", "discards", "declined"):
                for p in range(4):
                    if name in ("hands", "known"):
                        assert not int(seen[name][p]) & unseen, (name, p)
                    assert not int(seen[name][p]) >> N_CARDS
            assert (seen["deck"] == -1).all()
            assert seen["rng"] == 0
            assert not np.delete(seen["seat_rng"], seat).any()
            assert seen["unpaid"] == 0
            if state["phase"][0] == OVER or state["seat"][0] != seat:
                assert not decisions.masks.any()
                assert not decisions.words.any()


# --- scripted players on the concealed record ------------------------------------------------------------------
@pytest.mark.parametrize("name", POLICY_IDS)
@pytest.mark.parametrize("rules", TABLES, ids=lambda rules: rules.label)
def test_scripted_players_choose_the_same_from_the_concealed_record(
    rules: Rules, name: str
) -> None:
    """As in the kernel, with the same seat stream; and `act` starts that stream from its word."""
    rng = Random(13)
    record = as_records(rules.to_record())
    policy, player = POLICY_IDS[name], players.make(name)
    table = np.zeros(N_CARDS, np.int16)
    for state in _walk(rules, rng, N_HANDS // 5 + 1, batch.HAND):
        s = state[0]
        if s["phase"] == OVER:
            continue
        seat = int(s["seat"])
        asked = state.copy()
        decisions = ask(asked, ONE, rules, record, np.array([seat]), batch.HAND)
        concealed, whole = decisions.records.copy(), state.copy()
        concealed["seat_rng"][0, seat] = s["seat_rng"][seat]
        expected = choose(whole[0], record[0], policy, table)
        assert choose(concealed[0], record[0], policy, table) == expected
        assert decisions.masks[0, expected]
        assert concealed["seat_rng"][0, seat] == whole["seat_rng"][0, seat]
        whole = state.copy()
        whole["seat_rng"][0, seat] = decisions.words[0]
        before = decisions.records.copy()
        assert player.act(decisions)[0] == choose(whole[0], record[0], policy, table)
        assert _bytes(decisions.records) == _bytes(before)  # a decision may be asked again


def test_a_policy_changes_nothing_but_its_own_stream() -> None:
    rules = Rules.preset("french", 3)
    record = as_records(rules.to_record())
    for state in _walk(rules, Random(14), 4, batch.HAND):
        if state["phase"][0] == OVER:
            continue
        for policy in POLICY_IDS.values():
            after = state.copy()
            choose(after[0], record[0], policy, np.zeros(N_CARDS, np.int16))
            after["seat_rng"][0, state["seat"][0]] = state["seat_rng"][0, state["seat"][0]]
            assert _bytes(after) == _bytes(state)


# --- the adapters ------------------------------------------------------------------------------------------------
def _env_seen(env: OklahomaGinEnv, observation: NDArray[np.int8], info: dict[str, Any]) -> Any:
    view = env.view()
    return (
        observation.tobytes(),
        info["action_mask"].tobytes(),
        env.action_masks().tobytes(),
        _bytes(view.record),
        str(view),
        env.render(),
    )


def _played_states(
    rules: Rules, episode: str, seed: int, n_episodes: int
) -> list[tuple[bytes, bytes]]:
    """The whole game and the observation at the learner's decisions, under random legal actions."""
    env = OklahomaGinEnv(rules, "simple", episode)
    rng = np.random.default_rng(seed)
    found = []
    for k in range(n_episodes):
        observation, info = env.reset(seed=seed + k)
        terminated, n_steps = False, 0
        while not terminated and n_steps < 150:
            found.append((env.state(), observation.tobytes()))
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            observation, _, terminated, _, info = env.step(action)
            n_steps += 1
    return found


@pytest.mark.parametrize("episode", ["hand", "match"])
@pytest.mark.parametrize("rules", TABLES[:4], ids=lambda rules: rules.label)
def test_env_and_sb3_show_nothing_of_swapped_hidden_cards(rules: Rules, episode: str) -> None:
    """A saved game and the same with its hidden cards swapped look alike after a reset."""
    pytest.importorskip("stable_baselines3")
    from okgin_env.sb3 import OklahomaGinVecEnv

    rng = Random(15)
    states = _played_states(rules, episode, 100, 2 if PLAIN else 6)
    env = OklahomaGinEnv(rules, "simple", episode, render_mode="ansi")
    vec = OklahomaGinVecEnv(2, rules, "simple", episode=episode, seed=1)
    for saved, observed in rng.sample(states, min(len(states), 40)):
        state = as_records(np.frombuffer(saved, STATE))
        other = swapped(state, rules, 0, rng)
        observation, info = env.reset(options={"state": saved})
        assert observation.tobytes() == observed
        a = _env_seen(env, observation, info)
        b = _env_seen(env, *env.reset(options={"state": other}))
        assert a == b
        vec.set_options({"state": other})
        observations = vec.reset()
        assert observations[0].tobytes() == observations[1].tobytes() == observed
        mask = info["action_mask"].astype(bool)
        assert (vec.action_masks() == mask).all()


class Peeker(Bot):
    """Plays at random and keeps the pickled bytes of all it was given."""

    def __init__(self) -> None:
        self.given: list[bytes] = []

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """As any bot, but keeps what it was given."""
        self.given.append(
            b"".join(
                [
                    _bytes(decisions.records),
                    decisions.observations.tobytes(),
                    decisions.masks.tobytes(),
                    decisions.words.tobytes(),
                    pickle.dumps([str(decisions.view(k)) for k in range(len(decisions))]),
                ]
            )
        )
        return super().act(decisions)

    def choose(self, view: SeatView, rng: np.random.Generator) -> int:
        """Any legal action."""
        return int(rng.choice(view.legal))


def test_an_outside_opponent_is_shown_nothing_of_the_learners_hand() -> None:
    """The first thing it is asked after a reset, with what *it* cannot see swapped."""
    rules = Rules.preset("french", 3)
    rng = Random(16)
    n_asked = 0
    for saved, _ in _played_states(rules, "hand", 200, 2 if PLAIN else 6):
        state = as_records(np.frombuffer(saved, STATE))
        if state["phase"][0] != SHED:
            continue
        card = int(state["hands"][0, 0]).bit_length() - 1
        if state["taken"][0] == card:
            continue
        given = []
        for at in (1, 2):  # seat 1 moves next; seat 2 watches, and must not matter
            bot = Peeker()
            env = OklahomaGinEnv(rules, bot)
            world = state
            if at == 2:
                kept = state.copy()
                world = swapped(state, rules, 1, rng)
                moved = int(world["hands"][0, 0])
                if not moved >> card & 1:  # the learner's discard must be the same card
                    continue
                world["taken"] = kept["taken"]
            env.reset(options={"state": world.tobytes()})
            env.step(card)
            if bot.given:
                given.append(bot.given[0])
        if len(given) == 2:
            n_asked += 1
            assert given[0] == given[1]
    assert n_asked > 0


def test_a_final_observation_tells_no_hidden_card() -> None:
    """After a forfeited hand the others' cards stay hidden, in the observation and the picture."""
    rules = Rules.preset("classic")
    rng = Random(17)
    for saved, _ in _played_states(rules, "hand", 300, 2)[:12]:
        state = as_records(np.frombuffer(saved, STATE))
        ends = []
        for world in (state, swapped(state, rules, 0, rng)):
            env = OklahomaGinEnv(rules, render_mode="ansi")
            env.reset(options={"state": world.tobytes()})
            observation, reward, terminated, _, info = env.step(N_ACTIONS)
            assert (reward, terminated) == (-1.0, True)
            ends.append(_env_seen(env, observation, info))
        assert ends[0] == ends[1]


@pytest.mark.parametrize("preset", PRESETS)
def test_an_observation_determines_the_phase_without_the_mask(preset: str) -> None:
    rules = Rules.preset(preset)
    episode = "hand"
    for saved, observed in _played_states(rules, episode, 400, 2):
        state = as_records(np.frombuffer(saved, STATE))
        observation = np.frombuffer(observed, np.int8)
        plain = layout(2).decode(observation)
        assert plain["phase"] == PHASES[state["phase"][0]]
        assert observation[layout(2).slices["phase"]].sum() == 1
