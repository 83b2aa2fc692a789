"""The format of a hand history: its words and its limits."""

from __future__ import annotations

from typing import Final

from okgin_env.layout import MAX_LOG, N_ACTIONS
from okgin_env.view import action_text

VERSION: Final = 1
SUFFIX: Final = ".okgin"
TITLE: Final = f"okgin hand {VERSION}"
END: Final = "end"
ILLEGAL: Final = N_ACTIONS  # in place of an action id: the seat did something illegal
WORDS: Final = (*(action_text(action) for action in range(N_ACTIONS)), "illegal")
ACTIONS: Final = {words: action for action, words in enumerate(WORDS)}
MAX_LINE: Final = 1000  # bytes
MAX_LINES: Final = MAX_LOG + 50  # of one hand
MAX_NAME: Final = 100  # characters of a player's name
