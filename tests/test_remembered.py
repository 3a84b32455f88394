"""Verdicts that are kept in a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spoor.errors import BadInput
from spoor.judging.combined import Verdicts


def test_verdicts_are_read_as_they_were_written(tmp_path: Path) -> None:
    Verdicts(np.array([0.1, 2 / 3]), np.array([False, True])).write(tmp_path / "kept.npz")
    kept = Verdicts.read(tmp_path / "kept.npz")
    assert [(kept.of(page).relevance, kept.of(page).relevant) for page in (0, 1)] == [(0.1, False), (2 / 3, True)]


@pytest.mark.parametrize("damage", [lambda kept: kept[: len(kept) // 2], lambda kept: b"", lambda kept: b"no verdicts"])
def test_a_damaged_file_is_refused_with_the_remedy(tmp_path: Path, damage: object) -> None:
    assert callable(damage)
    path = tmp_path / "kept.npz"
    Verdicts(np.zeros(9), np.zeros(9, np.bool_)).write(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(BadInput, match="delete it; it will be created again"):
        Verdicts.read(path)
