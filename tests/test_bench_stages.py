"""`python -m bench stages` and `shard-costs` name functions of spoor by their places."""

from __future__ import annotations

import pytest
from bench import shard_costs
from bench.stages import STAGES, place_of


@pytest.mark.parametrize("function", [*STAGES.values(), *(where for _, where in shard_costs.STAGES)])
def test_every_stage_is_a_function_that_exists(function: str) -> None:
    owner, name = place_of(function)
    assert callable(getattr(owner, name))
