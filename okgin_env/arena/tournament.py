"""A tournament: all pairs of some players on the same deals, played by an engine, kept in a store, summed up."""

from __future__ import annotations

import copy
import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    from rich.console import Console

    from okgin_env.utils.progress import NeverSilent
except ImportError as error:
    raise ImportError("the arena needs: pip install 'okgin-env[arena]'") from error

from okgin_env import __version__
from okgin_env.arena import statistics, summary
from okgin_env.arena.contained import forget_troubles
from okgin_env.arena.decks import FRESH, Decks, secret_label
from okgin_env.arena.double import double_name, quick_double
from okgin_env.arena.engines import Hall, engine
from okgin_env.arena.lives import copied, keeps_nothing
from okgin_env.arena.luck import Gauge
from okgin_env.arena.match import has_lives, series
from okgin_env.arena.outcome import Outcome, Pair, Played
from okgin_env.arena.pair_results import PairResults
from okgin_env.arena.plan import Plan, Task
from okgin_env.arena.store import provenance
from okgin_env.arena.store.fingerprints import fingerprint
from okgin_env.arena.store.store import Store
from okgin_env.histories.hand import HandHistory, check_name
from okgin_env.histories.text import MAX_NAME
from okgin_env.kernel.policies import EXTERNAL
from okgin_env.players import DESCRIPTIONS, ProcessPlayer, make
from okgin_env.players.base import FAULTS, Player, check_rules
from okgin_env.rules import Rules

_log = logging.getLogger("okgin_env.arena")
KINDS = ("hands", "matches")
FIRST_ROUND = 250  # deals after which a stopping rule first looks; each further round doubles them
CHECK_HANDS = 2000  # of the player against its double


def run(
    players: Sequence[Player | str],
    plan: Plan,
    *,
    store: Store | None = None,
    show_progress: bool = True,
    about: dict[str, str] | None = None,
) -> Outcome:
    """Plays what the store does not have yet, and sums up all that it has of these players.

    Args:
        players: Two or more, or their specs, with different names (or one player against itself).
        plan: What is to be played.
        store: Where results are kept as they come, and the secret of the decks until the end; None: in memory.
        show_progress: Whether to show a progress bar.
        about: What else the summary is to say, such as the commit.

    Raises:
        ValueError: Two players of one name, a player that cannot play by the rules, or a store that does not fit.
    """
    field = _named([make(player) for player in players], plan.rules)
    _check(field, plan.rules)
    forget_troubles()
    double = quick_double(field[0]) if plan.check else None
    seated = {player.name: player for player in (*field, double) if player is not None}
    kept = store or Store(None, plan.rules)
    kept.seat({name: fingerprint(player) for name, player in seated.items()})
    kept.note(provenance.versions())
    names = [player.name for player in field]
    pairs = [(names[0], b) for b in names[1:]] if plan.first_only else list(combinations(names, 2))
    decks = _decks(plan, kept)
    tournament = _Tournament(plan, decks, pairs, seated, kept)
    console = Console(stderr=True)  # the table on stdout is for pasting
    with NeverSilent(console=console, disable=not show_progress) as bar:
        tournament.play(bar)
        if double is not None:
            bar.add_task(f"checking {names[0]} against its double", total=None)
            tournament.play_double(names[0], double.name)
        if isinstance(decks.source, str):
            kept.publish(decks.source)
        bar.add_task("rating the players", total=None)
        return tournament.outcome(field, about or {})


def _decks(plan: Plan, store: Store) -> Decks:
    """The decks of the plan's seed, or of its secret: one to be played again, one to go on with, or a new one."""
    if plan.seed is not None:
        return Decks(plan.seed, plan.fresh)
    return Decks(plan.secret or store.secret() or store.new_secret(), plan.fresh)


def _named(field: list[Player], rules: Rules) -> list[Player]:
    """The players, programs by the names that they say, with their commands where another player has that name."""
    said = {
        k: player.ask_name(rules)
        for k, player in enumerate(field)
        if isinstance(player, ProcessPlayer) and not player.is_named
    }
    taken = [*DESCRIPTIONS, *(player.name for k, player in enumerate(field) if k not in said)]
    for k, name in said.items():
        if name:
            field[k] = copy.copy(field[k])
            alone = [*taken, *said.values()].count(name) == 1
            field[k].name = name if alone else f"{name} ({field[k].name})"[:MAX_NAME].strip()
    return field


def _check(players: Sequence[Player], rules: Rules) -> None:
    """Checks players, before any work is done.

    Raises:
        ValueError: Too few, a name that cannot be told, two of one name, or one that cannot play by the rules or be copied.
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
        if not keeps_nothing(player):
            copied(player)


class _Tournament:
    """The state of a tournament: what of each pair has been played."""

    def __init__(
        self,
        plan: Plan,
        decks: Decks,
        pairs: list[tuple[str, str]],
        seated: dict[str, Player],
        store: Store,
    ) -> None:
        self.plan, self.pairs, self.seated, self.store = plan, pairs, seated, store
        self.label = decks.label
        secrets = store.secrets()
        self.told = ""  # a secret that players could know, until the store says so
        if isinstance(decks.source, str):
            over = decks.source in secrets.values()
            self.told = decks.source if over or plan.secret else ""
            secrets[secret_label(decks.source)] = decks.source
        self.hall = Hall(plan.rules, seated, secrets, self._gauges())
        self.played: defaultdict[tuple[str, str, str], PairResults] = defaultdict(
            lambda: PairResults(lambda task: store.get(task, hands=False).results)
        )
        for task, played in store.rows(mend=True):
            if not (plan.again == "faults" and self._failed(task, played)):
                self._keep(task, played)

    def _gauges(self) -> dict[tuple[str, str], Gauge]:
        """What measures the luck of each pair: unless the plan says it, of those with a player from outside."""
        plan = self.plan
        tiers = {
            (a, b): plan.luck or ("fast" if has_lives(self.seated[a], self.seated[b]) else "none")
            for a, b in self.pairs
        }
        return {pair: Gauge(tier, plan.playouts) for pair, tier in tiers.items() if tier != "none"}

    def _failed(self, task: Task, played: Played) -> bool:
        """Whether deals that are to be played ended in faults of a program; if so the row is dropped."""
        planned = self.plan.n_deals if task.kind == "hands" else self.plan.n_match_deals
        ours = task.seed == self.label and (task.a, task.b) in self.pairs
        if not ours or task.first >= planned:
            return False
        faults = played.results.faults.sum(axis=(0, 1, 2))
        failed = bool(faults[FAULTS.index("illegal") + 1 :].any())
        if failed:
            self.store.drop(task)
        return failed

    def _keep(self, task: Task, played: Played) -> None:
        self.played[task.a, task.b, task.kind].keep(task, played)

    def _add(self, task: Task, played: Played) -> None:
        if self.told:
            self.store.note_known(self.told)
            self.told = ""
        self.store.add(task, played)
        self._keep(task, played)

    def play(self, bar: NeverSilent) -> None:
        """Plays round after round until every pair has its hands, then the matches."""
        total = len(self.pairs) * (self.plan.n_deals + self.plan.n_match_deals)
        with closing(engine(self.hall, self.plan)) as chosen:
            shown = bar.add_task("playing", total=total, unit="deals")
            for tasks in self._rounds():
                bar.update(shown, completed=self._n_played())
                for task, played in chosen.run(tasks):
                    self._add(task, played)
                    bar.update(shown, advance=task.deals, description=f"{task.a} against {task.b}")
            bar.update(shown, description="played", completed=total)

    def _n_played(self) -> int:
        """Deals that have been played of all pairs."""
        keys = [(*pair, kind) for pair in self.pairs for kind in KINDS]
        return sum(task.deals for key in keys for task in self.played[key].tasks)

    def _rounds(self) -> Iterator[list[Task]]:
        """Tasks round by round; what a round holds hangs on nothing but the results of those before it."""
        n_deals, n_match_deals = self.plan.n_deals, self.plan.n_match_deals
        going = list(self.pairs)
        target = n_deals if self.plan.until is None else min(FIRST_ROUND, n_deals)
        matches: dict[tuple[str, str], int] = {}  # deals, as many as of the hands in proportion
        while going:
            yield [task for a, b in going for task in self._missing(a, b, "hands", target)]
            for pair in [p for p in going if target >= n_deals or self._narrow(*p, target)]:
                going.remove(pair)
                matches[pair] = int(np.ceil(n_match_deals * (target / n_deals)))
            target = min(2 * target, n_deals)
        yield [t for a, b in self.pairs for t in self._missing(a, b, "matches", matches[a, b])]

    def _narrow(self, a: str, b: str, target: int) -> bool:
        """Whether the first `target` deals are enough, whatever a round that was killed has left of later ones."""
        points = self.played[a, b, "hands"].points(self.label, target)
        most = self.plan.rules.most_points
        _, low, high = statistics.clustered_mean(points, most=most)
        return high - low <= (self.plan.until or 0)

    def _missing(self, a: str, b: str, kind: str, target: int) -> Iterator[Task]:
        """The deals up to `target` that have not been played, cut into tasks."""
        seed = self.label
        tasks = self.played[a, b, kind].tasks
        done = sorted((task.first, task.end) for task in tasks if task.seed == seed)
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
        if given := [player.deals_per_task for player in pair if player.deals_per_task]:
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
        for task in self._missing(a, double, "hands", n_deals):
            self._add(task, self.hall.play(task))

    def _pair(self, a: str, b: str) -> Pair:
        hands, matches = (self.played[a, b, kind] for kind in KINDS)
        joined = matches.joined() if matches.tasks else None
        shown = tuple(hand for hand in hands.worth_showing() if self._is_whole(hand))
        return Pair(hands.joined(), joined, hands.knocks, shown)

    def _is_whole(self, hand: HandHistory) -> bool:
        """Whether a stored hand replays, as whoever looks at it will want."""
        try:
            hand.final()
        except ValueError as error:
            names = " and ".join(dict.fromkeys(hand.names))
            _log.warning("results file '%s': a hand of %s: %s", self.store.path, names, error)
            return False
        return True

    def _mirror_checks(self) -> Iterator[dict[str, Any]]:
        """Of each pair with a player that could remember: whether it does better when a deal comes again."""
        for a, b in self.pairs:
            if has_lives(self.seated[a], self.seated[b]):
                for kind in KINDS:
                    points = self.played[a, b, kind].played_in(self._order)
                    if len(points):
                        most = self.plan.rules.most_points  # of a match: beyond the target
                        most += (self.plan.rules.target or 0) * (kind == "matches")
                        yield summary.mirror_check(a, b, kind, points, most)

    def _order(self, task: Task) -> NDArray[np.int64] | None:
        """(D, R) the rotations of a task's deals in the order in which they were played; None: not known, or no mirrors."""
        if isinstance(task.seed, str) and task.seed not in self.hall.secrets:
            return None  # fresh decks have labels of their own
        decks = Decks.of(task.seed, self.hall.secrets)
        of = series(task.a, task.b, task.kind == "matches")
        return decks.chance(self.plan.rules, of, task.first, task.deals).order

    def _origins(self, labels: set[int | str]) -> dict[str, Any]:
        """Where decks came from, and whether players could know them."""
        names = {str(label).removesuffix(FRESH) for label in labels}
        seeds = sorted(int(name) for name in names if name.isdecimal())
        secrets = [secret for name, secret in self.hall.secrets.items() if name in names]
        known = bool(seeds) or not names.isdisjoint(self.store.known_decks())
        return {
            "seed": _one_or_all(seeds),
            "secret": _one_or_all(secrets),
            "decks": "could be known to players" if known else "secret until the end",
            "fresh": any(str(label).endswith(FRESH) for label in labels),
        }

    def outcome(self, players: Sequence[Player], about: dict[str, str]) -> Outcome:
        """Sums everything up."""
        plan = self.plan
        pairs = tuple(self._pair(a, b) for a, b in self.pairs)
        played = {key: found for key, found in sorted(self.played.items()) if found.tasks}
        checks = [summary.seat_check(pairs, plan.rules)]
        checks += [
            summary.clone_check(found.joined(), plan.rules.most_points)
            for (a, b, _), found in played.items()
            if b == double_name(a) and a in self.seated
        ]
        checks += self._mirror_checks()
        labels = {task.seed for found in played.values() for task in found.tasks}
        content: dict[str, Any] = {
            "rules": plan.rules.label,
            **self._origins(labels),
            "pairs": summary.summaries(
                pairs, summary.speeds(pairs, players, plan.rules), plan.rules.most_points
            ),
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


def _one_or_all(values: list[Any]) -> Any:
    """None of no values, one alone, or the list."""
    return values if len(values) > 1 else next(iter(values), None)
