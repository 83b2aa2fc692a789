"""The native Gymnasium vector environment: one compiled call steps all games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from okgin_env.engine.buffers import Outputs
from okgin_env.engine.decisions import OpponentLike, checked_actions
from okgin_env.engine.games import Games
from okgin_env.engine.infos import Infos
from okgin_env.engine.seeding import check_seed, game_seeds
from okgin_env.kernel.batch import MATCH
from okgin_env.layout import N_ACTIONS
from okgin_env.positions import check_options
from okgin_env.render import raster
from okgin_env.rules import RulesLike
from okgin_env.utils.errors import check_choice, shown


class OklahomaGinVectorEnv(VectorEnv[NDArray[np.int8], NDArray[np.int64], NDArray[Any]]):
    """N games of Oklahoma Gin, equal step by step to a `SyncVectorEnv` of `OklahomaGinEnv`.

    The arguments are those of `OklahomaGinEnv` but `illegal` (an illegal action always forfeits), without a window, and:

    Args:
        num_envs: Number of games N.
        autoreset_mode: What follows the end of an episode: `AutoresetMode.NEXT_STEP` (default), `SAME_STEP` or
            `DISABLED`, or its value as text.
        pool: Several opponents instead of one; game i is played against `pool[i % len(pool)]`.
        max_episode_steps: Steps after which an episode is truncated, as by Gymnasium's `TimeLimit`; None or -1: never.
        threads: Threads to step the games with. The games are the same with any number.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as the base class has it
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 2,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        rules: RulesLike = "classic",
        opponent: OpponentLike = "simple",
        episode: str = "hand",
        reward: str = "points",
        players: int | None = None,
        seat: int = 0,
        outlook: bool = False,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 1,
        render_mode: str | None = None,
        pool: Sequence[OpponentLike] = (),
        max_episode_steps: int | None = None,
    ) -> None:
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError as error:
            allowed = ", ".join(mode.value for mode in AutoresetMode)
            raise ValueError(
                f"autoreset_mode={shown(autoreset_mode)}; allowed: {allowed}"
            ) from error
        check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        if render_mode == "rgb_array":
            raster.check_installed()
        self._max_steps = _check_max_steps(max_episode_steps)
        self.games = Games(
            num_envs,
            rules,
            players=players,
            opponent=opponent,
            pool=pool,
            seat=seat,
            episode=episode,
            reward=reward,
            outlook=outlook,
            threads=threads,
        )
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.num_envs = num_envs
        self.render_mode = render_mode
        size = self.games.layout.size
        self.single_observation_space = self.games.observation_space()
        self.single_action_space = spaces.Discrete(N_ACTIONS)
        self.observation_space = _batched(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        match = self.games.episode == MATCH
        self._infos = Infos(num_envs, self.games.rules.players, match, seat)
        self._all = np.arange(num_envs)
        self._observations = np.zeros((num_envs, size), np.int8)
        self._masks = np.ones((num_envs, N_ACTIONS), np.int8)
        self._ended = np.zeros(num_envs, np.bool_)
        self._elapsed = np.zeros(num_envs, np.int64)  # steps of each episode
        self._none = np.zeros(num_envs, np.bool_)
        self._seeded = False

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Starts episodes.

        Args:
            seed: Seed of the first game, game i gets `seed + i`; or one seed a game; None: the streams go on.
            options: `{"deck", "dealer"}` or `{"state"}` as in the single environment, for all games that are
                reset; `{"reset_mask": (N,) bool}` picks them.

        Returns:
            (N, D) int8 observations, and info with the `action_mask` of the games that were reset.

        Raises:
            ValueError: A bad option, or a wrong number of seeds.
            TypeError: A reset mask that is no boolean array.
            ResetNeeded: A reset mask that leaves out games which were never reset.
        """
        given = dict(check_options(options))
        chosen = self._reset_mask(given.pop("reset_mask", None))
        if not self._seeded and not chosen.all():
            raise ResetNeeded("reset_mask at the first reset(); allowed: all games")
        games = np.flatnonzero(chosen)
        seeded, seeds = self._seeds(games, seed)
        with self.games.as_before_if_refused(given or None):
            if not self._seeded:
                self.games.seed(self._all, game_seeds(None, self.num_envs))
            self.games.seed(seeded, seeds)
            outputs = self.games.reset(games, given)
        if isinstance(seed, (int, np.integer)):
            super().reset(
                seed=check_seed(seed)
            )  # for `np_random_seed`; the games have their own streams
        self._seeded = True
        self._ended[games], self._elapsed[games] = False, 0
        self._keep(games, outputs)
        self._infos.dealt(self.games.states, games)
        return self._observations.copy(), self._info(chosen.copy(), self._none, self._masks)

    def step(
        self, actions: NDArray[np.integer[Any]]
    ) -> tuple[
        NDArray[np.int8], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]
    ]:
        """Steps all games.

        Args:
            actions: (N,) action ids. An illegal one forfeits the hand.

        Returns:
            Fresh arrays: observations (N, D) int8, rewards (N,), terminations (N,), truncations (N,), and
            info as `SyncVectorEnv` collects it: batched arrays, each with its mask under the name with `_` before it (one
            array for all names). The fields are there at every step; where a hand has ended `info["ending"]` is not empty.

        Raises:
            ValueError: A wrong number of actions.
        """
        taken = checked_actions(actions, self.num_envs)
        mode = self.autoreset_mode
        if mode == AutoresetMode.DISABLED and self._ended.any():
            late = np.flatnonzero(self._ended)[:5].tolist()
            raise ValueError(
                f"games {late} are over; reset them first (options={{'reset_mask': …}})"
            )
        stepped = self._all
        if mode == AutoresetMode.NEXT_STEP and self._ended.any():
            stepped = np.flatnonzero(~self._ended)
        match = self.games.episode == MATCH  # in which hands end that are not the end
        hands_before = self.games.states["n_hands"].copy() if match else None
        same_step = mode == AutoresetMode.SAME_STEP
        outputs = self.games.step(taken, stepped, same_step)
        hand_over = outputs.dones.copy()
        if match:
            hand_over[stepped] |= (self.games.states["n_hands"] != hands_before)[stepped]
        truncated = self._out_of_time(stepped)
        ended = outputs.dones | truncated
        info: dict[str, Any] = {}
        if len(stepped) < self.num_envs:
            self._start(self._ended, outputs)
        elif same_step and ended.any():
            info = self._final(ended, hand_over, outputs)
            self._start(ended, outputs, but=outputs.dones)
        dealt = ended if same_step else self._ended  # begun anew in this step
        if match:
            dealt = dealt | (hand_over & ~ended)
        self._ended = self._none.copy() if same_step else ended
        self._masks = outputs.masks
        self._observations = outputs.observations  # a reset of some games repeats the others' rows
        if mode == AutoresetMode.DISABLED:
            # Where that is the rule, what callers write into theirs does not come back to them.
            self._observations = outputs.observations.copy()
        if len(games := np.flatnonzero(dealt)):
            self._infos.dealt(self.games.states, games)
        if same_step:
            hand_over &= ~ended
        info |= self._info(None, hand_over, self._masks)
        return outputs.observations, outputs.rewards, outputs.dones, truncated, info

    def set_opponents(
        self, opponent: OpponentLike | None = None, *, pool: Sequence[OpponentLike] = ()
    ) -> None:
        """Changes the opponents, from each game's next deal.

        Args:
            opponent: A name, a model file, a `Player`, or a sequence of them in turn order.
            pool: Several such opponents instead; game i is played against `pool[i % len(pool)]`.

        Raises:
            ValueError: An unknown player, one that cannot play by the rules, or a wrong number of them.
        """
        self.games.set_opponents(opponent, pool=pool)

    def action_masks(self) -> NDArray[np.bool_]:
        """(N, 108) bool, the legal actions of every game."""
        return self._masks.astype(np.bool_)

    def render(self) -> tuple[Any, ...] | None:
        """The learners' views, one a game: text ("ansi") or (H, W, 3) uint8 arrays ("rgb_array")."""
        if self.render_mode is None:
            return None
        views = [self.games.view(i) for i in range(self.num_envs)]
        if self.render_mode == "ansi":
            return tuple(str(view) for view in views)
        return tuple(raster.draw(view) for view in views)

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the worker threads."""
        self.games.close()

    def _reset_mask(self, mask: Any) -> NDArray[np.bool_]:
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(
                f"reset_mask={shown(mask)}; allowed: a bool array of shape ({self.num_envs},)"
            )
        if mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(
                f"reset_mask of shape {mask.shape}; allowed: ({self.num_envs},) with a True"
            )
        return mask

    def _seeds(
        self, games: NDArray[np.int64], seed: int | Sequence[int | None] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """The games that are seeded by a reset, and their seeds: as single environments with these seeds."""
        if seed is None:
            return self._all[:0], game_seeds(None, 0)
        if isinstance(seed, (str, bytes)) or not isinstance(seed, (Sequence, np.ndarray)):
            first: Any = seed  # game_seeds refuses what is none
            return games, game_seeds(first, self.num_envs)[games]
        if len(seed) != self.num_envs:
            raise ValueError(f"seed: {len(seed)} seeds; allowed: {self.num_envs}")
        chosen = [i for i in games.tolist() if seed[i] is not None]
        seeds = [game_seeds(seed[i], 1)[0] for i in chosen]
        return np.array(chosen, np.int64), np.array(seeds, np.uint64)

    def _keep(self, games: NDArray[np.int64], outputs: Outputs) -> None:
        self._observations = self._observations.copy()
        self._observations[games] = outputs.observations[games]
        self._masks = self._masks.copy()
        self._masks[games] = outputs.masks[games]

    def _out_of_time(self, stepped: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Counts a step of some games, and says in which the time is up."""
        late = self._none.copy()
        if self._max_steps is not None:
            self._elapsed[stepped] += 1
            late[stepped] = self._elapsed[stepped] >= self._max_steps
        return late

    def _start(
        self,
        over: NDArray[np.bool_],
        outputs: Outputs,
        but: NDArray[np.bool_] | None = None,
    ) -> None:
        """Starts new episodes where they are over; `but`: where that has been done."""
        games = np.flatnonzero(over if but is None else over & ~but)
        if len(games):
            self.games.reset(games, None, outputs)
        self._elapsed[over] = 0

    def _final(
        self, ended: NDArray[np.bool_], hand_over: NDArray[np.bool_], outputs: Outputs
    ) -> dict[str, Any]:
        """The last observations and infos of episodes that are over, before their places are taken."""
        last = np.empty(self.num_envs, object)  # of None
        for i in np.flatnonzero(ended).tolist():
            rows = outputs.final_observations if outputs.dones[i] else outputs.observations
            last[i] = rows[i].copy()
        masks = outputs.masks.copy()
        masks[outputs.dones] = 1
        info = self._info(ended.copy(), hand_over & ended, masks)
        return {
            "final_obs": last, "_final_obs": ended.copy(), "final_info": info, "_final_info": ended.copy(),
        }  # fmt: skip

    def _info(
        self,
        present: NDArray[np.bool_] | None,
        hand_over: NDArray[np.bool_],
        masks: NDArray[np.int8],
    ) -> dict[str, Any]:
        """Info of the games that are present (None: all), as `SyncVectorEnv` collects it: batched arrays, each with its mask."""
        fields = {"action_mask": masks, **self._infos.batch(self.games.finals, hand_over)}
        if present is None:
            present = ~self._none
        elif not present.all():
            fields["action_mask"] = masks.copy()
            for values in fields.values():
                nothing: Any = None if values.dtype == object else 0
                values[~present] = nothing
        info: dict[str, Any] = {}
        for name, values in fields.items():
            info[name], info[f"_{name}"] = values, present
        return info


def _batched(space: Any, n: int) -> Any:
    """The space of n observations, whose limits take the memory of one: they would be most of what a game needs."""
    batched: Any = batch_space(space, n)
    for name in ("low", "high", "bounded_below", "bounded_above"):
        limits = getattr(batched, name)
        setattr(batched, name, np.broadcast_to(limits[0].copy(), limits.shape))
    return batched


def _check_max_steps(steps: int | None) -> int | None:
    """The most steps of an episode; None: there is no limit."""
    if steps is None or (isinstance(steps, int) and steps == -1):  # as `gymnasium.make` has it
        return None
    if not isinstance(steps, (int, np.integer)) or isinstance(steps, bool) or steps < 1:
        raise ValueError(f"max_episode_steps={shown(steps)}; allowed: 1 or more, or None")
    return int(steps)
