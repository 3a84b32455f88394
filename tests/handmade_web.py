"""A web on disk from a few lists, for tests that need a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.lab.web import FORMAT


def write_web(folder: Path, links: Sequence[Sequence[int]], labels: Mapping[str, Sequence[int]]) -> Path:
    """Pages without texts, one host each ten, as `folder.py` tells."""
    pages = len(links)
    starts = [*range(0, pages, 10), pages]
    folder.mkdir(parents=True)
    arrays: dict[str, NDArray[Any]] = {
        "host_offsets": np.array(starts, np.int32),
        "page_host": (np.arange(pages) // 10).astype(np.int32),
        "link_offsets": np.cumsum([0, *map(len, links)]).astype(np.int64),
        "link_targets": np.array([target for found in links for target in found], np.int32),
        "status": np.full(pages, 200, np.int16),
        "size": np.full(pages, 1000, np.int32),
        "label_offsets": np.cumsum([0, *map(len, labels.values())]).astype(np.int64),
        "label_pages": np.array([page for found in labels.values() for page in sorted(found)], np.int32),
    }
    codes = ("content_type", "header_charset", "meta_charset", "detected_charset")
    arrays |= {name: np.zeros(pages, np.uint8) for name in codes}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    counts = {"pages": pages, "hosts": len(starts) - 1, "links": len(arrays["link_targets"]), "unrecorded": 0}
    words = {"labels": list(labels), "charsets": [""], "content_types": ["text/html"]}
    about = {"format": FORMAT, "name": folder.name, "url_pattern": "http://h{host}.test/{path}", "made_from": "a test"}
    (folder / "web.json").write_text(json.dumps(about | counts | words | {"report": {}}))
    return folder
