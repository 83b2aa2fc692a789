"""One hand with all its cards: made from a record, replayed, checked."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from okgin_env import cards
from okgin_env.histories.moves import Move, replay
from okgin_env.histories.text import END, ILLEGAL, MAX_NAME, TITLE, WORDS
from okgin_env.kernel.match import hand_boxes, new_match
from okgin_env.kernel.play import deal, is_legal, step
from okgin_env.kernel.state import STATE, as_records, new_states
from okgin_env.layout import DRAW_STOCK, DRAW_TOP, ENDINGS, MAX_LOG, NONE, OVER
from okgin_env.layout import ILLEGAL as FORFEITED
from okgin_env.positions import check_dealer, check_deck
from okgin_env.rules import Rules

MAX_HANDS: Final = 30_000  # played in a match before; boxes won in it, too
MAX_SCORE: Final = 9_999_999
# fields of a record that a replay cannot have, and the log, which it is made from
_UNKNOWN: Final = ("rng", "seat_rng", "unpaid", "log")


@dataclass(frozen=True, kw_only=True)
class HandHistory:
    """One hand with all its cards, from the deal to the scores after it. `str()` is its text.

    Attributes:
        rules: The rules of the table.
        dealer: The dealer's seat.
        deck: 52 card ids: seat 0's, seat 1's, …, the upcard, the stock's top first.
        actions: (seat, action id) in order; `ILLEGAL` in place of the last id for a forfeited hand.
        ending: knock, gin, big_gin, undercut, void or illegal.
        knocker: The knocker's seat, or None.
        points: Of the hand, by seat.
        deadwood: That counted in the showdown after layoffs, by seat, in pips.
        scores: Of the match after the hand, by seat.
        scores_before: Of the match before the hand, by seat.
        won: Boxes of the match won before, by seat: a hand won is one, or as many as the rules say.
        played: Hands of the match played before.
        names: The players by seat; empty: not told.
        seed: The seed of the episode, if it is told.
        line: Where the hand began in the text it was read from, for messages; no part of the hand.
    """

    rules: Rules
    dealer: int
    deck: tuple[int, ...]
    actions: tuple[tuple[int, int], ...]
    ending: str
    knocker: int | None
    points: tuple[int, ...]
    deadwood: tuple[int, ...]
    scores: tuple[int, ...]
    scores_before: tuple[int, ...]
    won: tuple[int, ...]
    played: int = 0
    names: tuple[str, ...] = ()
    seed: int | None = None
    line: int = field(default=1, compare=False, repr=False)

    def __post_init__(self) -> None:
        n = self.rules.players
        check_dealer(self.dealer, self.rules)
        check_deck(self.deck)
        for name in ("points", "deadwood", "scores", "scores_before", "won"):
            row = getattr(self, name)
            most = MAX_HANDS if name == "won" else MAX_SCORE
            if len(row) != n or min(row) < 0 or max(row) > most:
                raise ValueError(f"{name}={row}; allowed: {n} numbers from 0 to {most}")
        if not 0 <= self.played <= MAX_HANDS:
            raise ValueError(f"played={self.played}; allowed: 0 to {MAX_HANDS}")
        if self.names and len(self.names) != n:
            raise ValueError(f"names: {len(self.names)} names; allowed: {n}, or none")
        for name in self.names:
            check_name(name)
        if self.seed is not None and not 0 <= self.seed < 1 << 128:
            raise ValueError(f"seed={self.seed}; allowed: 0 to 2**128 - 1, or None")
        if self.ending not in ENDINGS[NONE + 1 :]:
            raise ValueError(f"ending={self.ending!r}; allowed: {', '.join(ENDINGS[NONE + 1 :])}")
        if not 0 < len(self.actions) <= MAX_LOG:
            raise ValueError(f"actions: {len(self.actions)}; allowed: 1 to {MAX_LOG}")
        for seat, action in self.actions:
            if not (0 <= seat < n and 0 <= action <= ILLEGAL):
                allowed = f"a seat below {n} and an action id, or {ILLEGAL}: illegal"
                raise ValueError(f"actions: {(seat, action)}; allowed: {allowed}")

    @classmethod
    def from_record(
        cls,
        final: NDArray[np.void],
        rules: Rules,
        names: Sequence[str] | None = None,
        seed: int | None = None,
    ) -> HandHistory:
        """The history of a hand that has ended.

        Args:
            final: (1,) `kernel.state.STATE` as the hand ended, all cards in it, such as one of `Games.finals`.
            rules: The rules of the table.
            names: The players by seat.
            seed: The seed of the episode.

        Raises:
            ValueError: The hand has not ended, cards are hidden, or its deal and actions do not lead to it (it began
                from a position that was set up, or these are not its rules).
        """
        if not isinstance(final, np.ndarray) or final.dtype != STATE or final.shape != (1,):
            raise ValueError("record: allowed: a (1,) array of kernel.state.STATE")
        record, n = final[0], rules.players
        result = _result(record, rules)
        if result["ending"] == ENDINGS[NONE]:
            raise ValueError("record: the hand has not ended; allowed: a hand that has")
        if record["deck"].min() < 0:
            raise ValueError("record: the deck is hidden; allowed: all cards, as in Games.finals")
        won = record["boxes"][:n].tolist()
        if (winner := int(record["hand_winner"])) >= 0:
            won[winner] -= hand_boxes(record, as_records(rules.to_record())[0])
        before = [a - b for a, b in zip(result["scores"], result["points"], strict=True)]
        history = cls(
            rules=rules,
            dealer=int(record["dealer"]),
            deck=tuple(record["deck"].tolist()),
            actions=tuple(_seated(record, n)),
            scores_before=tuple(before),
            won=tuple(won),
            played=int(record["n_hands"]) - 1,
            names=tuple(names or ()),
            seed=seed,
            **result,
        )
        try:
            replayed = history.final()[0]
        except ValueError as error:
            raise ValueError(f"record: it does not replay from its deal ({error})") from error
        for name in STATE.names or ():
            if name not in _UNKNOWN and not np.array_equal(record[name], replayed[name]):
                raise ValueError(f"record: {name} is not what a replay from its deal gives")
        return history

    def start(self) -> NDArray[np.void]:
        """(1,) `STATE` as dealt, before the first action. Its random streams are zero."""
        states, n = new_states(1), self.rules.players
        new_match(states[0])
        states["deck"] = self.deck
        deal(states[0], as_records(self.rules.to_record())[0], self.dealer)
        states["scores"][0, :n] = self.scores_before
        states["boxes"][0, :n] = self.won
        states["n_hands"] = self.played
        return states

    def replay(self) -> Iterator[NDArray[np.void]]:
        """Fresh (1,) `STATE` arrays after every action, checked on the way.

        Raises:
            ValueError: Naming the line: another seat is to move, an action is illegal, the hand ends early or not
                at all, or the stated result (looked at before the last state is given out) is not the true one.
        """
        rules, states = as_records(self.rules.to_record())[0], self.start()
        s = states[0]
        first = self.line + len(self._head())
        last = first + len(self.actions) - 1
        for line, (seat, action) in enumerate(self.actions, first):
            if s["phase"] == OVER:
                raise ValueError(f"line {line}: the hand is over; allowed: 'ending: …'")
            if seat != s["seat"]:
                raise ValueError(f"line {line}: seat {seat} acts; allowed: seat {s['seat']}")
            if action != ILLEGAL and not is_legal(s, rules, action):
                raise ValueError(
                    f"line {line}: {WORDS[action]!r}; allowed: a legal action, or 'illegal'"
                )
            step(s, rules, action)
            if line == last:
                self._check_result(s, line + 1)
            yield states.copy()

    def final(self) -> NDArray[np.void]:
        """(1,) `STATE` as the hand ended. Errors as in `replay`."""
        states = self.start()
        for after in self.replay():
            states = after
        return states

    def moves(self) -> Iterator[Move]:
        """Every move with its card, the forced draw among them (see `histories.moves`)."""
        upcard = self.rules.players * self.rules.hand_size
        pile, stock = self.deck[upcard : upcard + 1], self.deck[upcard + 1 :]
        return replay(self.actions, self.rules.players, self.dealer, pile, stock)

    def to_text(self) -> str:
        """The hand as text, from its title to its `end` line; `parse` reads it back."""
        return "\n".join([*self._head(), *self._lines(), *self._tail(), END, ""])

    def __str__(self) -> str:
        return self.to_text()

    def _head(self) -> list[str]:
        """The lines before the first action."""
        n, size = self.rules.players, self.rules.hand_size
        dealt = [cards.text(self.deck[p * size : (p + 1) * size]) for p in range(n)]
        return [
            TITLE,
            f"rules: {self.rules.label}",
            *([f"seed: {self.seed}"] if self.seed is not None else []),
            f"played: {self.played}",
            f"won: {_row(self.won)}",
            f"scores: {_row(self.scores_before)}",
            *(f"name {p}: {name}" for p, name in enumerate(self.names)),
            f"dealer: {self.dealer}",
            *(f"cards {p}: {own}" for p, own in enumerate(dealt)),
            f"upcard: {cards.card_text(self.deck[n * size])}",
            f"stock: {cards.text(self.deck[n * size + 1 :])}",
        ]

    def _lines(self) -> list[str]:
        """The lines of the actions, with the card that each of them brings as a remark."""
        lines: list[str] = []
        for move in self.moves():
            card = "" if move.card is None else cards.card_text(move.card)
            if move.forced:
                lines[-1] += f"  # seat {move.seat} draws {card}" if card else ""
            else:
                note = f"  # {card}" if card and move.action in (DRAW_STOCK, DRAW_TOP) else ""
                lines.append(f"seat {move.seat}: {WORDS[move.action]}{note}")
        return lines

    def _tail(self) -> list[str]:
        """The lines of the result."""
        return [
            f"ending: {self.ending}",
            f"knocker: {'none' if self.knocker is None else self.knocker}",
            f"points: {_row(self.points)}",
            f"deadwood: {_row(self.deadwood)}",
            f"scores after: {_row(self.scores)}",
        ]

    def _check_result(self, s: Any, line: int) -> None:
        if s["phase"] != OVER:
            raise ValueError(f"line {line}: the hand goes on; allowed: an action of {s['seat']}")
        truth = dataclasses.replace(self, **_result(s, self.rules))._tail()
        for k, (stated, true) in enumerate(zip(self._tail(), truth, strict=True)):
            if stated != true:
                raise ValueError(f"line {line + k}: {stated!r}; allowed: {true!r}, as it replays")


def check_name(name: str) -> None:
    """Checks a player's name, which must stand on one line as it is.

    Raises:
        ValueError: No text, too long, empty, with a space at an end, or something in it that cannot be printed.
    """
    is_text = isinstance(name, str)
    if not (is_text and 0 < len(name) <= MAX_NAME and name.isprintable() and name == name.strip()):
        allowed = f"1 to {MAX_NAME} printable characters, no space at either end"
        shown = name[:MAX_NAME] if is_text else name
        raise ValueError(f"name {shown!r}; allowed: {allowed}")


def _seated(record: Any, n_players: int) -> Iterator[tuple[int, int]]:
    """Every action of a record with its seat; a forfeit, which is not in the log, as `ILLEGAL`."""
    seat = (int(record["dealer"]) + 1) % n_players
    for action in record["log"][: record["n_log"]].tolist():
        yield seat, action
        if action not in (DRAW_STOCK, DRAW_TOP):
            seat = (seat + 1) % n_players
    if record["ending"] == FORFEITED:
        yield int(record["seat"]), ILLEGAL


def _result(record: Any, rules: Rules) -> dict[str, Any]:
    """The result of a record as fields of a `HandHistory`."""
    n, knocker = rules.players, int(record["knocker"])
    rows = {name: tuple(record[name][:n].tolist()) for name in ("points", "deadwood", "scores")}
    ending = ENDINGS[int(record["ending"])]
    return {"ending": ending, "knocker": knocker if knocker >= 0 else None, **rows}


def _row(values: Iterable[int]) -> str:
    return " ".join(str(value) for value in values)
