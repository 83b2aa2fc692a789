"""A native stable-baselines3 VecEnv: one compiled call steps all games."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

try:
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn
except ImportError as error:
    raise ImportError("okgin_env.sb3 needs: pip install 'okgin-env[train]'") from error

from okgin_env.engine.buffers import Outputs, Rows
from okgin_env.engine.decisions import OpponentLike, checked_actions
from okgin_env.engine.games import Games
from okgin_env.engine.infos import hand_dicts
from okgin_env.engine.seeding import check_seed, game_seeds
from okgin_env.kernel.batch import MATCH
from okgin_env.layout import N_ACTIONS
from okgin_env.rules import RulesLike
from okgin_env.utils.errors import shown

_NO_INFO: dict[str, Any] = {}  # shared by all games in which nothing ended


class OklahomaGinVecEnv(VecEnv):
    """Many games of Oklahoma Gin for stable-baselines3 and sb3-contrib's MaskablePPO.

    Sub-environment i plays exactly the game that `OklahomaGinEnv` plays after `reset(seed=seed + i)`. An episode that ends is
    followed by the next one at once; its last observation is `infos[i]["terminal_observation"]`.

    Args:
        num_envs: Number of games.
        rules: A preset's name, a label such as ``classic(gin_bonus=20)``, a `Rules`, or its dict.
        opponent: A name, a model file, a `Player`, or a sequence of them in turn order.
        pool: Several such opponents instead; game i is played against `pool[i % len(pool)]`.
        seed: Seed of the first game; game i is seeded with `seed + i`. None: by chance.
        players: Seats of a preset, 2 to 4.
        seat: The learner's seat.
        episode: "hand" or "match".
        reward: "points", "win" or "match".
        outlook: Whether observations have the outlook of the own hand, too.
        threads: Threads to step the games with. The games are the same with any number.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self,
        num_envs: int,
        rules: RulesLike = "classic",
        opponent: OpponentLike = "simple",
        seed: int | None = None,
        players: int | None = None,
        pool: Sequence[OpponentLike] = (),
        seat: int = 0,
        episode: str = "hand",
        reward: str = "points",
        outlook: bool = False,
        threads: int = 1,
    ) -> None:
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
        self.render_mode = None  # read by the base class
        space = self.games.observation_space()
        super().__init__(num_envs, space, spaces.Discrete(N_ACTIONS))
        self._all = np.arange(num_envs)
        self._masks = np.ones((num_envs, N_ACTIONS), np.bool_)
        self._actions = np.zeros(num_envs, np.int64)
        self.games.seed(self._all, game_seeds(seed, num_envs))

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seeds game i with `seed + i` from the next reset on (None: by chance).

        Raises:
            ValueError: No whole number of 0 or more.
        """
        chosen = check_seed(seed)
        if chosen is None:
            chosen = int(np.random.SeedSequence().generate_state(1)[0])
        seeds: list[int | None] = [chosen + i for i in range(self.num_envs)]
        self._seeds = seeds
        return seeds

    def reset(self) -> NDArray[np.int8]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Starts a new episode in every game.

        Returns:
            (N, D) int8 observations.
        """
        with self.games.as_before_if_refused(self._options):
            if self._seeds[0] is not None:
                self.games.seed(self._all, game_seeds(self._seeds[0], self.num_envs))
            outputs = self._reset_games()
        self._reset_seeds()
        self._reset_options()
        self._masks = outputs.masks.view(np.bool_)
        self.reset_infos = [_NO_INFO] * self.num_envs
        return outputs.observations

    def _reset_games(self) -> Outputs:
        """Resets all games, each with its own options if `set_options` gave them."""
        given = self._options
        if not isinstance(given, list) or len(given) != self.num_envs:
            raise ValueError(
                f"options={shown(given)}; allowed: a mapping, or {self.num_envs} of them"
            )
        first = given[0]  # the same object for all games, or one dictionary a game
        none = all(isinstance(options, dict) and not options for options in given)
        if none or all(options is first for options in given):
            return self.games.reset(self._all, first)
        outputs = self.games.reset(self._all[:1], first)
        for i in range(1, self.num_envs):
            self.games.reset(self._all[i : i + 1], self._options[i], outputs)
        return outputs

    def step_async(self, actions: NDArray[np.integer[Any]]) -> None:
        """Takes (N,) action ids for `step_wait`."""
        self._actions = checked_actions(actions, self.num_envs)

    def step_wait(self) -> VecEnvStepReturn:
        """Steps all games.

        Returns:
            Fresh arrays: observations (N, D) int8, rewards (N,) float32, dones (N,) bool, and a list of infos.
        """
        games = self.games
        match = games.episode == MATCH  # in which hands end that are not the end
        hands_before = games.states["n_hands"].copy() if match else None
        outputs = games.step(self._actions, self._all, True)
        observations, masks, rewards, dones, final_observations = outputs
        self._masks = masks.view(np.bool_)
        infos = [_NO_INFO] * self.num_envs
        hand_over = dones | (games.states["n_hands"] != hands_before) if match else dones
        ended = np.flatnonzero(hand_over)
        if len(ended):
            told = hand_dicts(games.finals, games.rules.players, match, games.seat, ended)
            for i, fields in zip(ended.tolist(), told, strict=True):
                infos[i] = fields
            done = np.flatnonzero(dones)
            for i, row in zip(done.tolist(), final_observations[done], strict=True):
                infos[i]["terminal_observation"] = row
                infos[i]["TimeLimit.truncated"] = False
        return observations, rewards.astype(np.float32), dones, infos

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
        return self._masks

    def _mask(self, i: int) -> NDArray[np.bool_]:
        return self._masks[i]

    def restore(
        self, states: NDArray[np.void], finals: NDArray[np.void], masks: NDArray[np.bool_]
    ) -> None:
        """Goes on from saved `games.states` and `games.finals` (both (N,) `STATE`) and (N, 108) bool masks."""
        self.games.restore(states, finals)
        self._masks = masks

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """`action_masks` of the games asked for, (108,) bool each; there are no other methods.

        Raises:
            AttributeError: Any other method.
        """
        if method_name != "action_masks":
            raise AttributeError(f"method {method_name!r}; allowed: 'action_masks'")
        if indices is None:
            return Rows(self._masks)  # pyright: ignore[reportReturnType] - a sequence is what is asked for
        return [self._masks[i] for i in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of this environment, once for each game asked for; `action_masks` is each game's own."""
        if attr_name == "action_masks":
            return [partial(self._mask, i) for i in self._get_indices(indices)]
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: the games share their settings.

        Raises:
            AttributeError: Always.
        """
        raise AttributeError(
            f"{attr_name!r} cannot be set; allowed: set_opponents(…), or a new OklahomaGinVecEnv"
        )

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """False for each game asked for: there are no wrappers inside."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Ends the worker threads."""
        self.games.close()
