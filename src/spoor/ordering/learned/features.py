"""Hashed features of a link, from its URL, its anchor and its context; and the names of the features.

Computed in one pass over the code points of all links of a page, because this runs for every link found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import array, compiled, kernel, kernels_in
from spoor.records import Link, Page
from spoor.urls import registrable_domain

# Features of a link as numbers: words of its URL, its anchor and its context, each hashed.


Numbers = NDArray[np.int32]
Codes = NDArray[np.uint32]

BITS = 18
"""log2 of the number of features."""
MOST = 64
"""Maximum number of features of one link; further ones are ignored."""
PLACES = 5
"""Levels at which visits are counted: the registrable domain, the host, and the first `PLACES` - 2 folders."""

HEAD = 4 + PLACES
"""Numbers before the features of a link."""

HOST, PATH, ANCHOR, BEFORE, AFTER, HEADING, ELEMENTS, TITLE, CLAIMS, END = range(1, 11)
"""The fields of a link, each preceded by the control character of that number."""

FIELDS: Mapping[str, tuple[int, ...]] = {
    "url": (HOST, PATH),
    "anchor": (ANCHOR,),
    "context": (BEFORE, AFTER, HEADING),
    "elements": (ELEMENTS, CLAIMS),
    "title": (TITLE,),
}
"""Fields that can be skipped."""

_NEAR = 32
"""Characters read before and after the anchor: a few words."""
_TITLE = 60
_ANCHOR = 80


def packed_features(
    page: Page, links: Sequence[Link], priors: Sequence[tuple[float, float]], without: Sequence[str] = ()
) -> list[bytes]:
    """For each link the numbers stored by the learned strategy: `HEAD` of them (its prior, in thousandths; whether its
    URL is for or against the target; a hash of its list; whether it stays within its registrable domain; hashes of its
    domain, host and folders, from the outside in, the innermost repeated) and its features. `without` names `FIELDS` to
    skip; other names are ignored."""
    if not links:
        return []
    addresses = [_address(link.url) for link in links]
    signs = np.fromiter(chain.from_iterable(priors), np.float64, 2 * len(links))
    domains = _domains(page, [host for host, _ in addresses])
    skipped = _skipped(tuple(without))
    numbers, ends, controls = _read(_spelled(page.title, links, addresses), skipped, signs, domains)
    # Fields rarely contain control characters, and to count them is faster than to clean every field before.
    if controls != _MARKS * len(links) + 2:
        numbers, ends, _ = _read(spelled(page, links), skipped, signs, domains)
    packed = numbers.tobytes()
    return [packed[start:end] for start, end in pairwise(ends.tolist())]


def _domains(page: Page, hosts: Sequence[str]) -> NDArray[np.int64]:
    """For each host whether it is in the registrable domain of the page, and the hash of its own."""
    own, _ = _domain(_address(page.url)[0])
    domains = ((domain == own, place) for domain, place in map(_domain, hosts))
    return np.fromiter(chain.from_iterable(domains), np.int64, 2 * len(hosts))


@lru_cache(1 << 14)
def _domain(host: str) -> tuple[str, int]:
    """The registrable domain of a host, and its hash."""
    domain = registrable_domain(host)
    return domain, crc32(domain.encode("utf8", "surrogatepass")) & 0x7FFFFFFF


@lru_cache
def _skipped(without: tuple[str, ...]) -> NDArray[np.bool_]:
    skipped = np.zeros(END, np.bool_)
    for name in without:
        skipped[list(FIELDS.get(name, ()))] = True
    return skipped


@compiled
def _packed(rows: Numbers, counts: Numbers) -> tuple[Numbers, NDArray[np.int64]]:
    """The numbers of all links, concatenated, and the byte offsets at which each link begins and the last ends."""
    links = len(counts) - 1
    packed, ends = np.empty(links * (HEAD + MOST), np.int32), np.zeros(links + 1, np.int64)
    end = 0
    for link in range(links):
        for k in range(HEAD + counts[link]):
            packed[end + k] = rows[link, k]
        end += HEAD + counts[link]
        ends[link + 1] = 4 * end
    return packed[:end], ends


_MARKS = 8
"""Number of control characters per link."""


def spelled(page: Page, links: Sequence[Link]) -> Codes:
    """The input of `_read`, in lower case: every field is preceded by its control character, and every link by that of
    its host, which also ends the last one. The title of the page is the last field, shared by all links."""
    cleaned = [_cleaned(link) for link in links]
    return _spelled(_clean(page.title), cleaned, [_address(link.url) for link in cleaned])


def _spelled(title: str, links: Sequence[Link], addresses: Sequence[tuple[str, str]]) -> Codes:
    """The same if no field contains control characters."""
    fields = "".join(map(_fields, links, addresses))
    text = f"{fields}{chr(TITLE)}{title[:_TITLE]}{chr(HOST)}"
    return np.frombuffer(text.lower().encode("utf-32-le", "replace"), np.uint32)


def _fields(link: Link, address: tuple[str, str]) -> str:
    _, anchor, left, right, heading, _, hreflang, rel, path, navigation, _ = link
    host, page = address
    return (
        f"\x01{host}\x02{page}\x03{anchor[:_ANCHOR]}\x04{left[-_NEAR:]}\x05{right[:_NEAR]}"
        f"\x06{heading[:_TITLE]}\x07{path}\x09{hreflang} {rel} {'nav' if navigation else ''}"
    )


def _cleaned(link: Link) -> Link:
    return link._replace(
        url=_clean(link.url),
        anchor=_clean(link.anchor),
        left=_clean(link.left),
        right=_clean(link.right),
        heading=_clean(link.heading),
        path=_clean(link.path),
        hreflang=_clean(link.hreflang),
        rel=_clean(link.rel),
    )


def _address(url: str) -> tuple[str, str]:
    """The host of a URL, and what comes after it."""
    host, _, page = url.partition("://")[2].partition("/")
    return host, page


def _clean(text: str) -> str:
    """Without the control characters that separate fields."""
    return "".join([c if c >= " " else " " for c in text])


@compiled
def _is_letter(code: np.uint32) -> bool:
    """Whether it is a letter or digit of a script with spaces between words."""
    if code < 128:
        return bool((97 <= code <= 122) or (48 <= code <= 57))
    if code < 0x0E00:
        return bool(code >= 0xC0)
    no_letter = 0x2000 <= code < 0x2070 or 0x3000 <= code < 0x3040 or 0xFF00 <= code < 0xFF10
    return not no_letter and not _is_unspaced(code)


@compiled
def _is_unspaced(code: np.uint32) -> bool:
    """Whether it is a letter of a script without spaces between words: there, pairs of letters serve as words."""
    return bool(
        code >= 0x0E00
        and (code < 0x10A0 or 0x1780 <= code < 0x1800 or 0x3040 <= code < 0x3100 or 0x3400 <= code < 0xA000)
    )


@compiled
def _mixed(hashed: np.uint64) -> np.uint64:
    hashed ^= hashed >> np.uint64(33)
    hashed *= np.uint64(0xFF51AFD7ED558CCD)
    hashed ^= hashed >> np.uint64(33)
    return hashed


_RECENT = 1 << 10
"""Slots with the last link that had a feature with that hash, so that the linear search is rarely needed."""


@compiled
def _add(rows: Numbers, counts: Numbers, last_with: Numbers, link: int, feature: np.int32) -> None:
    """Adds a feature to a link, unless it is present or there is no room."""
    count = counts[link]
    if count >= MOST:
        return
    place = feature & (_RECENT - 1)
    if last_with[place] == link:
        for k in range(HEAD, HEAD + count):
            if rows[link, k] == feature:
                return
    last_with[place] = link
    rows[link, HEAD + count] = feature
    counts[link] = count + 1


@compiled
def _feature(hashed: np.uint64) -> np.int32:
    return np.int32(_mixed(hashed) & np.uint64((1 << BITS) - 1))


@kernel(array(np.uint32, read_only=True), array(np.bool_), array(np.float64), array(np.int64))
def _read(
    letters: Codes, skipped: NDArray[np.bool_], signs: NDArray[np.float64], domains: NDArray[np.int64]
) -> tuple[Numbers, NDArray[np.int64], int]:
    """Fills a row for each link, and a last one with the features of the title. `signs` has the prior of each link and
    the part of it that is due to the URL, `domains` is as in `_domains`. Returns the rows of the links as `_packed`
    does, and the number of control characters."""
    rows = np.zeros((len(signs) // 2 + 1, HEAD + MOST), np.int32)
    for link in range(len(rows) - 1):
        rows[link, 0], rows[link, 1] = np.rint(1000 * signs[2 * link]), np.sign(signs[2 * link + 1])
        rows[link, 3], rows[link, 4] = domains[2 * link], domains[2 * link + 1]
    counts = np.zeros(len(rows), np.int32)
    controls = 0
    for code in letters:
        controls += code < 32
    start, prime = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
    last_with = np.full(_RECENT, -1, np.int32)
    title = len(counts) - 1
    link, field, folders = -1, 0, 0
    word, whole = start, start
    length, before = 0, np.uint32(0)
    for position in range(len(letters)):
        code = letters[position]
        if _is_letter(code):
            # Digits become 0: numbers differ between pages of the same template.
            shown = np.uint32(48) if 48 <= code <= 57 else code
            if not (shown == 48 and before == 48):
                word = (word ^ np.uint64(shown)) * prime
                length += 1
            before = shown
        else:
            if length > 0:
                if not skipped[field]:
                    _add(rows, counts, last_with, link, _feature(word ^ np.uint64(field)))
                word, length = start, 0
            if _is_unspaced(code):
                if _is_unspaced(before) and not skipped[field]:
                    pair = ((start ^ np.uint64(before)) * prime ^ np.uint64(code)) * prime
                    _add(rows, counts, last_with, link, _feature(pair ^ np.uint64(field)))
                before = code
            else:
                before = np.uint32(0)
            if 0 < code < END:
                if field == HOST:
                    whole = (whole ^ np.uint64(47)) * prime
                    for place in range(PLACES - 1):
                        rows[link, 5 + place] = np.int32(_mixed(whole) & np.uint64(0x7FFFFFFF))
                    if not skipped[HOST]:
                        _add(rows, counts, last_with, link, _feature(whole))
                    folders = 0
                elif field == ELEMENTS:
                    rows[link, 2] = np.int32(_mixed(whole) & np.uint64(0x7FFFFFFF))
                    if not skipped[ELEMENTS]:
                        _add(rows, counts, last_with, link, _feature(whole ^ np.uint64(ELEMENTS)))
                field = code
                if field == HOST:
                    link += 1
                    if link > title:
                        break
                elif field == TITLE:
                    link = title
                if field != PATH:
                    whole = start
                continue
            if field == PATH:
                if code == 47 and folders < PLACES - 2:
                    folders += 1
                    hashed = _mixed((whole ^ np.uint64(47)) * prime)
                    for place in range(folders, PLACES - 1):
                        rows[link, 5 + place] = np.int32(hashed & np.uint64(0x7FFFFFFF))
                    if not skipped[PATH]:
                        _add(rows, counts, last_with, link, _feature(hashed))
                elif code == 63:
                    folders = PLACES
        if field <= PATH or field == ELEMENTS:
            whole = (whole ^ np.uint64(code)) * prime
    _add_title(rows, counts)
    packed, ends = _packed(rows, counts)
    return packed, ends, controls


@compiled
def _add_title(rows: Numbers, counts: Numbers) -> None:
    """Adds to every link the features of the title that it does not have."""
    title = len(counts) - 1
    for link in range(title):
        own = counts[link]
        for k in range(HEAD, HEAD + counts[title]):
            feature, known = rows[title, k], False
            for other in range(HEAD, HEAD + own):
                known |= rows[link, other] == feature
            if not known and counts[link] < MOST:
                rows[link, HEAD + counts[link]] = feature
                counts[link] += 1


# Names of features: the same features as `_read` computes in one pass, one by one.


FIELD_NAMES = ("", "host", "URL", "anchor", "before", "after", "heading", "element", "title", "claim")
"""By field number."""

_FIELD = re.compile("([\x01-\x09])([^\x01-\x09]*)")
# Letters and digits as in `_read`: in scripts with spaces a run is a word, in others every pair.
_UNSPACED = "\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_WORD_OR_RUN = re.compile(
    f"([{_UNSPACED}]+)|((?:(?![{_UNSPACED}])[a-z0-9\u00c0-\u1fff\u2070-\u2fff\u3040-\ufeff\uff10-\U0010ffff])+)"
)
_NUMBER = re.compile("[0-9]+")
_START, _PRIME, _WHOLE = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1


def named_features(page: Page, link: Link, without: Sequence[str] = ()) -> dict[int, str]:
    """Each feature of a link with its name, `anchor “syllabus”` or `folder a.test/courses/`, in the order of reading;
    if two have the same number, the first name is used."""
    skipped = {field for name in without for field in FIELDS.get(name, ())}
    named: dict[int, str] = {}
    host = ""
    for mark, text in _FIELD.findall(spelled(page, [link]).tobytes().decode("utf-32-le")[:-1]):
        field = ord(mark)
        host = text if field == HOST else host
        for hashed, name in _features(field, text, host) if field not in skipped else ():
            if len(named) < MOST:
                named.setdefault(_mixed_int(hashed) & (1 << BITS) - 1, name)
    return named


def _features(field: int, text: str, host: str) -> Iterator[tuple[int, str]]:
    """The words of a field; also the host itself, the first folders, and the whole tag path of the link."""
    folders = _folders(text, host) if field == PATH else []
    for end, word in _words(text):
        yield from (folders.pop(0)[1:] for _ in range(sum(place < end for place, _, _ in folders)))
        yield _hash(word) ^ field, f"{FIELD_NAMES[field]} “{word}”"
    yield from (folder[1:] for folder in folders)
    if field == HOST:
        yield _hash(f"{host}/"), f"host {host}"
    if field == ELEMENTS:
        yield _hash(text) ^ ELEMENTS, f"list {text or '(none)'}"


def _words(text: str) -> Iterator[tuple[int, str]]:
    """Each word with its end. Numbers differ between pages of the same template, so every number becomes 0."""
    for found in _WORD_OR_RUN.finditer(text):
        run, word = found.groups()
        if word:
            yield found.end(), _NUMBER.sub("0", word)
        else:
            yield from ((found.start() + place + 2, run[place : place + 2]) for place in range(len(run) - 1))


def _folders(path: str, host: str) -> list[tuple[int, int, str]]:
    """The end, hash and name of each folder."""
    before_query = path.partition("?")[0]
    ends = [place for place, letter in enumerate(before_query) if letter == "/"][: PLACES - 1]
    return [(end, _mixed_int(_hash(f"{host}/{path[: end + 1]}")), f"folder {host}/{path[: end + 1]}") for end in ends]


def _hash(text: str) -> int:
    """FNV-1a over code points."""
    hashed = _START
    for letter in text:
        hashed = (hashed ^ ord(letter)) * _PRIME & _WHOLE
    return hashed


def _mixed_int(hashed: int) -> int:
    hashed ^= hashed >> 33
    hashed = hashed * 0xFF51AFD7ED558CCD & _WHOLE
    return hashed ^ hashed >> 33


KERNELS = kernels_in(__name__)
