"""What is known to be true of pages: labels from a truth file or a crawl log, written label by label."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from spoor.errors import BadInput
from spoor.urls import normalise
from spoor.webs.build.gather import Gathered, Report
from spoor.webs.build.resolve import Resolved

Labels = Mapping[str, "array[int]"]
"""For each label the pages that carry it."""


def pages_by_label(gathered: Gathered, resolved: Resolved, truth: Path | None, report: Report) -> Labels:
    """From the records themselves and from the file `truth`, whose URLs that the web does not hold are counted."""
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
    """URL and labels, line by line, from a table with the columns `url` and `labels`."""
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
