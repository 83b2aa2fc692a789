"""Checks of the core alone: what works without extras, and that all else names the extra it needs.

    python -m tools.core_only

`tools/versions.py` runs it where no extra is installed. Every line runs in a process of its own. Those that need an extra must fail with one line that names it.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile

from tests.helpers.paths import PLAYTHROUGHS, ROOT

PLAYED = """
import gymnasium as gym
import numpy as np
import okgin_env
env = gym.make("okgin_env/OklahomaGin-v0", opponent={opponent!r}, render_mode={mode!r})
observation, info = env.reset(seed=1)
done = False
while not done:
    observation, _, done, _, info = env.step(env.action_space.sample(info["action_mask"]))
    env.render()
print(info["ending"])
"""
VECTOR = """
import gymnasium as gym
import numpy as np
import okgin_env
envs = gym.make_vec("okgin_env/OklahomaGin-v0", num_envs=8, opponent="camper")
observations, info = envs.reset(seed=1)
for _ in range(50):
    actions = np.array([np.flatnonzero(mask)[-1] for mask in info["action_mask"]])
    observations, *_, info = envs.step(actions)
"""
HISTORY = """
from okgin_env import histories
hands = histories.read({path!r})
hands[0].final()
{more}
"""
NAMES = "from okgin_env import players\nfor name in players.names(): players.make(name)"
WORKS = {
    "gym.make": PLAYED.format(opponent="simple", mode=None),
    "text pictures": PLAYED.format(opponent="search:4", mode="ansi"),
    "gym.make_vec": VECTOR,
    "every built-in player": NAMES,
    "analysis": "from okgin_env import analysis\nassert analysis.deadwood('As 2s 3s 9d') == 9",
    "hand histories": HISTORY.format(path=str(PLAYTHROUGHS), more=""),
    "pictures as SVG": "from okgin_env.render import svg",
}
NEEDS = {
    "pictures": (PLAYED.format(opponent="simple", mode="rgb_array"), "render"),
    "a window": (PLAYED.format(opponent="simple", mode="human"), "render"),
    "hands as a DataFrame": (HISTORY.format(path=str(PLAYTHROUGHS), more="histories.to_frame(hands)"), "notebooks"),
    "a program as a player": ("from okgin_env import players\nplayers.make('cmd:true')", "arena"),
    "a model of stable-baselines3": ("import pathlib\nfrom okgin_env import players\npathlib.Path('a.zip').write_bytes(b'')\nplayers.make('a.zip')", "train"),
    "stable-baselines3": ("import okgin_env.sb3", "train"),
    "PettingZoo": ("import okgin_env.aec", "pettingzoo"),
    "OpenSpiel": ("from okgin_env.peers import openspiel\nopenspiel.OpenSpielSimple()", "peers"),
    "the arena": ("from okgin_env.arena import tournament", "arena"),
    "the report": ("from okgin_env.arena import page", "arena"),
}  # fmt: skip
SCRIPTS = {
    "play": (["-m", "okgin_env", "play", "--episode", "hand", "--seed", "1"], "hint\nq\n", 0, ""),
    "serve": (["-m", "okgin_env", "serve", "camper"], '{"type":"bye"}\n', 0, ""),
    "evaluate.py --help": ([str(ROOT / "evaluate.py"), "--help"], "", 0, ""),
    "evaluate.py": ([str(ROOT / "evaluate.py"), "simple", "knocker", "--hands", "20"], "", 2, "arena"),
    "train.py": ([str(ROOT / "train.py"), "--preset", "smoke"], "", 2, "train"),
}  # fmt: skip


def run(line: list[str], given: str = "") -> subprocess.CompletedProcess[str]:
    """A process of this interpreter, in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"TERM": "dumb", "SDL_VIDEODRIVER": "dummy"}
        return subprocess.run(
            [sys.executable, *line],
            input=given,
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )


def main() -> int:
    """Runs everything; the exit code is 1 where something is not as it should be."""
    extras = ("torch", "pettingzoo", "psutil", "rich", "PIL", "pandas", "scipy", "pyspiel")
    there = [name for name in extras if importlib.util.find_spec(name)]
    if there:
        print(f"core_only.py: {', '.join(there)} installed; allowed: an environment without extras")
        return 2
    wrong = []
    for name, code in WORKS.items():
        done = run(["-W", "error::DeprecationWarning:okgin_env", "-c", code])
        if done.returncode:
            wrong.append(f"{name} does not work:\n{done.stderr[-1500:]}")
    for name, (code, extra) in NEEDS.items():
        done = run(["-c", code])
        last = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        if done.returncode == 0 or f"okgin-env[{extra}]" not in last:
            wrong.append(f"{name} does not say that it needs okgin-env[{extra}]: {last}")
    for name, (line, given, code, extra) in SCRIPTS.items():
        done = run(line, given)
        lines = done.stderr.strip().splitlines()
        if done.returncode != code or (extra and f"okgin-env[{extra}]" not in " ".join(lines)):
            wrong.append(f"{name} ends with {done.returncode}: {done.stderr[-1500:]}")
        elif extra and len(lines) != 1:
            wrong.append(f"{name} says more than one line: {done.stderr[-1500:]}")
    print("\n".join(wrong) or f"{len(WORKS) + len(NEEDS) + len(SCRIPTS)} checks, nothing wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
