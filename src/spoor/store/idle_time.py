"""How long the run that is going on has been idle by choice: a small file, so that other processes see it meanwhile.

Once the run has ended the journal has it, and the file is gone."""

from __future__ import annotations

import contextlib
from pathlib import Path

from spoor.files import replacing


def note_idle(file: Path, seconds: float) -> None:
    """To be called now and then, and when a run begins. A disk that is full is noticed elsewhere."""
    if not file.exists() or idle_of_run(file) != round(seconds, 1):
        with contextlib.suppress(OSError), replacing(file, ".idle.partial") as partial:
            partial.write_text(f"{seconds:.1f}", "ascii")


def idle_of_run(file: Path) -> float:
    """Seconds; 0 where no run is going on. What a run that was killed noted last stays until the next begins."""
    try:
        return float(file.read_text("ascii"))
    except (OSError, ValueError):
        return 0.0
