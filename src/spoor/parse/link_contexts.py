"""Links of a page with their context: the words around the anchor, the heading above, the place in the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spoor.parse.reading import DESCRIPTION, HREFLANG, REL, Reading
from spoor.parse.tags import META
from spoor.parse.tidy_text import TidyText, crowded, words_after, words_before
from spoor.parse.walk import END, INSIDE, IS_APART, IS_NOFOLLOW, START, UNDER, VALUES, WHAT
from spoor.records import Link

LONGEST = 500
"""Maximum length of anchors and headings in characters; one that is never closed contains the rest of the page."""
LONGEST_TAG = 40
"""Maximum length of a language tag in characters."""

Places = dict[str, list[int]]
"""Each URL that a page links to, in order of first occurrence, with the numbers of all links to it."""


def bare_links(places: Places, reading: Reading) -> list[Link]:
    """Without anchors."""
    # Arguments by position take half the time of those by name.
    return [Link(url, "", "", "", "", asked) for url, asked in zip(places, _nofollow(places, reading), strict=True)]


def _nofollow(places: Places, reading: Reading) -> list[bool]:
    """True if all links to a target are nofollow; a page may exclude one of two links and not the target."""
    if reading.nofollow:
        return [True] * len(places)
    asked = reading.elements[:, IS_NOFOLLOW]
    if not asked.any():
        return [False] * len(places)
    is_asked = asked[[element for element, _ in reading.links]].tolist().__getitem__
    return [all(map(is_asked, numbers)) for numbers in places.values()]


@dataclass(frozen=True, slots=True, eq=False)
class ParsedContexts:
    """The anchors and contexts of links, read when they are asked for. Those of a target are of its first link with an
    anchor. `window` is in characters."""

    reading: Reading
    text: TidyText
    places: Places
    window: int

    def of(self, links: Sequence[Link]) -> list[Link]:
        is_crowded, headings = self._crowded(), {-1: ""}
        return [self._with_context(link, is_crowded, headings) if link.url in self.places else link for link in links]

    def anchors_of(self, links: Sequence[Link]) -> list[Link]:
        """All at once, because most pages have many. A link whose first place on the page has no words, or attributes
        that tell more, is read as `of` reads it."""
        known = [link for link in links if link.url in self.places]
        elements = self.reading.elements[[self.reading.links[self.places[link.url][0]][0] for link in known]]
        starts = elements[:, START]
        begins = self.text.begins[starts].tolist()
        ends = self.text.ends[np.minimum(elements[:, END], starts + LONGEST)].tolist()
        has_more = (elements[:, VALUES + 2 * HREFLANG] >= 0) | (elements[:, WHAT] == META)
        read = {
            link.url: self._with_anchor(link) if more or begin >= end else _anchored(link, self.text.words[begin:end])
            for link, begin, end, more in zip(known, begins, ends, has_more.tolist(), strict=True)
        }
        return [read.get(link.url, link) for link in links]

    def renamed(self, names: Mapping[str, str]) -> ParsedContexts:
        """For links under other URLs; `names` maps each to the one on the page."""
        return replace(self, places={url: self.places[name] for url, name in names.items() if name in self.places})

    def _with_context(self, link: Link, is_crowded: NDArray[np.bool_], headings: dict[int, str]) -> Link:
        """`headings` are those read so far."""
        number, row, anchor = self._first(self.places[link.url])
        under = row[UNDER]
        if under not in headings:
            _, start, end = self.reading.spans[under].tolist()
            headings[under] = self._words(start, end)
        return Link(
            link.url,
            anchor,
            words_before(self.text.words, self.text.ends.item(row[START]), self.window),
            words_after(self.text.words, self.text.begins.item(row[END]), self.window),
            headings[under],
            link.nofollow,
            self._value(row, HREFLANG)[:LONGEST_TAG],
            self._value(row, REL).lower()[:LONGEST_TAG],
            self.reading.path(row[INSIDE]),
            bool(row[IS_APART] or is_crowded[number]),
            link.hints,
        )

    def _with_anchor(self, link: Link) -> Link:
        _, row, anchor = self._first(self.places[link.url])
        return Link(link.url, anchor, "", "", "", link.nofollow, self._value(row, HREFLANG)[:LONGEST_TAG])

    def _first(self, numbers: Sequence[int]) -> tuple[int, list[int], str]:
        """The first of some links that has an anchor, or else the first of all: its number, its element, its anchor."""
        for number in numbers:
            row = self._row(number)
            if anchor := self._anchor(row):
                return number, row, anchor
        return numbers[0], self._row(numbers[0]), ""

    def _row(self, number: int) -> list[int]:
        """The element of a link."""
        row: list[int] = self.reading.elements[self.reading.links[number][0]].tolist()
        if row[WHAT] == META:  # Its attributes do not describe a link.
            row[VALUES:] = [-1] * len(row[VALUES:])
        return row

    def _anchor(self, row: list[int]) -> str:
        """Without words, an attribute describes the link."""
        return self._words(row[START], row[END]) or " ".join(self._value(row, DESCRIPTION)[:LONGEST].split())

    def _words(self, start: int, end: int) -> str:
        """From a start to an end in the text, cut at `LONGEST`, because some elements are never closed."""
        return self.text.words[self.text.begins.item(start) : self.text.ends.item(min(end, start + LONGEST))]

    def _value(self, row: list[int], slot: int) -> str:
        """The value of an attribute; "" if it is missing."""
        start = row[VALUES + 2 * slot]
        return self.reading.value(start, row[VALUES + 2 * slot + 1]) if start >= 0 else ""

    def _crowded(self) -> NDArray[np.bool_]:
        """For each link of the page whether it is among other links."""
        elements = np.array([element for element, _ in self.reading.links])
        starts, ends = self.reading.elements[elements, START], self.reading.elements[elements, END]
        return crowded(self.reading.text, starts, ends)


def _anchored(link: Link, anchor: str) -> Link:
    return Link(link.url, anchor, "", "", "", link.nofollow)
