"""Settings that all tests share.

Hypothesis plays the same bounded examples in every run, so that no test fails by chance. By hand it looks further:

    pytest tests/adapters/test_machines.py --hypothesis-profile long --hypothesis-seed 5
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

_COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck), "print_blob": True}
# Shrinking takes minutes of compiled games, and a failure prints all its steps without it.
settings.register_profile("ci", derandomize=True, max_examples=12, stateful_step_count=40, phases=(Phase.explicit, Phase.generate), **_COMMON)  # fmt: skip
settings.register_profile("long", max_examples=2000, stateful_step_count=150, **_COMMON)
settings.load_profile("ci")
os.environ.setdefault("OKGIN_ENV_QUIET", "1")  # tests read what is said on standard error
