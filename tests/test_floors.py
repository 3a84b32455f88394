"""Quality is tested like behaviour: no strategy falls below what it once reached."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.floors import FLOORS, WEBS, measured


@pytest.mark.parametrize("web", WEBS)
def test_no_strategy_falls_below_its_floor(web: str, tmp_path: Path) -> None:
    floors = json.loads(FLOORS.read_text())[web]
    reached = measured(web, tmp_path)
    below = {strategy: (reached[strategy], floor) for strategy, floor in floors.items() if reached[strategy] < floor}
    assert not below, "reached, floor"
