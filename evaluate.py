"""Says who is better, and by how much: `okgin_env.cli.evaluate`."""

import sys

from okgin_env.cli.evaluate import main

if __name__ == "__main__":
    sys.exit(main(prog="evaluate.py"))
