"""Oklahoma Gin for Gymnasium: exact, fast, and with every interface the field uses.

``import okgin_env`` registers ``okgin_env/OklahomaGin-v0``. Nothing heavy is imported until it is used.
"""

from __future__ import annotations

import gymnasium as _gymnasium

from okgin_env.rules import PRESETS, Rules

__version__ = "0.2.0"
__all__ = ["ENV_ID", "PRESETS", "Rules", "__version__"]

ENV_ID = "okgin_env/OklahomaGin-v0"

if ENV_ID not in _gymnasium.registry:
    _gymnasium.register(
        id=ENV_ID,
        entry_point="okgin_env.env:OklahomaGinEnv",
        vector_entry_point="okgin_env.vector:OklahomaGinVectorEnv",
    )
