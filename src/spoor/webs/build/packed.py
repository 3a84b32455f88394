"""A recorded outcome in the form it is stored: made in worker processes, so that texts never gather in one place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from spoor.records import Failure, Link, Page, Redirect
from spoor.webs.blobs import compress


@dataclass(frozen=True, slots=True)
class Recorded:
    """What came back for a URL. `seconds` is how long it took, None when nobody noted it."""

    url: str
    outcome: Page | Redirect | Failure
    seconds: float | None = None
    labels: tuple[str, ...] = ()
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Packed:
    """`page` has neither texts nor links: they are apart, compressed (b"" for none). `contexts` go with `targets`."""

    page: Page
    targets: tuple[str, ...] = ()
    redirect: str | None = None
    texts: bytes = b""
    contexts: bytes = b""
    seconds: float | None = None
    labels: tuple[str, ...] = ()
    whole: bool = True

    @property
    def good(self) -> bool:
        """A response of 2xx that is all there: no other record of the same URL can be better."""
        return self.whole and 200 <= self.page.status < 300


def pack(recorded: Recorded) -> Packed:
    match recorded.outcome:
        case Page() as page:
            packed = _pack_page(page)
        case Redirect(to, status):
            packed = Packed(Page(recorded.url, status, ""), redirect=to)
        case Failure():
            packed = Packed(Page(recorded.url, 0, ""))
    return replace(packed, seconds=recorded.seconds, labels=recorded.labels, whole=recorded.whole)


def _pack_page(page: Page) -> Packed:
    texts = (page.title, page.text, dict(page.tag_texts), page.main_text, page.published)
    contexts = [_context(link) for link in page.links]
    return Packed(
        page=replace(page, title="", text="", tag_texts={}, main_text="", published="", links=()),
        targets=tuple(link.url for link in page.links),
        texts=compress(texts) if any(texts) else b"",
        contexts=compress(contexts) if contexts else b"",
    )


def _context(link: Link) -> list[Any]:
    """The fields after the URL, in their order; the last of them only as far as they say anything."""
    last = [link.hreflang, link.rel, link.path, link.navigation]
    while last and not last[-1]:
        last.pop()
    return [link.anchor, link.left, link.right, link.heading, link.nofollow, *last]
