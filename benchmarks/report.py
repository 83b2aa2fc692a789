"""The figures as a markdown table and as JSON, with the ratios and what is wanted of them."""

from __future__ import annotations

import argparse
import os
import platform
import statistics
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.measure import Figure, paired_ratio

# JSON key: (figure above, figure below, least ratio wanted, what it says)
RATIOS: Mapping[str, tuple[str, str, float | None, str]] = {
    "kernel_vs_openspiel_cpp": (
        "kernel_random_per_s", "openspiel_cpp_per_s", 60, "kernel / OpenSpiel C++, random decisions"),
    "kernel_bare_vs_openspiel_cpp": (
        "kernel_bare_per_s", "openspiel_cpp_per_s", None,
        "the same, both with legal actions only"),
    "kernel_vs_rlcard": (
        "kernel_random_per_s", "rlcard_per_s", 250, "kernel / RLCard, random decisions"),
    "scripted_vs_openspiel_cpp": (
        "scripted_hands_per_s", "openspiel_cpp_hands_per_s", None,
        "kernel / OpenSpiel C++, whole hands of simple bots"),
    "gym_vs_rlcard": ("gym_make_per_s", "rlcard_per_s", 8, "gymnasium.make / RLCard"),
    "gym_vs_openspiel_python": (
        "gym_make_per_s", "openspiel_python_per_s", 3, "gymnasium.make / OpenSpiel from Python"),
    "train_vs_free": (
        "train_native_per_s", "train_free_per_s", 0.85, "training / training on a free environment"),
    "train_fast_vs_stock": (
        "train_fast_per_s", "train_stock_per_s", 1.2, "our learner in float32 / sb3-contrib's MaskablePPO"),
    "train_bf16_vs_stock": (
        "train_bf16_per_s", "train_stock_per_s", 1.8, "our learner in bfloat16 / sb3-contrib's MaskablePPO"),
}  # fmt: skip
# Figures that are wanted as such: (bound, whether it is a least or a most)
WANTED: Mapping[str, tuple[float, str]] = {
    "scripted_hands_per_s": (150_000, "≥"),
    "cold_start_s": (20, "<"),
    "warm_start_s": (2, "<"),
}
KEYS = (
    "kernel_random_per_s",
    "scripted_hands_per_s",
    "deadwood_ns",
    "gym_make_per_s",
    "openspiel_cpp_per_s",
    "openspiel_python_per_s",
    "rlcard_per_s",
    "train_native_per_s",
    "train_free_per_s",
    "train_fast_per_s",
    "train_bf16_per_s",
    "train_stock_per_s",
    "cold_start_s",
    "warm_start_s",
)  # in the JSON even when not measured, as null


def paired_ratios(figures: Mapping[str, Figure]) -> dict[str, list[float]]:
    """Every ratio of `RATIOS` in every round; empty where a figure is missing."""
    return {
        key: paired_ratio(figures.get(above), figures.get(below))
        for key, (above, below, _, _) in RATIOS.items()
    }


def as_text(
    figures: Mapping[str, Figure], ratios: Mapping[str, list[float]], notes: list[str]
) -> str:
    """Both tables as markdown."""
    lines = ["| figure | median | lowest to highest | wanted | what |", "|---|---:|---:|---:|---|"]
    for key, figure in figures.items():
        median, unit = figure.median, figure.unit
        if median is None:
            continue
        spread = f"{_number(min(figure.samples))} to {_number(max(figure.samples))}"
        wanted = _wanted(median, *WANTED[key]) if key in WANTED else ""
        row = (f"`{key}`", f"{_number(median)} {unit}", spread, wanted, figure.label)
        lines.append(f"| {' | '.join(row)} |")
    if any(ratios.values()):
        lines += ["", "| ratio | median | lowest to highest | wanted | what |"]
        lines.append("|---|---:|---:|---:|---|")
    for key, values in ratios.items():
        if values:
            median, (_, _, least, label) = statistics.median(values), RATIOS[key]
            spread = f"{_number(min(values))} to {_number(max(values))}"
            wanted = "" if least is None else _wanted(median, least, "≥")
            lines.append(f"| `{key}` | {_number(median)} | {spread} | {wanted} | {label} |")
    return "\n".join(lines + [""] * bool(notes) + [f"note: {note}" for note in notes])


def _wanted(value: float, bound: float, kind: str) -> str:
    met = value >= bound if kind == "≥" else value < bound
    return f"{kind} {_number(bound)} {'✓' if met else '✗ missed'}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def as_json(
    figures: Mapping[str, Figure], ratios: Mapping[str, list[float]], about: dict[str, Any]
) -> dict[str, Any]:
    """The file's content: every figure's median by its key, the ratios, and how they came about."""
    content: dict[str, Any] = dict.fromkeys(KEYS)
    content |= {key: figure.median for key, figure in figures.items()}
    content["ratios"] = {
        key: statistics.median(values) if values else None for key, values in ratios.items()
    }
    content["samples"] = {
        key: {
            "what": figure.label,
            "unit": figure.unit,
            "values": figure.samples,
            "wall_clock": figure.wall,
        }
        for key, figure in figures.items()
    } | {key: {"what": RATIOS[key][3], "values": values} for key, values in ratios.items()}
    return content | {"about": about}


def machine(options: argparse.Namespace, core: int | None, seconds: float) -> dict[str, Any]:
    """The machine, and how it was measured."""
    packages = ("numpy", "numba", "gymnasium", "stable-baselines3", "torch", "open-spiel", "rlcard")
    versions: dict[str, str | None] = {}
    for package in packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "bound_to_core": core,
        "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "versions": versions,
        "clock": options.clock,
        "rules": options.rules,
        "repeats": options.repeats,
        "quick": options.quick,
        "train_preset": options.train_preset,
        "train_threads": options.train_threads,
        "seconds": round(seconds, 1),
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
