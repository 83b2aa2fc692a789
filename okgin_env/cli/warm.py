"""Compiles the game ahead of time, for images, cluster nodes and whoever does not want to wait at the first move."""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from okgin_env.utils.commands import run

EPILOG = """compiled code is kept in the user's cache (NUMBA_CACHE_DIR or XDG_CACHE_HOME choose another folder), for this
version, this Python, this Numba and this processor. In an image:

  RUN pip install okgin-env && okgin warm

OKGIN_ENV_QUIET=1 keeps the line about compiling from being printed."""


def warm() -> None:
    """Plays a little of everything that calls compiled code, with the types it is called with."""
    import gymnasium as gym

    import okgin_env
    from okgin_env import Rules, analysis, players
    from okgin_env.arena.luck import Gauge
    from okgin_env.arena.match import play_deals
    from okgin_env.engine.games import Games
    from okgin_env.histories.hand import HandHistory
    from okgin_env.kernel import sparse
    from okgin_env.kernel.batch import EVERYBODY
    from okgin_env.wrappers import DeadwoodShaping

    one = np.zeros(1, np.int64)
    for opponent in ("simple", "search:8"):
        env = DeadwoodShaping(gym.make(okgin_env.ENV_ID, opponent=opponent), weight=1.0)
        _, info = env.reset(seed=1, options={"dealer": 0})
        for _ in range(30):
            _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
            if over:
                _, info = env.reset()
    simple, expert = players.make("simple"), players.make("expert")
    games = Games(1, no_learner=EVERYBODY, episode="match", outlook=True)
    ended = []
    games.recorder = lambda final: ended.append(final.copy())
    games.seed(one, np.ones(1, np.uint64))
    games.reset(one)
    expert.act(games.decisions(one))
    assert games.view(0, int(games.states["seat"][0])).legal
    while not games.over(one)[0]:
        games.step(simple.act(games.decisions(one)), one, False)
    games.hand_rewards(0)
    HandHistory.from_record(ended[0], games.rules, ["a", "b"])
    view = games.view(0, 0, reveal=True)
    assert str(view)
    view.deadwood_without(0)
    rows, seen = np.zeros((2, 3), np.float32), np.ones((2, 2), np.int8)
    sparse.add_rows(seen, np.arange(2), rows, rows[0], rows.copy())
    sparse.add_gradients(seen, np.arange(2), rows, rows.copy())
    play_deals(simple, expert, Rules(), 1, 0, 1, gauge=Gauge("deep", 1))
    hand, melds = "As 2s 3s 4s 5s 6s 7s 8s 9s Ts", ["Js Qs Ks"]
    analysis.knock_discards(f"{hand} Kd", 10)
    analysis.layoff(melds, hand)
    analysis.arrange(hand)
    analysis.settle(Rules(), 0, [hand, "2c 2d 2h 4c 4d 4h 6c 6d 6h Kd"])


def parser(prog: str) -> argparse.ArgumentParser:
    """The command line."""
    return argparse.ArgumentParser(
        prog,
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _warm(args: argparse.Namespace) -> None:
    from okgin_env.kernel import cache

    began = time.monotonic()
    warm()
    folder = cache.shipped_folder() or cache.cache_folder()
    print(
        f"ready after {time.monotonic() - began:.0f} s: {folder or 'compiled code cannot be kept here'}"
    )


def main(argv: list[str] | None = None, prog: str = "warm") -> int:
    """Runs the command line; returns the exit status."""
    return run(parser(prog), _warm, sys.argv[1:] if argv is None else argv)
