"""Oklahoma Gin for PettingZoo: turn by turn, two to four agents."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

try:
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ImportError as error:
    raise ImportError("okgin_env.aec needs: pip install 'okgin-env[pettingzoo]'") from error

from okgin_env import ENV_ID
from okgin_env.engine.decisions import ask, checked_action
from okgin_env.engine.games import Games
from okgin_env.engine.infos import hand_info
from okgin_env.engine.seeding import game_seeds
from okgin_env.kernel.batch import EVERYBODY, MATCH
from okgin_env.layout import N_ACTIONS
from okgin_env.render.window import Screen
from okgin_env.rules import RulesLike
from okgin_env.utils.errors import check_choice
from okgin_env.view import SeatView

_ONE = np.zeros(1, np.int64)


def env(**kwargs: Any) -> AECEnv[str, dict[str, Any], Any]:
    """The environment in PettingZoo's order-enforcing wrapper; the arguments are those of `raw_env`.

    The usual wrapper for illegal moves is left out: the environment has a rule of its own for them.
    """
    made: Any = raw_env(**kwargs)
    return wrappers.OrderEnforcingWrapper(made)


class raw_env(AECEnv[str, dict[str, Any], Any]):
    """The bare environment.

    Observations are `{"observation": (D,) int8, "action_mask": (108,) int8}`; the mask is zero for agents that are not to move.
    Drawing and discarding are two actions of one agent. Rewards sum to zero. `infos` of every agent say how a hand ended.

    Args:
        rules: A preset's name, a label such as ``classic(gin_bonus=20)``, a `Rules`, or its dict.
        players: Seats of a preset, 2 to 4.
        episode: "hand" or "match".
        reward: "points", "win" or "match".
        outlook: Whether observations have the outlook of the own hand, too.
        render_mode: None, "ansi", "rgb_array" or "human".
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as the base class has it
        "name": "oklahoma_gin_v0",
        "render_modes": ["ansi", "rgb_array", "human"],
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        rules: RulesLike = "classic",
        players: int | None = None,
        episode: str = "hand",
        reward: str = "points",
        outlook: bool = False,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self.games = Games(
            1,
            rules,
            players=players,
            no_learner=EVERYBODY,
            episode=episode,
            reward=reward,
            outlook=outlook,
        )
        self.rules = self.games.rules
        self.render_mode = render_mode
        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.players)]
        self.agents = []
        self._seat = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        space = spaces.Dict(
            {
                "observation": self.games.observation_space(),
                "action_mask": spaces.Box(0, 1, (N_ACTIONS,), np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces = dict.fromkeys(self.possible_agents, spaces.Discrete(N_ACTIONS))
        self._seeded = False
        self._screen = Screen(render_mode, self.metadata["render_fps"])

    def observation_space(self, agent: str) -> spaces.Dict:
        """The observation space of an agent: the same object every time."""
        return self.observation_spaces[agent]  # pyright: ignore[reportReturnType]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The action space of an agent: the same object every time."""
        return self.action_spaces[agent]  # pyright: ignore[reportReturnType]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts an episode.

        Args:
            seed: Seed of the game's stream, which then is that of `OklahomaGinEnv.reset(seed=seed)`.
            options: `{"deck", "dealer"}` or `{"state"}`; other keys are ignored.

        Raises:
            ValueError: A bad deck, dealer or state.
        """
        with self.games.as_before_if_refused(options):
            if seed is not None or not self._seeded:
                self.games.seed(_ONE, game_seeds(seed, 1))
            self.games.reset(_ONE, options)
        self._seeded = True
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = self._to_move()

    def step(self, action: int | None) -> None:
        """Takes the action of the selected agent; an illegal one forfeits the hand and ends the episode.

        Raises:
            ValueError: It is no whole number, or not None once the agent is done.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        given = checked_action(action)
        chosen = given if 0 <= given < N_ACTIONS else N_ACTIONS
        n_hands = int(self.games.states["n_hands"][0])
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self.infos = {name: {} for name in self.agents}
        done = bool(self.games.step(np.array([chosen]), _ONE, False).dones[0])
        if done or int(self.games.states["n_hands"][0]) != n_hands:
            self._pay(done)
        if not done:
            self.agent_selection = self._to_move()
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def _to_move(self) -> str:
        return self.possible_agents[int(self.games.states["seat"][0])]

    def _pay(self, done: bool) -> None:
        """Pays the hand that has just ended and tells everybody how it ended; in a match the next one is dealt."""
        games = self.games
        self.rewards = dict(zip(self.possible_agents, games.hand_rewards(0), strict=True))
        for agent, seat in self._seat.items():
            match = games.episode == MATCH
            self.infos[agent] = hand_info(games.finals[0], self.rules.players, match, seat)
        self.terminations = dict.fromkeys(self.agents, done)

    def observe(self, agent: str) -> dict[str, NDArray[np.int8]]:
        """The observation and the mask of an agent: fresh arrays."""
        games, seats = self.games, np.array([self._seat[agent]])
        seen = ask(
            games.last_hand(0), _ONE, self.rules, games.rules_record, seats, games.episode, games.layout.outlook,
        )  # fmt: skip
        return {"observation": seen.observations[0], "action_mask": seen.masks[0]}

    def view(self, agent: str, reveal: bool = False) -> SeatView:
        """The view of an agent, as a readable object; with `reveal` all cards, for somebody who looks on."""
        return self.games.view(0, self._seat[agent], reveal)

    def render(self) -> Any:
        """The view of the agent to move: text ("ansi"), an RGB array ("rgb_array"), or a window ("human")."""
        return self._screen.show(self.view(self.agent_selection))

    def close(self) -> None:
        """Closes the window, if there is one."""
        self._screen.close()


def _register() -> None:
    """Makes `pettingzoo.make("aec", "okgin_env/OklahomaGin-v0")` work where PettingZoo has a registry (1.27)."""
    try:
        from pettingzoo import register
        from pettingzoo.env_registry.registration import aec_registry
    except ImportError:
        return
    if ENV_ID not in aec_registry:
        register("aec", ENV_ID, entry_point="okgin_env.aec:env")


_register()
