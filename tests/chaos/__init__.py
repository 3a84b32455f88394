"""A web server on this machine that does everything wrong, each thing under its own path."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.chaos.answers import ANSWERS
from tests.chaos.connections import CONNECTIONS
from tests.chaos.encodings import COMPRESS, ENCODINGS, SMALL
from tests.chaos.markup import PAGES
from tests.chaos.rules import RULES
from tests.chaos.server import Behaviours, Chaos, Exchange, serving

__all__ = ["COMPRESS", "HONEST", "SMALL", "WRONG", "Chaos", "chaos"]


async def _home(exchange: Exchange) -> None:
    paths = sorted(WRONG.keys() | HONEST.keys() - {"/", *RULES})
    await exchange.answer("".join(f"<a href='{path}'>{path}</a>\n" for path in paths).encode())


WRONG: Behaviours = CONNECTIONS
"""HTTP itself is broken, and the connection ends."""
HONEST: Behaviours = {"/": _home, **ANSWERS, **ENCODINGS, **PAGES, **RULES}
"""HTTP is spoken as it should be, whatever it says."""


@asynccontextmanager
async def chaos(host: str = "127.0.0.1", port: int = 0, rules: str = "/robots.txt") -> AsyncIterator[Chaos]:
    """On any loopback address, so that there can be many hosts. Its robots.txt behaves as the path `rules` does."""
    async with serving(HONEST, WRONG, Chaos(host, port, rules)) as running:
        yield running
