"""The link graph of a web: reachability, distance to relevant pages, locality, backlinks; and the part of a web with
some of its pages."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from spoor.compiled import INT, kernel, kernels_in
from spoor.compiled import array as array_of
from spoor.errors import BadInput, BrokenContract
from spoor.files import complete_or_absent
from spoor.lab.bodies import BODIES
from spoor.lab.build.builder import write_labels
from spoor.lab.sitemaps import SITEMAPS
from spoor.lab.web import Web
from spoor.lab.web_files import Blobs, BlobWriter, ListedUrls

# Reachability, and distance to the relevant pages.


FAR: Final = 2**31 - 1
"""The distance of a page from which no relevant page can be reached."""


def read_only(values: Any, dtype: DTypeLike) -> NDArray[Any]:
    """A plain read-only array, without a copy if possible. Memory maps and arrays then share the same compiled code."""
    view = np.ascontiguousarray(values, dtype=dtype).view()
    view.flags.writeable = False
    return view


def reachable(
    offsets: NDArray[np.int64], targets: NDArray[np.int32], seeds: Sequence[int], pages: int
) -> NDArray[np.bool_]:
    """The pages that a crawl following every link visits. Targets from `pages` on are not pages and are ignored."""
    _check_lengths(offsets, targets, pages)
    if any(not 0 <= seed < pages for seed in seeds):
        raise BrokenContract(f"of {pages} pages, seeds are {list(seeds)[:5]}")
    links = read_only(offsets, np.int64), read_only(targets, np.int32)
    found: NDArray[np.bool_] = _distances(*links, read_only(seeds, np.int32), pages) != FAR
    return found


def _check_lengths(offsets: NDArray[np.int64], targets: NDArray[np.int32], pages: int) -> None:
    """Compiled code does not check bounds. `Web` ensures that offsets ascend and targets exist."""
    if len(offsets) != pages + 1 or offsets[-1] > len(targets):
        raise BrokenContract(f"{len(offsets)} offsets of {len(targets)} links are not those of {pages} pages")


_LINKS = array_of(np.int64, read_only=True), array_of(np.int32, read_only=True)


@kernel(*_LINKS, array_of(np.int32, read_only=True), INT)
def _distances(
    offsets: NDArray[np.int64], targets: NDArray[np.int32], starts: NDArray[np.int32], pages: int
) -> NDArray[np.int32]:
    """The number of links from the nearest start to each page, breadth-first from all starts at once."""
    distance = np.full(pages, FAR, np.int32)
    queue = np.empty(pages, np.int32)
    taken = known = 0
    for start in starts:
        if distance[start] == FAR:
            distance[start] = 0
            queue[known] = start
            known += 1
    while taken < known:
        page = queue[taken]
        taken += 1
        for slot in range(offsets[page], offsets[page + 1]):
            target = targets[slot]
            if target < pages and distance[target] == FAR:
                distance[target] = distance[page] + 1
                queue[known] = target
                known += 1
    return distance


def distance_to_relevant(
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    relevant: NDArray[np.bool_],
    within: NDArray[np.bool_],
) -> NDArray[np.int32]:
    """The number of links from each page to the nearest relevant page, through pages of `within` only: 0 for a relevant
    page, FAR if none is reachable."""
    _check_lengths(offsets, targets, len(within))
    if len(relevant) != len(within):
        raise BrokenContract(f"{len(relevant)} pages are said to be relevant or not, and {len(within)} to be within")
    links = read_only(offsets, np.int64), read_only(targets, np.int32)
    inside = read_only(within, np.bool_)
    places, sources = _reversed(*links, inside)
    starts = np.flatnonzero(read_only(relevant, np.bool_) & inside)
    back = read_only(places, np.int64), read_only(sources, np.int32)
    return _distances(*back, read_only(starts, np.int32), len(within))


@kernel(*_LINKS, array_of(np.bool_, read_only=True))
def _reversed(
    offsets: NDArray[np.int64], targets: NDArray[np.int32], within: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The transposed link graph, in the same form."""
    pages = len(within)
    places = np.zeros(pages + 2, np.int64)
    for page in range(pages):
        for slot in range(offsets[page], offsets[page + 1]):
            if targets[slot] < pages and within[page] and within[targets[slot]]:
                places[targets[slot] + 2] += 1
    places = np.cumsum(places)
    sources = np.empty(places[-1], np.int32)
    for page in range(pages):
        for slot in range(offsets[page], offsets[page + 1]):
            if targets[slot] < pages and within[page] and within[targets[slot]]:
                sources[places[targets[slot] + 1]] = page
                places[targets[slot] + 1] += 1
    return places[:-1], sources


# Topical locality: do relevant pages link to relevant pages? Counted over all links of a web, a slice at a time.


_LINKS_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Locality:
    """Counts of links between recorded pages, by whether the referring page is relevant."""

    from_relevant: int
    from_relevant_to_relevant: int
    from_others: int
    from_others_to_relevant: int

    @property
    def after_relevant(self) -> float | None:
        """P(child relevant | parent relevant); None if relevant pages have no links."""
        return self.from_relevant_to_relevant / self.from_relevant if self.from_relevant else None

    @property
    def after_others(self) -> float | None:
        """P(child relevant | parent irrelevant); None if irrelevant pages have no links."""
        return self.from_others_to_relevant / self.from_others if self.from_others else None


def locality(web: Web, relevant: NDArray[np.bool_]) -> Locality:
    counts = np.zeros((2, 2), np.int64)
    for first, last in _slices(web.link_offsets):
        targets = web.link_targets[web.link_offsets[first] : web.link_offsets[last]]
        parents = np.repeat(relevant[first:last], np.diff(web.link_offsets[first : last + 1]))
        held = targets < web.pages
        children = relevant[targets[held]]
        counts += np.bincount(2 * parents[held] + children, minlength=4).reshape(2, 2)
    return Locality(
        from_relevant=int(counts[1].sum()),
        from_relevant_to_relevant=int(counts[1, 1]),
        from_others=int(counts[0].sum()),
        from_others_to_relevant=int(counts[0, 1]),
    )


def _slices(offsets: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of pages, end exclusive, with about `_LINKS_AT_ONCE` links each."""
    first, pages = 0, len(offsets) - 1
    while first < pages:
        last = int(np.searchsorted(offsets, offsets[first] + _LINKS_AT_ONCE, side="right"))
        last = min(max(last, first + 1), pages)
        yield first, last
        first = last


# Backlinks of a web, and titles and texts of pages: the training data of path models.


_REDIRECTS = 5
"""Maximum number of redirects in a row that a crawl follows."""


@dataclass(frozen=True)
class WebBacklinks:
    """The backlinks of a web. Only recorded pages that answered count. A link to a redirect counts as a link to its
    target, since a redirect is no step of a path."""

    web: Web

    def pages(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.web.answers())

    def links_to(self, pages: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        sources, targets = self._links
        begins, ends = np.searchsorted(targets, pages, "left"), np.searchsorted(targets, pages, "right")
        counts = ends - begins
        # For each page the positions from `begins` to `ends`, concatenated.
        places = np.arange(counts.sum()) + np.repeat(begins - np.concatenate([[0], counts.cumsum()[:-1]]), counts)
        return sources[places], targets[places]

    def said(self, page: int) -> tuple[str, str]:
        if not self.web.has_content:
            raise BadInput(
                f"the web {self.web.name} has no texts; build it from WARC files, or generate it with --text"
            )
        title, text, *_ = self.web.texts[page] or ("", "")
        return title, text

    @cached_property
    def _links(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sources and targets of all links, sorted by target."""
        web, answers = self.web, self.web.answers()
        sources = np.repeat(np.arange(web.pages), np.diff(web.link_offsets))
        targets = self._final[web.link_targets]
        held = (targets < web.pages) & answers[sources]
        sources, targets = sources[held], targets[held]
        answered = answers[targets]
        order = np.argsort(targets[answered], kind="stable")
        return sources[answered][order], targets[answered][order]

    @cached_property
    def _final(self) -> NDArray[np.int64]:
        """The URL at which a link to each URL ends after redirects."""
        final = np.arange(len(self.web.urls))
        if self.web.redirects is not None:
            leads = np.append(self.web.redirects, np.full(len(final) - self.web.pages, -1))
            for _ in range(_REDIRECTS):
                final = np.where(leads[final] >= 0, leads[final], final)
        return final


# A web with some of the pages of another. The other pages become unrecorded link targets.


_ONE_A_PAGE = ("status", "size", "content_type", "header_charset", "meta_charset", "detected_charset")
_PERHAPS = ("language", "seconds")
"""Arrays with one value per page; those in `_PERHAPS` may be absent."""


def write_part(web: Web, kept: NDArray[np.bool_], name: str, out: Path) -> Web:
    """`kept` marks the pages of the part. On any failure `out` does not exist; otherwise it is complete."""
    pages = np.flatnonzero(kept)
    order = np.concatenate([pages, np.flatnonzero(~kept), np.arange(web.pages, len(web.urls))])
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order))
    with complete_or_absent(out) as folder:
        columns = {each: web.array(each)[pages] for each in (*_ONE_A_PAGE, *filter(_has(web), _PERHAPS))}
        columns |= _links(web, pages, place)
        hosts, columns["page_host"] = np.unique(web.array("page_host")[pages], return_inverse=True)
        if web.redirects is not None:
            leads = web.redirects[pages]
            columns["redirect"] = np.where(leads >= 0, place[leads], -1).astype(np.int32)
        for each, values in columns.items():
            np.save(folder / f"{each}.npy", values)
        ListedUrls.write(folder, (web.urls[int(number)] for number in order))
        write_labels(folder, {label: _carrying(label, web, kept, place) for label in web.labels})
        if web.has_content:
            _copy(web.texts, pages, folder, "texts")
            _copy(web.contexts, pages, folder, "contexts")
        if web.has_html:
            _copy(web.bodies, pages, folder, BODIES)
        about = {key: value for key, value in web.about.items() if key not in ("url_pattern", SITEMAPS)}
        about |= {"name": name, "pages": len(pages), "hosts": len(hosts), "unrecorded": len(order) - len(pages)}
        about |= {"links": len(columns["link_targets"]), "made_from": f"{len(pages)} pages of {web.name}"}
        (folder / "web.json").write_text(json.dumps(about, ensure_ascii=False, indent=1) + "\n", "utf8")
    return Web.open(out)


def _has(web: Web) -> Any:
    return lambda name: (web.folder / f"{name}.npy").exists()


def _carrying(label: str, web: Web, kept: NDArray[np.bool_], place: NDArray[np.int32]) -> array[int]:
    return array("i", place[np.flatnonzero(web.labelled(label) & kept)].tolist())


def _links(web: Web, pages: NDArray[np.int64], place: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
    begins, ends = web.link_offsets[pages], web.link_offsets[pages + 1]
    offsets = np.concatenate([[0], (ends - begins).cumsum()])
    slots = np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1], ends - begins)
    return {"link_offsets": offsets, "link_targets": place[web.link_targets[slots]]}


def _copy(blobs: Blobs, pages: NDArray[np.int64], folder: Path, name: str) -> None:
    with BlobWriter(folder, name) as writer:
        for page in pages.tolist():
            writer.append(blobs.stored(page))


KERNELS = kernels_in(__name__)
