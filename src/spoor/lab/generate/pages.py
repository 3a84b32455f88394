"""Writes the pages of a generated web as HTML, and stores what our own parser reads from it.

So texts, headings, link contexts, sizes and charsets of a generated web are those that a live crawl finds when the web
is served.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spoor.lab.bodies import BODIES, Body, packed_body
from spoor.lab.web import Web, packed_contexts, packed_texts
from spoor.lab.web_files import BlobWriter
from spoor.parse.html import ParseOptions, read_page
from spoor.parse.main_text import extractor_named
from spoor.progress import Advance
from spoor.settings import ParseSettings

# The HTML of a page.


TEXT_LIMIT = 200_000
"""Maximum number of pages of a web with HTML."""

CODECS = {"windows-874": "cp874"}
"""Charsets that have another name in Python."""


class LinkWords(NamedTuple):
    """The words of a link, in a paragraph of its own. Without an anchor it is a picture."""

    before: str
    anchor: str
    after: str


class Content(NamedTuple):
    """The words of a page. `heading` is above all of them, `second_heading` above the links, if there is one; `bold`
    words end the opening. `links` are in the order of the targets."""

    title: str
    heading: str
    opening: str
    links: Sequence[LinkWords]
    bold: str = ""
    second_heading: str = ""


Compose = Callable[[int, list[int]], Content]
"""Returns the content of a page from its number and its links."""


def as_html(content: Content, urls: Sequence[str], declared: str) -> str:
    """`declared` is the charset that the page claims, "" for none."""
    return "\n".join(_lines(content, urls, declared))


def _lines(content: Content, urls: Sequence[str], declared: str) -> Iterator[str]:
    meta = f'<meta charset="{declared}">' if declared else ""
    yield f"<!DOCTYPE html>\n<html><head>{meta}<title>{_text(content.title)}</title></head>\n<body>"
    yield f"<h1>{_text(content.heading)}</h1>"
    bold = f" <b>{_text(content.bold)}</b>" if content.bold else ""
    yield f"<p>{_text(content.opening)}{bold}</p>"
    if content.second_heading:
        yield f"<h2>{_text(content.second_heading)}</h2>"
    for words, url in zip(content.links, urls, strict=True):
        anchor = _text(words.anchor) or '<img src="/picture.png" alt="">'
        yield f'<p>{_text(words.before)} <a href="{escape(url)}">{anchor}</a> {_text(words.after)}</p>'
    yield "</body></html>\n"


def _text(words: str) -> str:
    return escape(words, quote=False)


def parted(count: int, parts: int) -> list[int]:
    """A number of words, divided among parts as evenly as possible."""
    ends = [count * part // parts for part in range(parts + 1)]
    return [end - start for start, end in pairwise(ends)]


# The files with texts, contexts and bodies, and the attributes that follow from the bytes.


def write_pages(folder: Path, compose: Compose, parsing: ParseSettings, advance: Advance) -> None:
    """Adds the content to a web whose links and drawn attributes are written. A page is encoded in its charset as
    drawn: the detected one, or else the declared one. Errors and other media have no content."""
    web = Web.open(folder)
    parse_options = ParseOptions(extractor_named(parsing.main_text), window=parsing.context)
    charsets = {name: number for number, name in enumerate(web.about["charsets"])}
    names = list(charsets)
    columns = {name: web.array(name).copy() for name in ("size", "meta_charset", "detected_charset")}
    are_pages = web.answers() & (web.array("content_type") == 0)
    with (
        BlobWriter(folder, "texts") as texts,
        BlobWriter(folder, "contexts") as contexts,
        BlobWriter(folder, BODIES) as bodies,
    ):
        for number, is_page in enumerate(are_pages.tolist()):
            if not is_page:
                for writer in (texts, contexts, bodies):
                    writer.append(b"")
                continue
            declared, actual = (names[columns[name][number]] for name in ("meta_charset", "detected_charset"))
            targets = web.targets(number)
            urls = [web.urls[target] for target in targets]
            body = _encoded(as_html(compose(number, targets), urls, declared), actual or declared)
            page = read_page(web.urls[number], body, "text/html", parse_options=parse_options)
            assert [link.url for link in page.links] == urls, f"{page.url}: the parser reads other links than written"
            texts.append(packed_texts(page))
            contexts.append(packed_contexts(page.links))
            bodies.append(packed_body(Body(body, "text/html")))
            columns["size"][number] = page.size
            for name, charset in (("meta_charset", page.meta_charset), ("detected_charset", page.detected_charset)):
                columns[name][number] = charsets.setdefault(charset, len(charsets))
            advance(1)
    for name, column in columns.items():
        np.save(folder / f"{name}.npy", column)
    about = web.about | {"charsets": list(charsets), "parsed": asdict(parsing)}
    (folder / "web.json").write_text(json.dumps(about, indent=1) + "\n", "utf8")


def _encoded(html: str, charset: str) -> bytes:
    """A character that the charset lacks, such as an icon, becomes a numeric character reference."""
    return html.encode(CODECS.get(charset, charset), "xmlcharrefreplace")
