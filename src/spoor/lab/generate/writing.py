"""Writes a generated web to disk batch by batch, so that memory use does not depend on the number of pages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from spoor.lab.web import FORMAT

CHARSETS = (
    "",
    "tis-620",
    "windows-874",
    "iso-8859-11",
    "euc-jp",
    "shift_jis",
    "iso-2022-jp",
    "iso-8859-1",
    "windows-1252",
    "utf-8",
    "gb2312",
    "windows-1251",
)
"""The charsets of every generated web; pages store indices into this list."""

HTML_BYTES_MEDIAN = 12_000


@dataclass(frozen=True)
class Batch:
    """Consecutive pages. `targets` has all their links, page after page; each array of `labels` marks the pages with
    that label. `status` None means that all are HTML pages; otherwise `content_type` has the content types, by
    number."""

    link_counts: NDArray[np.int32]
    targets: NDArray[np.int32]
    sizes: NDArray[np.int32]
    meta_charset: NDArray[np.uint8]
    detected_charset: NDArray[np.uint8]
    labels: Mapping[str, NDArray[np.bool_]]
    status: NDArray[np.int16] | None = None
    content_type: NDArray[np.uint8] | None = None

    def __len__(self) -> int:
        return len(self.link_counts)


class ArrayFile:
    """A .npy file that is appended to. The header is rewritten at the end, when the length is known."""

    def __init__(self, folder: Path, name: str, dtype: DTypeLike) -> None:
        self._dtype = np.dtype(dtype)
        self._file = (folder / f"{name}.npy").open("wb")
        self._length = 0
        self._write_header()

    def append(self, values: NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(values, self._dtype).data)
        self._length += len(values)

    def close(self) -> int:
        """Returns the number of values written."""
        self._file.seek(0)
        self._write_header()
        self._file.close()
        return self._length

    def _write_header(self) -> None:
        # numpy pads headers, so that the length of a one-dimensional array can grow to any number of digits in place.
        header = {"descr": self._dtype.str, "fortran_order": False, "shape": (self._length,)}
        np.lib.format.write_array_header_1_0(self._file, header)


class WebWriter:
    """Appends the batches of a web in page order. `close` writes what is known only at the end."""

    def __init__(self, folder: Path, labels: Sequence[str]) -> None:
        self._folder = folder
        self._pages = 0
        self._labelled: dict[str, list[NDArray[np.int32]]] = {label: [] for label in labels}
        self._link_offsets = ArrayFile(folder, "link_offsets", np.int64)
        self._link_offsets.append(np.zeros(1, np.int64))
        self._links = 0
        self._targets = ArrayFile(folder, "link_targets", np.int32)
        self._attributes = {
            "status": ArrayFile(folder, "status", np.int16),
            "size": ArrayFile(folder, "size", np.int32),
            "content_type": ArrayFile(folder, "content_type", np.uint8),
            "header_charset": ArrayFile(folder, "header_charset", np.uint8),
            "meta_charset": ArrayFile(folder, "meta_charset", np.uint8),
            "detected_charset": ArrayFile(folder, "detected_charset", np.uint8),
        }

    def append(self, batch: Batch) -> None:
        ends = self._links + np.cumsum(batch.link_counts, dtype=np.int64)
        self._link_offsets.append(ends)
        self._links = int(ends[-1]) if len(ends) else self._links
        self._targets.append(batch.targets)
        self._append_attributes(batch)
        for label, pages in self._labelled.items():
            pages.append((np.flatnonzero(batch.labels[label]) + self._pages).astype(np.int32))
        self._pages += len(batch)

    def _append_attributes(self, batch: Batch) -> None:
        nothing = np.zeros(len(batch), np.uint8)
        values: dict[str, NDArray[Any]] = {
            "status": np.full(len(batch), 200, np.int16) if batch.status is None else batch.status,
            "size": batch.sizes,
            "content_type": nothing if batch.content_type is None else batch.content_type,
            "header_charset": nothing,
            "meta_charset": batch.meta_charset,
            "detected_charset": batch.detected_charset,
        }
        for name, file in self._attributes.items():
            file.append(values[name])

    def close(
        self,
        name: str,
        host_offsets: NDArray[np.int32],
        made_from: Mapping[str, Any],
        content_types: Sequence[str] = ("text/html",),
    ) -> None:
        for file in (self._link_offsets, self._targets, *self._attributes.values()):
            file.close()
        self._save_labels()
        self._save_hosts(host_offsets)
        about = {
            "format": FORMAT,
            "name": name,
            "pages": self._pages,
            "hosts": len(host_offsets) - 1,
            "links": self._links,
            "unrecorded": 0,
            "labels": list(self._labelled),
            "charsets": list(CHARSETS),
            "content_types": list(content_types),
            "url_pattern": f"http://h{{host}}.{name}.test/{{path}}",
            "made_from": dict(made_from),
            "report": {},
        }
        (self._folder / "web.json").write_text(json.dumps(about, indent=1) + "\n", "utf8")

    def _save_labels(self) -> None:
        pages = [np.concatenate([np.zeros(0, np.int32), *parts]) for parts in self._labelled.values()]
        np.save(self._folder / "label_offsets.npy", np.cumsum([0, *map(len, pages)], dtype=np.int64))
        np.save(self._folder / "label_pages.npy", np.concatenate(pages))

    def _save_hosts(self, host_offsets: NDArray[np.int32]) -> None:
        np.save(self._folder / "host_offsets.npy", host_offsets)
        page_host = ArrayFile(self._folder, "page_host", np.int32)
        hosts, step = len(host_offsets) - 1, 50_000
        for first in range(0, hosts, step):
            offsets = host_offsets[first : min(first + step, hosts) + 1]
            page_host.append(np.repeat(np.arange(first, first + len(offsets) - 1), np.diff(offsets)))
        page_host.close()
