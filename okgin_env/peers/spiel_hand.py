"""One hand at OpenSpiel's table, with a game of our kernel that follows it move by move.

Our player is asked with a concealed record of our kernel's game, so it sees what it sees at our own table. Of the showdown,
which is one move at our table and several there, our players make the most: a knocker lays its best melds, an opponent
lays off the best that OpenSpiel offers.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from okgin_env import cards
from okgin_env.engine.decisions import answer
from okgin_env.engine.games import Games
from okgin_env.kernel import play, showdown
from okgin_env.kernel.batch import NOBODY
from okgin_env.layout import DRAW_TOP, ENDINGS, KNOCK, N_ACTIONS, N_CARDS
from okgin_env.peers import need, spiel
from okgin_env.players.base import Player
from okgin_env.rules import Rules

DIFFERENCES = {
    "knock_refused": "knock legal by the rules but not at OpenSpiel: the same card is discarded instead",
    "wall_asked": "two cards left, OpenSpiel allows one more knock: ours is asked as if it had taken the top card",
    "wall_knock": "of these: it knocked (every other answer is a pass)",
    "thrown_back": "card just taken thrown back, which only OpenSpiel allows (ours never do)",
    "cut": "hand ended by OpenSpiel: a card thrown back twice, or fifty cards taken from the pile",
}
"""The differences at OpenSpiel's table, counted for the player whose move it was."""

_THE_GAME = np.zeros(1, np.int64)
OWN_BOT: Literal["openspiel"] = "openspiel"
Seated = Player | Literal["openspiel"]
"""One of our players, or OpenSpiel's own, which plays at its own table as it is."""


def name_of(player: Seated) -> str:
    """The name that tables call it."""
    return player if isinstance(player, str) else player.name


@dataclass(frozen=True)
class Table:
    """The rules of both engines.

    Attributes:
        knock_card: OpenSpiel's knock limit; None: Oklahoma.
        rules: Ours, the preset ``openspiel`` or its variant that knocks with 10.
        phases: OpenSpiel's enumeration of phases.
        bots: OpenSpiel's own players, by seat.
    """

    knock_card: int | None
    rules: Rules
    phases: Any
    bots: tuple[Any, Any]

    @classmethod
    def of(cls, oklahoma: bool) -> Table:
        """The upcard sets the knock limit, or it is 10."""
        rules = Rules.preset("openspiel")
        if not oklahoma:
            rules = dataclasses.replace(rules, knock_limit=10)
        knock_card = None if oklahoma else 10
        phases = need("pyspiel").gin_rummy.Phase
        bots = spiel.simple_bot(knock_card, 0), spiel.simple_bot(knock_card, 1)
        return cls(knock_card, rules, phases, bots)


@dataclass
class Hand:
    """One hand: OpenSpiel's state `peer`, and the record `s` of our kernel that follows it.

    Attributes:
        table: The rules.
        pair: Who sits in seats 0 (which starts) and 1.
        stream: Seed of the deck and of what our players draw.
        given: (52,) a deck instead, as our kernel deals it; None: shuffled from the stream.
        differences: (seat, key of `DIFFERENCES`), as they came up.
        laid: Numbers of the melds that the knocker has laid.
        knocker: Its seat, once somebody has knocked.
    """

    table: Table
    pair: tuple[Seated, Seated]
    stream: np.uint64
    given: NDArray[np.int8] | None = None
    differences: list[tuple[int, str]] = field(default_factory=list)
    laid: list[int] = field(default_factory=list)
    knocker: int | None = None

    def __post_init__(self) -> None:
        self.games = Games(1, self.table.rules, no_learner=NOBODY)
        self.games.seed(_THE_GAME, np.array([self.stream], np.uint64))
        self.games.reset(_THE_GAME, {"deck": self.given})
        self.s: Any = self.games.states[0]
        self.deck = [int(card) for card in self.s["deck"]]
        self.peer = spiel.game(self.table.knock_card).new_initial_state()
        for bot in self.table.bots:
            bot.restart()

    def run(self) -> None:
        """Plays the hand to its end."""
        while not self.peer.is_terminal():
            if self.peer.is_chance_node():
                self.peer.apply_action(self.deck[N_CARDS - self.peer.stock_size()])
                continue
            seat = self.peer.current_player()
            player = self.pair[seat]
            if isinstance(player, str):
                self._apply(seat, self.table.bots[seat].step(self.peer))
                continue
            for action in self._moves(seat, player):
                self._apply(seat, action)

    def ended(self) -> tuple[int, int | None]:
        """Index of the ending, and the seat that knocked or undercut."""
        if self.knocker is None:
            return ENDINGS.index("void"), None
        if self.peer.deadwood()[self.knocker] == 0:
            return ENDINGS.index("gin"), self.knocker
        if self.peer.returns()[self.knocker] < 0:
            return ENDINGS.index("undercut"), 1 - self.knocker
        return ENDINGS.index("knock"), self.knocker

    # --- both engines, one move ---
    def _apply(self, seat: int, action: int) -> None:
        """Plays one of OpenSpiel's actions in both engines; in ours as long as somebody may be asked."""
        phase, phases = self.peer.current_phase(), self.table.phases
        if action not in self.peer.legal_actions():
            name = name_of(self.pair[seat])
            raise RuntimeError(
                f"{name}: OpenSpiel does not offer {action} in deck '{cards.text(self.deck)}'"
            )
        self.peer.apply_action(action)
        if phase == phases.DRAW or (phase == phases.FIRST_UPCARD and action != spiel.STOCK):
            self._follow(spiel.MOVES[action])  # a forced draw ours has made already
        elif phase in (phases.DISCARD, phases.WALL) and action == spiel.KNOCK:
            self.knocker = seat
        elif phase == phases.DISCARD:
            self._follow_discard(seat, action)
        elif phase == phases.KNOCK and action >= spiel.MELD:
            self.laid.append(action - spiel.MELD)
        if self.peer.is_terminal() and phase in (phases.DRAW, phases.DISCARD):
            self.differences.append((seat, "cut"))

    def _follow(self, action: int) -> None:
        play.step(self.s, self.games.rules_record[0], action)

    def _follow_discard(self, seat: int, card: int) -> None:
        """Discards in our record: also the card just taken, and without ending the hand at the wall."""
        if int(self.s["taken"]) == card:
            self.differences.append((seat, "thrown_back"))
            self.s["taken"] = -1
        at_wall = int(play.stock_left(self.s)) == spiel.WALL_STOCK
        self.s["next_card"] -= at_wall
        self._follow(card)
        self.s["next_card"] += at_wall

    # --- our player's moves ---
    def _moves(self, seat: int, player: Player) -> list[int]:
        """The moves of our player in OpenSpiel's actions, up to where the turn passes on."""
        phase, phases = self.peer.current_phase(), self.table.phases
        legal = self.peer.legal_actions()
        if phase == phases.LAYOFF:
            return self._laid_off(seat)
        if phase == phases.WALL:
            return self._at_the_wall(seat, player) if spiel.KNOCK in legal else [spiel.PASS]
        if phase == phases.FIRST_UPCARD and legal == [spiel.STOCK]:
            return legal
        action = self._asked(seat, player)
        if action < KNOCK:
            return [action]
        if action in spiel.MOVES_BACK:
            return [spiel.MOVES_BACK[action]]
        if spiel.KNOCK in legal:
            return self._knocked(seat, action - KNOCK)
        self.differences.append((seat, "knock_refused"))
        return [action - KNOCK]

    def _asked(self, seat: int, player: Player) -> int:
        """Our player's action id, from what its seat may see."""
        decisions = self.games.decisions(_THE_GAME, np.array([seat]))
        action = int(answer(player, decisions)[0])
        if action == N_ACTIONS or not decisions.masks[0, action]:
            raise ValueError(
                f"player {player.name} chose an illegal action; allowed: "
                f"{', '.join(map(str, decisions.view(0).legal))}"
            )
        return action

    def _at_the_wall(self, seat: int, player: Player) -> list[int]:
        """Its move with the top card taken: a knock, or anything else, which is a pass."""
        self.differences.append((seat, "wall_asked"))
        self._follow(DRAW_TOP)
        action = self._asked(seat, player)
        if action < KNOCK:
            return [spiel.PASS]
        self.differences.append((seat, "wall_knock"))
        return self._knocked(seat, action - KNOCK)

    def _knocked(self, seat: int, card: int) -> list[int]:
        """A knock with a discard, and the melds that our table would show."""
        hand = np.uint64(int(self.s["hands"][seat]) & ~(1 << card))
        shown = np.zeros(showdown.MAX_MELDS, np.uint64)
        showdown.arrange(hand, shown)
        melds = [part for mask in shown for part in spiel.laid_in_parts(cards.ids(int(mask)))]
        return [spiel.KNOCK, card, *map(_laid, melds), spiel.PASS]

    def _laid_off(self, seat: int) -> list[int]:
        """The best layoff that OpenSpiel offers (none on a gin), then the own melds."""
        hand = self.peer.hands()[seat]
        gin = self.peer.finished_layoffs()
        off = [] if gin else [*spiel.best_layoff(self.laid, hand).cards, spiel.PASS]
        melds = spiel.utils().best_meld_group([card for card in hand if card not in off])
        return [*off, *map(_laid, melds), spiel.PASS]


def _laid(meld: list[int]) -> int:
    """The action that lays a meld (card ids)."""
    return spiel.MELD + spiel.utils().meld_to_int(sorted(meld))
