"""What all tests share: nothing yet but that the checkout is what they import (pyproject.toml, pythonpath)."""
