"""Files, errors and worker processes: nothing here knows the game."""
