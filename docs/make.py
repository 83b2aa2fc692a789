"""Makes the parts of the documentation that follow from the code: `python docs/make.py`.

Writes docs/environment.md from the environment's docstring and the pictures of a hand in docs/images.
"""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np

from okgin_env import players
from okgin_env.env import OklahomaGinEnv
from okgin_env.utils.files import write_text
from okgin_env.view import SeatView

DOCS = Path(__file__).parent
NOTE = "<!-- made by docs/make.py from the docstring of okgin_env.env.OklahomaGinEnv -->\n"


def environment_page() -> str:
    """The environment's page: its docstring."""
    return NOTE + "# " + inspect.cleandoc(OklahomaGinEnv.__doc__ or "") + "\n"


def view_of_hand(seed: int, steps: int, seats: int = 2, rules: str = "classic") -> SeatView:
    """A hand between `camper` and `simple`, some steps on."""
    env = OklahomaGinEnv(rules=rules, players=seats, opponent="simple")
    env.reset(seed=seed)
    camper = players.make("camper")
    one, done = np.zeros(1, np.int64), False
    for _ in range(steps):
        if done:
            break
        done = env.step(camper.act(env.games.decisions(one))[0])[2]
    return env.view()


def pictures() -> dict[str, str]:
    """File name to SVG text of every picture of a hand."""
    hand, showdown = view_of_hand(seed=4, steps=14), view_of_hand(6, 99, 3, "french")
    return {
        "hand-light.svg": hand.svg("light"),
        "hand-dark.svg": hand.svg("dark"),
        "showdown-light.svg": showdown.svg("light", four_colours=True),
        "showdown-dark.svg": showdown.svg("dark", four_colours=True),
    }


if __name__ == "__main__":
    write_text(DOCS / "environment.md", environment_page())
    for name, text in pictures().items():
        write_text(DOCS / "images" / name, text)
