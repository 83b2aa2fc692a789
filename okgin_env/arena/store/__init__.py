"""Results in a file: rows, what they are checked by, who played and with which code."""
