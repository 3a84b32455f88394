"""A page as its response has it and as its scripts drew it: the longer text of both, the links of both."""

from __future__ import annotations

from dataclasses import replace
from html import escape

from spoor.parse.html import Interest, read_page
from spoor.records import Link, Page, Rendering
from spoor.urls import join

LEAST_GAIN = 100
"""Characters of text by which a page must be longer to have gained some; every page gets a few, such as a greeting."""
_TYPE = "text/html; charset=utf-8"


def with_rendering(page: Page, rendering: Rendering, interest: Interest) -> Page:
    """Charsets, status and size stay those of the response. Rendering can lose text that a response had."""
    drawn = _read(page, rendering, interest)
    longer, shorter = (drawn, page) if len(drawn.text) >= len(page.text) else (page, drawn)
    links = _each_once(longer.links, shorter.links)[: interest.most_links]
    more_text = len(longer.text) >= len(page.text) + LEAST_GAIN
    gained = more_text or len(links) > len(page.links)
    return replace(
        page,
        title=longer.title or shorter.title,
        text=longer.text,
        main_text=longer.main_text,
        tag_texts=longer.tag_texts,
        links=links,
        unrecorded=max(page.unrecorded, drawn.unrecorded),
        canonical=page.canonical or drawn.canonical,
        noindex=page.noindex or drawn.noindex,
        language=page.language or drawn.language,
        published=longer.published or shorter.published,
        feeds=tuple(dict.fromkeys((*page.feeds, *drawn.feeds))),
        needs_scripts=False,
        rendering=replace(rendering, html="", links=(), gained=gained),
    )


def _read(page: Page, rendering: Rendering, interest: Interest) -> Page:
    """With the links that are not in the tree, as if they were: so what the page asks for its links holds for them."""
    drawn = read_page(page.url, rendering.html.encode("utf8", "replace"), _TYPE, 200, interest)
    known = {page.url, *(link.url for link in drawn.links)}
    others = {url for address in rendering.links if (url := join(page.url, address)) is not None} - known
    if not others:
        return drawn
    anchors = "".join(f'<a href="{escape(url)}"></a>' for url in sorted(others))
    return read_page(page.url, (anchors + rendering.html).encode("utf8", "replace"), _TYPE, 200, interest)


def _each_once(first: tuple[Link, ...], second: tuple[Link, ...]) -> tuple[Link, ...]:
    links = {link.url: link for link in first}
    for link in second:
        links.setdefault(link.url, link)
    return tuple(links.values())
