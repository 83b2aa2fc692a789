"""Learning to play (extra `train`): a head start by imitation, MaskablePPO, past selves, refinement, export.

| module | holds |
|---|---|
| `config` | `TrainConfig`: a run as one dataclass, and its presets |
| `ppo` | `train`: a run from its folder to the table at its end |
| `model` | the environment and the learner of a run |
| `fast_ppo` | MaskablePPO in fewer and cheaper passes |
| `imitate` | the head start: a scripted player's moves copied |
| `selfplay` | past selves as opponents |
| `ladder`, `curve` | evaluation on the way, and pictures of it |
| `checkpoint`, `tensors`, `export` | what a run writes |
| `refine` | the second stage, from what every likely move would have come to |
| `exploit`, `ship` | best responders; a policy into the package, as `expert` |
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

NEEDS = "training needs: pip install 'okgin-env[train]'"


@contextmanager
def naming_extra() -> Iterator[None]:
    """Makes the error of a package that is missing name the extra that brings it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error}; {NEEDS}", name=error.name) from error
