"""Builds a web from a stream of records: gathers them, resolves links, adds labels, writes the files."""

from __future__ import annotations

import json
import tempfile
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput
from spoor.files import complete_or_absent
from spoor.lab.bodies import BODIES
from spoor.lab.build.gather import BuildReport, Gathered, Packed, gather
from spoor.lab.sitemaps import SITEMAPS, write_sitemaps
from spoor.lab.web import FORMAT, Web
from spoor.lab.web_files import Blobs, BlobWriter, ListedUrls, compress
from spoor.parse.html import HTML_TYPES
from spoor.settings import USUAL_PARSING, ParseSettings
from spoor.urls import difference, host_of, near_misses, normalise

# Resolves each link to the page recorded under its URL, to a near miss, or to none.


@dataclass(frozen=True)
class Resolved:
    """`urls` are the pages of the web in order, then the URLs that are only linked to.

    `final` maps each number in `Gathered` to the number in the web, -1 if the web does not need it.
    """

    urls: list[str]
    pages: int
    rows: NDArray[np.int64]
    final: NDArray[np.int32]
    near: NDArray[np.bool_]


def resolve(gathered: Gathered, exact: bool, report: BuildReport) -> Resolved:
    """With `exact` only an identical URL resolves to a page."""
    names = list(gathered.numbers)
    rows = np.fromiter(gathered.record_of.values(), np.int64, len(gathered.record_of))
    pages = np.fromiter(gathered.record_of, np.int64, len(rows))
    final = np.full(len(names), -1, np.int32)
    final[pages] = np.arange(len(pages), dtype=np.int32)
    uses = _uses(gathered, rows, len(names))
    absent = np.flatnonzero((uses > 0) & (final < 0))
    near = np.zeros(len(names), np.bool_)
    if not exact:
        for number in absent.tolist():
            if (page := _near_page(names[number], gathered)) is not None:
                near[number], final[number] = True, final[page]
                report[f"near-miss links: other {difference(names[number], names[page])}"] += int(uses[number])
    unrecorded = absent[~near[absent]]
    final[unrecorded] = np.arange(len(pages), len(pages) + len(unrecorded), dtype=np.int32)
    urls = [names[number] for number in (*pages.tolist(), *unrecorded.tolist())]
    return Resolved(urls, len(pages), rows, final, near)


def _uses(gathered: Gathered, rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The number of links and redirects to each number, from the rows that are kept."""
    kept = np.zeros(len(gathered.status), np.bool_)
    kept[rows] = True
    kept[list(gathered.rendered.values())] = True
    linked = np.frombuffer(gathered.links, np.int32)[np.repeat(kept, np.diff(gathered.link_offsets))]
    redirects = np.frombuffer(gathered.redirect, np.int32)[rows]
    return np.bincount(linked, minlength=count) + np.bincount(redirects[redirects >= 0], minlength=count)


def _near_page(url: str, gathered: Gathered) -> int | None:
    for other in near_misses(url):
        number = gathered.numbers.get(other)
        if number is not None and number in gathered.record_of:
            return number
    return None


# Labels of pages (ground truth) from a truth file or a crawl log, written label by label.


Labels = Mapping[str, "array[int]"]
"""For each label the numbers of the pages that carry it."""


def pages_by_label(gathered: Gathered, resolved: Resolved, truth: Path | None, report: BuildReport) -> Labels:
    """Labels from the records and from the file `truth`. URLs in it that are not in the web are counted in `report`."""
    labels: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))
    for page, row in enumerate(resolved.rows.tolist() if gathered.labels else ()):
        for label in gathered.labels.get(row, ()):
            labels[label].append(page)
    for url, named in read_truth(truth) if truth else ():
        number = gathered.numbers.get(normalise(url) or "")
        if number is None or number not in gathered.record_of:
            report["labelled URLs not in the web"] += 1
            continue
        for label in named:
            labels[label].append(int(resolved.final[number]))
    return labels


def read_truth(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yields URL and labels of each line of a table with the columns `url` and `labels`."""
    try:
        with path.open(encoding="utf8", errors="replace") as file:
            columns = file.readline().rstrip("\r\n").removeprefix("\ufeff").split("\t")
            places = [_place(path, columns, name) for name in ("url", "labels")]
            for line in file:
                cells = line.rstrip("\r\n").split("\t") + [""] * len(columns)
                if cells[places[0]]:
                    yield cells[places[0]], cells[places[1]].split()
    except OSError as error:
        raise BadInput(f"cannot read the truth file {path}: {error.strerror}") from error


def _place(path: Path, columns: list[str], name: str) -> int:
    if name not in columns:
        found = ", ".join(columns) or "none"
        raise BadInput(f"{path} has no column {name!r} (found: {found}); it must be tab-separated, url and labels")
    return columns.index(name)


def write_labels(folder: Path, labels: Labels) -> None:
    pages = [np.unique(np.array(labels[label], np.int32)) for label in sorted(labels)]
    offsets = np.zeros(len(pages) + 1, np.int64)
    np.cumsum([len(numbers) for numbers in pages], out=offsets[1:])
    np.save(folder / "label_offsets.npy", offsets)
    np.save(folder / "label_pages.npy", np.concatenate([np.zeros(0, np.int32), *pages]))


# Builds a web from a stream of records and writes the folder that `lab/web.py` describes.


_ATTRIBUTES = ("status", "size", "content_type", "header_charset", "meta_charset", "detected_charset")


@dataclass(frozen=True)
class BuildOptions:
    """How to build a web: its name, its origin, the file of labels, whether links must match exactly, and how its pages
    were parsed."""

    name: str
    made_from: str
    truth: Path | None = None
    exact: bool = False
    parsing: ParseSettings = USUAL_PARSING


def build_web(out: Path, records: Iterable[Packed], making: BuildOptions, report: BuildReport) -> Web:
    """`report` is updated and stored in web.json. On any failure `out` does not exist; otherwise it is complete."""
    with complete_or_absent(out) as folder:
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            gathered = gather(records, Path(scratch), report)
            resolved = resolve(gathered, making.exact, report)
            changed = _write_links(folder, gathered, resolved)
            _write_content(folder, Path(scratch), gathered, resolved, changed)
            if gathered.sitemaps:
                write_sitemaps(folder, Blobs(Path(scratch), SITEMAPS), partial(_recorded_url, gathered, making.exact))
        columns = _columns(gathered, resolved)
        for name, column in columns.items():
            np.save(folder / f"{name}.npy", column)
        ListedUrls.write(folder, resolved.urls)
        labels = pages_by_label(gathered, resolved, making.truth, report)
        write_labels(folder, labels)
        report.update(_kinds(columns, gathered))
        report["rendered"] += len(gathered.rendered)
        report["sitemaps"] += len(gathered.sitemaps)
        about = {
            "format": FORMAT,
            "name": making.name,
            "pages": resolved.pages,
            "hosts": len(np.unique(columns["page_host"])),
            "links": len(np.load(folder / "link_targets.npy", mmap_mode="r")),
            "unrecorded": len(resolved.urls) - resolved.pages,
            "labels": sorted(labels),
            "charsets": list(gathered.charsets.words),
            "content_types": list(gathered.content_types.words),
            "languages": list(gathered.languages.words),
            **({SITEMAPS: list(gathered.sitemaps)} if gathered.sitemaps else {}),
            "made_from": making.made_from,
            "exact": making.exact,
            "parsed": asdict(making.parsing),
            "report": dict(report),
        }
        (folder / "web.json").write_text(json.dumps(about, ensure_ascii=False, indent=1) + "\n", "utf8")
    return Web.open(out)


def _columns(gathered: Gathered, resolved: Resolved) -> dict[str, NDArray[Any]]:
    """The arrays with one value per page, by file name."""
    columns = {name: np.array(getattr(gathered, name))[resolved.rows] for name in _ATTRIBUTES}
    columns["page_host"] = _hosts(resolved)
    seconds = np.array(gathered.seconds)[resolved.rows]
    if not np.isnan(seconds).all():
        columns["seconds"] = np.nan_to_num(seconds, nan=np.nanmean(seconds))
    for name in ("language", "needs_scripts"):
        if (column := np.array(getattr(gathered, name))[resolved.rows]).any():
            columns[name] = column
    redirect = _redirects(gathered, resolved)
    if (redirect >= 0).any():
        columns["redirect"] = redirect
    return columns


def _hosts(resolved: Resolved) -> NDArray[np.int32]:
    """Hosts are numbered in order of first appearance among the pages."""
    numbers: dict[str, int] = {}
    hosts = [numbers.setdefault(host_of(url), len(numbers)) for url in resolved.urls[: resolved.pages]]
    return np.array(hosts, np.int32)


def _redirects(gathered: Gathered, resolved: Resolved) -> NDArray[np.int32]:
    """A redirect that leads to itself through a near miss is dropped."""
    to = np.array(gathered.redirect, np.int32)[resolved.rows]
    final = np.where(to >= 0, resolved.final[to], np.int32(-1))
    final[final == np.arange(len(final))] = -1
    return final


def _kinds(columns: dict[str, NDArray[Any]], gathered: Gathered) -> dict[str, int]:
    """The number of redirects, errors, and pages other than HTML."""
    status = columns["status"]
    redirects = columns["redirect"] >= 0 if "redirect" in columns else np.zeros(len(status), np.bool_)
    html_numbers = [number for word, number in gathered.content_types.words.items() if word in HTML_TYPES]
    html = np.isin(columns["content_type"], html_numbers)
    answered = (status >= 200) & (status < 300)
    return {
        "redirects": int(redirects.sum()),
        "errors": int((~answered & ~redirects).sum()),
        "non-HTML": int((answered & ~html).sum()),
    }


def _write_links(folder: Path, gathered: Gathered, resolved: Resolved) -> dict[int, list[int]]:
    """Returns the pages on which links became equal, with the positions of the links that were kept."""
    links = np.frombuffer(gathered.links, np.int32)
    targets, changed = [], {}
    for page, row in enumerate(resolved.rows.tolist()):
        rows = _rows_of(row, gathered)
        numbers = np.concatenate([links[gathered.link_offsets[at] : gathered.link_offsets[at + 1]] for at in rows])
        final = resolved.final[numbers]
        if len(rows) > 1 or resolved.near[numbers].any():
            kept = _distinct(final.tolist(), page)
            final, changed[page] = final[kept], kept
        targets.append(final)
    offsets = np.zeros(resolved.pages + 1, np.int64)
    np.cumsum([len(final) for final in targets], out=offsets[1:])
    np.save(folder / "link_offsets.npy", offsets)
    np.save(folder / "link_targets.npy", np.concatenate([np.zeros(0, np.int32), *targets]))
    return changed


def _rows_of(row: int, gathered: Gathered) -> list[int]:
    """The rows with the links of a page: as fetched, and as rendered."""
    return [row, gathered.rendered[row]] if row in gathered.rendered else [row]


def _distinct(targets: list[int], page: int) -> list[int]:
    """The positions at which each target occurs first; links to the page itself are left out."""
    first = {target: place for place, target in reversed(list(enumerate(targets)))}
    first.pop(page, None)
    return sorted(first.values())


def _write_content(
    folder: Path, scratch: Path, gathered: Gathered, resolved: Resolved, changed: dict[int, list[int]]
) -> None:
    """Writes texts and contexts, and bodies, in page order. A web without any has no such files. The body is that with
    the text, so of a rendered page what the browser made of it."""
    texts, contexts, bodies = Blobs(scratch, "texts"), Blobs(scratch, "contexts"), Blobs(scratch, BODIES)
    rows = resolved.rows.tolist()
    if texts.nbytes + contexts.nbytes:
        with BlobWriter(folder, "texts") as new_texts, BlobWriter(folder, "contexts") as new_contexts:
            for page, row in enumerate(rows):
                new_texts.append(texts.stored(gathered.text_of.get(row, row)))
                new_contexts.append(_contexts(contexts, _rows_of(row, gathered), changed.get(page)))
    if bodies.nbytes:
        with BlobWriter(folder, BODIES) as new_bodies:
            for row in rows:
                new_bodies.append(bodies.stored(gathered.text_of.get(row, row)))


def _contexts(contexts: Blobs, rows: Sequence[int], kept: list[int] | None) -> bytes:
    if kept is None or not (all_contexts := [context for row in rows for context in contexts[row] or ()]):
        return contexts.stored(rows[0])
    return compress([all_contexts[place] for place in kept])


def _recorded_url(gathered: Gathered, exact: bool, url: str) -> str:
    """The recorded URL of a page that a sitemap lists: the URL itself, or a near miss; the given URL if there is
    none."""
    if exact or gathered.row_of(url) is not None:
        return url
    return next((near for near in near_misses(url) if gathered.row_of(near) is not None), url)
