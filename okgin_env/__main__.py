"""``python -m okgin_env``: Oklahoma Gin from the command line."""

import sys

from okgin_env.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
