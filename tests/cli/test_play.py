"""A person at the table: whole matches by entries, undo, bad entries, colours, the saved history."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from okgin_env import Rules, histories, players
from okgin_env.cli import entry, play
from okgin_env.cli import main as command_line
from okgin_env.env import OklahomaGinEnv
from okgin_env.kernel.jit import PLAIN
from okgin_env.layout import BIG_GIN, DRAW_STOCK, DRAW_TOP, KNOCK, N_ACTIONS, OVER, PASS
from okgin_env.render.text import draw
from tests.helpers.paths import ROOT, environment, python
from tools.record_play import AGAINST, FIRST, SEED, Seat, record

CLASSIC = Rules.preset("classic")
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def _stop(seat: Seat, entries: Sequence[str]) -> Callable[[str], str]:
    """Reads the entries, and then there are no more."""
    left = list(entries)

    def read(prompt: str) -> str:
        if not left:
            raise EOFError
        seat.lines.append(prompt + left[0])
        return left.pop(0)

    return read


def _typed(entries: Sequence[str], rules: Rules = CLASSIC, seed: int = SEED, **more: Any) -> Seat:
    """A session of these entries alone."""
    seat = Seat()
    against = more.pop("against", ["careful"] * (rules.players - 1))
    made = [players.make(name) for name in against]
    from okgin_env.cli.session import Session

    seat.session = Session(
        rules,
        made,
        players.make("camper"),
        seed=seed,
        read=_stop(seat, entries),
        say=seat.say,
        **more,
    )
    seat.session.run()
    return seat


# --- whole matches -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("rules", "against"),
    [
        (CLASSIC, ["careful"]),
        (Rules.preset("french", 3), ["camper", "hunter"]),
        (Rules.preset("gin", 4), ["knocker", "careful", "knocker"]),
    ],
    ids=["2", "3", "4"],
)
@pytest.mark.parametrize("colour", [False, True])
def test_a_whole_match_by_the_hints_advice(
    rules: Rules, against: list[str], colour: bool, tmp_path: Path
) -> None:
    file = tmp_path / "match.okgin"
    seat = record(rules, against, 5, colour=colour, save=file)
    lines = [ESCAPES.sub("", line) for line in seat.lines]
    assert (lines != seat.lines) == colour
    assert max(len(line) for line in lines if str(file) not in line) <= 80
    hands = histories.read(file)
    assert [hand.played for hand in hands] == list(range(len(hands)))
    assert hands[-1].final()["match_winner"][0] >= 0
    assert {hand.seed for hand in hands} == {5}
    assert hands[0].names[0] == "human"
    told = [line for line in lines if line.startswith("hand ") and "dealt" not in line]
    assert len(told) == len(hands)
    for line, hand in zip(told, hands, strict=True):
        assert hand.ending.replace("_", " ") in line
        for points in hand.points:
            assert points == 0 or f"+{points}" in line
    verdict = next(line for line in lines if " the match in " in line)
    winner = int(hands[-1].final()["match_winner"][0])
    assert verdict.startswith("You win" if winner == 0 else seat.session.names[winner])  # type: ignore[union-attr]
    assert f"Hands saved in {file}: {len(hands)}." in lines[-1]


def test_typing_what_hint_says_plays_as_that_player_would(tmp_path: Path) -> None:
    """The advice shown is the one followed, and the games are those of the environment."""
    seat = Seat()

    def read(prompt: str) -> str:
        found = [re.search(r"\(type (.+)\):", line) for line in seat.lines[-2:]]
        advice = next((match[1] for match in found if match), "hint")
        seat.lines.append(prompt + advice)
        return advice

    from okgin_env.cli.session import Session

    save = tmp_path / "hand.okgin"
    opponents = [players.make("simple")]
    hinter = players.make("novice")  # draws from its random stream
    session = Session(
        CLASSIC, opponents, hinter, episode="hand", seed=9, read=read, say=seat.say, save=save
    )
    assert session.run() == "over"
    env = OklahomaGinEnv(CLASSIC, "simple")
    env.reset(seed=9)
    over = False
    while not over:
        asked = env.games.decisions(np.zeros(1, np.int64))
        over = env.step(int(hinter.act(asked)[0]))[2]
    assert env.games.finals["phase"][0] == OVER
    assert histories.HandHistory.from_record(env.games.finals, CLASSIC).deck == (
        histories.read(save)[0].deck
    )
    mine = [pair for pair in env.view().history if pair[0] == 0]
    assert [pair for pair in histories.read(save)[0].actions if pair[0] == 0] == mine


# --- entries -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("phase", ["offer", "draw", "discard"])
def test_every_legal_action_can_be_typed_and_no_other(phase: str) -> None:
    env = OklahomaGinEnv("classic", "careful")
    n_seen = 0
    for seed in range(4 if PLAIN else 12):
        env.reset(seed=seed)
        over = False
        while not over:
            view = env.view()
            if view.phase == phase:
                n_seen += 1
                for action in range(N_ACTIONS):
                    if action in view.legal:
                        assert entry.understand(entry.typed(action), view) == action
                    else:
                        with pytest.raises(
                            ValueError, match=r"now|Now|not|no |leaves|stays"
                        ) as caught:
                            entry.understand(entry.typed(action), view)
                        assert "\n" not in str(caught.value)
            over = env.step(view.legal[seed % len(view.legal)])[2]
    assert n_seen > 0


def test_entries_may_be_written_in_many_ways() -> None:
    env = OklahomaGinEnv("gin", "careful")
    hand = "As 2s 3s 7h 7d 7c Td Jd Qd Kd 2h"
    rest = "4c 5c 6c 8c 9h Ts Jh Qh 3d 4d"
    state = {"hands": [hand, rest], "pile": "9s", "seat": 0, "phase": "discard"}
    env.reset(options={"state": state})
    view = env.view()
    knock = entry.understand("k 2h", view)
    assert knock == KNOCK + 40
    for text in ("K 2H", " knock   2h ", "k 2♥"):
        assert entry.understand(text, view) == knock
    ten = entry.understand("Td", view)
    for text in ("td", "10d", "discard 10D", "d td", "T♦"):
        assert entry.understand(text, view) == ten
    assert entry.understand("?", view) == "help"
    for bad in (
        "",
        "7",
        "7x",
        "1h",
        "110h",
        "k",
        "knock",
        "gin 2h",
        "kk 2h",
        "2h 2h",
        "ß♥",
        "\x1b",
    ):
        with pytest.raises(ValueError, match=r"Now: .*; or help"):
            entry.understand(bad, view)
    with pytest.raises(ValueError, match="you do not hold 9c, but As 2s"):
        entry.understand("9c", view)
    with pytest.raises(ValueError, match="7h leaves deadwood 16, the knock limit is 10"):
        entry.understand("k 7h", view)
    with pytest.raises(ValueError, match="no such rule here"):
        entry.understand("big gin", view)


def test_mistyped_and_illegal_entries_are_never_played() -> None:
    bad = ["7x", "d", "k Ks", "9h", "", "big gin", "draw", "pass the salt"]
    seat = _typed([*bad, "score", "hand", "history"])
    lines = "\n".join(seat.lines)
    assert "no moves yet" in lines
    assert seat.session is not None
    assert seat.session.table.view().history == []
    assert sum("t takes Ks, p passes" in line and "offer" not in line for line in seat.lines) == 8


def test_the_card_just_taken_stays() -> None:
    seat = _typed(["t", "Ks"])
    assert any("Ks was just taken from the pile and stays" in line for line in seat.lines)
    assert seat.session is not None
    assert seat.session.table.view().phase == "discard"


def test_quit_asks_once() -> None:
    seat = _typed(["quit", "n", "q", "y", "p"])
    assert seat.lines[-1] == "The game ends here."
    assert sum("(y/n)" in line for line in seat.lines) == 2
    assert seat.session is not None
    assert seat.session.table.view().history == []


def test_hint_of_a_player_that_does_not_fit_is_one_line() -> None:
    class Wild(players.Bot):
        """Answers with something illegal."""

        def choose(self, view: Any, rng: Any) -> int:
            """An action that is never legal in the offer."""
            return DRAW_STOCK

    seat = _typed([])
    assert seat.session is not None
    seat.session._hinter = Wild()
    assert "illegal here" in seat.session._hint(seat.session.table.view())


# --- taking back ---------------------------------------------------------------------------------------------------------
def test_undo_restores_the_game_to_the_last_byte() -> None:
    seat = _typed(["t"])
    assert seat.session is not None
    table = seat.session.table
    table.undo()
    start = table.env.state()
    for first in ("t", "p"):  # what comes after is the same, whatever was tried before
        ends = []
        for tries in ([], ["t", "Kh", "undo", "undo"], ["t", "undo"]):
            moves = [first, "Jc", "d", "8c"] if first == "t" else [first, "Kh", "d", "8c"]
            other = _typed([*tries, *moves])
            assert other.session is not None
            ends.append(other.session.table.env.state())
            assert f"Entries taken back: {tries.count('undo')}." in other.lines or not tries
        assert len(set(ends)) == 1
        assert ends[0] != start


def test_undo_stops_at_a_card_from_the_stock_and_at_the_end_of_a_hand() -> None:
    seat = _typed(["p", "undo"])  # all passed: the forced draw has shown a card
    assert "nothing to take back: you have seen Ad from the stock" in seat.lines
    seat = _typed(["undo"])
    assert "nothing to take back: nothing has been played yet" in seat.lines
    seat = _typed(["p", "Kh", "d", "undo"])
    assert "nothing to take back: you have seen Td from the stock" in seat.lines
    seat = _typed(["p", "Kh", "d", "Jc", "undo", "undo"])
    assert seat.lines.count("taken back, and what the others answered too") == 1
    assert "nothing to take back: you have seen Td from the stock" in seat.lines
    found = record(CLASSIC, ["careful"], SEED)
    played = [line.split("): ")[1] for line in found.lines if line.startswith("your ")]
    ended = next(k for k, word in enumerate(played) if word.startswith("k "))
    seat = _typed([*played[: ended + 1], "undo"])
    assert "nothing to take back: a hand has ended since" in seat.lines


def test_undo_leaves_the_saved_hands_true(tmp_path: Path) -> None:
    file = tmp_path / "undone.okgin"
    seat = record(CLASSIC, [AGAINST], SEED, FIRST, save=file)
    assert "Entries taken back: 1." in seat.lines
    for hand in histories.read(file):
        hand.final()  # replays to its stated result


# --- ends ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("error", [EOFError, KeyboardInterrupt])
def test_eof_and_ctrl_c_end_politely_with_the_ended_hands_saved(
    error: type[BaseException], tmp_path: Path
) -> None:
    file = tmp_path / "some.okgin"
    seat = Seat()

    def read(prompt: str) -> str:
        if any(line.startswith("match: ") for line in seat.lines):
            raise error
        return seat.read(prompt)

    from okgin_env.cli.session import Session

    made = [players.make("careful")]
    seat.session = Session(
        CLASSIC, made, players.make("camper"), seed=SEED, read=read, say=seat.say, save=file
    )
    assert seat.session.run() == ("eof" if error is EOFError else "interrupted")
    assert len(histories.read(file)) == 1
    assert seat.lines[-2:] == [
        "The game ends here.",
        f"Hands saved in {file}: 1; the hand that was not finished is not among them.",
    ]


def test_a_player_that_raises_loses_no_hand(tmp_path: Path) -> None:
    """Here before anything is shown of the hand that has ended in the same step."""

    class Raises(players.Bot):
        name = "raises"

        def choose(self, view: Any, rng: np.random.Generator) -> int:
            if sum(view.scores):
                raise RuntimeError("it cannot bear losing")
            return view.legal[0]

    from okgin_env.cli.session import Session

    seat, save = Seat(), tmp_path / "match.okgin"
    hinter = players.make("camper")

    def read(prompt: str) -> str:
        return entry.typed(seat.session.advice())  # type: ignore[union-attr]

    seat.session = Session(CLASSIC, [Raises()], hinter, seed=1, read=read, say=seat.say, save=save)
    with pytest.raises(RuntimeError, match="bear losing"):
        seat.session.run()
    assert [hand.points[0] > 0 for hand in histories.read(save)] == [True]


def test_a_full_disk_loses_no_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import okgin_env.histories.recorder

    file = tmp_path / "full.okgin"
    append, n_calls = okgin_env.histories.recorder.append, 0

    def fails_once(path: Any, hands: Any) -> None:
        nonlocal n_calls
        n_calls += 1
        if n_calls == 2:  # the first hand
            raise OSError("no space left")
        append(path, hands)

    monkeypatch.setattr(okgin_env.histories.recorder, "append", fails_once)
    seat = record(CLASSIC, [AGAINST], SEED, save=file)
    assert "not saved yet: no space left" in seat.lines
    assert [hand.played for hand in histories.read(file)] == [0, 1, 2]


# --- pictures ------------------------------------------------------------------------------------------------------------
def test_colours_change_nothing_but_colours() -> None:
    for n in (2, 3, 4):
        env = OklahomaGinEnv("french", "camper", players=n)
        rng = np.random.default_rng(1)
        for seed in range(2 if PLAIN else 8):
            env.reset(seed=seed)
            over = False
            while not over:
                view = env.view()
                names = ("a person", "its neighbour with a long name", "b", "c")[:n]
                plain = draw(view, names=names)
                assert ESCAPES.sub("", draw(view, True, names)) == plain
                assert max(map(len, plain.splitlines())) <= 80
                assert "\x1b" not in str(view)
                over = env.step(int(rng.choice(view.legal)))[2]
            assert "\x1b[" in draw(env.view(), True)
            assert max(map(len, str(env.view()).splitlines())) <= 80


def test_no_card_is_shown_that_the_seat_may_not_see() -> None:
    """The text of the table names own cards, the pile, and cards that all saw taken."""
    env = OklahomaGinEnv("classic", "careful")
    for seed in range(2 if PLAIN else 10):
        env.reset(seed=seed)
        over = False
        while not over:
            view = env.view()
            open_cards = {*view.hand, *view.pile, *view.known[1], view.upcard}
            assert set(re.findall(r"\b[A2-9TJQK][scdh]\b", str(view))) <= open_cards
            told = "\n".join([*entry.moves(view, ("you", "other")), entry.knocks(view)])
            seen = open_cards | set(view.discards[0]) | set(view.discards[1])
            assert set(re.findall(r"\b[A2-9TJQK][scdh]\b", told)) <= seen
            over = env.step(view.legal[0])[2]


def test_a_showdown_marks_the_cards_laid_off() -> None:
    env = OklahomaGinEnv("gin", "careful")
    hand = "As 2s 3s 7h 7d 7c Td Jd Qd 2h Kc"
    rest = "4s 7s Kd 5c 6c 8c 9h Jh Qh 4d"
    state = {"hands": [hand, rest], "pile": "9s", "seat": 0, "phase": "discard"}
    env.reset(options={"state": state})
    env.step(entry.understand("k Kc", env.view()))
    text = str(env.view())
    assert "laid off: 4s 7s Kd" in text
    assert "As 2s 3s | 7c 7d 7h | Td Jd Qd | 2h" in text


class Cheat(players.Bot):
    """Plays illegally when it may discard."""

    name = "cheat"

    def choose(self, view: Any, rng: np.random.Generator) -> int:
        return BIG_GIN if view.phase == "discard" else view.legal[0]


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (100, "You win the match in 1 hand, the last one by a forfeit."),
        (300, "The match ends undecided, since a hand was forfeited."),
    ],
)
def test_a_forfeit_is_called_one(target: int, said: str) -> None:
    rules = replace(CLASSIC, target=target)
    seat = _typed(["p", "As"], rules, against=[Cheat()], seed=3)
    assert said in "\n".join(seat.lines)


# --- the command line ----------------------------------------------------------------------------------------------------
def _run(*args: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    return python("-m", "okgin_env", *args, env=variables, input=stdin)


def test_a_piped_hand_from_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "piped.okgin"
    done = _run(
        *("play", "--seed", str(SEED), "--against", "careful", "--save", str(file)),
        stdin="p\nhint\nKh\nnonsense\nd\n",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "'nonsense'? Now: d draws from the stock, t takes Kd; or help" in done.stdout
    assert "you draw Td from the stock" in done.stdout
    assert "\x1b" not in done.stdout  # a pipe is no terminal
    assert "The game ends here." in done.stdout
    assert file.read_text() == ""


def test_letters_that_a_terminal_does_not_know_end_no_game(tmp_path: Path) -> None:
    bot = "from okgin_env.players import Bot\n\n\nclass Gin(Bot):\n    name = 'джин'\n"
    (tmp_path / "mybots.py").write_text(bot)
    paths = os.pathsep.join([str(ROOT), str(tmp_path)])
    env = environment(PYTHONPATH=paths, PYTHONIOENCODING="ascii:strict")
    command = [
        sys.executable,
        *["-m", "okgin_env", "play", "--against", "mybots:Gin", "--seed", "3"],
    ]
    done = subprocess.run(command, input=b"\xff\nquit\ny\n", capture_output=True, env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"against ????" in done.stdout
    assert b"leave the game? (y/n) y" in done.stdout  # what came after it was read


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--against", "nobody"], "player 'nobody'; allowed: random"),
        (["--rules", "poker"], "preset 'poker'"),
        (["--seats", "5"], "players=5; allowed: 2 to 4"),
        (["--seats", "4", "--against", "camper", "hunter"], "2 players; allowed: 1 or 3"),
        (["--episode", "evening"], "--episode evening; allowed: match, hand"),
        (["--rules", "openspiel"], "--episode match; allowed with --rules openspiel: hand"),
        (["--seed", "-1"], "--seed -1; allowed: 0 or more"),
        (["--hint", "nobody"], "player 'nobody'"),
        (["--hint", "expert", "--seats", "3"], "expert: players=3; allowed: 2"),
        (["--save", "hands.txt"], "allowed: a name that ends in .okgin"),
        (["--against", "gone.safetensors"], "does not exist"),
    ],
)
def test_bad_options_are_one_line(
    args: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(["play", *args]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert err.startswith("okgin play: ")


def test_help_teaches_with_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        command_line.main(["play", "--help"])
    shown = capsys.readouterr().out
    for word in ("examples:", "--against careful --seed 7", "camper", "k 7h knocks", "NO_COLOR"):
        assert word in shown
    assert command_line.main([]) == 2
    assert "play" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("tty", "variables", "expected"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": "0"}, False),  # whatever its value
        (True, {"NO_COLOR": ""}, True),  # but an empty one
        (True, {"TERM": "dumb"}, False),
    ],
)
def test_colours_are_for_terminals_and_can_be_refused(
    tty: bool, variables: dict[str, str], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: tty)
    assert play.has_colour() == expected


def test_players_names_are_told_apart() -> None:
    assert entry.unique(["camper", "hunter"]) == ["camper", "hunter"]
    assert entry.unique(["camper", "hunter", "camper"]) == ["camper-1", "hunter", "camper-3"]
    assert entry.unique(["you", "\x1b[31m"]) == ["you-1", "?[31m"]
    assert entry.unique(["checkpoint_1000", "checkpoint_2000"]) == ["checkpo-1", "checkpo-2"]
    assert entry.unique([39 * "x" + " y"]) == [
        39 * "x"
    ]  # a name with a space at its end is not saved
    assert [entry.typed(action) for action in (DRAW_STOCK, DRAW_TOP, PASS, BIG_GIN, 0, KNOCK)] == [
        "d", "t", "p", "big gin", "As", "k As",
    ]  # fmt: skip


# --- documentation -------------------------------------------------------------------------------------------------------
def test_the_documented_session_is_what_the_terminal_shows() -> None:
    shown = "\n".join(record(CLASSIC, [AGAINST], SEED, FIRST).lines)
    text = (ROOT / "docs" / "playing.md").read_text()
    blocks = re.findall(r"```text\n(.*?)\n```", text, re.DOTALL)
    assert len(blocks) >= 3
    at = 0
    for block in blocks:
        for part in block.split("\n[…]\n"):
            found = shown.find(part.strip("\n"), at)
            assert found >= 0, part
            at = found + len(part.strip("\n"))
