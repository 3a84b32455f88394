"""Links of a page with their context: the words around the anchor, the heading above, the place in the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from spoor.parse.reading import DESCRIPTION, HREFLANG, REL, Reading
from spoor.parse.tags import META
from spoor.parse.tidy_text import TidyText, crowded, words_after, words_before
from spoor.parse.walk import END, INSIDE, IS_APART, IS_NOFOLLOW, START, UNDER, VALUES, WHAT, Numbers
from spoor.records import Link

LONGEST = 500
"""Maximum length of anchors and headings in characters; one that is never closed contains the rest of the page."""
LONGEST_TAG = 40
"""Maximum length of a language tag in characters."""

Places = dict[str, list[int]]
"""Each URL that a page links to, in order of first occurrence, with the numbers of all links to it."""


def bare_links(places: Places, reading: Reading) -> list[Link]:
    """Without anchors."""
    return [Link(target, nofollow=asked) for target, asked in zip(places, _nofollow(places, reading), strict=True)]


def _nofollow(places: Places, reading: Reading) -> list[bool]:
    """True if all links to a target are nofollow; a page may exclude one of two links and not the target."""
    if reading.nofollow:
        return [True] * len(places)
    asked = reading.elements[[element for element, _ in reading.links], IS_NOFOLLOW]
    if not asked.any():
        return [False] * len(places)
    is_asked = asked.tolist().__getitem__
    return [all(map(is_asked, numbers)) for numbers in places.values()]


@dataclass(frozen=True, slots=True, eq=False)
class ParsedContexts:
    """The contexts of links, read when they are asked for. `rows` are the elements of all links of the page, `row_of`
    the row of each target: its first link with an anchor. `window` is in characters."""

    reading: Reading
    text: TidyText
    rows: Numbers
    row_of: Mapping[str, int]
    window: int

    def of(self, links: Sequence[Link]) -> list[Link]:
        found, read = list(links), [place for place, link in enumerate(links) if link.url in self.row_of]
        chosen = [self.row_of[links[place].url] for place in read]
        rows = self.rows[chosen]
        under = rows[:, UNDER].tolist()
        headings = _headings(sorted({*under} - {-1}), self.reading, self.text)
        contexts = zip(
            [words_before(self.text.words, place, self.window) for place in self.text.ends[rows[:, START]].tolist()],
            [words_after(self.text.words, place, self.window) for place in self.text.begins[rows[:, END]].tolist()],
            [headings[span] for span in under],
            [claim.lower()[:LONGEST_TAG] for claim in _values(self.reading, rows, REL)],
            map(self.reading.path, rows[:, INSIDE].tolist()),
            self._navigation()[chosen].tolist(),
            strict=True,
        )
        for place, (left, right, heading, rel, path, navigation) in zip(read, contexts, strict=True):
            url, anchor, _, _, _, nofollow, hreflang, *_, hints = links[place]
            found[place] = Link(url, anchor, left, right, heading, nofollow, hreflang, rel, path, navigation, hints)
        return found

    def _navigation(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        starts, ends = (np.ascontiguousarray(self.rows[:, column]) for column in (START, END))  # One layout to compile.
        return self.rows[:, IS_APART].astype(np.bool_) | crowded(self.reading.text, starts, ends)

    def renamed(self, names: Mapping[str, str]) -> ParsedContexts:
        """For links under other URLs; `names` maps each to the one on the page."""
        return replace(self, row_of={url: self.row_of[name] for url, name in names.items() if name in self.row_of})


def links_with_anchors(
    places: Places, reading: Reading, text: TidyText, window: int
) -> tuple[list[Link], ParsedContexts | None]:
    """Links with their anchors and the languages that the page claims for them, and the rest of their contexts; None
    if there are no links."""
    if not places:
        return [], None
    rows = reading.elements[[element for element, _ in reading.links]]
    rows[rows[:, WHAT] == META, VALUES:] = -1  # The attributes of <meta> do not describe a link.
    said = _first_anchors(places, rows, reading, text)
    chosen = [number for number, _ in said]
    claims = _values(reading, rows[chosen], HREFLANG)
    links = [
        Link(target, anchor, "", "", "", asked, claim[:LONGEST_TAG])
        for target, (_, anchor), asked, claim in zip(places, said, _nofollow(places, reading), claims, strict=True)
    ]
    return links, ParsedContexts(reading, text, rows, dict(zip(places, chosen, strict=True)), window)


def _values(reading: Reading, rows: Numbers, slot: int) -> list[str]:
    """The value of an attribute, for each element."""
    places = rows[:, VALUES + 2 * slot : VALUES + 2 * slot + 2]
    return [reading.value(start, end) if start >= 0 else "" for start, end in places.tolist()]


def _first_anchors(places: Places, rows: Numbers, reading: Reading, text: TidyText) -> list[tuple[int, str]]:
    """For each target its first link with an anchor, or else its first one, and the anchor. Without words, an attribute
    describes the link."""
    words, ends = text.words, _ends_of_words(text, rows[:, START], rows[:, END])
    descriptions = rows[:, VALUES + 2 * DESCRIPTION : VALUES + 2 * DESCRIPTION + 2]
    found = []
    for numbers in places.values():
        number, anchor = numbers[0], ""
        for place in numbers:
            first, last = ends[place]
            described = "" if first < last else reading.value(*descriptions[place].tolist())
            if said := words[first:last] or " ".join(described[:LONGEST].split()):
                number, anchor = place, said
                break
        found.append((number, anchor))
    return found


def _headings(spans: Sequence[int], reading: Reading, text: TidyText) -> dict[int, str]:
    """The headings of some spans; -1 is for links above all headings."""
    words = _ends_of_words(text, reading.spans[spans, 1], reading.spans[spans, 2])
    return {-1: ""} | {span: text.words[first:last] for span, (first, last) in zip(spans, words, strict=True)}


def _ends_of_words(text: TidyText, starts: Numbers, ends: Numbers) -> list[tuple[int, int]]:
    """Start and end of the words in each range; ranges are cut at `LONGEST`, because some elements are never closed."""
    first, last = text.begins[starts], text.ends[np.minimum(ends, starts + LONGEST)]
    return list(zip(first.tolist(), last.tolist(), strict=True))
