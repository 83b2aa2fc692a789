"""Progress that is never silent: a bar in a terminal, a line every ten seconds elsewhere (needs rich, of the extras)."""

from __future__ import annotations

import threading
from datetime import timedelta

from rich.progress import (
    BarColumn,
    Progress,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

SECONDS = 10.0  # between two lines where there is no terminal


class NeverSilent(Progress):
    """A `rich` progress bar that prints lines where it cannot draw: in a pipe, a file, a batch job.

    Tasks say with their description what is going on, and in a field ``unit`` what they count.
    """

    def __init__(self, **options) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,.0f} {task.fields[unit]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        super().__init__(*columns, **options)
        self._draws = self.console.is_terminal or self.console.is_jupyter
        self._ended = threading.Event()

    def add_task(self, description: str, *args, unit: str = "", **more):  # type: ignore[override]
        """Adds a task; `unit` is what it counts."""
        return super().add_task(description, *args, unit=unit, **more)

    def start(self) -> None:
        """Begins to draw, or to print."""
        if self._draws:
            super().start()
        elif not self.disable:
            threading.Thread(target=self._print_lines, daemon=True).start()

    def stop(self) -> None:
        """Ends it."""
        self._ended.set()
        if self._draws:
            super().stop()

    def _print_lines(self) -> None:
        while not self._ended.wait(SECONDS):
            for task in self.tasks:
                if not task.finished and task.visible:
                    self.console.print(as_line(task), highlight=False, soft_wrap=True)


def as_line(task: Task) -> str:
    """What a task does and how far it is, on a line."""
    parts = [task.description or "working"]
    unit = f" {task.fields['unit']}".rstrip()
    if task.total:
        parts.append(f"{task.completed:,.0f} of {task.total:,.0f}{unit} ({task.percentage:.0f} %)")
    elif task.completed:
        parts.append(f"{task.completed:,.0f}{unit}")
    parts.append(f"{timedelta(seconds=int(task.elapsed or 0))} so far")
    if task.time_remaining:
        parts.append(f"{timedelta(seconds=int(task.time_remaining))} left")
    return ", ".join(parts)
