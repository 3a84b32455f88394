"""Tiny webs in two lines, and simulated crawls of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from spoor.crawl import Crawl
from spoor.events import Event, Failed, Redirected, Visited
from spoor.frontier.entry import HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.judging.combined import Truth
from spoor.lab.simulated import simulate
from spoor.lab.worlds import WrittenWorld
from spoor.pricing import Limits
from spoor.strategy import Strategy


def url(name: str) -> str:
    """`A` is the home page of a host of its own, `a.test/x` a page of the host a.test."""
    return f"http://{name}" if "/" in name else f"http://{name.lower()}.test/"


def graph(text: str, relevant: str = "") -> WrittenWorld:
    """`graph("S: A B; A: S", relevant="S A")`: pages and their links, in order. A page only linked to has no links."""
    links: dict[str, list[str]] = {}
    for line in text.split(";"):
        page, _, targets = line.partition(":")
        links[page.strip()] = targets.split()
    for target in [t for targets in links.values() for t in targets]:
        links.setdefault(target, [])
    pages = {url(page): [url(target) for target in targets] for page, targets in links.items()}
    return WrittenWorld.of_links(pages, frozenset(map(url, relevant.split())))


def truth(world: WrittenWorld) -> Truth:
    return Truth("relevant", world.truth)


def events_of(
    world: WrittenWorld,
    strategy: Strategy,
    seeds: Sequence[str],
    rules: HostRules | None = None,
    limits: Limits | None = None,
    connections: int = 1,
) -> list[Event]:
    crawl = Crawl(strategy, Frontier(MemoryStore(), rules), limits)
    crawl.begin(map(url, seeds))
    return list(simulate(crawl, world, connections))


def names(events: Sequence[Event]) -> str:
    """The visited pages in order, by the names of `graph`: `S A i1`."""
    looked = [e.visit.url for e in events if isinstance(e, Visited | Redirected | Failed) and e.visit.purpose == "page"]
    return " ".join(_name(address) for address in looked)


def _name(address: str) -> str:
    host, _, path = address.removeprefix("http://").partition("/")
    return f"{host}/{path}" if path else host.removesuffix(".test")


def gaps(events: Sequence[Event], host: str) -> list[float]:
    """Seconds between the end of one visit to a host and the start of the next."""
    visits = [(e.visit.at, e.at) for e in events if hasattr(e, "visit") and e.visit.host == host]
    return [start - end for (_, end), (start, _) in pairwise(visits)]
