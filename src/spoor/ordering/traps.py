"""Traps: endless parts of a site without new content, detected by their yield and by the shape of their URLs; and hosts
that send every link to one page, or bring nothing but duplicates."""

from __future__ import annotations

import re
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.errors import UsageError
from spoor.files import State, array_in, as_counts, counts_in, slices, state_in, texts_in
from spoor.parse.simhash import text_fingerprint
from spoor.records import ADMIT, Evidence, Link, Ruling, Sighting, TextFingerprint, TrailState, Visit
from spoor.urls import host_of

# The share of a text that is new: a memory of passages, of fixed size.


Hashes = NDArray[np.uint64]

KEPT = 64
"""Names stored per page: those with the smallest hashes, so that similar pages keep the same ones."""

_SPREAD = 0x9E3779B97F4A7C15


class Memory:
    """A hash table of fixed size in which newer entries overwrite older ones: it may forget, but never takes new text
    for known (except for 64-bit collisions)."""

    def __init__(self, slots: int) -> None:
        self._table: Hashes = np.zeros(slots, np.uint64)

    def state(self) -> State:
        return {"hashes": self._table.copy()}

    def restore(self, state: State) -> None:
        # Every 64-bit number is a valid hash.
        self._table[:] = array_in(state, "hashes", np.uint64, self._table.shape, 0, 2.0**64)

    def unseen(self, hashes: Hashes) -> float:
        """The share of hashes that are new, 0 for none; adds them all."""
        if not len(hashes):
            return 0.0
        places = hashes % np.uint64(len(self._table))
        share = np.count_nonzero(self._table[places] != hashes) / len(hashes)
        self._table[places] = hashes
        return share


def passages(text_fingerprint: TextFingerprint, where: str) -> Hashes:
    """A sample of the passages of a text, specific to a place such as a host."""
    return np.frombuffer(text_fingerprint.passages, np.uint64) ^ _number(where)


def names(said: list[str], where: str) -> Hashes:
    """A sample of a list of names, hashed like passages."""
    hashes = np.array([_number(name) for name in said], np.uint64) ^ _number(where)
    return np.unique(hashes)[:KEPT]


def _number(name: str) -> np.uint64:
    return np.uint64(zlib.crc32(name.encode()) * _SPREAD % 2**64)


# Groups of similar URLs: equal except for numbers, dates and tokens; the same query; the same folder.


_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d([-_.]?)(?:0[1-9]|1[0-2])(?:\1(?:0[1-9]|[12]\d|3[01]))?(?!\d)")
_TOKEN = re.compile(
    r"(?<![0-9A-Za-z])(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])(?:[0-9a-fA-F]{8,}|[0-9A-Za-z]{16,})(?![0-9A-Za-z])"
)
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[A-Za-z_-]{1,24}")


def template(url: str) -> str:
    """The URL with placeholders for numbers, dates and tokens; each key of the query once, with its value if that is a
    word."""
    path, mark, query = url.partition("?")
    return _opened(path) + (f"?{_query(query)}" if mark else "")


def wider_groups(url: str) -> Iterator[str]:
    """Wider groups of the URL within its host, with `…` as a wildcard: the path with the keys of its query, its query
    on any path, and each of its folders except the root."""
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
    """The folders that are repeated `times` times in a row in the path, as in `/a/b/a/b/a/b`; "" if there are none.

    Numbers alone do not count: `/11/11/11` is a date.
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
    """Host names stay unchanged: hosts with different numbers are different hosts."""
    start = text.find("/", 8) if text.startswith("http") and "://" in text[:8] else 0
    return text[:start] + _DIGITS.sub("{n}", _TOKEN.sub("{token}", _DATE.sub("{date}", text[start:])))


def _query(query: str) -> str:
    return "&".join(sorted({_word_kept(part) for part in query.split("&")}))


def _word_kept(part: str) -> str:
    key, _, value = part.partition("=")
    return f"{_opened(key)}={value if _WORD.fullmatch(value) else '{value}'}"


def _keys(query: str) -> str:
    return "&".join(sorted({f"{_opened(part.partition('=')[0])}=…" for part in query.split("&")}))


# The admission: traps are detected by their yield and by the shape of their URLs.


LONGEST = 2_000
"""Maximum length of a URL in characters; old servers and browsers accepted no more."""

DEEPEST = 30
"""Maximum number of folders in a URL."""

TIMES = 3
"""This many repetitions of folders in a row are a trap."""

WIDER = 3
"""Factor of the patience for groups wider than a template."""

REMEMBERED = 50_000
"""Maximum number of groups without new content, and of hosts with traps, in memory; the oldest are dropped."""

SLOTS = 2**20
"""Passages of text in memory: eight megabytes, some 16,000 pages."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """The last visits to a host, if they brought nothing but redirects to one page (`to`, without its query) or
    duplicates of earlier pages."""

    redirects: int = 0
    to: str = ""
    duplicates: int = 0

    @property
    def visits(self) -> int:
        return self.redirects + self.duplicates

    def __str__(self) -> str:
        redirects = f"redirects to {self.to}" if self.redirects else ""
        what = " and ".join(filter(None, (redirects, "duplicates" if self.duplicates else "")))
        return f"{self.visits} visits in a row brought nothing but {what}"


@dataclass
class Traps:
    """Parks the links of a template after `patience` pages in a row without new content, and those of wider groups (a
    folder, a query on any path) after three times as many. There is no limit for groups with new content.

    A page is new if at least `least_new` of its text is new on its host, relevant or not: a calendar in the target
    language is a trap too. A page without text is new if it is relevant or links to new templates.

    Links of a host come after those of all others once `patience` visits in a row brought nothing but redirects to one
    page or duplicates of earlier pages, as behind a login.
    """

    patience: int = 20
    least_new: float = 0.1
    _barren: OrderedDict[str, int] = field(init=False, repr=False, compare=False, default_factory=OrderedDict)
    _given_up: OrderedDict[str, dict[str, int]] = field(
        init=False, repr=False, compare=False, default_factory=OrderedDict
    )
    _repeats: OrderedDict[str, Repeats] = field(init=False, repr=False, compare=False, default_factory=OrderedDict)
    _memory: Memory = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.patience < 1:
            raise UsageError(f"patience={self.patience}: a template needs at least one page")
        if not 0.0 < self.least_new <= 1.0:
            raise UsageError(f"least_new={self.least_new:g} is not a share above 0, at most 1")
        self._memory = Memory(SLOTS)

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return self._rule(link.url)

    def at_pop(self, visit: Visit) -> Ruling:
        return self._rule(visit.url)

    def learn(self, sighting: Sighting) -> None:
        self._count_repeat(sighting)
        new, url = self._is_new(sighting), sighting.visit.url
        for group in _groups(url):
            if new:
                self._restore(host_of(url), group)
            else:
                self._disappointed(host_of(url), group)

    def _count_repeat(self, sighting: Sighting) -> None:
        host = sighting.visit.host
        repeats = self._repeats.pop(host, Repeats())
        if sighting.page.duplicate_of:
            self._repeats[host] = Repeats(repeats.redirects, repeats.to, repeats.duplicates + 1)
            _forget_oldest(self._repeats)

    def learn_redirect(self, visit: Visit, to: str) -> None:
        """The target without its query, which often names the page that was to be fetched."""
        repeats, target = self._repeats.pop(visit.host, Repeats()), to.partition("?")[0]
        is_same = repeats.to in ("", target)
        self._repeats[visit.host] = Repeats(
            redirects=repeats.redirects + 1 if is_same else 1,
            to=target,
            duplicates=repeats.duplicates if is_same else 0,
        )
        _forget_oldest(self._repeats)

    def demotion_of(self, host: str) -> str:
        repeats = self._repeats.get(host)
        return str(repeats) if repeats is not None and repeats.visits >= self.patience else ""

    def state(self) -> State:
        repeats = self._repeats.values()
        given_up = self._given_up.values()
        return {
            "barren": list(self._barren),
            "barren pages": as_counts(self._barren.values()),
            "hosts": list(self._given_up),
            "sizes": as_counts(map(len, given_up)),
            "given up": list(chain.from_iterable(given_up)),
            "pages": as_counts(chain.from_iterable(groups.values() for groups in given_up)),
            "repeating hosts": list(self._repeats),
            "redirects": as_counts(repeat.redirects for repeat in repeats),
            "redirected to": [repeat.to for repeat in repeats],
            "duplicates": as_counts(repeat.duplicates for repeat in repeats),
            "memory": self._memory.state(),
        }

    def restore(self, state: State) -> None:
        barren, hosts, given_up = (texts_in(state, name) for name in ("barren", "hosts", "given up"))
        barren_pages = counts_in(state, "barren pages", len(barren))
        pages = list(zip(given_up, counts_in(state, "pages", len(given_up)), strict=True))
        places = slices(counts_in(state, "sizes", len(hosts)), len(pages))
        self._barren = OrderedDict(zip(barren, barren_pages, strict=True))
        self._given_up = OrderedDict((host, dict(pages[at])) for host, at in zip(hosts, places, strict=True))
        repeating, targets = texts_in(state, "repeating hosts"), texts_in(state, "redirected to")
        redirects, duplicates = (counts_in(state, name, len(repeating)) for name in ("redirects", "duplicates"))
        repeats = (Repeats(*repeat) for repeat in zip(redirects, targets, duplicates, strict=True))
        self._repeats = OrderedDict(zip(repeating, repeats, strict=True))
        self._memory.restore(state_in(state, "memory"))

    def _rule(self, url: str) -> Ruling:
        if misshapen := _misshapen(url):
            return Ruling("drop", misshapen)
        given_up = self._given_up.get(host_of(url))
        if given_up is None:
            return ADMIT
        group = next((group for group in _groups(url) if group in given_up), None)
        return Ruling("park", f"{given_up[group]} pages like {group} had nothing new") if group else ADMIT

    def _is_new(self, sighting: Sighting) -> bool:
        page, host = sighting.page, sighting.visit.host
        if page.text or page.text_fingerprint is not None:
            return (
                self._memory.unseen(passages(page.text_fingerprint or text_fingerprint(page.text), host))
                >= self.least_new
            )
        discovered = self._memory.unseen(names([template(link.url) for link in page.links], host))
        return sighting.verdict.relevant or discovered > 0.0

    def _disappointed(self, host: str, group: str) -> None:
        self._barren[group] = pages = self._barren.pop(group, 0) + 1
        if pages >= self._patience_with(group):
            del self._barren[group]
            self._given_up.setdefault(host, {})[group] = pages
            self._given_up.move_to_end(host)
        _forget_oldest(self._barren)
        _forget_oldest(self._given_up)

    def _restore(self, host: str, group: str) -> None:
        """One new page is enough, even for a group that was given up: visits in transit may still bring one."""
        self._barren.pop(group, None)
        if host in self._given_up:
            self._given_up[host].pop(group, None)
            if not self._given_up[host]:
                del self._given_up[host]

    def _patience_with(self, group: str) -> int:
        return self.patience * WIDER if "…" in group else self.patience


def _groups(url: str) -> Iterator[str]:
    yield template(url)
    yield from wider_groups(url)


def _misshapen(url: str) -> str:
    """Why the shape of the URL indicates a trap; "" if it does not."""
    if len(url) > LONGEST:
        return f"trap: the URL has {len(url):,} characters, more than {LONGEST:,}"
    folders = url.partition("?")[0].count("/") - 3
    if folders > DEEPEST:
        return f"trap: {folders} folders deep, more than {DEEPEST}"
    part = repeated_part(url, TIMES) if folders >= TIMES - 1 else ""
    return f"trap: {part} is repeated {TIMES} times in the path" if part else ""


def _forget_oldest(remembered: OrderedDict[str, Any]) -> None:
    if len(remembered) > REMEMBERED:
        remembered.popitem(last=False)
