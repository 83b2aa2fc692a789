"""Files of hand histories: appended hand by hand, read back whole or one at a time."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from okgin_env.histories.hand import HandHistory
from okgin_env.histories.parsing import parse
from okgin_env.histories.text import END, MAX_LINE, MAX_LINES, SUFFIX, TITLE
from okgin_env.utils.files import naming, write_text

MAX_BYTES: Final = 1 << 28  # of a file that is read into a list
_START: Final = TITLE.rsplit(" ", 1)[0].encode()  # of a title line, whatever its version


def append(path: str | Path, histories: HandHistory | Iterable[HandHistory]) -> None:
    """Adds hands at the end of a file, each with one write, so that a kill can tear the last one only.

    A hand that was torn before stays what it is; the new ones begin after a blank line.

    Args:
        path: A name that ends in ``.okgin``. A missing file is made.
        histories: One hand, or several.

    Raises:
        ValueError: The name does not end in ``.okgin``.
        OSError: The file cannot be written, or a full disk took only part of a hand.
    """
    path = _checked(path)
    if isinstance(histories, HandHistory):
        histories = [histories]
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with naming(path), open(path, "ab+", buffering=0) as file:
        for hand in histories:
            gap = b""
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                gap = b"\n" if file.read(1) == b"\n" else b"\n\n"
            content = gap + hand.to_text().encode()
            if file.write(content) != len(content):
                raise OSError(f"{path}: only part of a hand was written; allowed: room on the disk")


def write(path: str | Path, histories: Iterable[HandHistory]) -> None:
    """Writes a file with these hands, whole or not at all; an older one is replaced.

    Raises:
        ValueError: The name does not end in ``.okgin``.
        OSError: The file cannot be written.
    """
    write_text(_checked(path), "\n".join(hand.to_text() for hand in histories))


def read(path: str | Path, strict: bool = True) -> list[HandHistory]:
    """Reads all hands of a file. Arguments and errors as for `scan`.

    Raises:
        ValueError: Also: the file is larger than `MAX_BYTES`; `scan` takes one of any size.
    """
    size = os.path.getsize(path)
    if size > MAX_BYTES:
        raise ValueError(f"{path}: {size} bytes; allowed: {MAX_BYTES}, or one by one with scan()")
    return list(scan(path, strict))


def scan(path: str | Path, strict: bool = True) -> Iterator[HandHistory]:
    """Reads the hands of a file one after another, with one of them in memory.

    Args:
        path: The file.
        strict: False: hands without their last line, torn when a program was killed, are left out.

    Raises:
        ValueError: In one line: the file, the line, what stands there and what is allowed.
        OSError: The file cannot be read.
    """
    with open(path, "rb") as file:
        try:
            for line, block in _blocks(file):
                if block[-1] != END.encode():
                    if not strict:
                        continue
                    last = line + len(block) - 1
                    raise ValueError(
                        f"line {last}: the hand from line {line} on is torn; "
                        f"allowed: whole hands up to '{END}', or strict=False to leave it out"
                    )
                try:
                    text = b"\n".join(block).decode()
                except UnicodeDecodeError as error:
                    raise ValueError(f"line {line}: not UTF-8 ({error}); allowed: text") from error
                yield parse(text, line)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error


def _blocks(file: BinaryIO) -> Iterator[tuple[int, list[bytes]]]:
    """The number of its first line and the lines of every hand, torn ones too."""
    number, block = 0, list[bytes]()
    while line := file.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise ValueError(f"line {number}: too long; allowed: {MAX_LINE} bytes")
        content = line.rstrip(b"\r\n")
        if number == 1:
            content = content.removeprefix(codecs.BOM_UTF8)
        if block and (not content or content.startswith(_START)):
            yield number - len(block), block
            block = []
        if content:
            block.append(content)
        if len(block) > MAX_LINES:
            raise ValueError(f"line {number}: the hand goes on; allowed: {MAX_LINES} lines")
    if block:
        yield number - len(block) + 1, block


def _checked(path: str | Path) -> Path:
    if Path(path).suffix != SUFFIX:
        raise ValueError(f"path={str(path)!r}; allowed: a name that ends in {SUFFIX}")
    return Path(path)
