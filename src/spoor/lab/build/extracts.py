"""Extracts of archives, as published by Common Crawl and others: metadata and links of responses (WAT), texts (WET)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from spoor.errors import BadInput
from spoor.judging.language_tags import main_language
from spoor.lab.build.gather import Packed, Recorded, pack
from spoor.parse.charset import canonical, header_charset
from spoor.parse.html import HTML_TYPES
from spoor.parse.link_contexts import LONGEST, LONGEST_TAG
from spoor.parse.reading import robots_directives
from spoor.records import Link, Page, Redirect
from spoor.urls import join, normalise

REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Extract:
    """The extract of one URL: its text, or the JSON of each record about it. `place` is its location for error
    messages."""

    url: str
    blocks: tuple[bytes, ...]
    place: str
    is_text: bool = False
    languages: str = ""

    @property
    def size(self) -> int:
        return sum(map(len, self.blocks))


T = TypeVar("T")
_MOST_JOINED = 3
"""A request, its response, and the metadata of the crawler about both."""


def joined(records: Iterable[T | Extract]) -> Iterator[T | Extract]:
    """Merges consecutive records of a WAT file about the same URL into one."""
    waiting: Extract | None = None
    for record in records:
        if not isinstance(record, Extract) or record.is_text:
            yield record
        elif waiting and waiting.url == record.url and len(waiting.blocks) < _MOST_JOINED:
            waiting = replace(waiting, blocks=(*waiting.blocks, *record.blocks))
        else:
            if waiting:
                yield waiting
            waiting = record
    if waiting:
        yield waiting


def read_extract(extract: Extract) -> Packed | str | None:
    """None if there is no response; a string is the name under which the record is counted. Raises BadInput for broken
    JSON."""
    return _read_wet(extract) if extract.is_text else _read_wat(extract)


# WET: the text of a page, with its title in the first line.


def _read_wet(extract: Extract) -> Packed | str:
    url = normalise(extract.url)
    if url is None:
        return "bad URLs"
    title, _, text = extract.blocks[0].decode("utf8", "replace").strip().partition("\n")
    page = Page(url, size=extract.size, title=title.strip(), text=text, tag_texts={"title": title.strip()})
    return replace(pack(Recorded(url, page, labels=_labels(extract.languages))), part="text")


def _labels(languages: str) -> tuple[str, ...]:
    language = main_language(languages)
    return (f"lang={language}",) if language else ()


# WAT: a JSON tree about each record of a WARC file. No value is guaranteed to have the right type.


Tree = Mapping[str, Any]


def _read_wat(extract: Extract) -> Packed | str | None:
    envelopes = [_envelope(block, extract.place) for block in extract.blocks]
    response = next((envelope for envelope in envelopes if _response(envelope)), None)
    if response is None:
        return None
    if _word(_tree(response, "WARC-Header-Metadata"), "WARC-Type") == "revisit":
        return "duplicates"
    url, status = normalise(extract.url), _word(_tree(_response(response), "Response-Message"), "Status")
    if url is None:
        return "bad URLs"
    if not (status.isdecimal() and len(status) == 3):
        return "not HTTP"
    notes = _notes(envelopes)
    recorded = _recorded(url, int(status), _response(response), notes)
    return replace(pack(replace(recorded, labels=_labels(_detected_language(notes)))), part="links")


def _envelope(block: bytes, place: str) -> Tree:
    try:
        return _tree(json.loads(block), "Envelope")
    except UnicodeDecodeError as error:
        reason = f"not UTF-8 at byte {error.start + 1}"
    except json.JSONDecodeError as error:
        reason = f"broken at character {error.pos + 1}: {error.msg}"
    except RecursionError:
        reason = "nested too deeply"
    raise BadInput(f"{place}: the JSON is {reason}")


def _recorded(url: str, status: int, response: Tree, notes: Tree) -> Recorded:
    """`notes` is the crawler's metadata: duration of the fetch, detected charset."""
    headers = {name.lower(): value for name, value in _tree(response, "Headers").items()}
    took = _word(notes, "fetchTimeMs")
    seconds = int(took) / 1000 if took.isdecimal() else None
    target = join(url, _word(headers, "location")) if status in REDIRECTS else None
    if target is not None and target != url:
        return Recorded(url, Redirect(target, status), seconds)
    content_type, size = _word(headers, "content-type"), _word(response, "Entity-Length")
    page = Page(
        url,
        status,
        content_type.partition(";")[0].strip().lower(),
        header_charset=header_charset(content_type),
        detected_charset=canonical(_word(notes, "charset-detected")),
        size=int(size) if size.isdecimal() else 0,
    )
    is_html = 200 <= status < 300 and page.content_type in HTML_TYPES
    return Recorded(url, _with_html(page, _tree(response, "HTML-Metadata")) if is_html else page, seconds)


def _with_html(page: Page, html: Tree) -> Page:
    head = _tree(html, "Head")
    metas = list(_trees(head, "Metas"))
    base = join(page.url, _word(head, "Base")) or page.url
    directives = robots_directives(" ".join(_named(metas, "robots")))
    said = {name: " ".join(_named(metas, name)) for name in ("description", "keywords")}
    title = " ".join(_word(head, "Title").split())
    return replace(
        page,
        meta_charset=_meta_charset(metas),
        title=title,
        tag_texts={name: words for name, words in ({"title": title} | said).items() if words},
        links=tuple(_links(page.url, base, _trees(html, "Links"), "nofollow" in directives)),
        noindex="noindex" in directives,
    )


def _named(metas: list[Tree], name: str) -> Iterator[str]:
    return (_word(meta, "content") for meta in metas if _word(meta, "name").lower() == name)


def _meta_charset(metas: list[Tree]) -> str:
    for meta in metas:
        if _word(meta, "charset"):
            return canonical(_word(meta, "charset"))
        if _word(meta, "http-equiv").lower() == "content-type":
            return header_charset(_word(meta, "content"))
    return ""


_LINKING = frozenset({"A", "AREA", "FRAME", "IFRAME"})
"""Elements whose links lead to pages; WAT files also contain images and scripts."""


def _links(url: str, base: str, found: Iterable[Tree], nofollow: bool) -> Iterable[Link]:
    """Distinct targets in document order, each from its first occurrence with an anchor text, if there is one."""
    links: dict[str, Link] = {}
    for place in found:
        if _word(place, "path").partition("@")[0].upper() not in _LINKING:
            continue
        target = join(base, _word(place, "url"))
        if target is None or target == url:
            continue
        rel, anchor = _word(place, "rel").lower()[:LONGEST_TAG], " ".join(_word(place, "text").split())[:LONGEST]
        if target not in links or (anchor and not links[target].anchor):
            asked = nofollow or "nofollow" in rel.split()
            links[target] = Link(target, anchor, nofollow=asked, hreflang=_word(place, "hreflang"), rel=rel)
    return links.values()


def _response(envelope: Tree) -> Tree:
    return _tree(_tree(envelope, "Payload-Metadata"), "HTTP-Response-Metadata")


def _notes(envelopes: Iterable[Tree]) -> Tree:
    """Values by name, from the metadata records that a crawler writes about its fetches."""
    noted = (_tree(_tree(envelope, "Payload-Metadata"), "WARC-Metadata-Metadata") for envelope in envelopes)
    return {_word(note, "Name"): note.get("Value") for notes in noted for note in _trees(notes, "Metadata-Records")}


def _detected_language(notes: Tree) -> str:
    """The first language in the result of CLD2: that of most of the page."""
    try:
        found = json.loads(_word(notes, "languages-cld2") or "{}")
    except (ValueError, RecursionError):
        return ""
    return next((_word(language, "code") for language in _trees(found, "languages")), "")


def _tree(tree: Any, name: str) -> Tree:
    found = tree.get(name) if isinstance(tree, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _trees(tree: Any, name: str) -> Iterator[Tree]:
    found = tree.get(name) if isinstance(tree, Mapping) else None
    return (each for each in found if isinstance(each, Mapping)) if isinstance(found, list) else iter(())


def _word(tree: Tree, name: str) -> str:
    """The first value, if there are several."""
    found = tree.get(name)
    if isinstance(found, list):
        found = found[0] if found else ""
    return found if isinstance(found, str) else str(found) if isinstance(found, int) else ""
