"""The command line: `python -m okgin_env play`, `serve`, `train`, `refine` and `evaluate`."""
