"""Luck of the draw: every term has mean zero over the cards that could have come, and uncompiled code gives the same."""

from __future__ import annotations

import numpy as np
import pytest

from okgin_env import Rules, players
from okgin_env.arena import luck
from okgin_env.arena.deals import Tables
from okgin_env.arena.decks import Decks
from okgin_env.kernel.jit import PLAIN
from okgin_env.kernel.luck import drawing_seat
from okgin_env.kernel.play import deal, step
from okgin_env.kernel.state import new_states
from tests.helpers.paths import python


def played(
    rules: Rules, n_deals: int, seed: int = 3, a: str = "camper", b: str = "simple"
) -> Tables:
    chance = Decks(seed).chance(rules, "", 0, n_deals)
    tables = Tables((players.make(a), players.make(b)), rules, chance, False)
    tables.play()
    return tables


def measured(tables: Tables, finals: np.ndarray, seats: np.ndarray, tier: str) -> np.ndarray:
    """(G, F) luck of hands of a table."""
    return luck.Gauge(tier, 2).columns(finals, tables.games.rules_record, seats, tables.pair)[0]


def last_draw(final: np.ndarray, rules: np.ndarray) -> tuple[int, int]:
    """Where in the log of a hand its last draw from the stock stands, and where in the deck its card."""
    s = new_states(1)[0]
    s["deck"] = final["deck"]
    deal(s, rules[0], int(final["dealer"]))
    found = (-1, -1)
    for k in range(int(final["n_log"])):
        if drawing_seat(s, rules[0], int(final["log"][k])) >= 0:
            found = (k, int(s["next_card"]))
        step(s, rules[0], int(final["log"][k]))
    return found


@pytest.mark.skipif(PLAIN, reason="takes minutes uncompiled")
@pytest.mark.parametrize("label", ["classic", "eaai", "french", "classic(spades_double=True)"])
@pytest.mark.parametrize("seats", [2, 3])
def test_over_all_cards_that_could_have_come_a_draw_brings_nothing(label: str, seats: int) -> None:
    """A hand that ends after its last draw is told with every card of the stock in its place: earlier draws bring the same."""
    tables = played(Rules.from_label(label, seats), 6)
    rules = tables.games.rules_record
    n_checked = 0
    for g in range(len(tables.states)):
        final = tables.states[g]
        at, top = last_draw(final, rules)
        if at < 0:
            continue
        cut = np.repeat(tables.states[g : g + 1], 52 - top + 1)
        cut["n_log"] = at + 1  # up to this draw
        for k, other in enumerate(range(top, 52)):
            cut["deck"][k][[top, other]] = cut["deck"][k][[other, top]]
        cut["n_log"][-1] = at  # up to before it
        found = measured(tables, cut, np.repeat(tables.seat_of_a[g], len(cut)), "fast")
        np.testing.assert_allclose(found[:-1].mean(axis=0), found[-1], rtol=0, atol=1e-9)
        n_checked += 1
    assert n_checked > 5


@pytest.mark.skipif(PLAIN, reason="takes minutes uncompiled")
@pytest.mark.parametrize(("tier", "n_deals"), [("fast", 4000), ("deep", 300)])
def test_luck_has_mean_zero_over_many_hands(tier: str, n_deals: int) -> None:
    tables = played(Rules.preset("classic"), n_deals)
    found = measured(tables, tables.states, tables.seat_of_a, tier)
    by_deal = found.reshape(n_deals, 2, -1).mean(axis=1)
    errors = by_deal.std(axis=0) / np.sqrt(n_deals)
    assert (np.abs(by_deal.mean(axis=0)) < 4.5 * errors).all()


PLAIN_RUN = """
import numpy as np
from okgin_env import Rules
from tests.kernel.test_luck import measured, played
tables = played(Rules.from_label("eaai(spades_double=True)"), 1)
for tier in ("fast", "deep"):
    print(measured(tables, tables.states[:1], tables.seat_of_a[:1], tier).tobytes().hex())
"""


@pytest.mark.skipif(PLAIN, reason="compares with compiled code")
def test_uncompiled_gives_the_same() -> None:
    plain, compiled = (
        python("-c", PLAIN_RUN, env={"NUMBA_DISABLE_JIT": value}) for value in ("1", "0")
    )
    assert plain.returncode == 0, plain.stderr
    assert plain.stdout == compiled.stdout
