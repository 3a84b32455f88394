"""A recorded web served on this machine, for tests that crawl it over real sockets."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AbstractContextManager

from spoor.lab.serve import WebServer
from spoor.lab.web import Web
from spoor.lab.worlds import Conditions
from tests.thread_server import served_here, served_in_thread


def served(web: Web, conditions: Conditions | None = None) -> AbstractAsyncContextManager[str]:
    """The address of a proxy that answers for every host of a web."""
    return served_here(WebServer(web, conditions).answer)


def serving(web: Web, conditions: Conditions | None = None) -> AbstractContextManager[str]:
    """The same, in another thread, so that a test may block its own."""
    return served_in_thread(WebServer(web, conditions).answer)
