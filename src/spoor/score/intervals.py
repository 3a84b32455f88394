"""How often upkeep is due."""

from __future__ import annotations

from spoor.errors import UsageError


def check_every(every: int) -> None:
    """Upkeep comes after so many visits."""
    if every < 1:
        raise UsageError(f"every={every}: at least 1 visit must lie between two revisions of the queue")
