"""Reading HTML once, from top to bottom: one line of text, and where in it the links, headings and tags are."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from spoor.parse.blocks import BLOCKS, HEADINGS
from spoor.parse.bounds import bounded
from spoor.parse.wishes import ROBOT, wishes

BORDER = "\x1f"
"""Stands in the text where a block begins or ends; white space, as far as Python is concerned."""

_EMPHASES = "b strong em u i"
_BLOCK, _APART, _HEADING, _TELLING, _SPANNED, _NOT_READ, _ACTING = (1 << bit for bit in range(7))
"""What matters about a tag: it begins a line, it stands apart from the text, it is a heading, its words are told apart
from those of the page, it is known from where to where it reaches, nothing inside of it is read, something is done when
it is met."""
_LONGEST_PATH = 200
"""Characters of the names of elements around a link, the outermost first; what is deeper is not named."""
_REFRESH = re.compile(r"[\s\d.]*+[;,]?\s*+url\s*=\s*[\"']?([^\"']*)", re.IGNORECASE)

Span = list[int]
"""From where to where in the text an element reaches."""
Attributes = Mapping[str, str | None]


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
    spans: defaultdict[str, list[Span]] = field(default_factory=lambda: defaultdict(list))
    heading: Span | None = None
    _open: list[Span] = field(default_factory=list)
    _path: str = ""
    _apart: int = 0
    _anchor: Found | None = None
    _unseen: int = 0

    def text(self) -> str:
        return "".join(self.pieces)

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
        self._link(node.attributes.get("href"), self._here(), node.attributes, "alt")

    def _read_frame(self, node: LexborNode) -> None:
        self._link(node.attributes.get("src"), self._here(), node.attributes)

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
            wished = wishes(content)
            self.nofollow = self.nofollow or "nofollow" in wished
            self.noindex = self.noindex or "noindex" in wished
        elif claimed == "refresh" and (found := _REFRESH.match(content)):
            self._link(found[1], self._here(), {})
        elif claimed == "content-language":
            self.language = self.language or content.partition(",")[0].strip()

    def _read_link(self, node: LexborNode) -> None:
        """Of all that a page names in its head, other language versions are pages one may want to visit."""
        attributes = node.attributes
        rel = (attributes.get("rel") or "").strip().lower()
        if rel == "canonical":
            self.canonical = self.canonical or (attributes.get("href") or "").strip()
        elif "alternate" in rel.split() and attributes.get("hreflang"):
            self._link(attributes.get("href"), self._here(), attributes)

    def _read_base(self, node: LexborNode) -> None:
        self.base = self.base or node.attributes.get("href") or ""

    def _read_title(self, node: LexborNode) -> None:
        self.title = self.title or " ".join(node.text().split())

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


def read(html: str) -> Reading:
    """Fails only with MemoryError: there is no HTML that cannot be parsed, but some takes more memory than there is."""
    reading = Reading()
    try:
        root = LexborHTMLParser(bounded(html)).root
    except SelectolaxError:
        raise MemoryError("the parser found no memory") from None
    if root is not None:
        reading.read(root)
    return reading
