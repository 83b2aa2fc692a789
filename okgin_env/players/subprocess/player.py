"""Programs in any language as players, over the protocol of docs/protocol.md. POSIX only."""

from __future__ import annotations

import contextlib
import copy
import math
import secrets
import shlex
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from okgin_env.players.base import Decisions, Player, fault_action
from okgin_env.players.subprocess import messages
from okgin_env.players.subprocess.command import (
    checked_command,
    need_psutil,
    printable,
    short_command,
)
from okgin_env.players.subprocess.memory import Memory, Story
from okgin_env.players.subprocess.program import Program, Trouble
from okgin_env.rules import Rules
from okgin_env.view import SeatView

MAX_FAILED_STARTS = 3  # in a row; then the program is given up
BYE_TIME = 0.5  # seconds a program has to end by itself after bye
_Answer = TypeVar("_Answer")


class ProcessPlayer(Player):
    """A program that plays: started at its first decision, killed with all its children at each fault.

    Whatever the program does, `act` answers: with the move, or with `fault_action`. A program that has failed is started
    again at the next decision; after `MAX_FAILED_STARTS` starts in a row that did not come to an answered hello it is given up,
    and every decision is that fault at once, until `close`.

    Args:
        command: The command line as a text (split like a shell does, but no shell is run) or as a list.
        move_time: Seconds for a decision.
        start_time: Seconds from the start to the answered hello.
        name: What tables call it; None: the command without its folders.

    Attributes:
        command: The command line, its program with its whole path.
        name: What tables call it.
        is_named: Whether that was given, and is not just the command.
        said_name: What the program called itself in its hello, once it has run.
        last_trouble: What was wrong at the last fault, in a line, with the end of stderr if there was any.

    Raises:
        ValueError: No such program, or a time that is not above 0.
        ImportError: The extra that it needs is not installed.
    """

    one_by_one = True

    def __init__(
        self,
        command: str | Sequence[str],
        move_time: float = 1.0,
        start_time: float = 10.0,
        name: str | None = None,
    ) -> None:
        for what, seconds in (("move_time", move_time), ("start_time", start_time)):
            if not (isinstance(seconds, (int, float)) and 0 < seconds < math.inf):
                raise ValueError(f"{what}={seconds!r}; allowed: seconds above 0")
        self.command = checked_command(command)
        self.move_time = move_time
        self.start_time = start_time
        self.is_named = name is not None
        self.name = short_command(self.command) if name is None else name
        need_psutil()
        self.said_name = ""
        self.last_trouble = ""
        self._forget()

    def _forget(self) -> None:
        """No program runs, and nothing has been told."""
        self._program: Program | None = None
        self._rules: Rules | None = None
        self._told: Story | None = None
        self._memory = Memory()
        self._n_hands = 0
        self._n_failed = 0
        self._failure = ""

    # --- the Player protocol ---------------------------------------------------------------------------

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Asks the program about one decision after the other.

        Returns:
            (M,) action ids; `fault_action` of "crash", "time", "nonsense", "flood" or "illegal" where there is none.
        """
        return np.array(
            [
                self._answer(decisions.view(k), int(decisions.words[k]), decisions.match)
                for k in range(len(decisions))
            ],
            np.int64,
        )

    def hand_over(self, view: SeatView) -> None:
        """Tells the program how a hand ended; a program that does not run is not started for it."""
        program = self._program
        if program is None or not program.is_ours or view.rules != self._rules:
            return
        story = self._memory.story(view)
        _tell(program, *self._news(story), messages.end(view))  # a break shows at the next decision
        self._told = None

    def close(self) -> None:
        """Says bye, and stops the program; another decision would start it anew."""
        program = self._program
        try:
            if program is not None and program.is_ours:
                _tell(program, messages.bye())
                program.wait_end(time.monotonic() + BYE_TIME)
        finally:
            self._stop()
            self._forget()

    def ask_name(self, rules: Rules) -> str:
        """The name that the program gives itself, in a run for that only; empty: none, or it does not start."""
        asked = copy.copy(self)
        with contextlib.suppress(Trouble):
            asked._running(rules)
        asked.close()
        return asked.said_name.strip()

    # --- one decision -----------------------------------------------------------------------------------

    def _answer(self, view: SeatView, word: int, match: bool) -> int:
        """The action for a decision, or the fault; whatever else happens, no program is left running."""
        try:
            program = self._running(
                view.rules
            )  # first: under other rules all that was told is forgotten
            return self._asked(program, view, self._memory.story(view), word, match)
        except Trouble as trouble:
            self._note(str(trouble))
            self._stop()
            return fault_action(trouble.fault)
        except BaseException:
            self._stop()
            raise

    def _asked(self, program: Program, view: SeatView, story: Story, word: int, match: bool) -> int:
        """Tells the program what is new, and asks it."""
        program.listen_afresh()
        number = secrets.randbits(31)  # so that nobody answers before being asked
        request = messages.request(view, number, story.drawn, word, match)
        _tell(program, *self._news(story), request)
        self._told = story
        deadline = time.monotonic() + self.move_time
        move = _heard(program, deadline, lambda line: messages.read_move(line, number))
        action = messages.ACTIONS.get(move, fault_action("illegal"))
        if action not in view.legal:
            self._note(f"illegal move {move!r:.40}")
            self._stop()
        return action

    def _news(self, story: Story) -> list[dict[str, Any]]:
        """The news of a hand for the program: its last events, or all of it."""
        if self._told is not None and story.goes_on(self._told):
            return [messages.event(move) for move in story.moves[len(self._told.moves) :]]
        self._n_hands += 1
        return [messages.hand(story, self._n_hands), *map(messages.event, story.moves)]

    # --- the program's life ---------------------------------------------------------------------------

    def _running(self, rules: Rules) -> Program:
        """The program, started and greeted.

        Raises:
            Trouble: It does not start.
        """
        if self._program is not None and not self._program.is_ours:
            self._stop()  # we are a forked copy: that one is not ours to talk to
        if self._program is not None and rules != self._rules:
            self.close()
        if self._program is not None:
            return self._program
        if self._n_failed >= MAX_FAILED_STARTS:
            raise Trouble(self._failure, f"given up after {self._n_failed} failed starts in a row")
        self._rules, self._n_hands = rules, 0
        deadline = time.monotonic() + self.start_time
        try:
            self._program = program = Program(self.command)
            _tell(program, messages.hello(rules, self.move_time))
            self.said_name = _heard(program, deadline, messages.read_hello)
        except (OSError, Trouble) as error:
            self._n_failed += 1
            self._failure = getattr(error, "fault", "crash")
            if isinstance(error, Trouble):
                raise
            raise Trouble("crash", f"cannot be started: {error.strerror}") from error
        self._n_failed = 0
        return program

    def _stop(self) -> None:
        program, self._program = self._program, None
        self._told = None
        if program is not None:
            program.stop()

    def _note(self, trouble: str) -> None:
        """Keeps what was wrong, in one line that a terminal can be shown."""
        stderr = b"" if self._program is None else self._program.stderr
        lines = stderr.decode(errors="replace").splitlines()
        said = printable(" / ".join(part.strip() for part in lines if part.strip()))
        self.last_trouble = f"{trouble}; stderr: {said}" if said else trouble

    def __repr__(self) -> str:
        return f"ProcessPlayer({shlex.join(self.command)!r})"

    def __getstate__(self) -> dict[str, Any]:
        """The command and its limits: a program does not travel, each copy starts its own."""
        kept = ("command", "move_time", "start_time", "name", "is_named")
        return {name: self.__dict__[name] for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.said_name = self.last_trouble = ""
        self._forget()


def _tell(program: Program, *told: dict[str, Any]) -> None:
    program.send(b"".join(map(messages.line, told)))


def _heard(program: Program, deadline: float, read: Callable[[bytes], _Answer | None]) -> _Answer:
    """The first of the program's lines that answers; if it only goes on and on that is a flood, whatever a line is."""
    while True:
        if not (line := program.line(deadline)).strip():
            continue  # an empty line says nothing
        try:
            answer = read(line)
        except messages.Nonsense as error:
            if program.keeps_talking(deadline):
                raise Trouble("flood", f"it goes on without end: {error}") from error
            raise Trouble("nonsense", str(error)) from error
        if answer is not None:
            return answer
