"""What are the features of a link called? The same features as `features` reads in one pass, told one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from spoor.records import Link, Page
from spoor.score.learned.features import BITS, ELEMENTS, FIELDS, HOST, MOST, PATH, PLACES, spelled

FIELD_NAMES = ("", "host", "URL", "anchor", "before", "after", "heading", "element", "title", "claim")
"""Of each field, by its number."""

_FIELD = re.compile("([\x01-\x09])([^\x01-\x09]*)")
# Letters and digits as `features` tells them: in scripts with blanks a run of them is a word, in others every pair.
_UNSPACED = "\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_WORD_OR_RUN = re.compile(
    f"([{_UNSPACED}]+)|((?:(?![{_UNSPACED}])[a-z0-9\u00c0-\u1fff\u2070-\u2fff\u3040-\ufeff\uff10-\U0010ffff])+)"
)
_NUMBER = re.compile("[0-9]+")
_START, _PRIME, _WHOLE = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1


def named_features(page: Page, link: Link, without: Sequence[str] = ()) -> dict[int, str]:
    """Each feature of a link with what it is called, `anchor “syllabus”` or `folder a.test/courses/`, in the order in
    which they are read; where two share a number, the first gives it its name."""
    skipped = {field for name in without for field in FIELDS.get(name, ())}
    named: dict[int, str] = {}
    host = ""
    for mark, text in _FIELD.findall(spelled(page, [link]).decode("utf-32-le")[:-1]):
        field = ord(mark)
        host = text if field == HOST else host
        for hashed, name in _features(field, text, host) if field not in skipped else ():
            if len(named) < MOST:
                named.setdefault(_mixed(hashed) & (1 << BITS) - 1, name)
    return named


def _features(field: int, text: str, host: str) -> Iterator[tuple[int, str]]:
    """The words of a field; with them the host itself, the outermost folders, and the way to the link as a whole."""
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
    """Each with where it ends. Numbers differ from page to page where templates are the same, so any number is 0."""
    for found in _WORD_OR_RUN.finditer(text):
        run, word = found.groups()
        if word:
            yield found.end(), _NUMBER.sub("0", word)
        else:
            yield from ((found.start() + place + 2, run[place : place + 2]) for place in range(len(run) - 1))


def _folders(path: str, host: str) -> list[tuple[int, int, str]]:
    """Where each ends, its hash and its name."""
    before_query = path.partition("?")[0]
    ends = [place for place, letter in enumerate(before_query) if letter == "/"][: PLACES - 1]
    return [(end, _mixed(_hash(f"{host}/{path[: end + 1]}")), f"folder {host}/{path[: end + 1]}") for end in ends]


def _hash(text: str) -> int:
    """FNV-1a over code points."""
    hashed = _START
    for letter in text:
        hashed = (hashed ^ ord(letter)) * _PRIME & _WHOLE
    return hashed


def _mixed(hashed: int) -> int:
    hashed ^= hashed >> 33
    hashed = hashed * 0xFF51AFD7ED558CCD & _WHOLE
    return hashed ^ hashed >> 33
