#!/usr/bin/env bash
# Trains for ten minutes (or MINUTES) on one GPU with 16 cores: bash benchmarks/gpu.sh OUT [train.py's options]
# OUT/run/best.safetensors is the best policy so far at any moment, and `python train.py --resume OUT/run` goes on.
set -u
out=${1:?"say where: bash benchmarks/gpu.sh OUT [options]"}
shift
cd "$(dirname "$0")/.."
if [ -d "$out/run/checkpoints" ]; then
    set -- --resume "$out/run"
else
    set -- --preset gpu --out "$out/run" "$@"
fi
timeout --signal=INT --kill-after=30 "$((60 * ${MINUTES:-10}))" python train.py "$@"
status=$?
# 124: out of time, 130: told to stop. What is saved is what counts.
[ "$status" -eq 124 ] || [ "$status" -eq 130 ] && status=0
ls -l "$out/run/best.safetensors" && exit "$status"
