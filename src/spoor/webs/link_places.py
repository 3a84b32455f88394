"""Where in the text of a page does each of its links stand? Found again by the words that were kept around it."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

from spoor.parse.surroundings import words_after, words_before
from spoor.records import Link

Span = tuple[int, int]
"""From where to where in a text; a link without words has an empty one."""

_BLANKS = ((" ", " "), ("", ""), (" ", ""), ("", " "))
"""What may stand between an anchor and the words before and after it."""
_ATTEMPTS = 20
"""Places at which the same words are looked at before a link is given up."""


def link_places(text: str, links: Sequence[Link]) -> list[Span | None]:
    """`text` has every run of white space as one blank. None: the words around the link are not in the text."""
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
    """With its words first; those after the last link before those on the whole page: links mostly stand in order."""
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
    """No link stands inside of another. Links without words may share a place."""
    start, end = span
    place = bisect_left(taken, span)
    before = taken[:place][-1:]
    behind = taken[place : place + 1]
    return all(other[1] <= start for other in before) and all(end <= other[0] for other in behind)
