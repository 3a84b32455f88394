"""How a page is read, written plainly: node by node through its tree, with a string for every piece. `spoor.parse` must
find the same, and does it in another way because this one takes too long."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from spoor.parse.charset import decode
from spoor.parse.html import MOST_FEEDS, ParseOptions, ScriptFacts, with_scripts
from spoor.parse.link_base import LinkBase
from spoor.parse.link_contexts import LONGEST, LONGEST_TAG
from spoor.parse.query_encoding import charset_of_queries
from spoor.parse.reading import ROBOT, bounded, is_prompt, robots_directives
from spoor.parse.scripted import Script, is_thin
from spoor.parse.tags import BLOCKS, HEADINGS
from spoor.parse.tidy_text import words_after, words_before
from spoor.records import Link, Page

BORDER = "\x1f"

"""Stands in the text where a block begins or ends; white space, as far as Python is concerned."""

_EMPHASES = "b strong em u i"
_BLOCK, _APART, _HEADING, _TELLING, _SPANNED, _NOT_READ, _ACTING = (1 << bit for bit in range(7))
"""What matters about a tag: it begins a line, it stands apart from the text, it is a heading, its words are told apart
from those of the page, it is known from where to where it reaches, nothing inside of it is read, something is done when
it is met."""
_LONGEST_PATH = 200
"""Characters of the names of elements around a link, the outermost first; what is deeper is not named."""
_FEED_TYPES = ("application/rss+xml", "application/atom+xml", "application/rdf+xml")
_REFRESH = re.compile(r"[\s\d.]*+[;,]?\s*+url\s*=\s*[\"']?([^\"']*)", re.IGNORECASE)

Span = list[int]
"""From where to where in the text an element reaches."""
Attributes = Mapping[str, str | None]


def _value(attributes: Attributes, name: str) -> str | None:
    """An attribute without a value has an empty one."""
    return attributes[name] or "" if name in attributes else None


@dataclass(slots=True)
class Found:
    """A link as it stands on the page. `instead` describes it when it holds no words, as the alt of an image does."""

    href: str
    span: Span
    heading: Span | None
    path: str
    navigation: bool
    instead: str = ""
    rel: str = ""
    hreflang: str = ""


@dataclass(slots=True)
class Reading:
    """What has been read so far. `length` is that of all `pieces` together, so spans are places in the whole text."""

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    title: str = ""
    language: str = ""
    base: str = ""
    canonical: str = ""
    nofollow: bool = False
    noindex: bool = False
    metas: dict[str, str] = field(default_factory=dict)
    links: list[Found] = field(default_factory=list)
    feeds: list[str] = field(default_factory=list)
    refresh: str = ""
    scripts: list[Script] = field(default_factory=list)
    spans: defaultdict[str, list[Span]] = field(default_factory=lambda: defaultdict(list))
    heading: Span | None = None
    _open: list[Span] = field(default_factory=list)
    _path: str = ""
    _apart: int = 0
    _anchor: Found | None = None
    _unseen: int = 0

    def read(self, root: LexborNode) -> None:
        """By hand rather than by recursion, because pages may nest thousands of elements, and in one piece, because
        this is where a crawler spends its time."""
        pieces, ancestors = self.pieces, list[tuple[LexborNode, str, int, str]]()
        node: LexborNode | None = root
        while node is not None:
            tag = node.tag or ""
            if tag == "-text":
                if not self._unseen and (words := node.text_content):
                    pieces.append(words)
                    self.length += len(words)
            else:
                kind = _KINDS.get(tag, 0)
                if kind & _BLOCK:
                    pieces.append(BORDER)
                    self.length += 1
                    self._apart += bool(kind & _APART)
                if kind & _SPANNED:
                    self._open_span(tag, kind)
                if kind & _ACTING:
                    _ACTS[tag](self, node)
                child = None if kind & _NOT_READ else node.first_child
                if child is not None:
                    ancestors.append((node, tag, kind, self._path))
                    if len(self._path) < _LONGEST_PATH:
                        self._path = f"{self._path}/{tag}" if self._path else tag
                    node = child
                    continue
                if kind:
                    self._leave(tag, kind)
            node = node.next
            while node is None and ancestors:
                parent, tag, kind, self._path = ancestors.pop()
                if kind:
                    self._leave(tag, kind)
                node = parent.next

    def _leave(self, tag: str, kind: int) -> None:
        if kind & _SPANNED:
            self._open.pop()[1] = self.length
        if kind & _BLOCK:
            self.pieces.append(BORDER)
            self.length += 1
            self._apart -= bool(kind & _APART)
        elif tag == "a":
            self._anchor = None
        elif tag == "noscript":
            self._unseen -= 1

    def _open_span(self, tag: str, kind: int) -> None:
        span = self._here()
        self._open.append(span)
        if kind & _TELLING:
            self.spans[tag].append(span)
        if kind & _HEADING:
            self.heading = span

    def _here(self) -> Span:
        return [self.length, self.length]

    def _link(self, href: str | None, span: Span, attributes: Attributes, described_by: str = "title") -> None:
        if href is not None:
            said = (attributes.get(described_by) or "", attributes.get("rel") or "", attributes.get("hreflang") or "")
            self.links.append(Found(href, span, self.heading, self._path, self._apart > 0, *said))

    def _read_a(self, node: LexborNode) -> None:
        attributes = node.attributes
        if "href" in attributes:
            self._link(attributes["href"] or "", self._open[-1], attributes)
            self._anchor = self.links[-1]

    def _read_area(self, node: LexborNode) -> None:
        self._link(_value(node.attributes, "href"), self._here(), node.attributes, "alt")

    def _read_frame(self, node: LexborNode) -> None:
        self._link(_value(node.attributes, "src"), self._here(), node.attributes)

    def _read_img(self, node: LexborNode) -> None:
        if self._anchor and (alt := node.attributes.get("alt")):
            self._anchor.instead = alt

    def _read_html(self, node: LexborNode) -> None:
        self.language = self.language or (node.attributes.get("lang") or node.attributes.get("xml:lang") or "").strip()

    def _read_meta(self, node: LexborNode) -> None:
        attributes = node.attributes
        name, content = (attributes.get("name") or "").lower(), attributes.get("content") or ""
        claimed = (attributes.get("http-equiv") or "").lower()
        if name in ("description", "keywords"):
            self.metas.setdefault(name, " ".join(content.split()))
        elif name in ("robots", ROBOT):
            directives = robots_directives(content)
            self.nofollow = self.nofollow or "nofollow" in directives
            self.noindex = self.noindex or "noindex" in directives
        elif claimed == "refresh" and (found := _REFRESH.match(content)):
            self._link(found[1], self._here(), {})
            if is_prompt(content) and "noscript" not in self._path:
                self.refresh = self.refresh or found[1]
        elif claimed == "content-language":
            self.language = self.language or content.partition(",")[0].strip()

    def _read_link(self, node: LexborNode) -> None:
        """Of all that a page names in its head, other language versions are pages one may want to visit."""
        attributes = node.attributes
        rel = (attributes.get("rel") or "").strip().lower()
        if rel == "canonical":
            self.canonical = self.canonical or (attributes.get("href") or "").strip()
        elif "alternate" in rel.split() and attributes.get("hreflang"):
            self._link(_value(attributes, "href"), self._here(), attributes)
        elif "alternate" in rel.split() and (attributes.get("type") or "").strip().lower() in _FEED_TYPES:
            self.feeds.append(attributes.get("href") or "")

    def _read_base(self, node: LexborNode) -> None:
        self.base = self.base or node.attributes.get("href") or ""

    def _read_title(self, node: LexborNode) -> None:
        self.title = self.title or " ".join(node.text().split())

    def _read_script(self, node: LexborNode) -> None:
        attributes = node.attributes
        self.scripts.append(Script(attributes.get("type") or "", "src" in attributes, node.text()))

    def _read_noscript(self, node: LexborNode) -> None:
        """Its words are not seen by anybody, but its links lead somewhere."""
        self._unseen += 1


_ACTS: dict[str, Callable[[Reading, LexborNode], None]] = {
    "a": Reading._read_a,
    "area": Reading._read_area,
    "base": Reading._read_base,
    "frame": Reading._read_frame,
    "html": Reading._read_html,
    "iframe": Reading._read_frame,
    "img": Reading._read_img,
    "link": Reading._read_link,
    "meta": Reading._read_meta,
    "noscript": Reading._read_noscript,
    "script": Reading._read_script,
    "title": Reading._read_title,
}


def _kinds() -> dict[str, int]:
    kinds: dict[str, int] = {}
    for kind, tags in (
        (_BLOCK, " ".join(BLOCKS)),
        (_APART, "nav header footer aside menu"),
        (_HEADING, HEADINGS),
        (_TELLING, f"{HEADINGS} {_EMPHASES}"),
        (_SPANNED, f"{HEADINGS} {_EMPHASES} a"),
        (_NOT_READ, "script style template title noframes noembed iframe svg"),
        (_ACTING, " ".join(_ACTS)),
    ):
        for tag in tags.split():
            kinds[tag] = kinds.get(tag, 0) | kind
    return kinds


_KINDS = _kinds()


def plain_page(url: str, body: bytes, content_type: str, parse_options: ParseOptions) -> Page:
    """Of HTML that came with status 200, without its main text."""
    decoded = decode(body, content_type)
    reading = Reading()
    root = LexborHTMLParser(bounded(decoded.text)).root
    if root is not None:
        reading.read(root)
    text = "".join(reading.pieces)
    charset = charset_of_queries(decoded.charset)
    base = LinkBase(LinkBase(url, charset).join(reading.base) or url, charset)
    links, left_out = _links(url, base, reading, parse_options.most_links)
    page = Page(
        url=url,
        content_type="text/html",
        header_charset=decoded.header,
        meta_charset=decoded.meta,
        detected_charset=decoded.detected,
        size=len(body),
        title=reading.title,
        text="\n".join([line for block in text.split(BORDER) if (line := " ".join(block.split()))]),
        tag_texts=_tag_texts(reading, text),
        links=tuple(_with_contexts(links, reading, text) if parse_options.contexts else _bare(links, reading)),
        unrecorded=left_out,
        canonical=(base.join(reading.canonical) if reading.canonical else None) or "",
        noindex=reading.noindex,
        language=reading.language[:LONGEST_TAG],
        feeds=tuple(dict.fromkeys(feed for href in reading.feeds[:MOST_FEEDS] if href and (feed := base.join(href)))),
    )
    facts = ScriptFacts(reading.scripts, reading.refresh, base, reading.nofollow)
    return with_scripts(page, facts, parse_options.most_links) if is_thin(page) else page


def _tag_texts(reading: Reading, text: str) -> dict[str, str]:
    """For each tag the words of all its elements, one element a line; in a tag within itself only once."""
    titles = {"title": reading.title} if reading.title else {}
    texts = {tag: "\n".join(_lines(spans, text)) for tag, spans in reading.spans.items()}
    return titles | {name: said for name, said in (texts | reading.metas).items() if said}


def _lines(spans: Iterable[Span], text: str) -> Iterator[str]:
    read_to = 0
    for start, end in spans:
        if end > read_to and (words := _words(text[start:end])):
            yield words
            read_to = end


Places = dict[str, list[Found]]
"""Each URL that a page links to, in the order of their first places, with all of its places."""


def _links(url: str, base: LinkBase, reading: Reading, most: int | None) -> tuple[Places, int]:
    """Those that are kept, and how many are not: of a page with too many, the last ones, but those around the content
    before those in it."""
    places: Places = {}
    targets: dict[str, str | None] = {}
    for found in reading.links:
        href = found.href
        if href not in targets:
            targets[href] = base.join(href)
        target = targets[href]
        if target is not None and target != url:
            places.setdefault(target, []).append(found)
    too_many = 0 if most is None else len(places) - most
    return (_fewer(places, most), too_many) if most is not None and too_many > 0 else (places, 0)


def _fewer(places: Places, most: int) -> Places:
    around = [all(found.navigation for found in each) for each in places.values()]
    by_worth = sorted(range(len(places)), key=lambda number: (around[number], number))
    kept = set(by_worth[:most])
    return {target: each for number, (target, each) in enumerate(places.items()) if number in kept}


def _bare(places: Places, reading: Reading) -> list[Link]:
    return [Link(target, nofollow=reading.nofollow or _nofollow(found)) for target, found in places.items()]


def _nofollow(places: Iterable[Found]) -> bool:
    """A page that links to another twice may ask to pass over one of the links, not over the other page."""
    return all(bool(found.rel) and "nofollow" in found.rel.lower() for found in places)


def _with_contexts(places: Places, reading: Reading, text: str) -> Iterator[Link]:
    """As the first place says that has an anchor."""
    headings: dict[int, str] = {}
    crowded = _crowded(reading.links, text)
    for target, found in places.items():
        place, anchor = _telling(found, text)
        start, end = place.span
        yield Link(
            url=target,
            anchor=anchor,
            left=_last_words(_words(text[:start])),
            right=words_after(_words(text[end:]), 0),
            heading=_heading(place.heading, text, headings),
            nofollow=reading.nofollow or _nofollow(found),
            hreflang=place.hreflang[:LONGEST_TAG],
            rel=place.rel.lower()[:LONGEST_TAG],
            path=place.path,
            navigation=place.navigation or start in crowded,
        )


def _last_words(text: str) -> str:
    return words_before(text, len(text))


def _heading(span: Span | None, text: str, known: dict[int, str]) -> str:
    """Read once for all links below it; `known` holds those read before, by where they begin."""
    if span is None:
        return ""
    start, end = span
    if start not in known:
        known[start] = _words(text[start : min(end, start + LONGEST)])
    return known[start]


def _telling(places: Sequence[Found], text: str) -> tuple[Found, str]:
    """The first of them that has an anchor, and what that is."""
    for place in places:
        if anchor := _anchor(place, text):
            return place, anchor
    return places[0], ""


def _anchor(found: Found, text: str) -> str:
    start, end = found.span
    return _words(text[start : min(end, start + LONGEST)]) or _words(found.instead[:LONGEST])


def _crowded(links: Iterable[Found], text: str) -> set[int]:
    """The places of links that stand in blocks made of links more than of other words."""
    borders = [-1, *(border.start() for border in re.finditer(BORDER, text)), len(text)]
    blocks: defaultdict[tuple[int, int], list[Span]] = defaultdict(list)
    for found in links:
        start, end = found.span
        before, after = borders[bisect_left(borders, start) - 1], borders[bisect_left(borders, end)]
        blocks[before + 1, after].append(found.span)
    return {
        span[0]
        for (begin, end), spans in blocks.items()
        if 2 * sum([span[1] - span[0] for span in spans]) > end - begin
        for span in spans
    }


def _words(text: str) -> str:
    """With every run of white space, and every border of a block, as one blank."""
    return " ".join(text.split())
