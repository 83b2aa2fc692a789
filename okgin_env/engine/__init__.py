"""The engine under every adapter: games, opponents, decisions, buffers, infos, seeds, threads."""
