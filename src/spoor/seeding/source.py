"""Where result lists come from: the role that every kind of source plays."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from spoor.records import Failure, Response

Ask = Callable[[str], Awaitable[Response | Failure]]
"""Asks the web for a URL and follows where it leads; what comes back has a status of 200, or it is a Failure."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What one engine answers: normalised URLs, the best first; one that it names twice is there twice."""

    engine: str
    urls: tuple[str, ...]


class ResultSource(Protocol):
    """Knows pages for a query. Whatever goes wrong, on the web or in a file, is a Failure and never raised."""

    async def listings(self, query: str, most: int, ask: Ask) -> Sequence[Listing] | Failure:
        """One for each engine behind the source, of at most so many URLs each. What is no URL is left out."""
        ...
