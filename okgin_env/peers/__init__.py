"""Other libraries' players at our table, and ours at theirs; needs the extra ``peers``."""

from __future__ import annotations

import getpass
import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any


def need(module: str) -> Any:
    """A module of the extra ``peers``, imported when it is first needed.

    Raises:
        ImportError: It is not installed.
    """
    try:
        if module in sys.modules:
            return importlib.import_module(module)
        from filelock import FileLock

        # RLCard unpacks files into its own folder when it is first imported, and two processes would meet there.
        with FileLock(Path(tempfile.gettempdir()) / f"okgin_env-peers-{getpass.getuser()}.lock"):
            return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{module} is missing: pip install 'okgin-env[peers]'") from error
