"""Every scripted player that the kernel runs, by its exact id: where a policy is registered.

A policy is one compiled function of a game record, the rules and a work space, which gives the action of the seat to move.
It reads of the record only what that seat may see (own hand, pile, known cards, scores, rules) and draws from the seat's own
random stream; a test runs each on the concealed record and asks for the same moves. A new one needs an id, a row of `POLICIES`
and a line of `choose`; where one of them is missing or differs, the import of this module fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from okgin_env.kernel.camper import camper_move, hunter_move
from okgin_env.kernel.careful import careful_move
from okgin_env.kernel.eager import knocker_move, novice_move, random_move, simple_move
from okgin_env.kernel.jit import compiled

EXTERNAL = -1  # a seat whose moves come from outside the kernel
NO_POLICY = -2  # in place of an action: no policy has that id; it is illegal and forfeits the hand
RANDOM = 0
NOVICE = 1
SIMPLE = 2
KNOCKER = 3
CAREFUL = 4
CAMPER = 5
HUNTER = 6


@compiled
def choose(s, rules, policy, table):
    """The action of a scripted player for the seat to move.

    Args:
        s: Game record (its seat's random stream moves on).
        rules: Rules record.
        policy: Policy id.
        table: (52,) int16 work space.
    """
    if policy == RANDOM:
        return random_move(s, rules, table)
    if policy == NOVICE:
        return novice_move(s, rules, table)
    if policy == SIMPLE:
        return simple_move(s, rules, table)
    if policy == KNOCKER:
        return knocker_move(s, rules, table)
    if policy == CAREFUL:
        return careful_move(s, rules, table)
    if policy == CAMPER:
        return camper_move(s, rules, table)
    if policy == HUNTER:
        return hunter_move(s, rules, table)
    return NO_POLICY


class Policy(NamedTuple):
    """A scripted player.

    Attributes:
        id: What `choose` and a table's seats call it.
        name: What users type.
        description: What it does, in a line.
        move: The compiled function.
    """

    id: int
    name: str
    description: str
    move: Callable[..., Any]


POLICIES = (
    Policy(RANDOM, "random", "uniform over the legal actions: the floor", random_move),
    Policy(NOVICE, "novice", "draws at random, discards for least deadwood, knocks at random", novice_move),
    Policy(SIMPLE, "simple", "takes what makes a meld, knocks as soon as it may: the field's yardstick", simple_move),
    Policy(KNOCKER, "knocker", "takes what lowers its deadwood, knocks as soon as it may", knocker_move),
    Policy(CAREFUL, "careful", "as knocker, but minds what it gives away and the score of the match", careful_move),
    Policy(CAMPER, "camper", "waits for gin after its third turn: the strongest public player", camper_move),
    Policy(HUNTER, "hunter", "as camper, but knocks with gin only", hunter_move),
)  # fmt: skip
POLICY_IDS = {policy.name: policy.id for policy in POLICIES}
"""Ids by name."""


def _check_registry() -> None:
    """Checks that `choose` asks for exactly the registered policies, each under its own id.

    Raises:
        ImportError: It does not.
    """
    plain = getattr(choose, "py_func", getattr(choose, "__wrapped__", choose))
    *names, last = (
        plain.__code__.co_names
    )  # in the order of their first use: an id, its function, …
    asked = [*zip(names[::2], names[1::2], strict=True)] if last == "NO_POLICY" else []
    registered = [(policy.name.upper(), policy.move.__name__) for policy in POLICIES]
    ids = [globals().get(policy.name.upper()) for policy in POLICIES]
    if asked != registered or ids != [p.id for p in POLICIES] or len({*ids}) < len(ids):
        raise ImportError(f"kernel.policies: choose() asks for {asked}, POLICIES has {POLICIES}")


_check_registry()
