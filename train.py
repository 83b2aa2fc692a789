"""Trains a player and prints its table against the scripted players: `okgin_env.cli.train`."""

import sys

from okgin_env.cli.train import main

if __name__ == "__main__":
    sys.exit(main())
