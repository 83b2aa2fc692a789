"""Players of OpenSpiel and RLCard at our table, ours at OpenSpiel's: legal, blind to hidden cards, the same hands."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("pyspiel")
pytest.importorskip("choix")

import okgin_env
from okgin_env import Rules, players
from okgin_env.arena.match import play
from okgin_env.cards import card_id, ids
from okgin_env.engine.decisions import ask
from okgin_env.kernel import batch
from okgin_env.kernel.state import as_records
from okgin_env.layout import DRAW_STOCK, DRAW_TOP, ENDINGS, ILLEGAL, KNOCK, PASS
from okgin_env.peers import need, openspiel, rlcard, spiel, spiel_report
from okgin_env.peers.openspiel import OpenSpielSimple, choice, play_at_openspiel
from okgin_env.peers.rlcard import RLCardRule
from okgin_env.peers.spiel_hand import Hand, Table
from okgin_env.peers.spiel_state import mirrored
from okgin_env.players import Bot, Decisions, Player
from okgin_env.positions import position
from okgin_env.view import SeatView
from tests.helpers.bots import Outside, shown_as_it_is
from tests.helpers.paths import PATIENCE, ROOT, environment

try:  # not by importorskip: two workers of pytest would meet in RLCard's first import
    need("rlcard")
except ImportError as missing:
    pytest.skip(str(missing), allow_module_level=True)

OPENSPIEL = Rules.preset("openspiel")
MELDED = "4s 5s 6s 7s 9c Tc Jc Qc"  # two runs, for hands that are nearly melded
JUNK = "2d 4d 7d 9d Jd Kd 3h 5h 8h Th"  # a hand without a meld
PARTS = (2, 104, 2, 10, 52, 52, 52, 370)  # of OpenSpiel's observation


class Spy(Outside):
    """Keeps the views of its decisions, after `look` has seen them; also of all its lives in an arena."""

    def __init__(self, name: str, look: Callable[[SeatView], None] = lambda view: None) -> None:
        super().__init__(name)
        self.views: list[SeatView] = []
        self.look = look

    def __deepcopy__(self, memo: Any) -> Spy:
        return self

    def act(self, decisions: Decisions) -> np.ndarray:
        seen = [decisions.view(k) for k in range(len(decisions))]
        for view in seen:
            self.look(view)
        self.views += seen
        return super().act(decisions)


class Scripted(Bot):
    """Plays given answers, then the lowest discard, never knocks."""

    def __init__(self, *answers: int, take: bool = False) -> None:
        self.answers = list(answers)
        self.take = take

    def choose(self, view: SeatView, rng: np.random.Generator) -> int:
        if self.answers:
            return self.answers.pop(0)
        if view.phase == "discard":
            return view.legal[0]
        return (
            DRAW_TOP
            if self.take and view.phase == "draw"
            else {"offer": PASS, "draw": DRAW_STOCK}[view.phase]
        )


def _views(rules: Rules, n_deals: int, seed: int) -> list[SeatView]:
    """Decisions of all phases from hands between a camper, who plays long hands, and a careful player."""
    spy = Spy("camper")
    play(spy, Outside("careful"), rules, n_deals, seed)
    return spy.views


def _view(rules: Rules, **given: Any) -> SeatView:
    state = position(rules, **given)
    record = as_records(rules.to_record())
    return ask(
        state, np.zeros(1, np.int64), rules, record, np.array([given["seat"]]), batch.HAND
    ).view(0)


def _deck(*given: str) -> np.ndarray:
    first = ids(" ".join(given))
    return np.array([*first, *(card for card in range(52) if card not in first)], np.int8)


def _at_openspiel(pair: tuple[Any, Any], deck: np.ndarray, oklahoma: bool = True) -> Hand:
    return Hand(Table.of(oklahoma), pair, np.uint64(1), deck)


# --- OpenSpiel's player at our table --------------------------------------------------------------------
@pytest.mark.parametrize("rules", ["openspiel", "classic", "eaai"])
def test_openspiels_player_is_legal_here_and_repeats_itself(rules: str) -> None:
    first, again = (
        play(OpenSpielSimple(), Outside("simple"), Rules.preset(rules), 12, seed=5)
        for _ in range(2)
    )
    assert (first.ending != ILLEGAL).all()
    assert np.array_equal(first.points, again.points)
    assert set(first.ended_by.ravel()) >= {0, 1}


def test_openspiels_player_cannot_see_hidden_cards() -> None:
    rng = np.random.default_rng(3)
    phases = set()
    for view in _views(OPENSPIEL, 6, seed=1):
        phases.add(view.phase)
        chosen = choice(view)
        for _ in range(3):
            assert choice(view, rng.permutation(52).tolist()) == chosen
    assert phases == {"offer", "draw", "discard"}


@pytest.mark.parametrize("oklahoma", [True, False])
def test_it_sees_and_chooses_what_it_would_at_openspiels_table(oklahoma: bool) -> None:
    """The mirrored game against the true one, in which all cards are where they are."""
    current: list[Hand] = []
    n_compared = 0

    def look(view: SeatView) -> None:
        nonlocal n_compared
        peer = current[-1].peer
        if peer.stock_size() == 2 and view.taken and peer.upcard() is not None:
            return  # at OpenSpiel's wall, where our table has no decision
        n_compared += 1
        state = mirrored(view)
        assert _seen(state) == _seen(peer)
        assert state.legal_actions() == peer.legal_actions()
        assert state.current_phase() == peer.current_phase()
        assert choice(view) == _its_choice(peer, view.limit)

    table = Table.of(oklahoma)
    for stream in range(6):
        spies = (Spy("random" if stream % 3 == 0 else "camper", look), Spy("careful", look))
        current.append(Hand(table, spies, np.uint64(stream)))
        current[-1].run()
    assert n_compared > 80


def _seen(state: Any) -> list[Any]:
    """A seat's observation without the number of the seat: hand, limit, upcard, pile, stock, melds."""
    seat = state.current_player()
    at = np.cumsum(PARTS)[:-1]
    parts = np.split(np.array(state.observation_tensor(seat)), at)
    return [parts[1].reshape(2, 52)[seat].tolist(), *(part.tolist() for part in parts[3:])]


def _its_choice(peer: Any, limit: int) -> int:
    """Our action id of what OpenSpiel's bot does in a true game of its own."""
    state = peer.clone()
    bot = spiel.simple_bot(limit, state.current_player())
    bot.restart()
    wanted = bot.step(state)
    if wanted == spiel.KNOCK:
        state.apply_action(wanted)
        return KNOCK + bot.step(state)
    return {spiel.TAKE: DRAW_TOP, spiel.STOCK: DRAW_STOCK, spiel.PASS: PASS}.get(wanted, wanted)


def test_throwing_back_the_taken_card_becomes_the_nearest_legal_move() -> None:
    given: dict[str, Any] = {"pile": "", "upcard": "3d", "seat": 0, "phase": "discard"}
    # It would knock by throwing back Kh; with any other card gone more than 3 is left.
    hands = [f"{MELDED} As 2h Kh", JUNK]
    view = _view(OPENSPIEL, hands=hands, taken="Kh", **given)
    wanted = choice(view)
    assert wanted == KNOCK + card_id("Kh")
    assert wanted not in view.legal
    bot = OpenSpielSimple()
    assert bot.choose(view, np.random.default_rng(0)) == card_id("2h")  # no knock is legal
    hands = ["4s 5s 6s 7s 9c Tc Jc Qh Qd Qs Qc", JUNK]
    view = _view(OPENSPIEL, hands=hands, taken="4s", **given)
    assert choice(view) == KNOCK + card_id("4s")  # all eleven are melded
    assert bot.choose(view, np.random.default_rng(0)) == KNOCK + card_id("Qs")


def test_it_overlooks_here_the_knock_that_openspiel_refuses() -> None:
    eleven = "2s Ac 2c 3c 4c 5c Ad 2d 3d 4d 5d"
    given: dict[str, Any] = {"pile": "", "upcard": "Ac", "seat": 0, "phase": "discard"}
    view = _view(OPENSPIEL, hands=[eleven, JUNK.replace("2d 4d", "2h 4h")], taken="Ac", **given)
    assert KNOCK + card_id("2s") in view.legal
    assert OpenSpielSimple().choose(view, np.random.default_rng(0)) < KNOCK


@pytest.mark.parametrize(("loose", "knocks"), [("As 2h", True), ("Td 9h", False)])
def test_it_can_be_asked_with_the_wall_behind_it(loose: str, knocks: bool) -> None:
    """A card taken with two left: only at OpenSpiel's table, where the wall allows a knock and nothing else."""
    hands = [f"{MELDED} {loose} Kh", "2d 4d 7d 9d Jd Kd 3h 5h 8h Th"]
    seen = ids(" ".join(hands))
    rest = [card for card in range(52) if card not in seen]
    view = _view(
        OPENSPIEL, hands=hands, pile=rest[2:], stock=rest[:2], upcard="3d", seat=0,
        phase="discard", taken="Kh",
    )  # fmt: skip
    wanted = choice(view)
    assert wanted == (KNOCK + card_id("Kh") if knocks else PASS)
    bot = OpenSpielSimple()
    assert bot.choose(view, np.random.default_rng(0)) < KNOCK


# --- RLCard's player at our table -----------------------------------------------------------------------
@pytest.mark.parametrize("rules", ["classic", "openspiel", "eaai"])
def test_rlcards_player_is_legal_here_and_repeats_itself(rules: str) -> None:
    first, again = (
        play(RLCardRule(), Outside("novice"), Rules.preset(rules), 10, seed=2) for _ in range(2)
    )
    assert (first.ending != ILLEGAL).all()
    assert np.array_equal(first.points, again.points)


def test_rlcards_player_leaves_the_global_generator_alone() -> None:
    before = np.random.get_state()  # noqa: NPY002
    bot = RLCardRule()
    for view in _views(OPENSPIEL, 2, seed=4):
        bot.choose(view, np.random.default_rng(1))
    after = np.random.get_state()  # noqa: NPY002
    assert before[0] == after[0]
    assert before[1].tobytes() == after[1].tobytes()
    assert before[2:] == after[2:]


def test_rlcards_player_plays_as_our_novice() -> None:
    """Both choose by chance among the same moves."""
    novice, bot = players.make("novice"), RLCardRule()
    for view in _views(Rules.preset("classic"), 4, seed=6)[::3]:
        words = np.arange(60, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        n = len(words)
        record = np.repeat(view.record, n)
        masks = np.zeros((n, 108), np.int8)
        seats = np.full(n, view.seat)
        asked = Decisions(view.rules, record, seats, np.zeros((n, 1), np.int8), masks, words)
        theirs = {bot.choose(view, np.random.default_rng(k)) for k in range(n)}
        assert theirs == set(novice.act(asked).tolist())


# --- our players at OpenSpiel's table ---------------------------------------------------------------------
def test_hands_are_those_of_our_table_where_nothing_differs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown_as_it_is(Outside, monkeypatch)
    for a, b in (("knocker", "careful"), ("camper", "simple")):
        here = play(Outside(a), Outside(b), OPENSPIEL, 60, seed=9)
        there = play_at_openspiel(Outside(a), Outside(b), 120, seed=9)
        differences = sum(int(count.sum()) for count in there.differences.values())
        unequal = here.points != there.points
        assert unequal.sum() <= differences <= 6
        assert np.array_equal(here.ending[~unequal], there.ending[~unequal])
        assert np.array_equal(here.ended_by[~unequal], there.ended_by[~unequal])


def test_same_seed_same_hands_whoever_is_named_first() -> None:
    first = play_at_openspiel("simple", "openspiel", 40, seed=3)
    again = play_at_openspiel("simple", "openspiel", 40, seed=3)
    other = play_at_openspiel("simple", "openspiel", 40, seed=4)
    swapped = play_at_openspiel("openspiel", "simple", 41, seed=3)
    assert np.array_equal(first.points, again.points)
    assert not np.array_equal(first.points, other.points)
    assert np.array_equal(first.points, -swapped.points[:, ::-1])
    assert (first.a, first.b, first.points.shape) == ("simple", "openspiel", (20, 2))


def test_their_player_meets_itself_in_both_guises() -> None:
    """Seated as one of ours, it makes the same moves; only the showdown is played better for it."""
    itself = play_at_openspiel("openspiel", "openspiel", 40, seed=8)
    guest = play_at_openspiel(OpenSpielSimple(), "openspiel", 40, seed=8)
    assert (itself.points.sum(axis=1) == 0).all()
    assert not any(count.any() for count in guest.differences.values())
    assert (guest.points >= itself.points).all()
    both = (itself.ending == ENDINGS.index("gin")) & (itself.ended_by == 0)
    assert np.array_equal(guest.points[both], itself.points[both])


def test_a_guest_does_not_disturb_their_player() -> None:
    """Under knock-10 both are OpenSpiel's player of one limit, and each has its own memory."""
    results = play_at_openspiel(OpenSpielSimple(), "openspiel", 40, seed=8, oklahoma=False)
    itself = play_at_openspiel("openspiel", "openspiel", 40, seed=8, oklahoma=False)
    assert (results.points >= itself.points).all()


def test_strength_is_near_theirs() -> None:
    results = play_at_openspiel("simple", "openspiel", 300, seed=1)
    assert -6 < results.points.mean() < 10


def test_refused_knock_becomes_a_discard() -> None:
    deck = _deck("2s 2c 3c 4c 5c Ad 2d 3d 4d 5d", "6s 7s 9s Ts 6h 7h 9h Th Kc Kd", "Ac")
    hand = _at_openspiel((Scripted(DRAW_TOP, KNOCK + card_id("2s")), Scripted()), deck)
    hand.run()
    assert hand.differences[0] == (0, "knock_refused")
    assert hand.s["discards"][0] >> np.uint64(card_id("2s")) & np.uint64(1)


@pytest.mark.parametrize("name", ["simple", "random"])
def test_a_knock_at_the_wall_is_offered_to_our_player(name: str) -> None:
    class Late(Scripted):
        """Throws what it draws; at the end it is somebody else."""

        def choose(self, view: SeatView, rng: np.random.Generator) -> int:
            if view.phase == "discard" and view.taken is None:
                drawn = [card for card in ids(view.hand) if card not in self.kept]
                return drawn[0] if drawn else view.legal[0]
            if view.taken is not None and view.stock_left == 2:
                return next(a for a in reversed(view.legal) if (a >= KNOCK) == (name == "simple"))
            return super().choose(view, rng)

    hands = (f"{MELDED} As 2h", "8s 9s Ts 4c 5c 6c Ad 2d 3d Ah")
    pair = (Late(), Late())
    for player, cards in zip(pair, hands, strict=True):
        player.kept = ids(cards)
    hand = _at_openspiel(pair, _deck(*hands, "Kh"))
    hand.run()
    counted = [what for _, what in hand.differences]
    assert counted == (["wall_asked", "wall_knock"] if name == "simple" else ["wall_asked"])
    assert (hand.knocker is not None) == (name == "simple")


def test_fifty_cards_from_the_pile_cut_the_hand() -> None:
    deck = _deck(JUNK, "3s 5s 8s Js Ks 2c 4c 7c 9c Qc", "As")
    hand = _at_openspiel((Scripted(take=True), Scripted(take=True)), deck)
    hand.run()
    assert [what for _, what in hand.differences] == ["cut"]
    assert hand.ended() == (ENDINGS.index("void"), None)


def test_a_card_thrown_back_is_let_through() -> None:
    class ThrowsBack:
        def restart(self) -> None:
            self.top = -1

        def step(self, peer: Any) -> int:
            legal = peer.legal_actions()
            if spiel.TAKE in legal:
                self.top = peer.upcard()
                return spiel.TAKE
            return self.top

    table = dataclasses.replace(Table.of(True), bots=(ThrowsBack(), ThrowsBack()))
    deck = _deck(JUNK, "3s 5s 8s", "As")
    hand = Hand(table, ("openspiel", "openspiel"), np.uint64(1), deck)
    hand.run()
    assert [what for _, what in hand.differences] == ["thrown_back", "thrown_back", "cut"]
    assert hand.s["ending"] == 0


def test_an_illegal_action_is_refused_in_one_line() -> None:
    for answer in (KNOCK, 999):
        hand = _at_openspiel((Scripted(answer), Scripted()), _deck(JUNK, "3s 5s 8s", "As"))
        with pytest.raises(ValueError, match="illegal action; allowed: 105, 106"):
            hand.run()


def test_plain_gin_rummy_knocks_with_ten() -> None:
    rules = dataclasses.replace(OPENSPIEL, knock_limit=10)
    here = play(players.make("knocker"), players.make("careful"), rules, 20, seed=9)
    there = play_at_openspiel(Outside("knocker"), Outside("careful"), 40, seed=9, oklahoma=False)
    assert np.array_equal(here.points, there.points)


# --- seating, errors, the command line ----------------------------------------------------------------------
@pytest.mark.parametrize(
    "spec", ["okgin_env.peers.openspiel:OpenSpielSimple", "okgin_env.peers.rlcard:RLCardRule"]
)
def test_they_can_be_seated_by_name(spec: str) -> None:
    player = players.make(spec)
    assert isinstance(player, Player)
    assert pickle.loads(pickle.dumps(player)).name == player.name
    env = gym.make(okgin_env.ENV_ID, rules="openspiel", opponent=spec)
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    assert info["ending"] in ENDINGS


@pytest.mark.parametrize("bot", [OpenSpielSimple(), RLCardRule()])
def test_rules_they_do_not_know_are_refused(bot: Bot) -> None:
    with pytest.raises(ValueError, match=r"allowed: (2 players with )?10$"):
        play(bot, bot, Rules.preset("french", 3), 1, seed=0)


@pytest.mark.parametrize(("module", "make"), [("pyspiel", OpenSpielSimple), ("rlcard", RLCardRule)])
def test_a_missing_library_is_named(
    module: str, make: Callable[[], Bot], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == module] or [module]:
        monkeypatch.setitem(sys.modules, name, None)
    spiel.game.cache_clear()
    rlcard._agent.cache_clear()
    with pytest.raises(
        ImportError, match=r"^[a-z_.]+ is missing: pip install 'okgin-env\[peers\]'$"
    ):
        make()


def test_rlcard_is_first_imported_by_several_processes_at_once(tmp_path: Path) -> None:
    """It unpacks files into its own folder then: workers of a tournament met there, and so did those of pytest."""
    spec = importlib.util.find_spec("rlcard")
    assert spec is not None
    assert spec.origin is not None
    shutil.copytree(Path(spec.origin).parent, tmp_path / "rlcard")
    shutil.rmtree(tmp_path / "rlcard" / "games" / "doudizhu" / "jsondata", ignore_errors=True)

    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    code = """
import time
import zipfile
unpack = zipfile.ZipFile.extractall
def slowly(self, path):
    print("unpacks")
    time.sleep(2)
    unpack(self, path)
zipfile.ZipFile.extractall = slowly
from okgin_env.peers.rlcard import RLCardRule
RLCardRule()
import rlcard
print(rlcard.__file__)
"""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env=environment(PYTHONPATH=paths),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    said = []
    for process in started:
        out, error = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, error
        said += out.split()
    assert sorted(said) == sorted(["unpacks"] + 3 * [str(tmp_path / "rlcard" / "__init__.py")])


def test_docs_examples_run() -> None:
    text = (ROOT / "docs" / "peers.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        names: dict[str, Any] = {}
        exec(compile(block.replace("n_hands=200", "n_hands=20"), "peers.md", "exec"), names)
    assert names["low"] < names["points"] < names["high"]


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert openspiel.main(["simple", "openspiel", "--hands", "20", "--seed", "1"]) == 0
    out = capsys.readouterr().out
    assert "| simple | openspiel | 20 |" in out
    assert "%" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simple", "nobody"], "player 'nobody'; allowed: "),
        (["simple", "openspiel", "--hands", "1"], "hands=1; allowed: 2 or more"),
        (["simple", "openspiel", "--seed", "-1"], "seed=-1; allowed: 0 or more"),
        (["missing.zip", "openspiel"], "model file 'missing.zip' does not exist"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert spiel_report.main(arguments) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
