"""Batches of games played any which way in the kernel, with everything checked that must hold whatever is played.

Nothing here knows the worth of a hand: `tests/helpers/lockstep.py` holds that against the plain twin. Checked are
cards, sizes, masks, observations, copies and sums.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okgin_env.kernel import batch
from okgin_env.kernel.conceal import conserved
from okgin_env.kernel.jit import compiled
from okgin_env.kernel.match import hand_reward
from okgin_env.kernel.observe import observe
from okgin_env.kernel.play import STOCK_AT_VOID, is_legal, legal, step
from okgin_env.kernel.policies import POLICY_IDS, choose
from okgin_env.kernel.state import STATE, as_records, new_states
from okgin_env.layout import (
    BIG_GIN_END,
    DRAW_TOP,
    ENDINGS,
    GIN,
    ILLEGAL,
    KNOCKED,
    MAX_LOG,
    MAX_MATCH_HANDS,
    MAX_PLAYERS,
    N_ACTIONS,
    N_CARDS,
    OVER,
    REWARDS,
    SHED,
    UNDERCUT,
    VOID,
    layout,
)
from okgin_env.positions import check_state
from okgin_env.rules import Rules
from tests.helpers.random_tables import random_deck, random_rules

GUARD = 77  # fills the bytes that no kernel function may write
GUARDED = 64  # such bytes behind every observation and mask
ANY = -1  # a mover that takes any legal action
TOSSER = -2  # a mover that takes the top card whenever it may
HUGE = 1 << 30


class Broken(AssertionError):
    """Something that must hold does not."""


@compiled
def look(states, rules, games, seats, probes, match, size, observations, masks, said):
    """Writes observations, masks and, into `said` (N, 4), `conserved` and `is_legal` of three actions."""
    table = np.empty(N_CARDS, np.int16)
    for i in games:
        legal(states[i], rules[0], masks[i][:N_ACTIONS], table)
        observe(states[i], rules[0], seats[i], match, observations[i][:size], table)
        said[i, 0] = conserved(states[i], rules[0])
        said[i, 1] = is_legal(states[i], rules[0], probes[i])
        said[i, 2] = is_legal(states[i], rules[0], -1)
        said[i, 3] = is_legal(states[i], rules[0], N_ACTIONS)


@compiled
def choose_all(states, rules, games, movers, actions):
    """Writes the actions of scripted players."""
    table = np.empty(N_CARDS, np.int16)
    for i in games:
        actions[i] = choose(states[i], rules[0], movers[i], table)


@compiled
def step_all(states, rules, games, actions):
    """Steps games."""
    for i in games:
        step(states[i], rules[0], actions[i])


@compiled
def settle_all(states, rules, games, rewards, whole):
    """Writes the rewards of hands that are over, (N, 3, 4), and whether their cards are all there."""
    for i in games:
        whole[i] = conserved(states[i], rules[0])
        for kind in range(rewards.shape[1]):
            for seat in range(rules[0].players):
                rewards[i, kind, seat] = hand_reward(states[i], rules[0], kind, seat)


@dataclass
class Batch:
    """N games under one set of rules, a mover in each seat.

    Attributes:
        seed: Seed and index give the same batch again.
        index: Its number.
        n: N.
        rules: The rules; None: random ones.
        counts: Hands by their ending, and decisions.
    """

    seed: int
    index: int
    n: int = 256
    rules: Rules | None = None
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        rng = Random(f"{self.seed}/{self.index}")
        self.draws = np.random.default_rng([self.seed, self.index])
        self.table = self.rules or random_rules(rng)
        self.record = as_records(self.table.to_record())
        self.match = self.table.target is not None
        self.size = layout(self.table.players, self.match, rng.random() < 0.2).size
        self.decks = np.array([random_deck(rng) for _ in range(8)], np.int8)
        kinds = (ANY, ANY, ANY, TOSSER, *POLICY_IDS.values())
        self.movers = self.draws.choice(kinds, (self.n, MAX_PLAYERS))
        self.strays = self.draws.choice((0, 0, 0.01, 0.002), self.n)  # share of any number at all
        self.states = new_states(self.n)
        batch.seed_games(self.states, self.all, self.draws.integers(HUGE, size=self.n).astype(np.uint64))  # fmt: skip
        self.start(self.all)

    @property
    def all(self) -> NDArray[np.int64]:
        """(N,) all games."""
        return np.arange(self.n)

    @property
    def playing(self) -> NDArray[np.int64]:
        """Games in the middle of a hand."""
        return np.flatnonzero(self.states["phase"] != OVER)

    def play(self, n_rounds: int) -> None:
        """Plays decisions in every game; halfway all games are saved and loaded.

        Raises:
            Broken: Something does not hold.
        """
        for k in range(n_rounds):
            self.decide()
            if k == n_rounds // 2:
                self.save_and_load()

    # --- starts -------------------------------------------------------------------------------------
    def start(self, games: NDArray[np.int64]) -> None:
        """Starts new episodes: shuffled, or from a deck rich in melds with any dealer."""
        given = self.draws.random(len(games)) < 0.5
        batch.begin_games(self.states, games[~given], self.record)
        decks = self.draws.choice(self.decks, int(given.sum()))
        dealers = self.draws.integers(self.table.players, size=len(decks))
        batch.deal_games(self.states, games[given], self.record, decks, dealers)

    def go_on(self) -> None:
        """Deals the next hand where one is over, or a new episode; some games begin anew in the middle."""
        s, chance = self.states, self.draws.random(self.n)
        undecided = self.match & (s["match_winner"] < 0) & (s["n_hands"] < MAX_MATCH_HANDS)
        over = s["phase"] == OVER
        goes_on = over & undecided & (chance < 0.9)
        batch.next_games(s, np.flatnonzero(goes_on), self.record)
        self.start(np.flatnonzero((over & ~goes_on) | (chance < 1 / 256)))

    def save_and_load(self) -> None:
        """Takes all games through bytes; those in the middle of a hand can be set up as positions, too."""
        self.states = as_records(np.frombuffer(self.states.tobytes(), STATE).copy())
        for state in self.states[self.playing[:4]]:
            try:
                after = check_state(state.tobytes(), self.table)
            except ValueError as error:
                raise Broken(f"{self}: a saved state is refused: {error}") from None
            self.hold(after.tobytes() == state.tobytes(), "a saved state comes back as it was")

    # --- one decision -------------------------------------------------------------------------------
    def decide(self) -> None:
        """One decision in every game."""
        self.go_on()
        games = self.playing
        masks = self.check_decisions(games)
        before = self.states.copy()
        actions, stray = self.actions(games, masks)
        allowed = np.zeros(self.n, np.bool_)
        inside = (actions >= 0) & (actions < N_ACTIONS)
        allowed[inside] = masks[inside, actions[inside]] == 1
        self.hold_each(allowed | stray, "a mover acts legally", games)
        copies = self.states.copy()
        step_all(self.states, self.record, games, actions)
        if self.draws.random() < 1 / 8:
            step_all(copies, self.record, games, actions)
            self.hold(copies.tobytes() == self.states.tobytes(), "a copy goes on alike")
        over = self.states["phase"] == OVER
        self.hold_each(allowed | over, "an illegal action ends the hand", games)
        self.check_ends(games[over[games]], before, allowed)
        self.counts["decisions"] += len(games)

    def actions(self, games: NDArray[np.int64], masks: NDArray[np.int8]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:  # fmt: skip
        """(N,) actions of the movers, and which of them are any number at all."""
        s = self.states
        movers = self.movers[self.all, s["seat"]]
        actions = (masks * self.draws.random(masks.shape)).argmax(1)  # any legal one
        actions[(movers == TOSSER) & (s["phase"] != SHED)] = DRAW_TOP
        choose_all(s, self.record, games[movers[games] >= 0], movers, actions)
        stray = self.draws.random(self.n) < self.strays
        wild = self.draws.choice((-HUGE, -1, N_ACTIONS, HUGE, *range(N_ACTIONS)), self.n)
        return np.where(stray, wild, actions), stray

    def check_decisions(self, games: NDArray[np.int64]) -> NDArray[np.int8]:
        """(N, 108) masks, after everything that holds where somebody is to move."""
        s, n = self.states, self.table.players
        observations = np.full((self.n, self.size + GUARDED), GUARD, np.int8)
        masks = np.full((self.n, N_ACTIONS + GUARDED), GUARD, np.int8)
        onlooker = self.draws.integers(n, size=self.n)  # a seat that is not to move looks, too
        seats = np.where(self.draws.random(self.n) < 0.25, onlooker, s["seat"])
        probes = self.draws.integers(N_ACTIONS, size=self.n)
        said = np.zeros((self.n, 4), np.bool_)
        look(s, self.record, games, seats, probes, self.match, self.size, observations, masks, said)
        self.hold_each(said[:, 0], "the 52 cards once each, hands in their sizes", games)
        least = STOCK_AT_VOID + (s["phase"] != SHED)
        in_range = (s["phase"] >= 0) & (s["seat"] >= 0) & (s["seat"] < n) & (s["n_pile"] >= 0)
        in_range &= (s["n_turns"] < self.table.max_turns) & (s["n_log"] < MAX_LOG)
        in_range &= N_CARDS - s["next_card"] >= least
        self.hold_each(in_range, "phase, seat, stock, turns and log in their ranges", games)
        known = (s["known"] & ~s["hands"] == 0).all(1)
        self.hold_each(known, "known cards are in the hand of their seat", games)
        seen, mask = observations[:, : self.size], masks[:, :N_ACTIONS]
        self.hold_each(~(seen & ~1).any(1), "an observation of 0 and 1", games)
        legal_ones = ~(mask & ~1).any(1) & mask.any(1)
        self.hold_each(legal_ones, "a mask of 0 and 1 that is not empty", games)
        untouched = (observations[:, self.size :] == GUARD).all(1)
        untouched &= (masks[:, N_ACTIONS:] == GUARD).all(1)
        self.hold_each(untouched, "nothing written beyond an array's end", games)
        agreed = (said[:, 1] == mask[self.all, probes]) & ~said[:, 2] & ~said[:, 3]
        self.hold_each(agreed, "mask and is_legal agree", games)
        return mask

    def check_ends(self, games: NDArray[np.int64], before: NDArray[np.void], allowed: NDArray[np.bool_]) -> None:  # fmt: skip
        """Everything that holds once hands are over; `before`: the records at their last decision."""
        s, n = self.states, self.table.players
        rewards = np.zeros((self.n, len(REWARDS), n))
        whole = np.zeros(self.n, np.bool_)
        settle_all(s, self.record, games, rewards, whole)
        self.hold_each(whole, "the 52 cards once each, hands in their sizes", games)
        illegal: NDArray[np.bool_] = ~allowed
        forfeited: NDArray[np.bool_] = s["ending"] == ILLEGAL
        self.hold_each(illegal == forfeited, "a hand is forfeited by an illegal action only", games)
        cards = ("hands", "known", "n_pile", "pile", "next_card", "deck")
        still: NDArray[np.bool_] = np.all(
            [(s[c] == before[c]).reshape(self.n, -1).all(1) for c in cards], axis=0
        )
        self.hold_each(still | ~illegal, "an illegal action moves no card", games)
        self.hold_each(self._points_fit(), "points fit the ending", games)
        self.hold_each((abs(rewards.sum(2)) < 1e-9).all(1), "rewards add up to zero", games)
        sums = (s["scores"] == before["scores"] + s["points"]).all(1)
        self.hold_each(sums, "scores are the sums of points", games)
        booked = s["n_hands"] == before["n_hands"] + 1
        boxed, scored = (s["boxes"] != before["boxes"]).sum(1), (s["points"] > 0).any(1)
        every = self.table.gin_boxes and self.table.undercut_boxes  # hand that is won has a box
        booked &= boxed == scored if every else boxed <= scored
        self.hold_each(booked, "a hand that is over is booked once", games)
        for ending, k in zip(*np.unique(s["ending"][games], return_counts=True), strict=True):
            self.counts[ENDINGS[ending]] += int(k)

    def _points_fit(self) -> NDArray[np.bool_]:
        """(N,) whether the points of a hand are such as its ending pays."""
        s = self.states
        total, ending, knocker = s["points"].sum(1), s["ending"], s["knocker"]
        own = s["points"][self.all, knocker] == total  # the knocker has all of them
        deadwood = s["deadwood"][self.all, knocker]
        fits = {
            VOID: (knocker < 0) & (total == 0),
            ILLEGAL: knocker < 0,
            GIN: (knocker >= 0) & (deadwood == 0) & own,
            BIG_GIN_END: (knocker >= 0) & (deadwood == 0) & own,
            KNOCKED: (knocker >= 0) & (deadwood <= s["limit"]) & own,
            UNDERCUT: (knocker >= 0) & (deadwood <= s["limit"]),
        }
        made = np.any([(ending == kind) & fit for kind, fit in fits.items()], axis=0)
        stray = (s["points"][:, self.table.players :] != 0).any(1)
        return made & (s["points"] >= 0).all(1) & ~stray

    # --- what does not hold -------------------------------------------------------------------------
    def hold_each(self, holds: Any, what: str, games: NDArray[np.int64]) -> None:
        """Raises `Broken` with the first of some games for which `holds` (N,) is False."""
        for i in games[~holds[games]].tolist():
            record = self.states[i].tobytes().hex()
            raise Broken(f"{self}, game {i}: does not hold: {what}\n  movers: {self.movers[i].tolist()}\n  record: {record}")  # fmt: skip

    def hold(self, condition: bool, what: str) -> None:
        """Raises `Broken` where a condition does not hold."""
        if not condition:
            raise Broken(f"{self}: does not hold: {what}")

    def __str__(self) -> str:
        return f"seed {self.seed}, table {self.index} under {self.table.label}"
