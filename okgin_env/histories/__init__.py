"""Hand histories: hands as text that people read and programs replay.

A hand is one block of lines, and a file (`.okgin`) holds any number of them with a blank line between two:

    okgin hand 1
    rules: classic(gin_bonus=20)
    seed: 7
    played: 0
    won: 0 0
    scores: 0 0
    name 0: learner
    name 1: simple
    dealer: 1
    cards 0: 5s Td 2c …
    cards 1: Jh 4d 3d …
    upcard: 8h
    stock: Qs 9h …
    seat 0: pass
    seat 1: take  # 8h
    seat 1: discard Kd
    …
    seat 0: knock 4c
    ending: knock
    knocker: 0
    points: 12 0
    deadwood: 3 15
    scores after: 12 0
    end

`played`, `won` and `scores` are the hands of the match played, its boxes (a hand won is one, or as many as the rules say) and its
scores before this hand. `seed` and `name` lines
may be missing. What follows a `#` is for the reader: the card of a draw, which the deck tells; it is not read back. An
illegal action, whatever it was, is written `illegal`: it moves no card and forfeits the hand.

A history holds every card, the hidden ones and the stock too. It is a record for after the hand, and nothing that a player may
see while it lasts.

| module | what |
|---|---|
| `hand` | `HandHistory`: made from a record, replayed, checked |
| `moves` | the moves of a hand with their cards, from a history (`HandHistory.moves`) or as one seat saw them (`seen`), and in words (`describe`) |
| `text` `parsing` | the format, and text to hand |
| `files` | `.okgin` files: `append`, `write`, `read`, `scan` |
| `frame` | `to_frame`: a pandas table, one row a hand |
"""

from __future__ import annotations

from okgin_env.histories.files import append, read, scan, write
from okgin_env.histories.frame import to_frame
from okgin_env.histories.hand import HandHistory
from okgin_env.histories.moves import Move, describe, seen
from okgin_env.histories.parsing import parse
from okgin_env.histories.text import ILLEGAL, SUFFIX, VERSION

__all__ = [
    "ILLEGAL",
    "SUFFIX",
    "VERSION",
    "HandHistory",
    "Move",
    "append",
    "describe",
    "parse",
    "read",
    "scan",
    "seen",
    "to_frame",
    "write",
]
