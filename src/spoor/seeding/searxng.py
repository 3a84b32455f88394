"""Results of a SearXNG instance, or of what answers as one: JSON with a URL and the engines of each result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from spoor.records import Failure, Response
from spoor.seeding.answers import json_in, objects_in, whole_body
from spoor.seeding.pages import pages
from spoor.seeding.source import Ask, Listing
from spoor.urls import host_of

PAGES = 5
"""Pages of results that are asked for at most."""
FORBIDDEN = "HTTP 403"


@dataclass(frozen=True)
class SearXng:
    """`url` is that of the instance or of its search, normalised; parameters in it, such as `language=hi`, are kept."""

    url: str

    async def listings(self, query: str, most: int, ask: Ask) -> Sequence[Listing] | Failure:
        """A page of results after the other, until there are enough or no more; what came before a failure is used."""
        results: list[dict[str, Any]] = []
        for number in range(1, PAGES + 1):
            page = _results(await ask(self._asked(query, number)))
            if isinstance(page, Failure):
                return page if number == 1 else by_engine(results, host_of(self.url), most)
            results += page
            if not page or len(results) >= most:
                break
        return by_engine(results, host_of(self.url), most)

    def _asked(self, query: str, page: int) -> str:
        url, _, given = self.url.partition("?")
        if not url.endswith("/search"):
            url = url.rstrip("/") + "/search"
        asked = urlencode({"q": query, "format": "json", "pageno": page})
        return f"{url}?{given}&{asked}" if given else f"{url}?{asked}"


def _results(answer: Response | Failure) -> list[dict[str, Any]] | Failure:
    body = whole_body(answer)
    if isinstance(body, Failure):
        return Failure(f"{body.reason}; many instances do not allow format=json") if body.reason == FORBIDDEN else body
    said = json_in(body)
    if isinstance(said, Failure):
        return said
    if not isinstance(said, dict) or not isinstance(said.get("results"), list):
        return Failure("gives JSON without a list of results")
    return objects_in(said["results"])


def by_engine(results: Iterable[dict[str, Any]], otherwise: str, most: int) -> list[Listing]:
    """A result that several engines name is one of each; one that names no engine is one of `otherwise`."""
    said: defaultdict[str, list[object]] = defaultdict(list)
    for result in results:
        for engine in _engines(result) or [otherwise]:
            said[engine].append(result.get("url"))
    return [Listing(engine, pages(urls, most)) for engine, urls in said.items()]


def _engines(result: dict[str, Any]) -> list[str]:
    named = result.get("engines") or [result.get("engine")]
    return list(dict.fromkeys(name for name in named if isinstance(name, str) and name.isprintable() and name))
