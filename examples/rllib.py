"""Self-play with RLlib: one masked PPO policy plays every seat, on this machine or on a Ray cluster.

Install it into an environment of its own (see docs/rllib.md), then: python examples/rllib.py --help
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else a warning without a GPU
logging.disable(logging.WARNING)  # RLlib warns of its own ageing parts

try:
    import ray
    import torch
    from gymnasium import spaces
    from ray.rllib.algorithms.algorithm import Algorithm
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
    from ray.rllib.core.rl_module.rl_module import RLModule, RLModuleSpec
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import (
        ActionMaskingTorchRLModule,
    )

    from okgin_env import PRESETS, Rules, aec, players
    from okgin_env.arena.match import play
    from okgin_env.layout import N_ACTIONS
except ImportError as error:
    sys.exit(f"rllib.py: {error}; needs: pip install -r examples/requirements-rllib.txt -e .")

POLICY = "shared"  # the one policy that plays every seat
OBJECT_STORE_BYTES = 256 << 20  # of a local Ray; its own default is a third of the memory
EVALUATION_SEED = 1_000_000

EXAMPLES = """what it prints:
  one line an iteration. In self-play the rewards of all seats sum to zero, so they show no progress; what
  does are the decided hands (not void: random play hardly ever knocks) and, at the end, the points a hand
  against the scripted player "simple", beside those of random play on the same decks.

examples:
  python examples/rllib.py --iterations 2                      does it all work?
  python examples/rllib.py --iterations 100 --runners 4        sample in four processes, 8 games in each
  python examples/rllib.py --rules french --seats 4            four seats, one policy
  python examples/rllib.py --address auto --runners 32         on the Ray cluster this machine belongs to
  python examples/rllib.py --iterations 100 --save runs/rllib  keep RLlib's checkpoint

more games in a runner (--envs-per-runner) share one forward pass of the network and cost no process: raise
them before --runners. On a cluster every node needs this environment and this package installed."""


class GinTable(MultiAgentEnv):
    """The PettingZoo environment as RLlib wants it: only the agent that is to move gets an observation.

    Args:
        config: ``rules`` (a preset's name) and ``seats``.
    """

    def __init__(self, config: Any) -> None:
        super().__init__()
        self._game = aec.raw_env(rules=config["rules"], players=config["seats"])
        # RLlib seeds game i of runner w with seed + w + i: on its own the same for several games.
        self._runner = getattr(config, "worker_index", None) or 0
        self.possible_agents = self._game.possible_agents[:]
        self.agents = self.possible_agents[:]
        size = self._game.observation_space(self.agents[0])["observation"].shape
        # RLlib's masking module looks for these two names, and its layers for floats.
        space = spaces.Dict(
            {
                "observations": spaces.Box(0, 1, size, np.float32),
                "action_mask": spaces.Box(0, 1, (N_ACTIONS,), np.float32),
            }
        )
        self.observation_spaces = dict.fromkeys(self.agents, space)
        self.action_spaces = dict.fromkeys(self.agents, spaces.Discrete(N_ACTIONS))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Deals a hand; the observation is that of the agent to move."""
        if seed is not None:
            seed = int(np.random.SeedSequence([seed, self._runner]).generate_state(1)[0])
        self._game.reset(seed=seed, options=options)
        return {self._game.agent_selection: self._observe(self._game.agent_selection)}, {}

    def step(
        self, action_dict: dict[str, int]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict]]:
        """Takes the action of the agent to move.

        Returns:
            While the hand goes on, the observation of the agent to move next. At its end a last observation of every
            agent: RLlib needs it of those that have acted and ignores the others'.
        """
        ((agent, action),) = action_dict.items()
        game = self._game
        game.step(int(action))
        over = all(game.terminations.values())
        seen = self.possible_agents if over else [game.agent_selection]
        rewards = {name: game.rewards[name] for name in {agent, *seen}}
        infos = {name: {"ending": game.infos[name]["ending"]} for name in seen} if over else {}
        flags = {"__all__": over}
        return (
            {name: self._observe(name) for name in seen},
            rewards,
            flags,
            {"__all__": False},
            infos,
        )

    def _observe(self, agent: str) -> dict[str, np.ndarray]:
        seen = self._game.observe(agent)
        mask = seen["action_mask"].astype(np.float32)
        return {"observations": seen["observation"].astype(np.float32), "action_mask": mask}


class RLlibPlayer(players.Player):
    """A trained RLModule as a player of `okgin_env`: plays its most probable legal action."""

    name = "learned"

    def __init__(self, module: RLModule) -> None:
        self._module = module

    def act(self, decisions: players.Decisions) -> np.ndarray:
        """Answers with (M,) action ids, one a decision."""
        observations = {
            "observations": torch.from_numpy(decisions.observations.astype(np.float32)),
            "action_mask": torch.from_numpy(decisions.masks.astype(np.float32)),
        }
        with torch.inference_mode():
            answer = self._module.forward_inference({Columns.OBS: observations})
        return answer[Columns.ACTION_DIST_INPUTS].argmax(dim=1).numpy()


def log_ending(episode: Any, metrics_logger: Any, **_: Any) -> None:
    """Callback at the end of a hand: counts those that somebody decided."""
    endings = [infos[-1].get("ending") for infos in episode.get_infos().values() if infos]
    metrics_logger.log_value("decided", float("void" not in endings), reduce="mean", window=500)


def configured(options: argparse.Namespace) -> PPOConfig:
    """The algorithm: PPO on the new API stack, one policy for all agents."""
    module = RLModuleSpec(
        module_class=ActionMaskingTorchRLModule,
        model_config={"fcnet_hiddens": [256, 256], "fcnet_activation": "relu"},
    )
    return (
        PPOConfig()
        .environment(GinTable, env_config={"rules": options.rules, "seats": options.seats})
        .env_runners(
            num_env_runners=options.runners,
            num_envs_per_env_runner=options.envs_per_runner,
        )
        .multi_agent(policies={POLICY}, policy_mapping_fn=lambda agent, episode, **_: POLICY)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={POLICY: module}))
        .training(
            train_batch_size_per_learner=options.batch,
            minibatch_size=min(512, options.batch),
            num_epochs=4,
            lr=5e-4,
            gamma=1.0,  # a hand ends by itself, and its points are worth the same whenever it does
            lambda_=0.95,
            entropy_coeff=0.01,
            use_kl_loss=False,
            grad_clip=0.5,
        )
        .callbacks(on_episode_end=log_ending)
        .fault_tolerance(restart_failed_env_runners=options.address is not None)
        .debugging(seed=options.seed, log_level="ERROR")
    )


def start_ray(address: str | None, runners: int) -> None:
    """Joins the cluster at an address, or starts a small quiet Ray on this machine.

    Raises:
        ConnectionError: There is no cluster at the address, or it refuses.
    """
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address is None:
        ray.init(
            num_cpus=max(os.cpu_count() or 1, runners),
            object_store_memory=OBJECT_STORE_BYTES,
            include_dashboard=False,
            **quiet,
        )
        return
    ray.init(address=address, **quiet)
    cpus = int(ray.cluster_resources().get("CPU", 0))
    if cpus < runners:
        print(
            f"--runners {runners}: the cluster has {cpus} CPUs; this waits until it has more",
            flush=True,
        )


def train(algorithm: Algorithm, iterations: int) -> None:
    """Trains, and prints a line an iteration."""
    print(f"{'iteration':>9} {'decisions':>10} {'a second':>9} {'decided':>8} {'entropy':>8}")
    for k in range(1, iterations + 1):
        start = time.perf_counter()
        result = algorithm.train()
        seconds = time.perf_counter() - start
        runners, learner = result["env_runners"], result["learners"][POLICY]
        steps = runners["num_env_steps_sampled_lifetime"]
        decided = 100 * runners.get("decided", float("nan"))
        rate = runners["num_env_steps_sampled"] / seconds
        print(
            f"{k:9} {steps:10.0f} {rate:9.0f} {decided:7.1f}% {learner['entropy']:8.3f}",
            flush=True,
        )


def report(player: players.Player, rules: Rules, n_hands: int) -> None:
    """Prints what a player scores against `simple`: every deck is played from every seat."""
    n_deals = max(2, n_hands // rules.players)
    results = play(player, players.make("simple"), rules, n_deals, EVALUATION_SEED)
    deals = results.points.mean(axis=1)
    margin = 1.96 * deals.std(ddof=1) / np.sqrt(n_deals)
    print(
        f"{player.name} against simple: {deals.mean():+.2f} ± {margin:.2f} points a hand "
        f"({results.points.size} hands)",
        flush=True,
    )


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        description="Trains one policy that plays every seat (self-play) with RLlib's PPO and action masks, then plays "
        "it against a scripted player.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("--iterations", type=int, default=50, help="sample, learn, repeat so often (default: 50)")
    add("--runners", type=int, default=1, help="processes that play; 0: the main one (default: 1)")
    add("--envs-per-runner", type=int, default=8, help="games in each of them (default: 8)")
    add("--batch", type=int, default=4096, help="decisions an iteration (default: 4096)")
    add("--rules", default="classic", help=f"rules: {', '.join(PRESETS)} (default: classic)")
    add("--seats", type=int, default=2, help="seats at the table, 2 to 4 (default: 2)")
    add("--hands", type=int, default=600, help="hands of the evaluation (default: 600)")
    add("--seed", type=int, default=0, help="seed of games and network (default: 0)")
    add("--address", help="a running Ray cluster: auto, or host:port (default: a local Ray)")
    add("--save", type=Path, help="folder for RLlib's checkpoint at the end (default: none)")
    return made


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command line."""
    options = parser().parse_args(argv)
    for name, least in (("iterations", 1), ("runners", 0), ("envs_per_runner", 1), ("batch", 64)):
        if getattr(options, name) < least:
            option = name.replace("_", "-")
            parser().error(f"--{option} {getattr(options, name)}; allowed: {least} or more")
    try:
        rules = Rules.preset(options.rules, options.seats)
    except ValueError as error:
        parser().error(str(error))
    try:
        start_ray(options.address, options.runners)
    except ConnectionError as error:
        sys.exit(f"rllib.py: --address {options.address}: {error}")
    report(players.make("random"), rules, options.hands)  # compiles the rules for the runners, too
    algorithm = configured(options).build_algo()
    try:
        train(algorithm, options.iterations)
        report(RLlibPlayer(algorithm.get_module(POLICY)), rules, options.hands)
        if options.save is not None:
            print(f"checkpoint: {algorithm.save_to_path(options.save.resolve())}")
    finally:
        algorithm.stop()
        with contextlib.suppress(OSError):
            os.rmdir(algorithm.logdir)  # the empty folder RLlib makes in ~/ray_results
        ray.shutdown()


if __name__ == "__main__":
    main()
