"""Where on a page do its links and headings stand? Worked out from what was kept of it: its text line by line, the
words of its headings, and its links with their paths and the words around them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from spoor.parse.blocks import BLOCKS, HEADINGS
from spoor.records import Link, Page
from spoor.webs.link_places import Span, link_places

Path = tuple[str, ...]
"""The names of elements inside of one another, the outermost first."""

BODY: Path = ("html", "body")
HEADING_TAGS = frozenset(HEADINGS.split())
_APART = frozenset({"nav", "header", "footer", "aside", "menu"})
"""A link inside of one of these is navigation, whatever stands beside it."""
_IN_HEAD = (-1, -1)
"""The place of what stands in the head, before all text."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A link at one place of the text, without words where `start` is `end`. One that is `bare` says nothing: it stands
    where the link was found first, before the place that says something."""

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
        """Whether it is navigation because it stands among other links."""
        return self.link.navigation and not self.bare and _APART.isdisjoint(self.path)


@dataclass(frozen=True, slots=True)
class Heading:
    start: int
    end: int
    tag: str


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the text, or several that one anchor reaches over, inside of the elements of `path`. `before` and
    `behind` are links without words that have lines of their own. `goes_on`: the heading of the last row does."""

    start: int
    end: int
    before: Sequence[Occurrence] = ()
    inside: Sequence[Occurrence] = ()
    behind: Sequence[Occurrence] = ()
    path: Path = (*BODY, "p")
    goes_on: bool = False

    def blocks(self) -> Path | None:
        """Around its links; all links of a line have the same. None when it has no link."""
        first = next((occurrence for occurrence in self.inside if not occurrence.bare), None)
        return None if first is None else blocks(first.path)


@dataclass(frozen=True, slots=True)
class Layout:
    """`text` is all lines joined by blanks; `breaks` are the places of those blanks, of its beginning and its end."""

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
        rows = _with_paths(list(_rows(breaks, in_body)), headings)
        return Layout(text, breaks, headings, found[: len(found) - len(in_body)], rows)


def blocks(path: Path) -> Path:
    """The path up to the last element that begins a line."""
    last = max((place for place, tag in enumerate(path) if tag in BLOCKS), default=len(path) - 1)
    return path[: last + 1]


def _occurrences(text: str, links: Sequence[Link]) -> list[Occurrence]:
    """In the order in which they stand. Links whose places are not known come last; every link has a place before those
    of the links that follow it."""
    visible = [replace(link, anchor="") if "noscript" in link.path else link for link in links]
    unknown = (len(text) + 1, len(text) + 1)
    spans = [
        _IN_HEAD if link.path == "html/head" else span or unknown
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
    """Each is whole lines. One whose words are there more than once, as they are in a table of contents, is the last
    before the first link that stands below it."""
    found = []
    for tag in sorted(HEADING_TAGS):
        all_words, after = page.tag_texts.get(tag, "").splitlines(), 0
        for words in all_words:
            places = [place for place in _places(words, text, after) if {place - 1, place + len(words)} <= breaks]
            if len(places) > 1 and all_words.count(words) == 1:
                places = _above_links(places, words, links) or places
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
    below = next((one for one in links if not one.bare and one.link.heading == words), None)
    return [] if below is None else [place for place in places if place <= below.start][-1:]


def _rows(breaks: Iterable[int], links: Sequence[Occurrence]) -> Iterator[Row]:
    anchors = {place for one in links for place in range(one.start, one.end)}
    left, start = deque(links), 0
    for end in sorted(place for place in breaks if place >= 0 and place not in anchors):
        ours = []
        while left and left[0].start <= end:
            ours.append(left.popleft())
        yield _row(start, end, ours)
        start = end + 1
    yield Row(start, start, left)


def _row(start: int, end: int, links: list[Occurrence]) -> Row:
    """Links without words that stand at an end of the row have lines of their own, unless they are taken for
    navigation because of what stands beside them."""
    alone = [not (one.has_words or one.is_crowded) for one in links]
    first, last = 0, len(links)
    while first < last and links[first].start == start and alone[first]:
        first += 1
    while first < last and links[last - 1].start == end and alone[last - 1]:
        last -= 1
    return Row(start, end, links[:first], links[first:last], links[last:])


def _with_paths(rows: Sequence[Row], headings: Sequence[Heading]) -> list[Row]:
    """As the links of each row say; a heading that holds no link stands in the body."""
    over = [next((one for one in headings if one.start <= row.start < row.end <= one.end), None) for row in rows]
    stands_in: dict[Heading, Path] = {}
    for row, heading in zip(rows, over, strict=True):
        if heading is not None and (path := row.blocks()) and heading.tag in path:
            stands_in.setdefault(heading, path[: path.index(heading.tag) + 1])
    told = []
    for row, heading, last in zip(rows, over, [None, *over], strict=False):
        usual = row.path if heading is None else stands_in.get(heading, (*BODY, heading.tag))
        told.append(replace(row, path=row.blocks() or usual, goes_on=heading is not None and heading == last))
    return told
