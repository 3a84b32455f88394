"""Which URLs are alike: the same address but for its numbers, dates and tokens; the same query; the same folder."""

from __future__ import annotations

import re
from collections.abc import Iterator

_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d([-_.]?)(?:0[1-9]|1[0-2])(?:\1(?:0[1-9]|[12]\d|3[01]))?(?!\d)")
_TOKEN = re.compile(
    r"(?<![0-9A-Za-z])(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])(?:[0-9a-fA-F]{8,}|[0-9A-Za-z]{16,})(?![0-9A-Za-z])"
)
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[A-Za-z_-]{1,24}")


def template(url: str) -> str:
    """The URL with numbers, dates and tokens left open; of a query each key once, with its value if that is a word."""
    path, mark, query = url.partition("?")
    return _opened(path) + (f"?{_query(query)}" if mark else "")


def wider_groups(url: str) -> Iterator[str]:
    """What else the URL has in common with others of its host, where `…` stands for anything: the path with the keys of
    its query, its query on any path, and each of its folders but the root."""
    path, mark, query = url.partition("?")
    site = path[: path.index("/", 8) + 1]
    if mark:
        yield f"{_opened(path)}?{_keys(query)}"
        yield f"{site}…?{_query(query)}"
    end = path.find("/", len(site))
    while end != -1:
        yield f"{site}{_opened(path[len(site) : end])}/…"
        end = path.find("/", end + 1)


def repeated_part(url: str, times: int) -> str:
    """The folders that follow one another `times` times in the path, as in `/a/b/a/b/a/b`; "" when there are none.

    Numbers by themselves do not count: `/11/11/11` is a date.
    """
    segments = url.partition("?")[0].split("/")[3:]
    if len(segments) - len(set(segments)) < times - 1:
        return ""
    for width in range(1, len(segments) // times + 1):
        for start in range(len(segments) - width * times + 1):
            part = segments[start : start + width]
            if part * times == segments[start : start + width * times] and not "".join(part).isdecimal():
                return "/".join(part)
    return ""


def _opened(text: str) -> str:
    """Host names are left alone: one with numbers is still a host of its own."""
    start = text.find("/", 8) if text.startswith("http") and "://" in text[:8] else 0
    return text[:start] + _DIGITS.sub("{n}", _TOKEN.sub("{token}", _DATE.sub("{date}", text[start:])))


def _query(query: str) -> str:
    return "&".join(sorted({_word_kept(part) for part in query.split("&")}))


def _word_kept(part: str) -> str:
    key, _, value = part.partition("=")
    return f"{_opened(key)}={value if _WORD.fullmatch(value) else '{value}'}"


def _keys(query: str) -> str:
    return "&".join(sorted({f"{_opened(part.partition('=')[0])}=…" for part in query.split("&")}))
