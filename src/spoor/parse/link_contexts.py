"""Links of a page with their context: the words around the anchor, the heading above, the place in the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import INT, array, kernel, kernels_in
from spoor.parse.reading import DESCRIPTION, HREFLANG, REL, Reading
from spoor.parse.tags import META
from spoor.parse.tidy_text import TidyText, crowded, end_after, start_before, words_after, words_before
from spoor.parse.walk import END, INSIDE, IS_APART, IS_NOFOLLOW, START, UNDER, VALUES, WHAT, Codes, Numbers
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
        known = [link for link in links if link.url in self.places]
        if not known:
            return list(links)
        numbers, rows, anchors = self._first_places(known)
        is_crowded, headings = self._crowded()[numbers].tolist(), {-1: ""}
        each = zip(known, anchors, rows[:, CLAIM:].tolist(), is_crowded, strict=True)
        read = [self._with_context(*one, headings) for one in each]
        if len(read) == len(links):
            return read
        by_url = {link.url: link for link in read}
        return [by_url.get(link.url, link) for link in links]

    def anchors_of(self, links: Sequence[Link]) -> list[tuple[str, str]]:
        known = [link for link in links if link.url in self.places]
        _, rows, anchors = self._first_places(known)
        read = list(zip(anchors, self._claims(rows), strict=True))
        if len(read) == len(links):
            return read
        by_url = {link.url: said for link, said in zip(known, read, strict=True)}
        return [by_url.get(link.url) or (link.anchor, link.hreflang) for link in links]

    def renamed(self, names: Mapping[str, str]) -> ParsedContexts:
        """For links under other URLs; `names` maps each to the one on the page."""
        return replace(self, places={url: self.places[name] for url, name in names.items() if name in self.places})

    def _with_context(
        self, link: Link, anchor: str, row: Sequence[int], is_crowded: bool, headings: dict[int, str]
    ) -> Link:
        """`row` has the columns from `CLAIM` on; `headings` are those read so far."""
        claim, claim_end, relation, relation_end, under, inside, is_apart, before, left, after, right = row
        words, value = self.text.words, self.reading.value
        if under not in headings:
            headings[under] = self._heading(under)
        return Link(
            link.url,
            anchor,
            words[left:before] if left >= 0 else words_before(words, before, self.window),
            words[after:right] if right >= 0 else words_after(words, after, self.window),
            headings[under],
            link.nofollow,
            value(claim, claim_end)[:LONGEST_TAG] if claim >= 0 else "",
            value(relation, relation_end).lower()[:LONGEST_TAG] if relation >= 0 else "",
            self.reading.path(inside),
            is_crowded or is_apart > 0,
            link.hints,
        )

    def _first_places(self, links: Sequence[Link]) -> tuple[list[int], Numbers, list[str]]:
        """For each link the number of the first of its places that has an anchor, or else of the first of all; its row;
        its anchor."""
        numbers = [self.places[link.url][0] for link in links]
        rows = self._rows(numbers)
        spans = zip(rows[:, BEGIN].tolist(), rows[:, STOP].tolist(), strict=True)
        anchors = [self.text.words[begin:stop] for begin, stop in spans]
        for link in [link for link, anchor in enumerate(anchors) if not anchor]:
            others = self.places[links[link].url]
            for number, row in zip(others, self._rows(others), strict=True):
                if anchor := self._anchor(row):
                    numbers[link], rows[link], anchors[link] = number, row, anchor
                    break
        return numbers, rows, anchors

    def _rows(self, numbers: Sequence[int]) -> Numbers:
        """A row for each number of a link."""
        elements = np.array([self.reading.links[number][0] for number in numbers], np.int64)
        text = self.text
        return _placed(self.reading.elements, elements, text.begins, text.ends, text.codes, self.window)

    def _anchor(self, row: Numbers) -> str:
        """Without words, an attribute describes the link."""
        begin, stop, said, said_end = row[:CLAIM].tolist()
        return self.text.words[begin:stop] or " ".join(self.reading.value(said, said_end)[:LONGEST].split())

    def _claims(self, rows: Numbers) -> list[str]:
        if not (rows[:, CLAIM] >= 0).any():
            return [""] * len(rows)
        return [self.reading.value(start, end)[:LONGEST_TAG] for start, end in rows[:, CLAIM : CLAIM + 2].tolist()]

    def _heading(self, span: int) -> str:
        """Cut at `LONGEST`, because some elements are never closed."""
        _, start, end = self.reading.spans[span].tolist()
        return self.text.words[self.text.begins.item(start) : self.text.ends.item(min(end, start + LONGEST))]

    def _crowded(self) -> NDArray[np.bool_]:
        """For each link of the page whether it is among other links."""
        links = self.reading.links
        elements = np.fromiter(map(itemgetter(0), links), np.int64, len(links))
        starts, ends = self.reading.elements[elements, START], self.reading.elements[elements, END]
        return crowded(self.text.borders, self.text.length, starts, ends)


BEGIN, STOP, SAID, CLAIM, RELATION, UNDER_IT, AROUND = 0, 1, 2, 4, 6, 8, 11
"""Columns of a row about a link: begin and end of its anchor in the words of the page; start and end in the markup of
the attributes that describe it, that name its language and its relation (-1 if none); as for elements, the heading
above, the frame around it, whether it is outside of the main content; and the position before the link, where its
context starts, the position after it, where its context ends."""


@kernel(array(np.int32, 2), array(np.int64), array(np.int32), array(np.int32), array(np.uint32), INT)
def _placed(
    elements: Numbers, numbers: NDArray[np.int64], begins: Numbers, ends: Numbers, codes: Codes, window: int
) -> Numbers:
    """A row for each number of an element. Anchors are cut at `LONGEST`, because some elements are never closed. A
    context starts or ends at -1 as in `start_before` and `end_after`."""
    rows = np.empty((numbers.size, AROUND + 4), np.int32)
    for number in range(numbers.size):
        row, element = rows[number], elements[numbers[number]]
        start, end = element[START], element[END]
        row[BEGIN], row[STOP] = begins[start], ends[min(end, start + LONGEST)]
        for column, slot in ((SAID, DESCRIPTION), (CLAIM, HREFLANG), (RELATION, REL)):
            for place in range(2):
                # The attributes of <meta> do not describe a link.
                row[column + place] = -1 if element[WHAT] == META else element[VALUES + 2 * slot + place]
        row[UNDER_IT], row[UNDER_IT + 1], row[UNDER_IT + 2] = element[UNDER], element[INSIDE], element[IS_APART]
        row[AROUND], row[AROUND + 1] = ends[start], start_before(codes, ends[start], window)
        row[AROUND + 2], row[AROUND + 3] = begins[end], end_after(codes, begins[end], window)
    return rows


KERNELS = kernels_in(__name__)
