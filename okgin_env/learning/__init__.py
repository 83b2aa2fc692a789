"""Learning to play: training, self-play, export. Not in the wheel; `train.py` is its command line."""
