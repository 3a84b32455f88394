"""Reading HTML once, from top to bottom: one line of text, and where in it the links, headings and tags are."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from spoor.parse.wishes import ROBOT, wishes

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})

_LONGEST = 16_000_000
"""Characters of HTML that are read; the rest of a larger page is passed over."""
_SPANNED = HEADINGS | {"a", "b", "strong", "em"}
_BLOCK_NAMES = (
    "address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption "
    "figure footer form frameset header hr legend li main menu nav ol optgroup option p pre section select summary "
    "table tbody td tfoot th thead tr ul"
)
_BLOCKS = HEADINGS | frozenset(_BLOCK_NAMES.split())
_NOT_READ = frozenset({"script", "style", "template", "title", "noframes", "noembed", "iframe", "svg"})
_DEEPEST = 10_000
"""Elements inside one another; the time of the parser grows with the square of it."""
_NESTING = re.compile(
    r"<(/?)(?!(?:area|base|br|col|dd|dt|embed|frame|hr|img|input|li|link|meta|option|p|param|t[bdhr]|tbody|tfoot|thead|wbr)\b)"
    r"[a-z]",
    re.IGNORECASE,
)
_REFRESH = re.compile(r"[\s\d.]*[;,]?\s*url\s*=\s*[\"']?([^\"']*)", re.IGNORECASE)


@dataclass(slots=True)
class Span:
    """From where to where in the text an element reaches."""

    tag: str
    start: int
    end: int


@dataclass(slots=True)
class Found:
    """A link as it stands on the page. `instead` describes it when it holds no words, as the alt of an image does."""

    href: str
    span: Span
    heading: Span | None
    nofollow: bool = False
    instead: str = ""


@dataclass(slots=True)
class Reading:
    """What has been read so far. `length` is that of all `pieces` together, so spans are places in the whole text."""

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    title: str = ""
    base: str = ""
    canonical: str = ""
    nofollow: bool = False
    noindex: bool = False
    metas: dict[str, str] = field(default_factory=dict)
    links: list[Found] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    heading: Span | None = None
    _open: list[Span] = field(default_factory=list)
    _anchor: Found | None = None
    _unseen: int = 0

    def enter(self, node: LexborNode, tag: str) -> None:
        if tag in _BLOCKS:
            self._say("\n")
        if tag in _SPANNED:
            self._begin_span(tag)
        if act := _ACTS.get(tag):
            act(self, node)

    def leave(self, tag: str) -> None:
        if tag in _SPANNED:
            self._open.pop().end = self.length
        if tag == "a":
            self._anchor = None
        elif tag == "noscript":
            self._unseen -= 1
        elif tag in _BLOCKS:
            self._say("\n")

    def words(self, text: str) -> None:
        """A piece of text, with every run of white space as one blank."""
        if self._unseen:
            return
        said = " ".join(text.split())
        before = " " if text[:1].isspace() else ""
        after = " " if said and text[-1:].isspace() else ""
        self._say(before + said + after)

    def _say(self, piece: str) -> None:
        self.pieces.append(piece)
        self.length += len(piece)

    def _begin_span(self, tag: str) -> None:
        span = Span(tag, self.length, self.length)
        self._open.append(span)
        self.spans.append(span)
        if tag in HEADINGS:
            self.heading = span

    def _link(self, href: str | None, span: Span, instead: str | None = "", rel: str | None = "") -> None:
        if href is not None:
            nofollow = "nofollow" in (rel or "").lower()
            self.links.append(Found(href, span, self.heading, nofollow, instead or ""))

    def _read_a(self, node: LexborNode) -> None:
        attributes = node.attributes
        if "href" in attributes:
            self._link(attributes["href"] or "", self._open[-1], attributes.get("title"), attributes.get("rel"))
            self._anchor = self.links[-1]

    def _read_area(self, node: LexborNode) -> None:
        attributes = node.attributes
        self._link(attributes.get("href"), self._here("area"), attributes.get("alt"), attributes.get("rel"))

    def _read_frame(self, node: LexborNode) -> None:
        self._link(node.attributes.get("src"), self._here("frame"), node.attributes.get("title"))

    def _read_img(self, node: LexborNode) -> None:
        if self._anchor and (alt := node.attributes.get("alt")):
            self._anchor.instead = alt

    def _read_meta(self, node: LexborNode) -> None:
        attributes = node.attributes
        name, content = (attributes.get("name") or "").lower(), attributes.get("content") or ""
        if name in ("description", "keywords"):
            self.metas.setdefault(name, " ".join(content.split()))
        elif name in ("robots", ROBOT):
            wished = wishes(content)
            self.nofollow = self.nofollow or "nofollow" in wished
            self.noindex = self.noindex or "noindex" in wished
        elif (attributes.get("http-equiv") or "").lower() == "refresh" and (found := _REFRESH.match(content)):
            self._link(found[1], self._here("meta"))

    def _read_link(self, node: LexborNode) -> None:
        if not self.canonical and (node.attributes.get("rel") or "").strip().lower() == "canonical":
            self.canonical = (node.attributes.get("href") or "").strip()

    def _read_base(self, node: LexborNode) -> None:
        self.base = self.base or node.attributes.get("href") or ""

    def _read_title(self, node: LexborNode) -> None:
        self.title = self.title or " ".join(node.text().split())

    def _read_noscript(self, node: LexborNode) -> None:
        """Its words are not seen by anybody, but its links lead somewhere."""
        self._unseen += 1

    def _here(self, tag: str) -> Span:
        return Span(tag, self.length, self.length)


_ACTS: dict[str, Callable[[Reading, LexborNode], None]] = {
    "a": Reading._read_a,
    "area": Reading._read_area,
    "base": Reading._read_base,
    "frame": Reading._read_frame,
    "iframe": Reading._read_frame,
    "img": Reading._read_img,
    "link": Reading._read_link,
    "meta": Reading._read_meta,
    "noscript": Reading._read_noscript,
    "title": Reading._read_title,
}


def read(html: str) -> Reading:
    """Never fails; HTML that cannot be parsed at all reads as nothing."""
    reading = Reading()
    try:
        root = LexborHTMLParser(_not_too_deep(html[:_LONGEST])).root
    except SelectolaxError:
        return reading
    if root is not None:
        _walk(root, reading)
    return reading


def _not_too_deep(html: str) -> str:
    """Cut where more elements are open than any honest page has; a trap would hold the crawler for hours."""
    if html.count("<") <= _DEEPEST:
        return html
    depth = 0
    for tag in _NESTING.finditer(html):
        depth = max(0, depth - 1) if tag[1] else depth + 1
        if depth > _DEEPEST:
            return html[: tag.start()]
    return html


def _walk(root: LexborNode, reading: Reading) -> None:
    """By hand rather than by recursion, because pages may nest thousands of elements."""
    ancestors: list[tuple[LexborNode, str]] = []
    node: LexborNode | None = root
    while node is not None:
        tag = node.tag or ""
        child = _enter(node, tag, reading)
        if child is not None:
            ancestors.append((node, tag))
            node = child
            continue
        reading.leave(tag)
        node = node.next
        while node is None and ancestors:
            parent, tag = ancestors.pop()
            reading.leave(tag)
            node = parent.next


def _enter(node: LexborNode, tag: str, reading: Reading) -> LexborNode | None:
    """What is read next inside of this node; None: nothing."""
    if tag == "-text":
        reading.words(node.text_content or "")
        return None
    reading.enter(node, tag)
    return None if tag in _NOT_READ else node.first_child
