"""Reconstructs the positions of links and headings on a page from its recorded text and link contexts."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from spoor.parse.tags import BLOCKS, HEADINGS
from spoor.parse.tidy_text import words_after, words_before
from spoor.records import Link, Page

# The position of each link in the text of a page, found by the recorded words around it.


Span = tuple[int, int]
"""Start and end in a text; empty for a link without words."""

_BLANKS = ((" ", " "), ("", ""), (" ", ""), ("", " "))
"""Separators before and after an anchor that are tried."""
_ATTEMPTS = 20
"""Matches of the same words that are tried before a link is given up."""


def link_places(text: str, links: Sequence[Link]) -> list[Span | None]:
    """Whitespace in `text` is collapsed to single spaces. None if the words around the link are not in the text."""
    found: list[Span | None] = []
    taken: list[Span] = []
    after = 0
    for link in links:
        place = next((span for span in _candidates(text, link, after) if _is_free(span, taken)), None)
        found.append(place)
        if place is not None:
            after = place[0]
            insort(taken, place)
    return found


def _candidates(text: str, link: Link, after: int) -> Iterator[Span]:
    """Matches with the anchor text come first, and positions after the previous link before the whole page: links are
    mostly in document order."""
    for words in dict.fromkeys((link.anchor, "")):
        for begin in dict.fromkeys((after, 0)):
            for before, behind in _BLANKS:
                yield from _matches(text, link, words, (before, behind), begin)


def _matches(text: str, link: Link, words: str, blanks: tuple[str, str], begin: int) -> Iterator[Span]:
    before = link.left + blanks[0]
    needle = before + words + blanks[1] + link.right
    place = begin - len(before)
    for _ in range(_ATTEMPTS):
        place = text.find(needle, max(0, place))
        if place < 0:
            return
        span = place + len(before), place + len(before) + len(words)
        if (words_before(text, span[0]), words_after(text, span[1])) == (link.left, link.right):
            yield span
        place += 1


def _is_free(span: Span, taken: list[Span]) -> bool:
    """Links do not nest. Links without words may share a position."""
    start, end = span
    place = bisect_left(taken, span)
    before = taken[:place][-1:]
    behind = taken[place : place + 1]
    return all(other[1] <= start for other in before) and all(end <= other[0] for other in behind)


# The positions of links and headings on a page, reconstructed from its text line by line, the words of its headings,
# and its links with their paths and surrounding words.


Path = tuple[str, ...]
"""Tag names of nested elements, outermost first."""

BODY: Path = ("html", "body")
HEADING_TAGS = frozenset(HEADINGS.split())
_APART = frozenset({"nav", "header", "footer", "aside", "menu"})
"""Links inside these elements are navigation, whatever is beside them."""
HEAD, UNSEEN_IN_HEAD = "html/head", "html/head/noscript"
"""The paths of links in the head."""
_IN_HEAD = (-1, -1)
"""The position of links in the head, before all text."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A link at one position in the text; without words if `start` equals `end`. A `bare` occurrence has no context: it
    marks where the link was found first, before the position that has the context."""

    start: int
    end: int
    link: Link
    bare: bool = False

    @property
    def has_words(self) -> bool:
        return self.start < self.end

    @property
    def path(self) -> Path:
        return tuple(self.link.path.split("/")) if self.link.path.startswith("html/body") else (*BODY, "p")

    @property
    def is_crowded(self) -> bool:
        """Whether it counts as navigation because it is among other links."""
        return self.link.navigation and not self.bare and _APART.isdisjoint(self.path)


@dataclass(frozen=True, slots=True)
class Heading:
    start: int
    end: int
    tag: str


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the text, or several lines that one anchor spans, inside the elements of `path`. `before` are links
    without words on lines of their own. `goes_on`: `heading` began in the previous row."""

    start: int
    end: int
    before: Sequence[Occurrence] = ()
    inside: Sequence[Occurrence] = ()
    heading: Heading | None = None
    path: Path = (*BODY, "p")
    goes_on: bool = False

    def blocks(self) -> Path | None:
        """The block elements around its links, the same for all links of a line. None if it has no link."""
        first = next((occurrence for occurrence in self.inside if not occurrence.bare), None)
        return None if first is None else blocks(first.path)


@dataclass(frozen=True, slots=True)
class Layout:
    """`text` is all lines joined by spaces; `breaks` are the positions of these spaces, of its start and of its end."""

    text: str
    breaks: frozenset[int]
    headings: Sequence[Heading]
    in_head: Sequence[Occurrence]
    rows: Sequence[Row]

    @staticmethod
    def of(page: Page) -> Layout:
        lines = page.text.splitlines()
        text = " ".join(lines)
        breaks = frozenset(accumulate((len(line) + 1 for line in lines), initial=-1))
        found = _occurrences(text, page.links)
        in_body = [occurrence for occurrence in found if occurrence.start >= 0]
        headings = _headings(page, text, breaks, in_body)
        rows = _with_paths(list(_rows(text, breaks, in_body, headings)))
        return Layout(text, breaks, headings, found[: len(found) - len(in_body)], rows)


def blocks(path: Path) -> Path:
    """The path up to the last element that starts a new line."""
    last = max((place for place, tag in enumerate(path) if tag in BLOCKS), default=len(path) - 1)
    return path[: last + 1]


def _occurrences(text: str, links: Sequence[Link]) -> list[Occurrence]:
    """In document order. Links with unknown positions come last. Every link has an occurrence before those of the links
    that follow it."""
    visible = [link._replace(anchor="") if "noscript" in link.path else link for link in links]
    unknown = (len(text) + 1, len(text) + 1)
    spans = [
        _IN_HEAD if link.path in (HEAD, UNSEEN_IN_HEAD) else span or unknown
        for link, span in zip(links, link_places(text, visible), strict=True)
    ]
    first_at = list(accumulate(reversed(spans), min))[::-1]
    placed: list[tuple[Span, int, Occurrence]] = []
    for number, (link, span, first) in enumerate(zip(links, spans, first_at, strict=True)):
        followed_elsewhere = not link.nofollow and "nofollow" in link.rel
        if first < span or followed_elsewhere:
            placed.append((first, number, Occurrence(first[0], first[0], link, bare=True)))
        placed.append((span, number, Occurrence(*span, link)))
    return [occurrence for _, _, occurrence in sorted(placed, key=lambda one: one[:2])]


def _headings(page: Page, text: str, breaks: frozenset[int], links: Sequence[Occurrence]) -> list[Heading]:
    """Each heading is a sequence of whole lines. If its words occur more than once, as in a menu or a table of
    contents, the last position before the first link below the heading is taken; without such a link, a position that
    does not conflict with another heading."""
    found = []
    said = [one for one in links if not one.bare]
    for tag in sorted(HEADING_TAGS):
        all_words, after = page.tag_texts.get(tag, "").splitlines(), 0
        for words in all_words:
            places = [place for place in _places(words, text, after) if {place - 1, place + len(words)} <= breaks]
            if len(places) > 1:
                above = _above_links(places, words, said) if all_words.count(words) == 1 else []
                places = above or [place for place in places if _fits(words, place, text, said)] or places
            if places:
                after = places[0] + len(words)
                found.append(Heading(places[0], after, tag))
    return sorted(found, key=lambda heading: heading.start)


def _places(words: str, text: str, after: int) -> Iterator[int]:
    place = text.find(words, after)
    while place >= 0:
        yield place
        place = text.find(words, place + 1)


def _above_links(places: list[int], words: str, links: Iterable[Occurrence]) -> list[int]:
    below = next((one for one in links if one.link.heading == words), None)
    return [] if below is None else [place for place in places if place <= below.start][-1:]


def _fits(words: str, place: int, text: str, links: Iterable[Occurrence]) -> bool:
    """Whether the next link is below this heading, or below another heading that follows it."""
    behind = next((one for one in links if one.start > place), None)
    if behind is None or behind.link.heading == words:
        return True
    return bool(behind.link.heading) and behind.link.heading in text[place + len(words) : behind.end]


def _rows(text: str, breaks: Iterable[int], links: Sequence[Occurrence], headings: Sequence[Heading]) -> Iterator[Row]:
    """The last row has no words: it holds the links after all other rows."""
    anchors = {place for one in links for place in range(one.start, one.end)}
    ends = sorted(place for place in breaks if place >= 0 and place not in anchors)
    over = [_heading_over(start + 1, end, headings) for start, end in zip([-1, *ends], ends, strict=False)]
    titles = ["", *("" if one is None else text[one.start : one.end] for one in over), ""]
    inside, between = _parted(ends, links)
    shares = [_shared(ones, *around) for ones, around in zip(between, pairwise(titles), strict=True)]
    for number, (start, end) in enumerate(zip([-1, *ends], ends, strict=False)):
        (_, before, first), (last, *_) = shares[number : number + 2]
        yield Row(start + 1, end, before, [*first, *inside[number], *last], heading=over[number])
    behind = ends[-1] + 1 if ends else 0
    yield Row(behind, behind, shares[-1][1])


def _heading_over(start: int, end: int, headings: Iterable[Heading]) -> Heading | None:
    return next((one for one in headings if one.start <= start < end <= one.end), None)


def _parted(ends: Sequence[int], links: Iterable[Occurrence]) -> tuple[list[list[Occurrence]], list[list[Occurrence]]]:
    """The links inside each row, and the links without words between rows, before the first and after the last."""
    inside: list[list[Occurrence]] = [[] for _ in ends]
    between: list[list[Occurrence]] = [[] for _ in range(len(ends) + 1)]
    for one in links:
        row = bisect_left(ends, one.start)
        start = ends[row - 1] + 1 if row else 0
        if one.has_words or (row < len(ends) and start < one.start < ends[row]):
            inside[row].append(one)
        else:
            between[row + 1 if row < len(ends) and one.start == ends[row] else row].append(one)
    return inside, between


def _shared(ones: Sequence[Occurrence], above: str, below: str) -> tuple[Sequence[Occurrence], ...]:
    """Splits links without words between two rows: in the heading of the row above, in none, in the heading of the row
    below."""
    first, last = 0, len(ones)
    while first < last and _is_in_heading(ones[first], above):
        first += 1
    while first < last and _is_in_heading(ones[last - 1], below):
        last -= 1
    return ones[:first], ones[first:last], ones[last:]


def _is_in_heading(one: Occurrence, words: str) -> bool:
    return bool(words) and one.link.heading == words and not HEADING_TAGS.isdisjoint(one.path)


def _with_paths(rows: Sequence[Row]) -> list[Row]:
    """Paths come from the links of each row. A heading without a link is placed in the body."""
    stands_in: dict[Heading, Path] = {}
    for row in rows:
        if row.heading is not None and (path := row.blocks()) and row.heading.tag in path:
            stands_in.setdefault(row.heading, path[: path.index(row.heading.tag) + 1])
    placed, last = [], None
    for row in rows:
        usual = row.path if row.heading is None else stands_in.get(row.heading, (*BODY, row.heading.tag))
        goes_on = row.heading is not None and row.heading == last
        placed.append(replace(row, path=row.blocks() or usual, goes_on=goes_on))
        last = row.heading
    return placed
