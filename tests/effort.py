"""Number of random trials in tests. The default suits a suite of a few minutes; the environment variable SPOOR_EFFORT
multiplies it (`make thorough`)."""

from __future__ import annotations

import os

EFFORT = int(os.environ.get("SPOOR_EFFORT", "1"))


def times(few: int) -> int:
    return few * EFFORT
