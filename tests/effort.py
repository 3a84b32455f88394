"""How often tests try what they try at random: as often as a suite of a few minutes allows, or as many times more often
as the variable SPOOR_EFFORT says (`make thorough`)."""

from __future__ import annotations

import os

EFFORT = int(os.environ.get("SPOOR_EFFORT", "1"))


def times(few: int) -> int:
    return few * EFFORT
