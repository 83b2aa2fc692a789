"""The secret of a tournament that is not over: in a file beside its store that only its owner can read."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from okgin_env.arena.decks import check_secret, drawn_secret
from okgin_env.utils.files import naming


def secret_path(store: Path) -> Path:
    """The file beside a store."""
    return store.with_name(f"{store.name}.secret")


def read_secret(store: Path) -> str | None:
    """The secret of a tournament that has not ended; None: there is none.

    Raises:
        ValueError: The file holds something else.
        OSError: It cannot be read.
    """
    path = secret_path(store)
    try:
        with naming(path):
            secret = path.read_bytes()[:100].decode(errors="replace").strip()
    except FileNotFoundError:
        return None
    try:
        check_secret(secret)
    except ValueError as error:
        raise ValueError(f"'{path}' holds no {error}") from error
    return secret


def kept_secret(store: Path) -> str:
    """The secret of a tournament that has not ended, or a new one, which is on the disk before anybody plays.

    Two processes that begin at once get the same: a file is linked to its name once it is whole, and only one can be.
    """
    path = secret_path(store)
    with naming(path):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".partial")
        try:  # mkstemp has made it readable by its owner only
            with os.fdopen(handle, "w") as file:
                file.write(f"{drawn_secret()}\n")
                file.flush()
                os.fsync(file.fileno())
            _link(Path(name), path)
        finally:
            Path(name).unlink(missing_ok=True)
    found = read_secret(store)
    return kept_secret(store) if found is None else found  # None: another process has just ended


def _link(whole: Path, path: Path) -> None:
    """Gives a file its name, if no other has it."""
    try:
        os.link(whole, path)
    except FileExistsError:
        pass
    except OSError:  # a disk without links
        if not path.exists():
            whole.replace(path)


def forget_secret(store: Path, secret: str) -> None:
    """Removes the file, if it holds that secret."""
    if read_secret(store) == secret:
        secret_path(store).unlink(missing_ok=True)
