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
from okgin_env.engine.infos import forfeited, hand_infos
from okgin_env.engine.seeding import game_seeds
from okgin_env.kernel.batch import MATCH
from okgin_env.layout import N_ACTIONS
from okgin_env.positions import check_options
from okgin_env.render import raster
from okgin_env.rules import Rules
from okgin_env.utils.errors import check_choice, shown


class OklahomaGinVectorEnv(VectorEnv[NDArray[np.int8], NDArray[np.int64], NDArray[Any]]):
    """N games of Oklahoma Gin, equal step by step to a `SyncVectorEnv` of `OklahomaGinEnv`.

    The arguments are those of `OklahomaGinEnv` but `illegal` (an illegal action always forfeits), without a window, and:

    Args:
        num_envs: Number of games N.
        autoreset_mode: What follows the end of an episode: `AutoresetMode.NEXT_STEP` (default), `SAME_STEP` or
            `DISABLED`, or its value as text.
        pool: Several opponents instead of one; game i is played against `pool[i % len(pool)]`.
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
        rules: Rules | str = "classic",
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
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._all = np.arange(num_envs)
        self._observations = np.zeros((num_envs, size), np.int8)
        self._masks = np.ones((num_envs, N_ACTIONS), np.int8)
        self._ended = np.zeros(num_envs, np.bool_)
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
        self._seeded = True
        self._ended[games] = False
        self._keep(games, outputs)
        return self._observations.copy(), self._masks_info(games)

    def step(
        self, actions: NDArray[np.integer[Any]]
    ) -> tuple[
        NDArray[np.int8], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]
    ]:
        """Steps all games.

        Args:
            actions: (N,) action ids. An illegal one forfeits the hand.

        Returns:
            Fresh arrays: observations (N, D) int8, rewards (N,), terminations (N,), truncations (N,, all False), and
            info as `SyncVectorEnv` collects it: batched arrays, each with its mask under the name with `_` before it.

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
        if len(stepped) < self.num_envs:
            self.games.reset(np.flatnonzero(self._ended), None, outputs)
        dones = outputs.dones
        self._ended = np.zeros(self.num_envs, np.bool_) if same_step else dones.copy()
        self._masks = outputs.masks
        self._observations = outputs.observations  # a reset of some games repeats the others' rows
        if mode == AutoresetMode.DISABLED:
            # Where that is the rule, what callers write into theirs does not come back to them.
            self._observations = outputs.observations.copy()
        info = self._masks_info(self._all)
        hand_over = dones.copy()
        if match:
            hand_over[stepped] |= (self.games.states["n_hands"] != hands_before)[stepped]
        if same_step and dones.any():
            final_info = self._hands_info(dones)
            final_info["action_mask"] = np.zeros((self.num_envs, N_ACTIONS), np.int8)
            final_info["action_mask"][dones] = 1
            final_info["_action_mask"] = dones.copy()
            final_obs = np.empty(self.num_envs, object)  # of None
            ended = np.flatnonzero(dones)
            for i, row in zip(ended.tolist(), outputs.final_observations[ended], strict=True):
                final_obs[i] = row
            info |= {"final_obs": final_obs, "_final_obs": dones.copy()}
            info |= {"final_info": final_info, "_final_info": dones.copy()}
            hand_over &= ~dones
        if hand_over.any():
            info |= self._hands_info(hand_over)
        return outputs.observations, outputs.rewards, dones, np.zeros_like(dones), info

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

    def _masks_info(self, games: NDArray[np.int64]) -> dict[str, Any]:
        if len(games) == self.num_envs:  # the step's own array: nobody else will write into it
            return {"action_mask": self._masks, "_action_mask": np.ones(self.num_envs, np.bool_)}
        present = np.zeros(self.num_envs, np.bool_)
        present[games] = True
        masks = self._masks.copy()
        masks[~present] = 0
        return {"action_mask": masks, "_action_mask": present}

    def _hands_info(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        """Info on the hands that ended in the games flagged, as batched arrays with masks."""
        games = np.flatnonzero(ended)
        finals, match = self.games.finals, self.games.episode == MATCH
        info: dict[str, Any] = {}
        for name, values in hand_infos(finals, self.games.rules.players, match, games).items():
            make = np.empty if values.dtype == object else np.zeros  # empty objects are None
            column = make((self.num_envs, *values.shape[1:]), values.dtype)
            column[games] = values
            info[name] = column
            info[f"_{name}"] = ended.copy()
        wrong = forfeited(finals, self.games.seat, games)
        if wrong.any():
            illegal = np.zeros(self.num_envs, np.bool_)
            illegal[games] = wrong
            info |= {"illegal_action": illegal, "_illegal_action": illegal.copy()}
        return info
