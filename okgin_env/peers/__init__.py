"""Other libraries' players at our table, and ours at theirs; needs the extra ``peers``."""

from __future__ import annotations

import importlib
from typing import Any


def need(module: str) -> Any:
    """A module of the extra ``peers``, imported when it is first needed.

    Raises:
        ImportError: It is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{module} is missing: pip install 'okgin-env[peers]'") from error
