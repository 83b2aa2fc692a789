"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Makes an OSError name the file that was asked for, not a temporary one or none."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_bytes(path: Path, content: bytes) -> None:
    """Writes a file under another name and renames it once it is safely on the disk.

    Raises:
        OSError: It cannot be written; an older file of that name is left as it was.
    """
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".partial")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def check_writable(path: Path) -> None:
    """Checks, before any work is done for it, that a file can be written.

    Raises:
        ValueError: It is a folder.
        OSError: Its folder cannot be made or written to.
    """
    if path.is_dir():
        raise ValueError(f"'{path}'; allowed: a file, this is a folder")
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass


def write_text(path: Path, text: str) -> None:
    """The same for text."""
    write_bytes(path, text.encode())
