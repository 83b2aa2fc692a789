"""Command lines: options from the fields of a dataclass, and errors that end as one line and an exit status."""

from __future__ import annotations

import argparse
import dataclasses
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

STOPPED = 130  # exit status after Ctrl-C, as in a shell
REFUSED = 2  # exit status after an error, as argparse has it


def option(default: Any, text: str, flag: str = "", kind: Any = None) -> Any:
    """A field of a dataclass that is an option of a command line.

    Args:
        default: The field's default.
        text: The option's help.
        flag: What the option is called after its dashes, if not as the field.
        kind: Type of what is typed in, if not the field's.
    """
    metadata = {"help": text, "flag": flag, "kind": kind}
    return dataclasses.field(default=default, metadata=metadata)


def _flag(field: dataclasses.Field) -> str:
    return field.metadata["flag"] or field.name.replace("_", "-")


def add_options(parser: argparse.ArgumentParser, defaults: Any) -> None:
    """Adds an option for every field that was made with `option`.

    Args:
        parser: Where to.
        defaults: The dataclass, or an instance whose values are the defaults.
    """
    kinds = get_type_hints(defaults if isinstance(defaults, type) else type(defaults))
    for field in dataclasses.fields(defaults):
        if "help" not in field.metadata:
            continue
        default = getattr(defaults, field.name)
        text = field.metadata["help"].replace("%", "%%") + _shown_default(default)
        how = {"dest": field.name, "default": default, "help": text}
        kind = field.metadata["kind"] or kinds[field.name]
        parser.add_argument(f"--{_flag(field)}", **how, **_converter(kind))


def _shown_default(default: Any) -> str:
    if default is None or default == ():
        return ""
    shown = " ".join(map(str, default)) if isinstance(default, tuple) else default
    return f" (default: {shown})"


def _converter(kind: Any) -> dict[str, Any]:
    """The arguments by which argparse reads a value of a type."""
    if kind is bool:
        return {"action": argparse.BooleanOptionalAction}
    if get_origin(kind) is Literal:
        return {"choices": get_args(kind)}
    if get_origin(kind) is tuple:
        return {"nargs": "+", "type": get_args(kind)[0], "metavar": "VALUE"}
    kind = (get_args(kind) or (kind,))[0]  # of one or None: None is but the default
    words = {str: "TEXT", Path: "PATH"}
    return {"type": kind, "metavar": words.get(kind, "N")}


def options_of(args: argparse.Namespace, kind: type) -> dict[str, Any]:
    """The values of the options that `add_options` added for a dataclass, by field."""
    values = {
        f.name: getattr(args, f.name) for f in dataclasses.fields(kind) if "help" in f.metadata
    }
    return {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}


def options_in_words(options: Any, defaults: Any = None, skip: Sequence[str] = ()) -> list[str]:
    """The words of a command line that make a dataclass of options.

    Args:
        options: The dataclass.
        defaults: Another, with whose values nothing need be said; None: everything is.
        skip: Fields that are left out.
    """
    words: list[str] = []
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        same = defaults is not None and value == getattr(defaults, field.name)
        if "help" not in field.metadata or field.name in skip or same:
            continue
        name = _flag(field)
        values = value if isinstance(value, tuple) else (value,)
        no_value = isinstance(value, bool)
        words.append(f"--no-{name}" if value is False else f"--{name}")
        words += () if no_value else map(str, values)
    return words


def terminal_width() -> int | None:
    """Characters of a line of the terminal that standard output is; None where it is none."""
    wide = sys.stdout is not None and sys.stdout.isatty()
    return shutil.get_terminal_size().columns if wide else None


def _give_up_output() -> None:
    """Lets what standard output has not taken go, where it takes no more: a broken pipe, a full disk."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run(
    parser: argparse.ArgumentParser,
    work: Callable[[argparse.Namespace], int | None],
    argv: list[str] | None = None,
    go_on: Callable[[argparse.Namespace], str] = lambda args: "",
) -> int:
    """Parses a command line and does its work.

    Args:
        parser: The command line.
        work: Called with the options; returns the exit status, None: 0.
        argv: The words after the command; None: those of the process.
        go_on: What to say after Ctrl-C of how the work can be gone on with.

    Returns:
        The exit status. What is wrong stands on standard error in one line.
    """
    args = parser.parse_args(argv)
    try:
        if not sys.flags.safe_path and (here := os.getcwd()) not in sys.path:
            sys.path.insert(0, here)  # of package.module:Class, as with python -m
        status = work(args) or 0
        if sys.stdout is not None:  # None: closed by whoever started us
            sys.stdout.flush()
        return status
    except BrokenPipeError:  # whoever read the output has left
        _give_up_output()
        return 1
    except (ValueError, KeyError, OSError, ImportError, RuntimeError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        if isinstance(error, OSError):
            _give_up_output()
        return REFUSED
    except KeyboardInterrupt:
        more = go_on(args)
        print(f"{parser.prog}: stopped{'; ' if more else ''}{more}", file=sys.stderr)
        return STOPPED
