"""A web of some of the pages of another: the rest are URLs that were linked to but not recorded."""

from __future__ import annotations

import json
from array import array
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.webs.blobs import Blobs, BlobWriter
from spoor.webs.build.labels import write_labels
from spoor.webs.folder import complete_or_absent
from spoor.webs.url_table import ListedUrls
from spoor.webs.web import Web

_ONE_A_PAGE = ("status", "size", "content_type", "header_charset", "meta_charset", "detected_charset")
_PERHAPS = ("language", "seconds")
"""Arrays with a value for each page, and those of them that may be absent."""


def write_part(web: Web, kept: NDArray[np.bool_], name: str, out: Path) -> Web:
    """`kept` says of each page whether it is in the part. `out` is complete afterwards, or absent if anything fails."""
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
        about = {key: value for key, value in web.about.items() if key != "url_pattern"}
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
