"""The main text of a page, without navigation and boilerplate: three methods.

NodeRatio(v)       = TextLength(v) / TextLength(page)      TextLength: characters outside of links
UnlinkNodeRatio(v) = UnlinkNodes(v) / UnlinkNodes(page)    UnlinkNodes: blocks that contain such characters
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from html import unescape
from typing import Any
from unicodedata import category

from resiliparse.extract.html2text import extract_plain_text
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from spoor.errors import MissingExtra
from spoor.parse.published import LATEST, published
from spoor.parse.reading import bounded, deeper_than
from spoor.parse.tags import BLOCKS
from spoor.settings import MAIN_TEXTS

# Boilerplate that is removed before the main text is searched.


SURROUNDINGS = frozenset({"nav", "footer", "aside"})
"""Elements that by definition are not the main content."""
_CODE = "head script style template noscript noframes noembed iframe object svg math"
_FIELDS = "button select textarea"
NOT_TEXT = frozenset(f"{_CODE} {_FIELDS}".split())
LONGEST = 300
"""In characters, without those of links. A longer element is not an advert, whatever its name: pages give such names
also to the element around the whole article."""

_ADVERT = re.compile(
    r"(?:^|[\s_-])(?:ads?|adv|adverts?|advertisements?|advertising|adsbygoogle|banner|sponsored|promo|copyright)(?:$|[\s_-])",
    re.IGNORECASE,
)
_COPYRIGHT = re.compile(r"©|\bcopyright\s*(?:\(c\)|[12]\d{3})|\ball rights reserved\b|版权所有", re.IGNORECASE)


def is_called_advert(attributes: Mapping[str, str | None]) -> bool:
    """By its class or id."""
    return bool(_ADVERT.search(f"{attributes.get('class') or ''} {attributes.get('id') or ''}"))


def claims_copyright(words: str) -> bool:
    return bool(_COPYRIGHT.search(words))


# The interface of extractors: the main text of a page, with its title and publication date.


_SAMPLE = 4_000
"""Characters checked to distinguish text from binary data with an HTML content type."""
_ILLEGIBLE = re.compile("[\x00-\x08\x0e-\x1f\x7f\ufffd]")
_TITLE = re.compile(r"<[tT][iI][tT][lL][eE]\b[^<>]*>([^<]*)")

FindText = Callable[[str, str], str]
"""From HTML and URL to the main text, a line for each block. The HTML is legible and of bounded size."""


@dataclass(frozen=True, slots=True)
class MainText:
    """`text` has a line for each block, none of them empty; `published` is a date such as 2026-11-15. "" if unknown."""

    title: str = ""
    text: str = ""
    published: str = ""


@dataclass(frozen=True)
class Extractor:
    """One method of main text extraction. Never fails; the result is empty if the HTML is unreadable."""

    find: FindText

    def extract(self, html: str, url: str = "", came: date = LATEST) -> MainText:
        """`came` is the day of the fetch, an upper bound of the publication date."""
        if not is_legible(html):
            return MainText()
        html = bounded(html)
        try:
            html.encode("utf8")
        except UnicodeEncodeError:  # A lone surrogate, which decoded pages never contain and libraries refuse.
            return MainText()
        return MainText(_title(html), _tidy(self.find(html, url)), published(html, url, came))


def is_legible(text: str) -> bool:
    """At most one in twenty characters is a control or replacement character."""
    sample = text[:_SAMPLE]
    return bool(sample) and 20 * len(_ILLEGIBLE.findall(sample)) <= len(sample)


def _title(html: str) -> str:
    found = _TITLE.search(html)
    return " ".join(unescape(found[1]).split()) if found else ""


def _tidy(text: str) -> str:
    return "\n".join([line for said in text.splitlines() if (line := " ".join(said.split()))])


# The distribution of text over the elements of a page, in one pass, without boilerplate.


_BORDER = "\x1f"
_LEFT_OUT = NOT_TEXT | SURROUNDINGS | {"-comment", "-doctype"}


@dataclass(frozen=True, slots=True)
class Element:
    """`letters` are the characters inside that are not part of a link, every run of white space counted as one;
    `blocks` are the block elements inside, itself included, that directly contain such characters. Its text is the
    pieces from `start` to `end`."""

    node: LexborNode
    depth: int
    letters: int
    blocks: int
    start: int
    end: int


@dataclass(slots=True)
class _Open:
    """An element that is still open, with the counts at its start."""

    node: LexborNode
    tag: str
    letters: int
    blocks: int
    start: int
    elements: int
    boilerplate: bool
    holds_text: bool = False


@dataclass(slots=True)
class Outline:
    """The counts of the page, and its elements, inner before outer."""

    elements: list[Element] = field(default_factory=list)
    letters: int = 0
    blocks: int = 0
    _pieces: list[str] = field(default_factory=list)
    _open: list[_Open] = field(default_factory=list)
    _blocks_open: list[_Open] = field(default_factory=list)
    _links_open: int = 0

    def text(self, element: Element) -> str:
        """A line for each block; some are empty."""
        said = "".join(self._pieces[element.start : element.end])
        return "\n".join([" ".join(block.split()) for block in said.split(_BORDER)])

    def read(self, root: LexborNode) -> None:
        """Iterative, because pages may nest thousands of elements."""
        node: LexborNode | None = root
        while node is not None:
            child = self._enter(node)
            node = node.next if child is None else child
            while node is None and self._open:
                closed = self._open.pop()
                self._leave(closed)
                node = closed.node.next

    def _enter(self, node: LexborNode) -> LexborNode | None:
        """Returns the first child, if the element is read."""
        tag = node.tag or ""
        if tag == "-text":
            self._say(node.text_content or "")
            return None
        if tag in _LEFT_OUT:
            return None
        is_block = tag in BLOCKS
        start = len(self._pieces)
        if is_block:
            self._pieces.append(_BORDER)
        child = node.first_child
        if child is not None:
            boilerplate = is_block and is_called_advert(node.attributes)
            opened = _Open(node, tag, self.letters, self.blocks, start, len(self.elements), boilerplate)
            self._open.append(opened)
            if is_block:
                self._blocks_open.append(opened)
            self._links_open += tag == "a"
        return child

    def _say(self, words: str) -> None:
        self._pieces.append(words)
        if self._links_open or not self._blocks_open:
            return
        if letters := len(" ".join(words.split())):
            self.letters += letters
            block = self._blocks_open[-1]
            block.holds_text = True
            block.boilerplate = block.boilerplate or (letters <= LONGEST and claims_copyright(words))

    def _leave(self, closed: _Open) -> None:
        self._links_open -= closed.tag == "a"
        if closed.tag in BLOCKS:
            self._blocks_open.pop()
            self._pieces.append(_BORDER)
            self.blocks += closed.holds_text
        letters, blocks = self.letters - closed.letters, self.blocks - closed.blocks
        if closed.boilerplate and letters <= LONGEST and closed.tag != "body":
            self._forget(closed)
        else:
            end = len(self._pieces)
            self.elements.append(Element(closed.node, len(self._open), letters, blocks, closed.start, end))

    def _forget(self, closed: _Open) -> None:
        """Drops everything read since the element began; the text before and after it stays separate."""
        self.letters, self.blocks = closed.letters, closed.blocks
        self._pieces[closed.start :] = [_BORDER]
        del self.elements[closed.elements :]


def outline(html: str) -> Outline:
    """Raises only MemoryError."""
    page = Outline()
    try:
        root = LexborHTMLParser(html).root
    except SelectolaxError:
        raise MemoryError("the parser ran out of memory") from None
    if root is not None:
        page.read(root)
    return page


# The main text as in paper 002: the deepest element with much of the text and most of its blocks.


LEAST_NODE_RATIO = 0.3
LEAST_UNLINK_NODE_RATIO = 0.5
"""Two siblings cannot both have more than half, so the deepest element is unique."""


def node_ratio(element: Element, page: Outline) -> float:
    return element.letters / page.letters if page.letters else 0.0


def unlink_node_ratio(element: Element, page: Outline) -> float:
    return element.blocks / page.blocks if page.blocks else 0.0


def main_element(page: Outline) -> Element | None:
    """None if there is no text outside links."""
    candidates = [
        element
        for element in page.elements
        if node_ratio(element, page) > LEAST_NODE_RATIO and unlink_node_ratio(element, page) > LEAST_UNLINK_NODE_RATIO
    ]
    return max(candidates, key=lambda element: element.depth, default=None)


def node_ratio_text(html: str, url: str = "") -> str:
    """Includes the text of links, which are part of sentences."""
    page = outline(html)
    chosen = main_element(page)
    return page.text(chosen) if chosen else ""


# The main text by the rules of resiliparse: fast enough for every page of a crawl.


_SMALL = 2_000
"""Number of tags up to which no depth check is needed."""
_MOST_TAGS = 10_000
_DEEPEST = 500
"""The time of resiliparse is quadratic in both; larger pages are read by the method of paper 002."""
_CELL = re.compile(r"<(?=[tT][dDhH]\b)")
_SKIPPED = sorted(SURROUNDINGS)


def quick_text(html: str, url: str = "") -> str:
    tags = html.count("<")
    if tags > _MOST_TAGS or (tags > _SMALL and deeper_than(html, _DEEPEST)):
        return node_ratio_text(html)
    # Without the space, the words of adjacent table cells are joined.
    text: str = extract_plain_text(
        _CELL.sub(" <", html),
        main_content=True,
        list_bullets=False,
        alt_texts=False,
        links=False,
        comments=False,
        post_meta=False,
        skip_elements=_SKIPPED,
    )
    return text


# The main text by trafilatura, in the settings that measure best: for stored pages.


_MOST_TAGS_FOR_BEST = 50_000
"""Trafilatura needs some seconds for this many; larger pages are read by the method of paper 002."""
LEAST_SHARE = 0.05
"""With a smaller share of what the quick method finds, the main text of a page is lost."""


def require_trafilatura() -> Any:
    """The library; imported only here, because it is an optional dependency."""
    try:
        import trafilatura
    except ModuleNotFoundError:
        raise MissingExtra("main texts need trafilatura; install it with: pip install 'spoor[text]'") from None
    # It logs pages without a result; callers report these themselves.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    return trafilatura


def best_text(html: str, url: str = "") -> str:
    """Empty if there is no main text, as on a page of links only. The quick method replaces it where it finds hardly
    any of the text."""
    trafilatura = require_trafilatura()
    if html.count("<") > _MOST_TAGS_FOR_BEST:
        return node_ratio_text(html)
    printable, originals = _with_stand_ins(html)
    found = trafilatura.extract(printable, url=url or None, fast=True, include_comments=False, favor_recall=True)
    text = (found or "").translate(originals)
    # The text is shorter than its HTML: most pages need no second look.
    if len(text) >= LEAST_SHARE * len(html):
        return text
    quick = quick_text(html)
    return text if len(text) >= LEAST_SHARE * len(quick) else quick


_FIRST_STAND_IN, _LAST_STAND_IN = 0x20000, 0x2A6DF
"""Rare Chinese characters, which every version of Python takes for letters."""
_UNASSIGNED, _PRIVATE = "Cn", "Co"
_REFERENCE = re.compile("&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|zwn?j);?")
_JOINER = re.compile("[\u180e\u200c\u200d]")
_JOINER_IN_WORD = re.compile(rf"(?<=\w){_JOINER.pattern}(?=\w)")


def _with_stand_ins(html: str) -> tuple[str, dict[int, str]]:
    """The HTML with letters that it does not contain in place of characters that trafilatura drops because Python does
    not print them: those of fonts at private code points, those that are newer than this Python, and joiners inside
    words. Also returns what the letters stand for, for `str.translate`."""
    html = _REFERENCE.sub(lambda reference: _dropped_character(unescape(reference[0])) or reference[0], html)
    characters = set(html)
    dropped = sorted(filter(_dropped_character, characters))
    free = (code for code in range(_FIRST_STAND_IN, _LAST_STAND_IN + 1) if chr(code) not in characters)
    stand_ins = {character: chr(code) for character, code in zip(dropped, free, strict=False)}
    in_words = {ord(character): letter for character, letter in stand_ins.items() if not _JOINER.match(character)}
    html = _JOINER_IN_WORD.sub(lambda joiner: stand_ins[joiner[0]], html.translate(in_words))
    return html, {ord(letter): character for character, letter in stand_ins.items()}


def _dropped_character(character: str) -> str:
    """The character if it is dropped, else ""."""
    if len(character) != 1 or character.isprintable():
        return ""
    return character if category(character) in (_UNASSIGNED, _PRIVATE) or _JOINER.match(character) else ""


# The three methods by name.


NODE_RATIO = Extractor(node_ratio_text)
"""The method of paper 002."""
QUICK = Extractor(quick_text)
"""For every page of a crawl."""
BEST = Extractor(best_text)
"""For stored pages; ten times slower."""


_BY_NAME = dict(zip(MAIN_TEXTS, (QUICK, BEST, NODE_RATIO), strict=True))


def extractor_named(name: str) -> Extractor:
    """One of `MAIN_TEXTS`. Raises MissingExtra immediately if its library is not installed, not at the first page."""
    if name == "best":
        require_trafilatura()
    return _BY_NAME[name]
