"""G_Crawl: links of the pages with most letters in the code intervals of fonts first."""

from __future__ import annotations

import pytest

from spoor.errors import UsageError
from spoor.events import Visited
from spoor.judging.combined import Truth
from spoor.lab.worlds import WrittenWorld
from spoor.records import Link, Page
from spoor.registry import strategy
from tests.tiny import events_of

GLYPHS = "\ue264\ue270\ue279\ue283"
"""Four letters of Menksoft."""
NOBODY = Truth("relevant", lambda url: False)


def page(name: str, text: str, *links: str) -> Page:
    return Page(f"http://{name}.test/", text=text, links=tuple(Link(f"http://{link}.test/") for link in links))


def order(*pages: Page) -> list[str]:
    """In which g-crawl visits them, from the first."""
    world = WrittenWorld({page.url: page for page in pages})
    events = events_of(world, strategy("g-crawl:language=mn-Mong", NOBODY), [pages[0].url.removeprefix("http://")])
    return [event.visit.host.removesuffix(".test") for event in events if isinstance(event, Visited)]


def test_links_of_a_page_with_more_letters_inside_come_first() -> None:
    start = page("start", GLYPHS, "half", "all")
    half, full = page("half", f"{GLYPHS} abcd", "later"), page("all", GLYPHS, "sooner")
    assert order(start, half, full, page("later", ""), page("sooner", "")) == [
        "start",
        "half",
        "all",
        "sooner",
        "later",
    ]


def test_the_best_of_several_pages_counts() -> None:
    start = page("start", GLYPHS, "half", "all")
    half, full = page("half", f"{GLYPHS} abcd", "first", "both"), page("all", GLYPHS, "both")
    assert order(start, half, full, page("first", ""), page("both", "")) == ["start", "half", "all", "both", "first"]


def test_letters_in_unicode_are_outside() -> None:
    start = page("start", GLYPHS, "unicode", "font")
    unicode, font = page("unicode", "ᠮᠣᠩᠭᠣᠯ", "later"), page("font", GLYPHS, "sooner")
    assert order(start, unicode, font, page("later", ""), page("sooner", ""))[3:] == ["sooner", "later"]


def test_a_language_without_fonts_of_its_own_is_refused() -> None:
    with pytest.raises(UsageError, match="and none is known for 'ja'"):
        strategy("g-crawl", Truth("lang=ja", lambda url: False))
