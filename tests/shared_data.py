"""Real data that lies beside the checkout and is not part of it; tests that need it skip when it is not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("SPOOR_DATA") or Path(__file__).resolve().parents[2] / "shared")

needs_shared = pytest.mark.skipif(
    not (SHARED / "webs").is_dir(), reason=f"no recorded webs at {SHARED}; set SPOOR_DATA to the folder that has them"
)
