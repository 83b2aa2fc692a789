"""The single-agent Gymnasium environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from okgin_env.engine.decisions import OpponentLike, checked_action
from okgin_env.engine.infos import Info
from okgin_env.engine.single import EPISODE_OVER, GOES_ON, SingleGame
from okgin_env.kernel.batch import MATCH
from okgin_env.layout import N_ACTIONS, features_table
from okgin_env.render.window import Screen
from okgin_env.rules import RulesLike
from okgin_env.utils.errors import check_choice
from okgin_env.view import SeatView

_ONE = np.zeros(1, np.int64)  # the indices of the one game there is
ILLEGAL_CHOICES = ("forfeit", "raise")


class OklahomaGinEnv(gym.Env[NDArray[np.int8], np.int64]):
    """Oklahoma Gin: gin rummy in which the upcard sets the knock limit.

    ## Description
    Two to four players hold ten (or seven) cards and try to arrange them into sets and runs. In a turn a player draws the
    top of the stock or of the discard pile and discards a card; with little enough deadwood left it may knock
    and end the hand. The knock limit is the pips of the first upcard. The learner sits in one seat; opponents inside the
    environment play the others, so consecutive observations are the learner's own.

    ## Action Space
    `Discrete(108)`, the same for every rules preset:

    | ids | meaning |
    |---|---|
    | 0-51 | discard that card |
    | 52-103 | discard that card (id - 52) and knock; gin when nothing is left |
    | 104 | draw from the stock |
    | 105 | take the top of the discard pile (also: take the offered upcard) |
    | 106 | pass the offered upcard |
    | 107 | big gin, where the rules have it |

    Card id = 13 * suit + rank, suits in the order s c d h, ace = 0. Legal actions are in `info["action_mask"]` (int8) and
    `action_masks()` (bool); the mask is never all zero, and all ones once the episode is over.

    ## Observation Space
    `Box(0, 1, (D,), int8)`, every feature 0 or 1. `okgin_env.layout.layout(players, match, outlook)` has the slices and `decode`.

    {features}

    ## Starting State
    A shuffled deck; a random dealer, or as the rules say. Opponents before the learner have already moved. A
    single hand that an opponent ends before the learner's first decision is replaced by the next one, since a reset cannot
    report an end. `reset(options=…)` takes `{"deck": 52 cards, "dealer": seat}` and `{"state": position}`, see
    `okgin_env.positions`.

    ## Rewards
    At the end of a hand, 0 before:

    - `reward="points"`: own points minus the mean of the others', divided by 100.
    - `reward="win"`: 1 for winning the hand, -1 (shared by the losers' number) for losing it, 0 when nobody scores.
    - `reward="match"` (match episodes): the same for the match, at its end only.

    An illegal action never raises: the hand is forfeited with reward -1 and the episode ends.

    ## Episode End
    Terminates at the end of the hand, or of the match with `episode="match"`. Never truncates: a hand lasts at most
    `rules.max_turns` turns, which observations do not count (100 in the presets: the stock is nearly always gone before).

    ## Information
    The same fields after every reset and step; whether a hand has ended in the step is said by `ending`.

    | field | value | where no hand has ended |
    |---|---|---|
    | `action_mask` | (108,) int8, the legal actions; all ones once the episode is over | |
    | `ending` | knock, gin, big_gin, undercut, void or illegal | empty text |
    | `knocker` | seat, or -1 | -1 |
    | `points` | (players,) of the hand | zeros |
    | `deadwood` | (players,) that counted in the showdown | zeros |
    | `turns` | discards of all seats in the hand | 0 |
    | `illegal_action` | whether the learner's action was illegal | False |
    | `scores` | (players,) of the match, this hand included | as they stand |
    | `knock_limit` | pips; 0: gin only | of the hand that goes on |
    | `upcard` | such as `7h` | of the hand that goes on |
    | `match_winner` | match episodes: seat, or -1 | -1 |
    | `match_points` | match episodes: (players,) scores with the match's bonuses, zeros until it is won | zeros |

    If several hands of a match have ended in one step they are those of the last.

    ## Arguments
    - `rules`: a preset's name (classic, french, gin, eaai, openspiel), a label such as `"classic(gin_bonus=20)"`, a `Rules` object,
      or its dict.
    - `players`: seats of a preset, 2 to 4.
    - `opponent`: a name, a model file, a `Player`, or a sequence of them in turn order after the learner.
    - `pool`: several such opponents instead; every reset takes the next of them, a seeded one the first.
    - `episode`: "hand" or "match".
    - `reward`: "points", "win" or "match".
    - `seat`: the learner's seat.
    - `outlook`: whether observations have the outlook of the own hand, too: what a strong player weighs its discards by.
    - `illegal`: "forfeit", or "raise" for debugging.
    - `render_mode`: "ansi" (text), "rgb_array" or "human" (a window; both need the extra `render`).

    ## References
    `docs/rules.md` has the rules with their sources and choices.

    ## Version History
    - v0: initial version.

    The id gets a new version when the same seed and actions give another game, or when a feature of the observation changes its
    meaning or goes. A new feature keeps the id, though it makes observations longer: files of trained policies name the features
    they read and play on, and your own code finds them by name in `layout(…).slices`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as the base class has it
        "render_modes": ["ansi", "rgb_array", "human"],
        "render_fps": 2,
    }

    def __init__(
        self,
        rules: RulesLike = "classic",
        opponent: OpponentLike = "simple",
        episode: str = "hand",
        reward: str = "points",
        players: int | None = None,
        seat: int = 0,
        outlook: bool = False,
        illegal: str = "forfeit",
        render_mode: str | None = None,
        pool: Sequence[OpponentLike] = (),
    ) -> None:
        modes = self.metadata["render_modes"]
        check_choice("render_mode", render_mode, (None, *modes))
        check_choice("illegal", illegal, ILLEGAL_CHOICES)
        self.games = SingleGame(
            rules,
            players=players,
            opponent=opponent,
            pool=pool,
            seat=seat,
            episode=episode,
            reward=reward,
            outlook=outlook,
        )
        self._pool, self._n_drawn = tuple(pool), 0  # opponents, and how many resets have taken one
        self.rules = self.games.rules
        self.render_mode = render_mode
        self._illegal = illegal
        self._seeded = False
        self._screen = Screen(render_mode, self.metadata["render_fps"])
        self._info = Info(self.rules.players, self.games.episode == MATCH, seat)
        self.observation_space = self.games.observation_space()
        self.action_space = spaces.Discrete(N_ACTIONS)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Starts an episode.

        Args:
            seed: Seed of the game's random stream; None goes on with the stream there is.
            options: `{"deck": …, "dealer": …}` or `{"state": …}`; other keys are ignored.

        Returns:
            Observation (D,) int8 and info with `action_mask`.

        Raises:
            ValueError: A bad deck, dealer or state.
        """
        super().reset(seed=seed)
        with self.games.as_before_if_refused(options):
            if seed is not None or not self._seeded:
                seeds = self.np_random.integers(0, 2**64, size=1, dtype=np.uint64)
                self.games.seed(_ONE, seeds)
                self._n_drawn = 0
            self._take_next_opponents()
            self.games.begin(options)
        self._seeded = True
        self._info.dealt(self.games.states[0])
        if self.render_mode == "human":
            self.render()
        return self.games.observation.copy(), self._info.goes_on(self.games.mask)

    def step(
        self, action: SupportsIndex
    ) -> tuple[NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        """Takes the learner's action and plays on to its next decision, or the end.

        Args:
            action: Action id. An illegal one forfeits the hand.

        Returns:
            Observation (D,) int8, reward, terminated, truncated (always False), info.

        Raises:
            ValueError: No whole number; or an illegal action, with `illegal="raise"`.
        """
        chosen = checked_action(action)
        if not 0 <= chosen < N_ACTIONS:
            chosen = N_ACTIONS
        games = self.games
        if self._illegal == "raise" and (chosen == N_ACTIONS or not games.mask[chosen]):
            legal = np.flatnonzero(games.mask).tolist()
            raise ValueError(f"action={action!r} is illegal here; allowed: {legal}")
        told = games.play(chosen)
        if told == GOES_ON:
            info = self._info.goes_on(games.mask)
        else:
            info = self._info.ended(games.mask, games.finals[0])
            self._info.dealt(games.states[0])
        if self.render_mode == "human":
            self.render()
        return games.observation.copy(), games.last_reward, told == EPISODE_OVER, False, info

    def set_opponents(
        self, opponent: OpponentLike | None = None, *, pool: Sequence[OpponentLike] = ()
    ) -> None:
        """Changes the opponents, from the next deal.

        Args:
            opponent: As in the environment's arguments.
            pool: As in the environment's arguments.

        Raises:
            ValueError: An unknown player, one that cannot play by the rules, or a wrong number of them.
        """
        self.games.set_opponents(opponent, pool=pool)
        self._pool, self._n_drawn = tuple(pool), 0

    def _take_next_opponents(self) -> None:
        """Seats those of the pool whose turn it is, if there is one."""
        if len(self._pool) > 1:
            self.games.set_opponents(self._pool[self._n_drawn % len(self._pool)])
            self._n_drawn += 1

    def action_masks(self) -> NDArray[np.bool_]:
        """(108,) bool, the legal actions: what sb3-contrib's MaskablePPO asks for."""
        return self.games.mask.astype(np.bool_)

    def state(self) -> bytes:
        """The whole game, hidden cards included, for `reset(options={"state": …})`."""
        return self.games.states[0].tobytes()

    def view(self, reveal: bool = False) -> SeatView:
        """The learner's view, as a readable object that notebooks show as a picture.

        Args:
            reveal: Show all cards, for somebody who looks on.
        """
        return self.games.view(0, reveal=reveal)

    def render(self) -> Any:
        """The learner's view: text ("ansi"), an (H, W, 3) uint8 array ("rgb_array"), or a window ("human")."""
        return self._screen.show(self.view())

    def close(self) -> None:
        """Closes the window, if there is one."""
        self._screen.close()


if OklahomaGinEnv.__doc__:  # absent under -OO
    OklahomaGinEnv.__doc__ = OklahomaGinEnv.__doc__.replace(
        "{features}", features_table().replace("\n", "\n    ")
    )
