"""Programs as players: whatever they do is a fault of theirs, and nothing of them is left running."""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from okgin_env import ENV_ID, players
from okgin_env.engine.games import Games
from okgin_env.kernel.batch import EVERYBODY
from okgin_env.layout import DRAW_TOP, ENDINGS, N_ACTIONS, PASS
from okgin_env.players import Decisions, ProcessPlayer
from okgin_env.players.base import FAULTS, fault_action

psutil = pytest.importorskip("psutil")
ROOT = Path(__file__).parents[2]
BOTS = ROOT / "tests" / "helpers" / "hostile_bots.py"
ONE = np.zeros(1, np.int64)
SLOW = 30.0  # seconds for a bot that answers: a loaded machine is no fault of its own
SHORT = 0.4  # seconds for one that never will
linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="orphans are adopted on Linux only"
)


def _bot(behaviour: str, *more: str, move_time: float = SLOW, start_time: float = SLOW):
    command = [sys.executable, "-S", str(BOTS), behaviour, *more]
    return ProcessPlayer(command, move_time, start_time)


def _first_decision(seed: int = 1) -> Decisions:
    """The upcard offer to the seat that begins."""
    return _dealt(seed).decisions(ONE)


def _later_decision() -> Decisions:
    """The discard after taking the upcard."""
    games = _dealt(1)
    games.step(np.array([DRAW_TOP]), ONE, False)
    return games.decisions(ONE)


def _dealt(seed: int) -> Games:
    """A hand before its first decision."""
    games = Games(1, no_learner=EVERYBODY)
    games.seed(ONE, np.array([seed], np.uint64))
    games.reset(ONE)
    return games


def _gone(pid: int, within: float = 0.0) -> bool:
    """Whether a process has ended (a zombie has)."""
    end = time.monotonic() + within
    while True:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        if time.monotonic() >= end:
            return False
        time.sleep(0.02)


def _below() -> list[int]:
    """Processes below this one, but for the helper that `multiprocessing` keeps once it has been used."""
    found = psutil.Process().children(recursive=True)
    return [
        child.pid
        for child in found
        if "multiprocessing.resource_tracker" not in " ".join(child.cmdline())
    ]


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    before = set(_below())
    yield
    assert set(_below()) <= before


FAULTY = [
    ("crash-at-start", "crash"),
    ("nonsense-at-start", "nonsense"),
    ("exit-early", "crash"),
    ("flood", "flood"),
    ("flood-lines", "flood"),
    ("flood-nonsense", "flood"),
    ("half-line-exit", "crash"),
    ("wrong-json", "nonsense"),
    ("deep-json", "nonsense"),
    ("not-text", "nonsense"),
    ("wrong-types", "nonsense"),
    ("wrong-id", "nonsense"),
    ("no-action", "illegal"),
]


@pytest.mark.parametrize(("behaviour", "fault"), FAULTY)
def test_each_fault_has_its_name_and_leaves_nothing(behaviour: str, fault: str) -> None:
    bot = _bot(behaviour)
    assert bot.act(_first_decision()).tolist() == [fault_action(fault)]
    assert bot._program is None
    assert bot.last_trouble
    assert not _below()


@pytest.mark.parametrize("behaviour", ["hang", "half-line", "early"])
def test_a_bot_that_does_not_answer_is_stopped_in_time(behaviour: str) -> None:
    bot = _bot(behaviour, move_time=SHORT)
    start = time.monotonic()
    assert bot.act(_first_decision()).tolist() == [fault_action("time")]
    assert time.monotonic() - start < SHORT + 20.0  # and not for ever
    assert not _below()


def test_a_bot_that_does_not_start_is_given_up_after_three_times() -> None:
    bot = _bot("hang-at-start", start_time=SHORT)
    fault = [fault_action("time")]
    for _ in range(3):
        assert bot.act(_first_decision()).tolist() == fault
    start = time.monotonic()
    assert bot.act(_first_decision()).tolist() == fault
    assert time.monotonic() - start < SHORT
    assert "given up after 3 failed starts" in bot.last_trouble
    bot.close()  # forgets it
    assert bot.act(_first_decision()).tolist() == fault
    assert "given up" not in bot.last_trouble


def test_an_illegal_move_is_passed_on_and_ends_the_bot() -> None:
    bot = _bot("illegal")
    assert bot.act(_first_decision()).tolist() == [0]
    assert not _below()
    assert bot.last_trouble == "illegal move 'discard As'"


def test_a_crash_in_the_middle_of_a_hand_says_why() -> None:
    bot = _bot("crash-mid-hand")
    legal = set(np.flatnonzero(_first_decision().masks[0]))
    assert bot.act(_first_decision())[0] in legal
    assert bot.act(_later_decision()).tolist() == [fault_action("crash")]
    assert "it exited with status 1" in bot.last_trouble
    assert bot.last_trouble.endswith("RuntimeError: broken in the middle")
    assert bot.act(_first_decision())[0] in legal  # started again
    bot.close()


def test_trouble_is_one_line_without_control_characters() -> None:
    bot = _bot("crash-at-start")
    bot.act(_first_decision())
    assert bot.last_trouble == "it exited with status 1; stderr: ?[31mno such / luck"


def test_a_missing_interpreter_says_why(tmp_path: Path) -> None:
    script = tmp_path / "bot"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    bot = players.make(f"cmd:{script}")
    assert isinstance(bot, ProcessPlayer)
    bot.start_time = SLOW
    assert bot.act(_first_decision()).tolist() == [fault_action("crash")]
    assert "cannot be started" in bot.last_trouble


def test_a_bot_that_closes_its_input_has_crashed() -> None:
    bot = _bot("closes-input", move_time=SLOW)
    assert bot.act(_first_decision()).tolist() == [fault_action("crash")]


@pytest.mark.parametrize("behaviour", ["begun-line", "full-pipe"])
def test_a_line_that_was_begun_unasked_is_thrown_away_whole(behaviour: str) -> None:
    """Of 72,000 bytes a pipe holds 65,536: the rest is written when these have been taken."""
    bot, decisions = _bot(behaviour), _first_decision()
    assert decisions.masks[0, bot.act(decisions)[0]]
    assert bot._program is not None
    begun = bot._program._said or select.select([bot._program._out], [], [], SLOW)[0]
    assert begun
    assert decisions.masks[0, bot.act(decisions)[0]], bot.last_trouble
    bot.close()
    assert not bot.last_trouble


@pytest.mark.parametrize("behaviour", ["chatter", "other-ids", "gaps"])
def test_what_is_no_fault(behaviour: str) -> None:
    bot = _bot(behaviour)
    decisions = _first_decision()
    for _ in range(3):
        assert decisions.masks[0, bot.act(decisions)[0]]
    bot.close()
    assert not bot.last_trouble


def test_the_end_of_stderr_is_kept() -> None:
    bot = _bot("chatter")
    bot.act(_first_decision())
    assert bot._program is not None
    bot._program.keeps_talking(time.monotonic() + SLOW)
    assert bot._program.stderr.endswith(b"the end")
    assert len(bot._program.stderr) <= 2048
    bot.close()


@linux
@pytest.mark.parametrize("behaviour", ["leak-child", "daemon"])
def test_children_end_with_their_bot(behaviour: str, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    bot = _bot(behaviour, str(pids))
    legal = np.flatnonzero(_first_decision().masks[0])
    assert bot.act(_first_decision())[0] in legal
    (child,) = map(int, pids.read_text().split())
    assert not _gone(child)
    bot.close()
    assert _gone(child)


def test_killing_the_guardian_frees_nobody(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    bot = _bot("kill-guardian", str(pids))
    assert bot.act(_first_decision()).tolist() == [fault_action("crash")]
    (child,) = map(int, pids.read_text().split())
    assert _gone(child, 5.0)


@linux
def test_a_daemon_of_a_bot_that_has_killed_its_guardian_does_not_get_away(tmp_path: Path) -> None:
    """It has left the group, the session, the family and the environment; others' children stay."""
    other = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(1000)"])
    friend = _bot("chatter")
    friend.act(_first_decision())
    pids = tmp_path / "pids"
    bot = _bot("escape", str(pids))
    assert bot.act(_first_decision()).tolist() == [fault_action("crash")]
    (daemon,) = map(int, pids.read_text().split())
    assert _gone(daemon, 5.0)
    assert not psutil.pid_exists(daemon)  # not even as a zombie of ours
    assert other.poll() is None
    assert friend.act(_first_decision())[0] in (DRAW_TOP, PASS)
    friend.close()
    other.kill()
    other.wait()


@linux
def test_stopping_the_guardian_is_a_fault(tmp_path: Path) -> None:
    bot, decisions = _bot("stop-guardian"), _first_decision()
    assert decisions.masks[0, bot.act(decisions)[0]]
    assert bot.act(decisions).tolist() == [fault_action("crash")]
    assert bot.last_trouble == "it has stopped its guardian"
    assert not _below()


SCRIPT = """
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background is born ignoring it
sys.path[:0] = [{root!r}, {tests!r}]
from tests.players import test_process
bot = test_process._bot("up-and-hang", {pids!r}, move_time=600.0)
bot.act(test_process._first_decision())
"""


def _tournament(pids: Path) -> tuple[subprocess.Popen, list[int]]:
    """Another process, asking a bot that hangs and has a daemon; and the ids of both of these."""
    code = SCRIPT.format(root=str(ROOT), tests=str(Path(__file__).parent), pids=str(pids))
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    end = time.monotonic() + 120.0
    while not pids.exists() or len(pids.read_text().split()) < 2:
        assert time.monotonic() < end
        assert process.poll() is None
        time.sleep(0.02)
    return process, [int(pid) for pid in pids.read_text().split()]


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_bots_do_not_outlive_the_tournament(number: signal.Signals, tmp_path: Path) -> None:
    process, pids = _tournament(tmp_path / "pids")
    process.send_signal(number)
    process.wait(timeout=60.0)
    for pid in pids:
        assert _gone(pid, 20.0)


def test_bots_are_not_left_when_they_are_just_dropped() -> None:
    bot = _bot("chatter")
    bot.act(_first_decision())
    assert _below()
    del bot
    assert not _below()


# --- in the environments -------------------------------------------------------------------------------
@pytest.mark.parametrize("behaviour", ["crash-at-start", "wrong-json", "illegal"])
def test_a_faulty_opponent_forfeits_its_hand(behaviour: str) -> None:
    env = gym.make(ENV_ID, opponent=_bot(behaviour))
    for seed in range(4):
        _, info = env.reset(seed=seed)
        done, reward = False, 0.0
        while not done:
            _, reward, done, _, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
        assert info["ending"] == "illegal"
        assert reward == 1.0
    env.close()


def test_a_batch_of_games_is_played_to_its_end() -> None:
    bot = _bot("chatter")
    games = Games(3, opponent=bot)
    every = np.arange(3)
    games.seed(every, np.arange(3, dtype=np.uint64))
    written = games.reset(every)
    done = np.zeros(3, bool)
    while not done.all():
        going = np.flatnonzero(~done)
        written = games.step(written.masks.argmax(axis=1), going, False)
        done |= written.dones
    assert ENDINGS.index("illegal") not in games.finals["ending"]
    assert not bot.last_trouble
    bot.close()


def test_copies_start_their_own_program() -> None:
    bot = _bot("chatter")
    bot.act(_first_decision())
    copy = pickle.loads(pickle.dumps(bot))
    assert (copy.name, copy.move_time, copy._program) == (bot.name, bot.move_time, None)
    assert copy.act(_first_decision())[0] in (DRAW_TOP, PASS)
    copy.close()
    assert bot.act(_first_decision())[0] in (DRAW_TOP, PASS)
    bot.close()


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_fork_leaves_the_program_to_its_owner() -> None:
    bot = _bot("chatter")
    bot.act(_first_decision())
    assert bot._program is not None
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if not bot._program.is_ours and bot.close() is None else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert bot.act(_first_decision())[0] in (DRAW_TOP, PASS)
    bot.close()


# --- the command ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: players.make("cmd:no-such-bot --x"), "there is no program 'no-such-bot'"),
        (lambda: players.make("cmd:"), "player 'cmd:'; allowed: cmd: and a command"),
        (lambda: players.make("cmd:'./bot"), "no closing quotation"),
        (lambda: ProcessPlayer("sh", move_time=0), "move_time=0; allowed: seconds above 0"),
        (lambda: ProcessPlayer("sh", start_time=float("nan")), "start_time=nan; allowed"),
    ],
)
def test_a_bad_command_is_refused_at_once(make: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_what_it_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psutil", None)
    with pytest.raises(ImportError, match=r"^cmd: players need: pip install okgin-env\[arena\]$"):
        players.make("cmd:sh")


def test_names_have_no_folders() -> None:
    bot = players.make(f"cmd:sh {BOTS} --file=a/b")
    assert bot.name == "sh hostile_bots.py --file=b"
    assert players.make("cmd:sh -c x.zip").name == "sh -c x.zip"  # no model file
    assert isinstance(bot, players.Player)
    assert all(fault_action(fault) >= N_ACTIONS for fault in FAULTS)
