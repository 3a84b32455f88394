"""Results of a site that answers searches with a feed, as OpenSearch describes it: a URL with places to fill in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from spoor.errors import UsageError
from spoor.records import Failure
from spoor.seeding.answers import whole_body
from spoor.seeding.feed import links_in
from spoor.seeding.pages import pages
from spoor.seeding.source import Ask, Listing
from spoor.urls import host_of, normalise

_PLACE = re.compile(r"\{([\w:]+)(\??)\}")


@dataclass(frozen=True)
class OpenSearch:
    """`template` holds {searchTerms}; places with a question mark, such as {count?}, may stay empty."""

    template: str

    def __post_init__(self) -> None:
        if "{searchTerms}" not in self.template:
            raise UsageError(f"opensearch:{self.template} has no {{searchTerms}} where the query goes")
        unknown = [name for name, optional in _PLACE.findall(self.template) if not optional and name not in _filling()]
        if unknown:
            known = ", ".join(f"{{{name}}}" for name in _filling())
            raise UsageError(f"opensearch:{self.template}: unknown place {{{unknown[0]}}}; known are {known}")
        if normalise(self._asked("query", 1)) is None:
            raise UsageError(f"opensearch:{self.template}: no URL that begins with http:// or https://")

    async def listings(self, query: str, most: int, ask: Ask) -> Sequence[Listing] | Failure:
        url = normalise(self._asked(query, most)) or ""
        body = whole_body(await ask(url))
        links = body if isinstance(body, Failure) else links_in(body)
        return links if isinstance(links, Failure) else [Listing(host_of(url), pages(links, most))]

    def _asked(self, query: str, most: int) -> str:
        filling = _filling(query, most)
        return _PLACE.sub(lambda place: filling.get(place[1], ""), self.template)


def _filling(query: str = "", most: int = 1) -> Mapping[str, str]:
    return {
        "searchTerms": quote(query, safe=""),
        "count": str(most),
        "startIndex": "1",
        "startPage": "1",
        "language": "*",
        "inputEncoding": "UTF-8",
        "outputEncoding": "UTF-8",
    }
