"""Training scripts to copy; what stood here before is `okgin_env.learning` now, and an old command says so."""

import sys

_MOVED = {
    "agents.baselines": "python -m benchmarks.baselines",
    "agents.curve": "python -m okgin_env.learning.curve",
    "agents.exploit": "python -m okgin_env.learning.exploit",
    "agents.refine": "okgin refine",
    "agents.ship": "python -m okgin_env.learning.ship",
}

if sys.orig_argv[1:2] == ["-m"] and (_new := _MOVED.get(sys.orig_argv[2])):
    print(f"{sys.orig_argv[2]} has moved; now: {_new}", file=sys.stderr)
    sys.exit(2)
