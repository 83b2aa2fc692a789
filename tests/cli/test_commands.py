"""The command `okgin`: what it lists, what it refuses, and two players whom somebody watches."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from rich.console import Console

from okgin_env import Rules, __version__, players
from okgin_env.cli import main as okgin
from okgin_env.cli import watch
from okgin_env.utils import progress
from tests.helpers.paths import ROOT


def test_help_lists_every_command_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    modules = {path.stem for path in (ROOT / "okgin_env" / "cli").glob("*.py")}
    assert okgin.main(["--help"]) == 0
    said = capsys.readouterr().out
    assert re.findall(r"^  (\w+) ", said, re.MULTILINE) == [*okgin.COMMANDS]
    assert modules >= {*okgin.COMMANDS}
    assert okgin.main(["--version"]) == 0
    assert capsys.readouterr().out == f"okgin-env {__version__}\n"


def test_without_a_command_or_with_an_unknown_one_the_status_is_2(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert okgin.main([]) == 2
    assert okgin.main(["pley"]) == 2
    assert capsys.readouterr().err == f"okgin: 'pley'; allowed: {', '.join(okgin.COMMANDS)}\n"


@pytest.mark.parametrize("command", okgin.COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        okgin.main([command, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: okgin {command}")


# --- watch ------------------------------------------------------------------------------------------


def shown(*specs: str, rules: str = "classic", episode: str = "hand", seed: int = 3) -> list[str]:
    said: list[str] = []
    field = [players.make(spec) for spec in specs]
    watch.Show(Rules.preset(rules, len(field)), field, episode, seed, say=said.append).run()
    return "\n".join(said).split("\n")


def test_every_move_is_shown_with_the_hand_after_it() -> None:
    lines = [line for line in shown("camper", "simple") if ";" not in line]  # but for pictures
    assert lines[0] == "camper against simple, rules classic, seed 3"
    drew = [
        line for line in lines if re.match(r"  (camper|simple) (must draw|draws) \w\w from", line)
    ]
    threw = [
        line
        for line in lines
        if re.match(r"  (camper|simple) (discards|knocks, discarding) ", line)
    ]
    assert len(drew) > 3
    for line in drew:
        card = re.search(r"draws? (\w\w) from", line)
        assert card is not None
        assert len(line[46:].split()) == 11
        assert card[1] in line[46:].split()
    assert all(len(line[46:].split()) == 10 for line in threw)
    assert lines[-1].startswith("final score: camper ")


def test_a_match_of_three_is_shown_hand_by_hand_and_the_same_each_time() -> None:
    lines = shown("hunter", "simple", "camper", rules="french", episode="match")
    hands = [line for line in lines if re.match(r"hand \d+: ", line)]
    assert [line.split(":")[0] for line in hands] == [f"hand {k + 1}" for k in range(len(hands))]
    assert len(hands) > 1
    assert lines == shown("hunter", "simple", "camper", rules="french", episode="match")


def test_watched_hands_are_saved(tmp_path: Path) -> None:
    file = tmp_path / "w.okgin"
    words = ["camper", "simple", "--seed", "3", "--delay", "0", "--save", str(file)]
    assert watch.main(words, prog="okgin watch") == 0
    assert "camper" in file.read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["simple"], "players=1; allowed: 2 to 4"),
        (["simple", "nobody"], "player 'nobody'; allowed: "),
        (["simple", "camper", "--episode", "day"], "episode='day'; allowed: hand, match"),
        (["simple", "camper", "--seed", "-1"], "--seed -1; allowed: 0 or more"),
        (["simple", "camper", "--delay", "-1"], "--delay -1.0; allowed: 0 to 3600 seconds"),
        (["expert", "camper", "camper"], "expert"),
    ],
)
def test_what_cannot_be_watched_is_refused_in_a_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert watch.main(words, prog="okgin watch") == 2
    error = capsys.readouterr().err
    assert error.startswith("okgin watch: ")
    assert said in error
    assert error.count("\n") == 1


# --- progress ---------------------------------------------------------------------------------------


def test_progress_prints_lines_where_it_cannot_draw(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Waits for the first line, however long that takes."""
    monkeypatch.setattr(progress, "SECONDS", 0.01)
    with (
        open(tmp_path / "out", "w+") as file,
        progress.NeverSilent(console=Console(file=file)) as bar,
    ):
        bar.update(bar.add_task("learning", total=200, unit="steps"), completed=50)
        while not (said := (tmp_path / "out").read_text()).endswith("\n"):
            file.flush()
    assert said.startswith("learning, 50 of 200 steps (25 %), 0:00:0")


def test_progress_draws_in_a_terminal_and_says_nothing_where_it_is_off(tmp_path: Path) -> None:
    for disable in (False, True):
        with open(tmp_path / "out", "w") as file:
            console = Console(file=file, force_terminal=True, width=100)
            with progress.NeverSilent(console=console, disable=disable) as bar:
                bar.add_task("learning", total=200, unit="steps")
        said = (tmp_path / "out").read_text()
        assert ("learning" in said) is not disable
        assert os.linesep not in said or not disable
