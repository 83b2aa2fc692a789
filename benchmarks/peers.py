"""The peers: OpenSpiel's gin rummy (C++, alone and driven from Python) and RLCard's, one piece of work a call.

Each is driven the fastest way we know that gives a player what it needs: all decisions of both seats are counted, also
OpenSpiel's melds laid and layoffs one by one after a knock and RLCard's forced scoring moves, chance moves are not.
"""

from __future__ import annotations

import importlib.util
import random
from typing import Any

from benchmarks.measure import Contestant

SEED = 7
INSTALL = "pip install 'okgin-env[peers]'"
_GAMES = 5  # of one piece
_DEALT = 21  # OpenSpiel's moves of chance in a deal
_STOCK = 53  # its action that draws from the stock


def missing() -> list[str]:
    """Names of the peers that are not installed."""
    modules = {"OpenSpiel": "pyspiel", "RLCard": "rlcard"}
    return [name for name, module in modules.items() if importlib.util.find_spec(module) is None]


def contestants() -> list[Contestant]:
    """All that can be measured of the peers that are installed."""
    found: list[Contestant] = []
    absent = missing()
    if "OpenSpiel" not in absent:
        found += [_openspiel_random(), _openspiel_simple(), _openspiel_python()]
        found += [_openspiel_python_bare()]
    if "RLCard" not in absent:
        found += [_rlcard(), _rlcard_own()]
    return found


# --- OpenSpiel ------------------------------------------------------------------------------------


def _game() -> Any:
    import pyspiel

    return pyspiel.load_game("gin_rummy", {"oklahoma": True})


def _decisions(state: Any) -> int:
    """Decisions of players in a finished game: all moves but those of chance, the deal and each card of the stock.

    This is timed with the game. OpenSpiel can tell whose every move was, but that takes a tenth of the game's own time.
    """
    moves = state.history()
    return len(moves) - _DEALT - moves.count(_STOCK)


def _openspiel_random() -> Contestant:
    """Its uniformly random bots play each other: no Python inside a game."""
    import pyspiel

    game, rng = _game(), random.Random(SEED)
    bots = [pyspiel.make_uniform_random_bot(seat, SEED + seat) for seat in range(2)]

    def play() -> int:
        n_decisions = 0
        for _ in range(_GAMES):
            state = game.new_initial_state()
            pyspiel.evaluate_bots(state, bots, rng.randrange(2**30))
            n_decisions += _decisions(state)
        return n_decisions

    label = "OpenSpiel C++, its random bots, legal actions only, no observation"
    return Contestant(key="openspiel_cpp_per_s", label=label, play=play)


def _openspiel_simple() -> Contestant:
    """Its simple bots play each other: no Python inside a game."""
    import pyspiel

    game, rng = _game(), random.Random(SEED)
    options = game.get_parameters()
    bots = [pyspiel.make_simple_gin_rummy_bot(options, seat) for seat in range(2)]

    def play() -> int:
        for _ in range(_GAMES):
            for bot in bots:
                bot.restart()
            pyspiel.evaluate_bots(game.new_initial_state(), bots, rng.randrange(2**30))
        return _GAMES

    label = "OpenSpiel C++, whole hands, its simple bots"
    return Contestant(key="openspiel_cpp_hands_per_s", label=label, play=play)


def _openspiel_python() -> Contestant:
    """Driven from Python with an observation of every decision, written by its own C++ into one array."""
    from open_spiel.python.observation import make_observation

    game, rng = _game(), random.Random(SEED)
    seen = make_observation(game)

    def play() -> int:
        choice, n_decisions = rng.choice, 0
        for _ in range(_GAMES):
            state = game.new_initial_state()
            while not state.is_terminal():
                if not state.is_chance_node():
                    seen.set_from(state, state.current_player())
                    n_decisions += 1
                state.apply_action(choice(state.legal_actions()))
        return n_decisions

    label = "OpenSpiel from Python, random legal actions, observation written for each decision"
    return Contestant(key="openspiel_python_per_s", label=label, play=play)


def _openspiel_python_bare() -> Contestant:
    """The same without observations: legal actions and moves, which no learner could play from."""
    game, rng = _game(), random.Random(SEED)

    def play() -> int:
        choice, n_decisions = rng.choice, 0
        for _ in range(_GAMES):
            state = game.new_initial_state()
            while not state.is_terminal():
                n_decisions += not state.is_chance_node()
                state.apply_action(choice(state.legal_actions()))
        return n_decisions

    label = "- without observations"
    return Contestant(key="openspiel_python_bare_per_s", label=label, play=play)


# --- RLCard ---------------------------------------------------------------------------------------


def _rlcard() -> Contestant:
    """Its environment stepped from Python as ours is; it has no faster way."""
    import rlcard

    env, rng = rlcard.make("gin-rummy", {"seed": SEED}), random.Random(SEED)

    def play() -> int:
        choice, began = rng.choice, env.timestep
        for _ in range(_GAMES):
            state, _ = env.reset()
            while not env.is_over():
                state, _ = env.step(choice(list(state["legal_actions"])))
        return env.timestep - began

    label = "RLCard, env.step, random legal actions, observation and legal actions of each decision"
    return Contestant(key="rlcard_per_s", label=label, play=play)


def _rlcard_own() -> Contestant:
    """Its own loop with its own random agents."""
    import rlcard
    from rlcard.agents import RandomAgent

    env = rlcard.make("gin-rummy", {"seed": SEED})
    env.set_agents([RandomAgent(env.num_actions) for _ in range(2)])

    def play() -> int:
        began = env.timestep
        for _ in range(_GAMES):
            env.run()
        return env.timestep - began

    label = "- its own env.run with its own random agents"
    return Contestant(key="rlcard_run_per_s", label=label, play=play)
