"""Which SQLite spoor needs. It is not a package that can be installed: Python comes with one, or uses that of the
system."""

from __future__ import annotations

import sqlite3

from spoor.errors import SpoorError

LEAST_SQLITE = (3, 38, 0)
"""The first with the operator ->>; `RETURNING` and conflicts without a named column are of 3.35."""


def require_sqlite() -> None:
    """To be called before a crawl's database is created or opened."""
    if sqlite3.sqlite_version_info < LEAST_SQLITE:
        least = ".".join(map(str, LEAST_SQLITE))
        problem = f"this Python uses SQLite {sqlite3.sqlite_version}, but spoor needs {least} or later"
        raise SpoorError(f"{problem}; use a Python that brings its own, such as that of `uv python install` or conda")
