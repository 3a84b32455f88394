"""Building a web from a stream of records: gathered, links resolved, written as the folder that `folder.py` tells."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.parse.html import HTML_TYPES
from spoor.urls import host_of
from spoor.webs.blobs import Blobs, BlobWriter, compress
from spoor.webs.build.gather import Gathered, Report, gather
from spoor.webs.build.labels import pages_by_label, write_labels
from spoor.webs.build.packed import Packed
from spoor.webs.build.resolve import Resolved, resolve
from spoor.webs.folder import FORMAT, complete_or_absent
from spoor.webs.url_table import ListedUrls
from spoor.webs.web import Web

_ATTRIBUTES = ("status", "size", "content_type", "header_charset", "meta_charset", "detected_charset")


@dataclass(frozen=True)
class Making:
    """How a web is made: its name, what it was made from, its labels, and whether links must match to the letter."""

    name: str
    made_from: str
    truth: Path | None = None
    exact: bool = False


def build_web(out: Path, records: Iterable[Packed], making: Making, report: Report) -> Web:
    """`report` is added to and ends up in web.json. `out` is complete afterwards, or absent if anything fails."""
    with complete_or_absent(out) as folder:
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            gathered = gather(records, Path(scratch), report)
            resolved = resolve(gathered, making.exact, report)
            changed = _write_links(folder, gathered, resolved)
            _write_content(folder, Path(scratch), resolved, changed)
        columns = _columns(gathered, resolved)
        for name, column in columns.items():
            np.save(folder / f"{name}.npy", column)
        ListedUrls.write(folder, resolved.urls)
        labels = pages_by_label(gathered, resolved, making.truth, report)
        write_labels(folder, labels)
        report.update(_kinds(columns, gathered))
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
            "made_from": making.made_from,
            "report": dict(report),
        }
        (folder / "web.json").write_text(json.dumps(about, ensure_ascii=False, indent=1) + "\n", "utf8")
    return Web.open(out)


def _columns(gathered: Gathered, resolved: Resolved) -> dict[str, NDArray[Any]]:
    """The arrays with one value per page, by the name of their file."""
    columns = {name: np.array(getattr(gathered, name))[resolved.rows] for name in _ATTRIBUTES}
    columns["page_host"] = _hosts(resolved)
    seconds = np.array(gathered.seconds)[resolved.rows]
    if not np.isnan(seconds).all():
        columns["seconds"] = np.nan_to_num(seconds, nan=np.nanmean(seconds))
    if (language := np.array(gathered.language)[resolved.rows]).any():
        columns["language"] = language
    redirect = _redirects(gathered, resolved)
    if (redirect >= 0).any():
        columns["redirect"] = redirect
    return columns


def _hosts(resolved: Resolved) -> NDArray[np.int32]:
    """Hosts are numbered as they first appear among the pages."""
    numbers: dict[str, int] = {}
    hosts = [numbers.setdefault(host_of(url), len(numbers)) for url in resolved.urls[: resolved.pages]]
    return np.array(hosts, np.int32)


def _redirects(gathered: Gathered, resolved: Resolved) -> NDArray[np.int32]:
    """A redirect that, by a near miss, leads to itself leads nowhere."""
    to = np.array(gathered.redirect, np.int32)[resolved.rows]
    final = np.where(to >= 0, resolved.final[to], np.int32(-1))
    final[final == np.arange(len(final))] = -1
    return final


def _kinds(columns: dict[str, NDArray[Any]], gathered: Gathered) -> dict[str, int]:
    """How many pages are redirects, errors, or something else than HTML."""
    status = columns["status"]
    redirects = columns["redirect"] >= 0 if "redirect" in columns else np.zeros(len(status), np.bool_)
    html_numbers = [number for word, number in gathered.content_types.words.items() if word in HTML_TYPES]
    html = np.isin(columns["content_type"], html_numbers)
    good = (status >= 200) & (status < 300)
    return {
        "redirects": int(redirects.sum()),
        "errors": int((~good & ~redirects).sum()),
        "non-HTML": int((good & ~html).sum()),
    }


def _write_links(folder: Path, gathered: Gathered, resolved: Resolved) -> dict[int, list[int]]:
    """Returns the pages on which links fell together, with the places of those that were kept."""
    links = np.frombuffer(gathered.links, np.int32)
    targets, changed = [], {}
    for page, row in enumerate(resolved.rows.tolist()):
        numbers = links[gathered.link_offsets[row] : gathered.link_offsets[row + 1]]
        final = resolved.final[numbers]
        if resolved.near[numbers].any():
            kept = _distinct(final.tolist(), page)
            final, changed[page] = final[kept], kept
        targets.append(final)
    offsets = np.zeros(resolved.pages + 1, np.int64)
    np.cumsum([len(final) for final in targets], out=offsets[1:])
    np.save(folder / "link_offsets.npy", offsets)
    np.save(folder / "link_targets.npy", np.concatenate([np.zeros(0, np.int32), *targets]))
    return changed


def _distinct(targets: list[int], page: int) -> list[int]:
    """The places at which a target stands for the first time; a link to the page itself counts for nothing."""
    first = {target: place for place, target in reversed(list(enumerate(targets)))}
    first.pop(page, None)
    return sorted(first.values())


def _write_content(folder: Path, scratch: Path, resolved: Resolved, changed: dict[int, list[int]]) -> None:
    """Texts and contexts in the order of the pages. A web without any has no such files."""
    texts, contexts = Blobs(scratch, "texts"), Blobs(scratch, "contexts")
    if texts.nbytes + contexts.nbytes == 0:
        return
    with BlobWriter(folder, "texts") as new_texts, BlobWriter(folder, "contexts") as new_contexts:
        for page, row in enumerate(resolved.rows.tolist()):
            new_texts.append(texts.stored(row))
            new_contexts.append(_contexts(contexts, row, changed.get(page)))


def _contexts(contexts: Blobs, row: int, kept: list[int] | None) -> bytes:
    if kept is None or not (all_contexts := contexts[row]):
        return contexts.stored(row)
    return compress([all_contexts[place] for place in kept])
