"""``python -m okgin_env``: the same as ``okgin``."""

import sys

from okgin_env.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
