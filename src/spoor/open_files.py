"""Open files: the limit of this process, and how many connections fit below it."""

from __future__ import annotations

import contextlib
import resource
from dataclasses import dataclass

KEPT_FREE = 256
"""Files for all but connections: databases, archive, processes, a dashboard, and 64 lookups of names with two each."""
FILES_PER_CONNECTION = 2
"""While a host is connected to, by IPv6 and IPv4 at once."""
ENOUGH_FILES = 1 << 16
"""More than 10,000 connections need, for systems where the hard limit is a billion or none."""
MOST_ON_MACOS = 10_240
"""There the soft limit may have to be below the hard one."""


@dataclass(frozen=True, slots=True)
class OpenFiles:
    """The limits of open files of this process: the soft one holds, and may be raised to the hard one."""

    soft: int
    hard: int

    @property
    def most_connections(self) -> int:
        """The number that may be in use at once."""
        return max(1, self._for_connections // FILES_PER_CONNECTION)

    def most_idle(self, connections: int) -> int:
        """The number that may be kept open beside those in use."""
        return max(1, self._for_connections - min(connections, self.most_connections) * FILES_PER_CONNECTION)

    @staticmethod
    def needed(connections: int) -> int:
        """The limit for so many in use."""
        return KEPT_FREE + FILES_PER_CONNECTION * connections

    @property
    def _for_connections(self) -> int:
        return self.soft - min(KEPT_FREE, self.soft // 2)


def open_files() -> OpenFiles:
    soft, hard = (_number(limit) for limit in resource.getrlimit(resource.RLIMIT_NOFILE))
    return OpenFiles(soft, hard)


def raise_limit() -> OpenFiles:
    """Raises the soft limit to the hard one, also for processes that are started from now on. Returns the limits."""
    limits = open_files()
    if limits.soft < min(limits.hard, ENOUGH_FILES):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        for soft in (min(limits.hard, ENOUGH_FILES), min(limits.hard, MOST_ON_MACOS)):
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, limits.soft), hard))
                break
    return open_files()


def _number(limit: int) -> int:
    return ENOUGH_FILES if limit == resource.RLIM_INFINITY else limit
