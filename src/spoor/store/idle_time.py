"""The idle time of the current run, in a small file that other processes can read.

At the end of the run it is written to the journal, and the file is removed.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from spoor.result_files import replacing


def note_idle(file: Path, seconds: float) -> None:
    """Call it at the start of a run and at intervals. Write errors are ignored: a full disk is noticed elsewhere."""
    if not file.exists() or idle_of_run(file) != round(seconds, 1):
        with contextlib.suppress(OSError), replacing(file, ".idle.partial") as partial:
            partial.write_text(f"{seconds:.1f}", "ascii")


def idle_of_run(file: Path) -> float:
    """Idle time in seconds; 0 without a run. After a killed run, its last value remains until the next start."""
    try:
        return float(file.read_text("ascii"))
    except (OSError, ValueError):
        return 0.0
