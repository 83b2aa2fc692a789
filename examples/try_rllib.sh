#!/bin/sh
# Tries examples/rllib.py in a fresh environment, which is removed afterwards: installs it (some 2 GB, minutes), runs
# two iterations. PYTHON=python3.12 examples/try_rllib.sh takes another Python; arguments go to the example.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet -r examples/requirements-rllib.txt -e .
"$folder/venv/bin/python" examples/rllib.py --iterations 2 "$@"
