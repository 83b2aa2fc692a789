"""The entries of a person at the table, and the words to answer with: help, hints, moves.

Pure functions of a seat's view, so they know no more than the person does. `okgin_env.cli.session` plays with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from okgin_env import analysis, cards
from okgin_env.histories.moves import describe, seen
from okgin_env.layout import BIG_GIN, DISCARD, DRAW_STOCK, DRAW_TOP, KNOCK, N_CARDS, PASS
from okgin_env.rules import Rules
from okgin_env.view import SeatView

COMMANDS = {
    "help": "help", "?": "help", "hint": "hint", "hand": "show", "show": "show", "score": "score",
    "history": "history", "undo": "undo", "u": "undo", "quit": "quit", "q": "quit", "exit": "quit",
}  # fmt: skip
_MOVES = {
    "d": DRAW_STOCK, "draw": DRAW_STOCK, "t": DRAW_TOP, "take": DRAW_TOP,
    "p": PASS, "pass": PASS, "big gin": BIG_GIN,
}  # fmt: skip
_VERBS = {"k": KNOCK, "knock": KNOCK, "d": DISCARD, "discard": DISCARD}
_SHOWN = 16  # characters of a bad entry that are repeated


def understand(entry: str, view: SeatView) -> int | str:
    """The meaning of an entry: a legal action id, or one of the words that `COMMANDS` leads to.

    Args:
        entry: What was typed, in any case: `7h` discards, `k 7h` knocks, `d`, `t`, `p`, `big gin`, or a command.
        view: What the person may see; it is to move.

    Raises:
        ValueError: In one line: it means nothing or may not be done now, and what is allowed.
    """
    words = " ".join(entry.lower().split())
    if words in COMMANDS:
        return COMMANDS[words]
    if words in _MOVES:
        action = _MOVES[words]
    else:
        verb, _, name = words.rpartition(" ")
        card = _card(name)
        if card is None or verb not in ("", *_VERBS):
            raise ValueError(f"{entry.strip()[:_SHOWN]!r}? Now: {choices(view)}; or help")
        action = _VERBS.get(verb, DISCARD) + card
    if action not in view.legal:
        raise ValueError(_why_not(action, view))
    return action


def typed(action: int) -> str:
    """The entry for an action id: what `understand` reads back."""
    named = {DRAW_STOCK: "d", DRAW_TOP: "t", PASS: "p", BIG_GIN: "big gin"}
    if action in named:
        return named[action]
    return f"{'k ' if action >= KNOCK else ''}{cards.card_text(action % N_CARDS)}"


def choices(view: SeatView) -> str:
    """The actions that are legal now, on one line."""
    if view.phase == "offer":
        return f"t takes {view.top}, p passes"
    if view.phase == "draw":
        return f"d draws from the stock, t takes {view.top}"
    said = "a card discards it"
    if any(KNOCK <= action < KNOCK + N_CARDS for action in view.legal):
        said += ", k and a card knocks"
    return said + (", big gin" if BIG_GIN in view.legal else "")


def knocks(view: SeatView) -> str:
    """The knocks there are, the best first, on one line; empty if there are none."""
    found = [action - KNOCK for action in view.legal if KNOCK <= action < KNOCK + N_CARDS]
    left = sorted((_left(view.hand, cards.card_text(card)), card) for card in found)
    said = [
        f"k {cards.card_text(card)} " + ("is gin" if pips == 0 else f"leaves {pips}")
        for pips, card in left
    ]
    more = f", and {len(said) - 3} more" if len(said) > 3 else ""
    big = ["big gin"] if BIG_GIN in view.legal else []
    return f"you may knock: {', '.join([*big, *said[:3]])}{more}" if said or big else ""


def reason(action: int, view: SeatView) -> str:
    """The reason for a move: the deadwood after it."""
    if action == BIG_GIN:
        return "all cards are melded"
    if action < DRAW_STOCK:
        pips = _left(view.hand, cards.card_text(action % N_CARDS))
        best = min(_left(view.hand, card) for card in view.hand if card != view.taken)
        least = "the least there is" if pips == best else f"the least would be {best}"
        return f"deadwood {pips} after it ({least}), the knock limit is {view.limit}"
    top = view.top or ""
    after = min(_left([*view.hand, top], card) for card in view.hand)
    return f"deadwood {view.deadwood} now, {after} after taking {top} and the best discard"


def moves(view: SeatView, names: Sequence[str], drawn: str | None = None) -> list[str]:
    """Every move of the hand so far in words, one entry a move. The hand must have begun with its deal.

    Args:
        view: What the person may see.
        names: What to call the seats.
        drawn: The card the person's last move brought it from the stock.
    """
    found = seen(view)
    if drawn and found and (found[-1].seat, found[-1].action) == (view.seat, DRAW_STOCK):
        found[-1] = found[-1]._replace(card=cards.card_id(drawn))
    return [describe(move, names[move.seat]) for move in found]


def help_lines(view: SeatView) -> list[str]:
    """The entries that are allowed now, and the rules in five lines."""
    return [
        f"now      {choices(view)}",
        "always   hint (what another player would do)   hand (draws the table again)",
        "         history (the moves of this hand)   score   undo (the last entry)   quit",
        "cards    rank and suit: 7h Td As; suits s c d h; 10h is the same as Th",
        "",
        *_rules(view.rules, view.limit),
    ]


def prompt(view: SeatView) -> str:
    """The question to the person."""
    asked = {"offer": "your offer", "draw": "your draw", "discard": "your discard"}
    return f"{asked[view.phase]} ({choices(view)}): "


def unique(names: Sequence[str]) -> list[str]:
    """Names that can be printed, and told apart."""
    clean = ["".join(c if c.isprintable() else "?" for c in name).strip() for name in names]
    clean = [name[:40].rstrip() for name in clean]
    shown = [name[:9] for name in clean]  # as much as a full table shows of them
    return [
        f"{name[:7] or 'player'}-{seat}"
        if shown.count(name[:9]) > 1 or name in ("", "you", "human")
        else name
        for seat, name in enumerate(clean, start=1)
    ]


def score(scores: Sequence[int], names: Sequence[str]) -> str:
    """A score by name."""
    return ", ".join(f"{name} {points}" for name, points in zip(names, scores, strict=True))


def result(view: SeatView, names: Sequence[str]) -> str:
    """The ending of a hand, and everybody's points."""
    won = [f"{names[seat]} +{points}" for seat, points in enumerate(view.points) if points]
    return f"{view.ending.replace('_', ' ')}, {', '.join(won) or 'no points'}"


def verdict(info: Mapping[str, Any], names: Sequence[str], n_hands: int) -> str:
    """The winner of a match, and the ending of its last hand.

    Args:
        info: What `info.hand_info` says of the last hand.
        names: What to call the seats; "you" is the person.
        n_hands: Hands played.
    """
    if "match_winner" not in info:
        return "The hand is over."
    winner = info["match_winner"]
    if winner < 0:
        forfeit = ", since a hand was forfeited" if info["ending"] == "illegal" else ""
        return f"The match ends undecided{forfeit}."
    ways = {"gin": "by gin", "big_gin": "by big gin", "undercut": "by an undercut"}
    ways["illegal"] = "by a forfeit"
    how = ways.get(info["ending"], "by a knock")
    who = "You win" if names[winner] == "you" else f"{names[winner]} wins"
    hands = f"{n_hands} hand{'s' if n_hands != 1 else ''}"
    lines = [f"{who} the match in {hands}, the last one {how}.", score(info["scores"], names)]
    if list(info["match_points"]) != list(info["scores"]):
        lines.append(f"with the bonuses of the match: {score(info['match_points'], names)}")
    return "\n".join(lines)


def _rules(rules: Rules, limit: int) -> list[str]:
    """The rules in five points."""
    knock = f"{limit} or less" if limit else "0"
    to = f" A match is to {rules.target}." if rules.target else ""
    who = "no more than you" if rules.undercut_on_tie else "less"
    return [
        "1 Melds are 3 or 4 of a rank, or 3 and more in a row of a suit, ace low; the",
        "  rest is deadwood: ace 1, T J Q K 10.",
        "2 First each player may take the upcard or pass. Then a turn is: draw from the",
        "  stock or take the top of the pile, and discard (not the card just taken).",
        f"3 With deadwood of {knock} after the discard you may knock. 0 is gin: the",
        f"  others' deadwood and {rules.gin_bonus} points are yours.",
        "4 After a knock the others lay off cards on your melds. You get the difference;",
        f"  who has {who} undercuts: the difference and {rules.undercut_bonus} for that seat.",
        f"5 If a discard leaves two cards in the stock nobody scores.{to}",
    ]


def _left(hand: Sequence[str], card: str) -> int:
    """Deadwood after a discard."""
    return analysis.deadwood([other for other in hand if other != card])


def _card(word: str) -> int | None:
    """Card id of a typed card, or None."""
    try:
        return cards.card_id(word)
    except ValueError:
        return None


def _why_not(action: int, view: SeatView) -> str:
    """The reason why an action is not legal now, and what is, on one line."""
    if action in (DRAW_STOCK, DRAW_TOP, PASS) or view.phase != "discard":
        return f"'{typed(action)}' is not possible now: {choices(view)}"
    if action == BIG_GIN:
        has = "not all your cards are melded" if view.rules.big_gin_bonus else "no such rule here"
        return f"no big gin, {has}: {choices(view)}"
    card = cards.card_text(action % N_CARDS)
    if card not in view.hand:
        return f"you do not hold {card}, but {' '.join(view.hand)}"
    if card == view.taken:
        return f"{card} was just taken from the pile and stays this turn; any other card may go"
    left = _left(view.hand, card)
    return (
        f"{card} leaves deadwood {left}, the knock limit is {view.limit}; {card} alone discards it"
    )
