"""What the links of a page are resolved against."""

from __future__ import annotations

from dataclasses import dataclass

from spoor.parse.query_encoding import encoded
from spoor.urls import bare_reference, join

LONGEST_URL = 8_000
"""Maximum length of a URL in characters; servers need not support more (RFC 9110)."""


@dataclass(frozen=True, slots=True)
class LinkBase:
    """The URL of a page or of its <base>, normalised, and the charset in which browsers write the queries of its links:
    "" is UTF-8."""

    url: str
    charset: str = ""

    def join(self, href: str) -> str | None:
        """None also for URLs that are too long, so that a short page cannot produce many long URLs."""
        if len(href) > LONGEST_URL:
            return None
        if self.charset and "?" in href:
            href = self._with_encoded_query(href)
        url = join(self.url, href)
        return url if url is not None and len(url) <= LONGEST_URL else None

    def _with_encoded_query(self, href: str) -> str:
        reference, mark, fragment = bare_reference(href).partition("#")
        before, question, query = reference.partition("?")
        return before + question + encoded(query, self.charset) + mark + fragment
