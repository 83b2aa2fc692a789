"""The command line: `okgin play`, `watch`, `train`, `refine`, `evaluate`, `serve` and `warm`."""
