"""A tournament: all pairs of some players on the same deals, played by an engine, kept in a store, summed up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

try:
    from rich.console import Console
    from rich.progress import Progress, TimeRemainingColumn
except ImportError as error:
    raise ImportError("the arena needs: pip install 'okgin-env[arena]'") from error

from okgin_env import __version__
from okgin_env.arena import statistics, summary
from okgin_env.arena.contained import forget_troubles
from okgin_env.arena.double import double_name, quick_double
from okgin_env.arena.engines import Hall, engine
from okgin_env.arena.match import Played
from okgin_env.arena.outcome import Outcome, Pair, Results
from okgin_env.arena.pair_results import Gathered
from okgin_env.arena.plan import Plan
from okgin_env.arena.store import provenance
from okgin_env.arena.store.fingerprints import fingerprint
from okgin_env.arena.store.store import Store
from okgin_env.arena.task import Task
from okgin_env.histories.hand import check_name
from okgin_env.kernel.policies import EXTERNAL
from okgin_env.players.base import Player, check_rules
from okgin_env.rules import Rules

KINDS = ("hands", "matches")
FIRST_ROUND = 250  # deals after which a stopping rule first looks; each further round doubles them
CHECK_HANDS = 2000  # of the player against its double


def run(
    players: Sequence[Player],
    plan: Plan,
    *,
    store: Store | None = None,
    show_progress: bool = True,
    about: dict[str, str] | None = None,
) -> Outcome:
    """Plays what the store does not have yet, and sums up all that it has of these players.

    Args:
        players: Two or more, with different names (or one player against itself).
        plan: What is to be played.
        store: Where results are kept as they come; None: in memory.
        show_progress: Whether to show a progress bar.
        about: What else the summary is to say, such as the commit.

    Raises:
        ValueError: Two players of one name, a player that cannot play by the rules, or a store that does not fit.
    """
    names = [player.name for player in players]
    _check(players, plan.rules)
    forget_troubles()
    double = quick_double(players[0]) if plan.check else None
    seated = {player.name: player for player in (*players, *([double] if double else []))}
    kept = store or Store(None, plan.rules)
    kept.seat({name: fingerprint(player) for name, player in seated.items()})
    kept.note(provenance.versions())
    pairs = [
        (a, b) for k, a in enumerate(names) for b in names[k + 1 :] if not plan.first_only or k == 0
    ]
    tournament = _Tournament(plan, pairs, seated, kept)
    tournament.play(show_progress)
    if double:
        tournament.play_double(players[0].name, double.name)
    return tournament.outcome(players, about or {})


def _check(players: Sequence[Player], rules: Rules) -> None:
    """Checks players, before any work is done.

    Raises:
        ValueError: Too few, a name that cannot be told, two of one name, or one that cannot play by the rules.
    """
    if len(players) < 2:
        raise ValueError("one player; allowed: two or more")
    for player in players:
        check_name(player.name)
    names = [player.name for player in players]
    itself = len(players) == 2 and fingerprint(players[0]) == fingerprint(players[1])
    if len(set(names)) < len(names) and not itself:
        raise ValueError(f"players {', '.join(names)}; allowed: different names")
    for player in players:
        check_rules(player, rules)


class _Tournament:
    """The state of a tournament: what of each pair has been played."""

    def __init__(
        self, plan: Plan, pairs: list[tuple[str, str]], seated: dict[str, Player], store: Store
    ) -> None:
        self.plan, self.pairs, self.seated, self.store = plan, pairs, seated, store
        self.played: dict[tuple[str, str, str], Gathered] = {}
        for task in store.tasks():
            self._keep(task, store.get(task))

    def _keep(self, task: Task, played: Played) -> None:
        key = (task.a, task.b, task.kind)
        self.played.setdefault(key, Gathered(self._results)).keep(task, played)

    def _results(self, task: Task) -> Results:
        return self.store.get(task).results

    def _tasks(self, a: str, b: str, kind: str) -> Iterable[Task]:
        """The tasks of a pair that have been played."""
        found = self.played.get((a, b, kind))
        return found.tasks if found else ()

    def play(self, show_progress: bool) -> None:
        """Plays round after round until every pair has its hands, then the matches."""
        plan = self.plan
        hall = Hall(plan.rules, self.seated)
        chosen = engine(hall, plan.engine, plan.workers, plan.address)
        columns = (*Progress.get_default_columns()[:-1], TimeRemainingColumn())
        console = Console(stderr=True)  # the table on stdout is for pasting
        with Progress(*columns, console=console, disable=not show_progress) as bar:
            bars = bar.add_task("", total=len(self.pairs) * (plan.n_deals + plan.n_match_deals))
            try:
                for tasks in self._rounds():
                    done = sum(task.deals for key in self._keys() for task in self._tasks(*key))
                    bar.update(bars, completed=done)
                    for task, played in chosen.run(tasks):
                        self.store.add(task, played)
                        self._keep(task, played)
                        bar.update(
                            bars, advance=task.deals, description=f"{task.a} against {task.b}"
                        )
                bar.update(bars, description="played", completed=bar.tasks[0].total)
            finally:
                chosen.close()

    def _keys(self) -> Iterator[tuple[str, str, str]]:
        for a, b in self.pairs:
            for kind in KINDS:
                yield a, b, kind

    def _rounds(self) -> Iterator[list[Task]]:
        """Tasks round by round; what a round holds hangs on nothing but the results of those before it."""
        plan = self.plan
        going = list(self.pairs)
        target = plan.n_deals if plan.until is None else min(FIRST_ROUND, plan.n_deals)
        share: dict[tuple[str, str], float] = {}
        while going:
            yield [task for a, b in going for task in self._missing(a, b, "hands", target)]
            for pair in [p for p in going if target >= plan.n_deals or self._narrow(*p, target)]:
                going.remove(pair)
                share[pair] = target / plan.n_deals
            target = min(2 * target, plan.n_deals)
        if plan.n_match_deals:
            yield [
                task
                for a, b in self.pairs
                for task in self._missing(
                    a, b, "matches", int(np.ceil(plan.n_match_deals * share[a, b]))
                )
            ]

    def _narrow(self, a: str, b: str, target: int) -> bool:
        """Whether the first `target` deals are enough, whatever a round that was killed has left of later ones."""
        points = self.played[a, b, "hands"].points(self.plan.seed, target)
        _, low, high = statistics.clustered_mean(points)
        return high - low <= (self.plan.until or 0)

    def _missing(self, a: str, b: str, kind: str, target: int) -> Iterator[Task]:
        """The deals up to `target` that have not been played, cut into tasks."""
        seed = self.plan.seed
        done = sorted(
            (task.first, task.first + task.deals)
            for task in self._tasks(a, b, kind)
            if task.seed == seed
        )
        size = self._deals_a_task(a, b, kind)
        first = 0
        for begin, end in [*done, (target, target)]:
            while first < min(begin, target):
                n = min(size - first % size, begin - first, target - first)
                yield Task(seed, a, b, kind, first, n)
                first += n
            first = max(first, end)

    def _deals_a_task(self, a: str, b: str, kind: str) -> int:
        """Deals of one task: enough to be worth sending, few enough to lose little."""
        pair = (self.seated[a], self.seated[b])
        if given := [n for p in pair if (n := p.deals_per_task)]:
            size = min(given)
        elif any(player.one_by_one for player in pair):
            size = 32
        elif any(player.kernel_policy == EXTERNAL for player in pair):
            size = 1024
        else:
            size = 16_384  # some 100 ms
        return max(1, size if kind == "hands" else size // 8)

    def play_double(self, a: str, double: str) -> None:
        """Plays a player against its double, in this process."""
        n_deals = min(CHECK_HANDS, self.plan.n_hands) // self.plan.rules.players
        hall = Hall(self.plan.rules, self.seated)
        for task in self._missing(a, double, "hands", n_deals):
            played = hall.play(task)
            self.store.add(task, played)
            self._keep(task, played)

    def _pair(self, a: str, b: str) -> Pair:
        hands, matches = self.played[a, b, "hands"], self.played.get((a, b, "matches"))
        shown = hands.worth_showing()
        return Pair(hands.joined(), matches.joined() if matches else None, hands.knocks, shown)

    def outcome(self, players: Sequence[Player], about: dict[str, str]) -> Outcome:
        """Sums everything up."""
        plan = self.plan
        pairs = tuple(self._pair(a, b) for a, b in self.pairs)
        checks = [summary.seat_check(pairs, plan.rules)]
        doubles = [
            key for key in self.played if key[1] == double_name(key[0]) and key[0] in self.seated
        ]
        checks += [summary.clone_check(self.played[key].joined()) for key in sorted(doubles)]
        seeds = sorted({task.seed for key in self.played for task in self._tasks(*key)})
        content: dict[str, Any] = {
            "rules": plan.rules.label,
            "seed": seeds[0] if len(seeds) == 1 else seeds,
            "pairs": summary.summaries(pairs, summary.speeds(pairs, players, plan.rules)),
            "ratings": summary.ratings(pairs),
            "nash": summary.nash(pairs),
            "checks": [check for check in checks if check is not None],
            "version": __version__,
            "versions": self.store.versions(),
            "results": self.store.digest(),
            **about,
        }
        names = tuple(dict.fromkeys(player.name for player in players))
        return Outcome(plan.rules, names, pairs, content)
