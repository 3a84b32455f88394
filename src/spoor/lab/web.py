"""A recorded or generated web on disk: its files, and how to open it.

    web.json            format, counts, vocabularies, origin, the build report
    urls.bin            all URLs concatenated; url_offsets.npy has the start of each   (listed webs)
    url_hashes.npy      sorted hashes of the URLs; url_hash_ids.npy has their numbers   (listed webs)
    page_host.npy       int32  the number of the page's host
    link_offsets.npy    int64  where the links of each page begin in link_targets.npy
    link_targets.npy    int32  page numbers; numbers from `pages` on are URLs that were linked to but not recorded
    status.npy          int16  HTTP status
    size.npy            int32  bytes of the body
    content_type.npy    uint8  index into web.json "content_types"
    header_charset.npy  uint8  index into web.json "charsets"; likewise meta_charset, detected_charset
    language.npy        uint8  index into web.json "languages"; absent if no page declares one
    needs_scripts.npy   uint8  1: scripts generate the page, it has hardly any text; absent if there is none
    seconds.npy         float32  download time; absent if unknown
    redirect.npy        int32  redirect target of the page, -1 for none; absent if there are no redirects
    label_offsets.npy   int64  where the pages of each label of web.json "labels" begin in label_pages.npy
    label_pages.npy     int32  page numbers, ascending
    texts.bin           compressed title and texts of each page; texts_offsets.npy   (webs with content)
    contexts.bin        compressed contexts of the links of each page; contexts_offsets.npy   (webs with content)
    bodies.bin          compressed body of each page as it was sent, with headers (`lab/bodies.py`); bodies_offsets.npy
                        (webs of which the HTML is known)
    sitemaps.bin        compressed URL lists of the sitemaps and feeds in web.json "sitemaps"; sitemaps_offsets.npy
    seeds.txt           one URL per line   (generated webs)

A generated web has no urls.bin: web.json "url_pattern" makes the URL from the host number and the index of the page on
it (`host_offsets.npy` int32 has the first page of each host).
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput
from spoor.files import read_bounded
from spoor.lab.bodies import BODIES, Body, unpacked_body
from spoor.lab.sitemaps import SITEMAPS, RecordedSitemaps
from spoor.lab.web_files import (
    REAL,
    WHOLE,
    Blobs,
    Fits,
    ListedUrls,
    PatternUrls,
    UrlTable,
    check_offsets,
    check_range,
    compress,
    damaged,
    opened,
)
from spoor.records import Link, Page

# Web: a recorded or generated web, opened from its folder. Its files are listed above.


FORMAT = 3
TEXTS = ("title", "text", "tag_texts", "main_text", "published")
"""The fields of a page that are stored as its texts, in this order."""


def packed_texts(page: Page) -> bytes:
    """The stored form of the texts of a page; b"" if it has none."""
    texts = (page.title, page.text, dict(page.tag_texts), page.main_text, page.published)
    return compress(texts) if any(texts) else b""


def packed_contexts(links: Sequence[Link]) -> bytes:
    """The stored form of the contexts of links; b"" without links."""
    return compress([_context(link) for link in links]) if links else b""


def _context(link: Link) -> list[Any]:
    """The fields after the URL, in order, without empty trailing fields."""
    last = [link.hreflang, link.rel, link.path, link.navigation]
    while last and not last[-1]:
        last.pop()
    return [link.anchor, link.left, link.right, link.heading, link.nofollow, *last]


_TEXT_KINDS = (str, str, dict, str, str)
_LINK_KINDS = (str, str, str, str, bool, str, str, str, bool)
_CONTEXTS = frozenset(_LINK_KINDS[:count] for count in range(len(_LINK_KINDS) + 1))
"""Types of the fields of a link after its URL."""
_WORDS_OF = {
    "content_type": "content_types",
    "header_charset": "charsets",
    "meta_charset": "charsets",
    "detected_charset": "charsets",
    "language": "languages",
}
"""The list in web.json that the values of an array index."""
_LARGEST_ABOUT = 1 << 26
"""Maximum size of web.json in bytes."""
_LONGEST = 10**9
"""Maximum duration of a download in seconds."""


@dataclass(frozen=True)
class Web:
    """A recorded or generated web. Arrays are memory-mapped and checked at first access, so opening takes the same time
    for any size. After the check, indices from one array into another are valid, also for compiled code."""

    folder: Path
    about: dict[str, Any]

    @staticmethod
    def open(folder: Path) -> Web:
        path = folder / "web.json"
        try:
            about = json.loads(read_bounded(path, _LARGEST_ABOUT, "web")) if path.exists() else None
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{path} cannot be read: {error}") from None
        if about is None:
            remedy = "make one with `spoor web build` or `spoor web generate`"
            raise BadInput(f"{folder} is not a web ({path.name} is missing); {remedy}")
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            found = str(about.get("format"))[:20] if isinstance(about, dict) else "none"
            raise BadInput(f"{folder} has web format {found}, this spoor reads {FORMAT}; build it again")
        _check_about(path, about)
        return Web(folder, about)

    @property
    def name(self) -> str:
        return str(self.about["name"])

    @property
    def pages(self) -> int:
        """The number of recorded pages; numbers from here on are URLs that were only linked to."""
        return int(self.about["pages"])

    @property
    def labels(self) -> list[str]:
        return list(self.about["labels"])

    @property
    def has_content(self) -> bool:
        return (self.folder / "texts.bin").exists()

    @property
    def has_html(self) -> bool:
        """Whether the pages are stored as they were sent. A web from logs or extracts has only their links."""
        return (self.folder / f"{BODIES}.bin").exists()

    @cached_property
    def urls(self) -> UrlTable:
        urls: UrlTable
        if pattern := self.about.get("url_pattern"):
            urls = PatternUrls(pattern, self.array("host_offsets"))
        else:
            urls = ListedUrls(self.folder)
        if not self.pages <= len(urls):
            raise damaged(self.folder / "web.json", f"{self.pages:,} pages have {len(urls):,} URLs")
        return urls

    def array(self, name: str) -> NDArray[Any]:
        """One of the arrays listed at the top of this module, memory-mapped."""
        if name not in self._arrays:
            array = opened(self.folder, name, REAL if name == "seconds" else WHOLE)
            self._check(name, array)
            self._arrays[name] = array
        return self._arrays[name]

    def _array_if_there(self, name: str) -> NDArray[Any] | None:
        return self.array(name) if (self.folder / f"{name}.npy").exists() else None

    @cached_property
    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays that have been checked."""
        return {}

    def _check(self, name: str, array: NDArray[Any]) -> None:
        path = self.folder / f"{name}.npy"
        match name:
            case "link_offsets":
                check_offsets(path, array, len(self.link_targets), self.pages)
            case "label_offsets":
                check_offsets(path, array, len(self.array("label_pages")), len(self.labels))
            case "host_offsets":
                check_offsets(path, array, self.pages)
            case "link_targets":
                check_range(path, array, 0, len(self.urls))
            case "label_pages":
                check_range(path, array, 0, self.pages)
            case "redirect":
                check_range(path, array, -1, len(self.urls), self.pages)
            case "needs_scripts":
                check_range(path, array, 0, 2, self.pages)
            case "page_host":
                check_range(path, array, 0, len(self.urls), self.pages)
            case "seconds":
                check_range(path, array, 0, _LONGEST, self.pages)
            case _ if name in _WORDS_OF:
                check_range(path, array, 0, len(self.about[_WORDS_OF[name]]), self.pages)
            case _:
                check_range(path, array, -(2**31), 2**31, self.pages)

    @cached_property
    def link_offsets(self) -> NDArray[np.int64]:
        return self.array("link_offsets")

    @cached_property
    def link_targets(self) -> NDArray[np.int32]:
        return self.array("link_targets")

    @cached_property
    def redirects(self) -> NDArray[np.int32] | None:
        """The redirect target of each page, -1 for none; None if the web has no redirects."""
        return self._array_if_there("redirect")

    @cached_property
    def seconds(self) -> NDArray[np.float32] | None:
        """Download time of each page; None if not recorded."""
        return self._array_if_there("seconds")

    def targets(self, number: int) -> list[int]:
        """The links of a page in document order; a redirect has none."""
        targets: list[int] = self.link_targets[self.link_offsets[number] : self.link_offsets[number + 1]].tolist()
        return targets

    def answers(self) -> NDArray[np.bool_]:
        """Mask of the pages that are neither an error nor a redirect."""
        status = self.array("status")
        came = (status >= 200) & (status < 300)
        return came if self.redirects is None else came & (self.redirects < 0)

    def labelled(self, label: str) -> NDArray[np.bool_]:
        """Mask of the pages with a label."""
        if label not in self.about["labels"]:
            near = difflib.get_close_matches(label, self.about["labels"], 1, 0.0)
            hint = f"; the nearest it has is {near[0]!r}" if near else "; it has no labels, build it with --truth"
            raise BadInput(f"the web {self.name} has no label {label!r}{hint}")
        index = self.about["labels"].index(label)
        offsets = self.array("label_offsets")
        mask = np.zeros(self.pages, dtype=np.bool_)
        mask[self.array("label_pages")[offsets[index] : offsets[index + 1]]] = True
        return mask

    @cached_property
    def _attributes(self) -> dict[str, NDArray[Any]]:
        names = ("status", "size", "content_type", "header_charset", "meta_charset", "detected_charset")
        return {name: self.array(name) for name in names}

    @cached_property
    def _languages(self) -> NDArray[np.uint8] | None:
        """The language that each page declares, as an index into web.json "languages"; None if no page declares one."""
        return self._array_if_there("language")

    @cached_property
    def needs_scripts(self) -> NDArray[np.uint8] | None:
        """Mask of the pages that need scripts; None if there are none, or if it was not checked."""
        return self._array_if_there("needs_scripts")

    @cached_property
    def sitemaps(self) -> RecordedSitemaps:
        """Empty in most webs."""
        return RecordedSitemaps(self.folder, self.about.get(SITEMAPS, []))

    def page(self, number: int, links: tuple[Link, ...] = ()) -> Page:
        """The attributes of a page, without its texts."""
        attributes, charsets, languages = self._attributes, self.about["charsets"], self._languages
        return Page(
            url=self.urls[number],
            status=int(attributes["status"][number]),
            content_type=self.about["content_types"][attributes["content_type"][number]],
            header_charset=charsets[attributes["header_charset"][number]],
            meta_charset=charsets[attributes["meta_charset"][number]],
            detected_charset=charsets[attributes["detected_charset"][number]],
            size=int(attributes["size"][number]),
            links=links,
            language="" if languages is None else self.about["languages"][languages[number]],
            needs_scripts=self.needs_scripts is not None and bool(self.needs_scripts[number]),
        )

    @cached_property
    def texts(self) -> Blobs:
        """The fields of `TEXTS` for each page. None for a page without texts."""
        return self._blobs("texts", lambda number, value: _are_texts(value))

    @cached_property
    def contexts(self) -> Blobs:
        """For each page, the fields of its links after the URL, in the order of `targets`; trailing fields may be
        missing."""
        offsets = self.link_offsets
        return self._blobs("contexts", lambda page, value: _are_contexts(value, int(offsets[page + 1] - offsets[page])))

    def body(self, number: int) -> Body | None:
        """None if it is not stored, as of errors, redirects and other media."""
        return self.bodies.read(number, unpacked_body) if self.has_html else None

    @cached_property
    def bodies(self) -> Blobs:
        """Only for webs that have HTML; no JSON."""
        return self._blobs(BODIES)

    def _blobs(self, name: str, fits: Fits = lambda index, value: True) -> Blobs:
        blobs = Blobs(self.folder, name, fits)
        if len(blobs) != self.pages:
            raise damaged(self.folder / f"{name}_offsets.npy", f"{self.pages:,} pages have {len(blobs):,} {name}")
        return blobs

    def steps(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The links as `link_offsets` and `link_targets`, with a redirect as the only link of its page."""
        if self.redirects is None:
            return self.link_offsets, self.link_targets
        sources = np.flatnonzero(self.redirects >= 0)
        targets = np.insert(self.link_targets, self.link_offsets[sources], self.redirects[sources])
        shift = np.concatenate([[0], np.cumsum(self.redirects >= 0)])
        return self.link_offsets + shift, targets.astype(np.int32)


def _check_about(path: Path, about: dict[str, Any]) -> None:
    """Checks the parts of web.json that other code relies on."""
    for name in ("pages", "hosts", "links", "unrecorded"):
        if not isinstance(about.get(name), int) or not 0 <= about[name] < 2**62:
            raise damaged(path, f"{name} is {str(about.get(name))[:40]!r}")
    for name in ("labels", "charsets", "content_types", "languages", SITEMAPS):
        words = about.get(name, [] if name in ("languages", SITEMAPS) else None)
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise damaged(path, f"{name} is not a list of words")
    pattern = about.get("url_pattern", "")
    if not isinstance(about.get("name"), str) or not isinstance(pattern, str):
        raise damaged(path, "its name or its url_pattern is not a string")
    if pattern and (pattern.count("{host}") != 1 or pattern.count("{path}") != 1):
        raise damaged(path, f"url_pattern is {pattern[:100]!r}")


def _are_texts(value: Any) -> bool:
    if not isinstance(value, list) or len(value) > len(_TEXT_KINDS):
        return False
    tags = value[2] if len(value) > 2 and isinstance(value[2], dict) else {}
    return all(map(isinstance, value, _TEXT_KINDS)) and all(isinstance(text, str) for text in tags.values())


def _are_contexts(value: Any, links: int) -> bool:
    if not isinstance(value, list) or len(value) != links:
        return False
    return all(isinstance(fields, list) and tuple(map(type, fields)) in _CONTEXTS for fields in value)
