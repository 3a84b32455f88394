"""What a link says, as numbers: words of its URL, its anchor and what stands around it, each hashed to a feature.

Read in one pass over the code points of all links of a page, because this is done for every link that is met.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from zlib import crc32

import numpy as np
from numba import njit
from numpy.typing import NDArray

from spoor.domains import registrable_domain
from spoor.records import Link, Page

BITS = 18
"""Features are numbers below 2 to this power."""
MOST = 64
"""Features of one link; what comes later is not read."""
PLACES = 5
"""The registrable domain, the host and so many folders less two are places in which pages are counted."""

HEAD = 4 + PLACES
"""Numbers that come before the features of a link."""

HOST, PATH, ANCHOR, BEFORE, AFTER, HEADING, ELEMENTS, TITLE, CLAIMS, END = range(1, 11)
"""The fields of a link, each begun by the control character of that number."""

FIELDS: Mapping[str, tuple[int, ...]] = {
    "url": (HOST, PATH),
    "anchor": (ANCHOR,),
    "context": (BEFORE, AFTER, HEADING),
    "elements": (ELEMENTS, CLAIMS),
    "title": (TITLE,),
}
"""What can be left unread."""

_NEAR = 32
"""Characters before and after the anchor that are read: a few words."""
_TITLE = 60
_ANCHOR = 80


def packed_features(
    page: Page, links: Sequence[Link], signs: Sequence[tuple[float, float]], without: Sequence[str] = ()
) -> list[bytes]:
    """For each link the numbers that the learned strategy keeps of it: `HEAD` of them (what was foretold, in
    thousandths; whether its URL speaks for it or against it; the list it stands in; whether it stays within its
    registrable domain; its places, from the outside in, the innermost repeated) and its features. `without` names
    `FIELDS` that are not read, and may name other things."""
    letters = np.frombuffer(spelled(page, links), np.uint32)
    own, of_hosts = registrable_domain(_host(page.url)), dict[str, tuple[bool, int]]()
    heads = []
    for link, (sign, url) in zip(links, signs, strict=True):
        host = _host(link.url)
        if host not in of_hosts:
            domain = registrable_domain(host)
            of_hosts[host] = domain == own, crc32(domain.encode("utf8", "surrogatepass")) & 0x7FFFFFFF
        heads.append((round(sign * 1000), (url > 0) - (url < 0), 0, *of_hosts[host]))
    rows = np.zeros((len(links), HEAD + MOST), np.int32)
    rows[:, :5] = heads
    counts = np.zeros(len(links), np.int32)
    _read(letters, _skipped(tuple(without)), rows[:, HEAD:], counts, rows[:, 5:HEAD], rows[:, 2])
    packed, ends = _packed(rows, counts)
    return [packed[end - 4 * (HEAD + count) : end] for end, count in zip(ends, counts.tolist(), strict=True)]


@lru_cache
def _skipped(without: tuple[str, ...]) -> NDArray[np.bool_]:
    skipped = np.zeros(END, np.bool_)
    for name in without:
        skipped[list(FIELDS.get(name, ()))] = True
    return skipped


def _packed(rows: NDArray[np.int32], counts: NDArray[np.int32]) -> tuple[bytes, list[int]]:
    """The numbers of all links, one after the other, and where those of each end."""
    kept = HEAD + counts
    return rows[np.arange(HEAD + MOST) < kept[:, None]].tobytes(), (4 * np.cumsum(kept)).tolist()


_MARKS = 9
"""Control characters that begin the fields of a link."""


def spelled(page: Page, links: Sequence[Link]) -> bytes:
    """All that is read, in small letters and four bytes each: every field begun by its character, every link by that
    of its host, which ends the last one too."""
    letters = _spelled(page.title, links)
    # Rarely is there such a character in a field; and to see so for all at once takes less than to look at each.
    if np.count_nonzero(np.frombuffer(letters, np.uint32) < ord(" ")) == _MARKS * len(links) + 1:
        return letters
    return _spelled(_clean(page.title), [_cleaned(link) for link in links])


def _spelled(title: str, links: Sequence[Link]) -> bytes:
    ending = f"{chr(TITLE)}{title[:_TITLE]}"
    text = "".join([_fields(link) + ending for link in links]) + chr(HOST)
    return text.lower().encode("utf-32-le", "replace")


def _fields(link: Link) -> str:
    host, _, path = link.url.partition("://")[2].partition("/")
    return (
        f"\x01{host}\x02{path}\x03{link.anchor[:_ANCHOR]}\x04{link.left[-_NEAR:]}\x05{link.right[:_NEAR]}"
        f"\x06{link.heading[:_TITLE]}\x07{link.path}\x09{link.hreflang} {link.rel} {'nav' if link.navigation else ''}"
    )


def _cleaned(link: Link) -> Link:
    return replace(
        link,
        url=_clean(link.url),
        anchor=_clean(link.anchor),
        left=_clean(link.left),
        right=_clean(link.right),
        heading=_clean(link.heading),
        path=_clean(link.path),
        hreflang=_clean(link.hreflang),
        rel=_clean(link.rel),
    )


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0]


def _clean(text: str) -> str:
    """Without the characters that begin fields."""
    return "".join([c if c >= " " else " " for c in text])


@njit(cache=True)
def _is_letter(code: np.uint32) -> bool:
    if code < 128:
        return bool((97 <= code <= 122) or (48 <= code <= 57))
    return bool(code >= 0xC0 and not (0x2000 <= code < 0x2070 or 0x3000 <= code < 0x3040 or 0xFF00 <= code < 0xFF10))


@njit(cache=True)
def _is_unspaced(code: np.uint32) -> bool:
    """Letters of scripts that put no blanks between words: there, pairs of letters stand for words."""
    return bool(
        0x0E00 <= code < 0x1000
        or 0x1000 <= code < 0x10A0
        or 0x1780 <= code < 0x1800
        or 0x3040 <= code < 0x3100
        or 0x3400 <= code < 0xA000
    )


@njit(cache=True)
def _mixed(hashed: np.uint64) -> np.uint64:
    hashed ^= hashed >> np.uint64(33)
    hashed *= np.uint64(0xFF51AFD7ED558CCD)
    hashed ^= hashed >> np.uint64(33)
    return hashed


@njit(cache=True)
def _add(ids: NDArray[np.int32], counts: NDArray[np.int32], link: int, hashed: np.uint64) -> None:
    feature = np.int32(_mixed(hashed) & np.uint64((1 << BITS) - 1))
    count = counts[link]
    if count >= MOST:
        return
    for k in range(count):
        if ids[link, k] == feature:
            return
    ids[link, count] = feature
    counts[link] = count + 1


@njit(cache=True)
def _read(
    letters: NDArray[np.uint32],
    skipped: NDArray[np.bool_],
    ids: NDArray[np.int32],
    counts: NDArray[np.int32],
    places: NDArray[np.int32],
    lists: NDArray[np.int32],
) -> None:
    start, prime = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
    link, field, folders = -1, 0, 0
    word, whole = start, start
    length, before = 0, np.uint32(0)
    for position in range(len(letters)):
        code = letters[position]
        if _is_letter(code) and not _is_unspaced(code):
            # Numbers differ from page to page where templates are the same.
            shown = np.uint32(48) if 48 <= code <= 57 else code
            if not (shown == 48 and before == 48):
                word = (word ^ np.uint64(shown)) * prime
                length += 1
            before = shown
        else:
            if length > 0 and not skipped[field]:
                _add(ids, counts, link, word ^ np.uint64(field))
            if _is_unspaced(code):
                if _is_unspaced(before) and not skipped[field]:
                    pair = ((start ^ np.uint64(before)) * prime ^ np.uint64(code)) * prime
                    _add(ids, counts, link, pair ^ np.uint64(field))
                before = code
            else:
                before = np.uint32(0)
            word, length = start, 0
        ends_field = code < END and code > 0
        if field == HOST and ends_field:
            whole = (whole ^ np.uint64(47)) * prime
            for place in range(PLACES - 1):
                places[link, place] = np.int32(_mixed(whole) & np.uint64(0x7FFFFFFF))
            if not skipped[HOST]:
                _add(ids, counts, link, whole)
            folders = 0
        elif field == PATH and code == 47 and folders < PLACES - 2:
            folders += 1
            hashed = _mixed((whole ^ np.uint64(47)) * prime)
            for place in range(folders, PLACES - 1):
                places[link, place] = np.int32(hashed & np.uint64(0x7FFFFFFF))
            if not skipped[PATH]:
                _add(ids, counts, link, hashed)
        elif field == PATH and code == 63:
            folders = PLACES
        elif field == ELEMENTS and ends_field:
            lists[link] = np.int32(_mixed(whole) & np.uint64(0x7FFFFFFF))
            if not skipped[ELEMENTS]:
                _add(ids, counts, link, whole ^ np.uint64(ELEMENTS))
        if ends_field:
            field = code
            if field == HOST:
                link += 1
                if link == len(counts):
                    return
            if field != PATH:
                whole = start
        else:
            whole = (whole ^ np.uint64(code)) * prime
