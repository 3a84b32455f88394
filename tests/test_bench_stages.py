"""`python -m bench stages` names functions of spoor by their places."""

from __future__ import annotations

import pytest
from bench.stages import STAGES, place_of


@pytest.mark.parametrize("function", STAGES.values())
def test_every_stage_is_a_function_that_exists(function: str) -> None:
    owner, name = place_of(function)
    assert callable(getattr(owner, name))
