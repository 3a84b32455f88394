"""Parses a response into a page: text, links and their context. Merges a page with its rendering in a browser."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape

from spoor.parse import link_contexts, tidy_text, walk
from spoor.parse.charset import Decoded, decode, meta_charset
from spoor.parse.link_base import LinkBase
from spoor.parse.link_contexts import LONGEST, LONGEST_TAG, ParsedContexts, Places, bare_links
from spoor.parse.main_text import Extractor, MainText
from spoor.parse.page_data import data_of
from spoor.parse.query_encoding import charset_of_queries
from spoor.parse.reading import Reading, header_directives, read
from spoor.parse.scripted import Script, forward, is_thin, locations, needs_scripts
from spoor.parse.tags import TELLING_TAGS
from spoor.parse.tidy_text import WINDOW, TidyText, tidied
from spoor.parse.walk import IS_APART, deepest
from spoor.records import Link, LinkContexts, Page, Rendering
from spoor.urls import join

KERNELS = (*walk.KERNELS, *tidy_text.KERNELS, *link_contexts.KERNELS)

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
_BEGINS_AS_HTML = re.compile(rb"\s*<(!doctype\s+html|html|head|body|title|meta|!--)", re.IGNORECASE)
MOST_FEEDS = 10
"""Maximum number of feeds per page."""
MOST_NESTED = 30_000_000
"""Maximum of characters of a page times nesting depth for main text extraction, whose time grows with both. For larger
pages the whole text is used."""


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """What to extract besides words and links: the main text, if there is an extractor; the anchors of links and up to
    `window` characters of context on each side; at most `most_links` links, None for all; and documents other than HTML
    (`parse/documents.py`). `contexts_later`: anchors and contexts are read when `Page.contexts` is asked for
    them."""

    main_text: Extractor | None = None
    contexts: bool = True
    most_links: int | None = None
    window: int = WINDOW
    documents: bool = True
    contexts_later: bool = False


DEFAULT_OPTIONS = ParseOptions()


def read_page(
    url: str, body: bytes, content_type: str = "", status: int = 200, parse_options: ParseOptions = DEFAULT_OPTIONS
) -> Page:
    """Never fails. Only HTML with a status of 2xx has text and links.

    `url` is normalised, `content_type` the whole header, and `body` without transfer and content encoding.
    """
    mime = _mime(body, content_type)
    if 200 <= status < 300 and mime in HTML_TYPES:
        return _read_html(Page(url, status, mime, size=len(body)), decode(body, content_type), parse_options)
    return Page(url, status, mime, size=len(body))


def with_robots_tags(page: Page, values: Iterable[str]) -> Page:
    """The page with the directives of its X-Robots-Tag headers, which add to those in the page."""
    directives = frozenset[str]().union(*map(header_directives, values))
    if "nofollow" in directives:
        links = tuple(link._replace(nofollow=True) for link in page.links)
        page = replace(page, links=links, forwards_to="")
    return replace(page, noindex=page.noindex or "noindex" in directives) if directives else page


def _read_html(empty: Page, decoded: Decoded, parse_options: ParseOptions) -> Page:
    reading = read(decoded.text, decoded.utf8)
    page = _html_page(empty, decoded, reading, parse_options)
    filled = page
    if is_thin(page):
        facts = ScriptFacts(reading.scripts(), reading.refresh, _base(page.url, reading, decoded), reading.nofollow)
        filled = with_scripts(page, facts, parse_options.most_links)
    extractor = parse_options.main_text
    # Extractors do not see text inside scripts.
    if extractor is None or filled.main_text or _is_too_nested(reading, decoded.text):
        return filled
    return _with_main_text(filled, extractor.extract(decoded.text, page.url))


def is_html(body: bytes, content_type: str) -> bool:
    """By the whole header; without one, by the first bytes."""
    return _mime(body, content_type) in HTML_TYPES


def _mime(body: bytes, content_type: str) -> str:
    mime = content_type.partition(";")[0].strip().lower()
    return "text/html" if not mime and _BEGINS_AS_HTML.match(body) else mime


def _is_too_nested(reading: Reading, html: str) -> bool:
    return deepest(reading.frames) * len(html) > MOST_NESTED


def _base(url: str, reading: Reading, decoded: Decoded) -> LinkBase:
    charset = charset_of_queries(decoded.charset)
    return LinkBase(LinkBase(url, charset).join(reading.base) or url, charset)


def _html_page(page: Page, decoded: Decoded, reading: Reading, parse_options: ParseOptions) -> Page:
    text = tidied(reading.text)
    base = _base(page.url, reading, decoded)
    places, left_out = _places(page.url, base, reading, parse_options.most_links)
    links, contexts = _links(places, reading, text, parse_options)
    return Page(
        url=page.url,
        status=page.status,
        content_type=page.content_type,
        header_charset=decoded.header,
        meta_charset=decoded.meta,
        detected_charset=decoded.detected,
        size=page.size,
        title=reading.title,
        text=text.lines,
        tag_texts=_tag_texts(reading, text),
        links=tuple(links),
        unrecorded=left_out,
        canonical=(base.join(reading.canonical) if reading.canonical else None) or "",
        noindex=reading.noindex,
        language=reading.language[:LONGEST_TAG],
        feeds=tuple(dict.fromkeys(url for href in reading.feeds[:MOST_FEEDS] if href and (url := base.join(href)))),
        contexts=contexts,
    )


def _links(
    places: Places, reading: Reading, text: TidyText, parse_options: ParseOptions
) -> tuple[list[Link], LinkContexts | None]:
    """The links, and the contexts that are still to be read; None if there are none."""
    links = bare_links(places, reading)
    if not links or not parse_options.contexts:
        return links, None
    contexts = ParsedContexts(reading, text, places, parse_options.window)
    return (links, contexts) if parse_options.contexts_later else (contexts.of(links), None)


@dataclass(frozen=True, slots=True)
class ScriptFacts:
    """Facts about a page besides text and links: its scripts, and the target of its redirect ("" if none). `base` is
    the base of relative URLs; `nofollow`: the page asks not to follow its links."""

    scripts: Sequence[Script]
    refresh: str
    base: LinkBase
    nofollow: bool


def with_scripts(page: Page, facts: ScriptFacts, most_links: int | None = None) -> Page:
    """A page with hardly any text and links, extended by what its scripts contain without running them: its redirect;
    or, if it needs scripts, text and links in their data."""
    if to := _forwards_to(page, facts):
        return replace(page, forwards_to=to)
    if not needs_scripts(page, facts.scripts):
        return page
    data = data_of(facts.scripts)
    found = [*data.links.items(), *((href, "") for script in facts.scripts for href in locations(script))]
    links = {link.url: link for link in page.links}
    for href, called in found:
        if (url := facts.base.join(href)) is not None and url != page.url:
            links.setdefault(url, Link(url, called[:LONGEST], nofollow=facts.nofollow))
    most = len(links) if most_links is None else max(most_links, len(page.links))
    text = "\n".join(filter(None, (page.text, *data.texts)))
    page = replace(
        page,
        title=page.title or data.title,
        text=text,
        main_text=text if data.texts else "",
        links=tuple(links.values())[:most],
        unrecorded=page.unrecorded + max(0, len(links) - most),
    )
    return replace(page, needs_scripts=is_thin(page))


def _forwards_to(page: Page, facts: ScriptFacts) -> str:
    """Only if there are no other links."""
    href = "" if facts.nofollow else facts.refresh or forward(facts.scripts)
    to = facts.base.join(href) if href else None
    return to if to is not None and to != page.url and all(link.url == to for link in page.links) else ""


def _with_main_text(page: Page, found: MainText) -> Page:
    return replace(page, main_text=found.text, published=found.published)


def _tag_texts(reading: Reading, text: TidyText) -> dict[str, str]:
    """For each tag the text of all its elements, one line per element; nested elements of the same tag count once."""
    lines: defaultdict[str, list[str]] = defaultdict(list)
    read_to: dict[int, int] = {}
    begins, ends = text.begins[reading.spans[:, 1]].tolist(), text.ends[reading.spans[:, 2]].tolist()
    for (tag, _, end), first, last in zip(reading.spans.tolist(), begins, ends, strict=True):
        of_tag = lines[TELLING_TAGS[tag]]
        if first < last and end > read_to.get(tag, 0):
            of_tag.append(text.words[first:last])
            read_to[tag] = end
    titles = {"title": reading.title} if reading.title else {}
    texts = {tag: "\n".join(said) for tag, said in lines.items()}
    return titles | {name: said for name, said in (texts | reading.metas).items() if said}


def _places(url: str, base: LinkBase, reading: Reading, most: int | None) -> tuple[Places, int]:
    """The kept ones, and the number of those left out: the last ones, but links outside the main content before those
    inside."""
    places: Places = {}
    of_hrefs: dict[str, list[int]] = {}
    for number, (_, href) in enumerate(reading.links):
        found = of_hrefs.get(href)
        if found is None:
            target = base.join(href)
            # Unusable links are stored as well, so that no href is joined twice.
            found = of_hrefs[href] = [] if target is None or target == url else places.setdefault(target, [])
        found.append(number)
    too_many = 0 if most is None else len(places) - most
    return (_fewer(places, reading, most), too_many) if most is not None and too_many > 0 else (places, 0)


def _fewer(places: Places, reading: Reading, most: int) -> Places:
    apart = reading.elements[[element for element, _ in reading.links], IS_APART].tolist()
    around = [all(apart[number] for number in numbers) for numbers in places.values()]
    by_worth = sorted(range(len(places)), key=lambda number: (around[number], number))
    kept = set(by_worth[:most])
    return {target: each for number, (target, each) in enumerate(places.items()) if number in kept}


# Merging a page with its rendering in a browser.


LEAST_GAIN = 100
"""Minimum growth in characters that counts as gained text; every rendering adds a few, such as a greeting."""


def with_rendering(page: Page, rendering: Rendering, parse_options: ParseOptions) -> Page:
    """Charsets, status and size remain those of the response. Rendering can lose text of the response."""
    drawn = _read(page, rendering, parse_options)
    longer, shorter = (drawn, page) if len(drawn.text) >= len(page.text) else (page, drawn)
    links = _each_once(longer.links, shorter.links)[: parse_options.most_links]
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


def _read(page: Page, rendering: Rendering, parse_options: ParseOptions) -> Page:
    """Links that are not in the tree are added as anchors, so that the nofollow of the page applies to them."""
    drawn = _read_drawn(page, rendering.html, parse_options)
    known = {page.url, *(link.url for link in drawn.links)}
    others = {url for address in rendering.links if (url := join(page.url, address)) is not None} - known
    if not others:
        return drawn
    anchors = "".join(f'<a href="{escape(url)}"></a>' for url in sorted(others))
    return _read_drawn(page, anchors + rendering.html, parse_options)


def _read_drawn(page: Page, html: str, parse_options: ParseOptions) -> Page:
    """A DOM is text, but the queries of its links are in the charset of the response."""
    utf8 = html.encode("utf8", "replace")
    charset = page.header_charset or page.meta_charset or page.detected_charset
    decoded = Decoded(utf8.decode(), charset, header="utf-8", meta=meta_charset(utf8), detected="utf-8", utf8=utf8)
    return _read_html(Page(page.url, 200, "text/html", size=len(utf8)), decoded, parse_options)


def _each_once(first: tuple[Link, ...], second: tuple[Link, ...]) -> tuple[Link, ...]:
    links = {link.url: link for link in first}
    for link in second:
        links.setdefault(link.url, link)
    return tuple(links.values())
