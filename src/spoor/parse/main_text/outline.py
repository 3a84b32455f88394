"""How text is spread over the elements of a page: read once, from top to bottom, the boilerplate left out."""

from __future__ import annotations

from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from spoor.parse.blocks import BLOCKS
from spoor.parse.main_text.boilerplate import LONGEST, NOT_TEXT, SURROUNDINGS, claims_copyright, is_called_advert

_BORDER = "\x1f"
_LEFT_OUT = NOT_TEXT | SURROUNDINGS | {"-comment", "-doctype"}


@dataclass(frozen=True, slots=True)
class Element:
    """`letters` are the characters inside that are not part of a link, every run of white space as one; `blocks` the
    elements inside, itself included, that begin a line and directly hold such letters. Its text is that of the pieces
    from `start` to `end`."""

    node: LexborNode
    depth: int
    letters: int
    blocks: int
    start: int
    end: int


@dataclass(slots=True)
class _Open:
    """An element whose end has not been seen, with the counts at its beginning."""

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
        """By hand rather than by recursion, because pages may nest thousands of elements."""
        node: LexborNode | None = root
        while node is not None:
            child = self._enter(node)
            node = node.next if child is None else child
            while node is None and self._open:
                closed = self._open.pop()
                self._leave(closed)
                node = closed.node.next

    def _enter(self, node: LexborNode) -> LexborNode | None:
        """The first child, where there is one to read."""
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
        """All that was read since it began; the words before and after it stay apart."""
        self.letters, self.blocks = closed.letters, closed.blocks
        self._pieces[closed.start :] = [_BORDER]
        del self.elements[closed.elements :]


def outline(html: str) -> Outline:
    """Fails only with MemoryError."""
    page = Outline()
    try:
        root = LexborHTMLParser(html).root
    except SelectolaxError:
        raise MemoryError("the parser found no memory") from None
    if root is not None:
        page.read(root)
    return page
