"""Web: a recorded or generated web, opened from its folder. The files are told in `folder.py`."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput
from spoor.records import Link, Page
from spoor.webs.blobs import Blobs
from spoor.webs.folder import FORMAT
from spoor.webs.url_table import ListedUrls, PatternUrls, UrlTable

TEXTS = ("title", "text", "tag_texts", "main_text", "published")
"""The fields of a page that are kept as its texts, in this order."""


@dataclass(frozen=True)
class Web:
    """Arrays are memory-mapped and read only when asked for, so opening costs the same for any size."""

    folder: Path
    about: dict[str, Any]

    @staticmethod
    def open(folder: Path) -> Web:
        path = folder / "web.json"
        try:
            about = json.loads(path.read_text("utf8"))
        except FileNotFoundError:
            remedy = "make one with `spoor web build` or `spoor web generate`"
            raise BadInput(f"{folder} is not a web ({path.name} is missing); {remedy}") from None
        except (OSError, ValueError) as error:
            raise BadInput(f"{path} cannot be read: {error}") from None
        if about.get("format") != FORMAT:
            raise BadInput(f"{folder} has web format {about.get('format')}, this spoor reads {FORMAT}; build it again")
        return Web(folder, about)

    @property
    def name(self) -> str:
        return str(self.about["name"])

    @property
    def pages(self) -> int:
        """How many pages are recorded; numbers from here on are URLs that were only linked to."""
        return int(self.about["pages"])

    @property
    def labels(self) -> list[str]:
        return list(self.about["labels"])

    @property
    def has_content(self) -> bool:
        return (self.folder / "texts.bin").exists()

    @cached_property
    def urls(self) -> UrlTable:
        if pattern := self.about.get("url_pattern"):
            return PatternUrls(pattern, self.array("host_offsets"))
        return ListedUrls(self.folder)

    def array(self, name: str) -> NDArray[Any]:
        """One of the arrays named in `folder.py`, memory-mapped."""
        # A plain view: reading one element of a memmap object costs several times as much.
        array: NDArray[Any] = np.load(self.folder / f"{name}.npy", mmap_mode="r").view(np.ndarray)
        return array

    @cached_property
    def link_offsets(self) -> NDArray[np.int64]:
        return self.array("link_offsets")

    @cached_property
    def link_targets(self) -> NDArray[np.int32]:
        return self.array("link_targets")

    @cached_property
    def redirects(self) -> NDArray[np.int32] | None:
        """Where each page redirects to, -1 for none; None: no page does."""
        return self.array("redirect") if (self.folder / "redirect.npy").exists() else None

    @cached_property
    def seconds(self) -> NDArray[np.float32] | None:
        """How long each download took; None: not recorded."""
        return self.array("seconds") if (self.folder / "seconds.npy").exists() else None

    def targets(self, number: int) -> list[int]:
        """The links of a page in document order; a redirect has none."""
        targets: list[int] = self.link_targets[self.link_offsets[number] : self.link_offsets[number + 1]].tolist()
        return targets

    def answers(self) -> NDArray[np.bool_]:
        """Which pages came as pages: not as an error, not as a redirect."""
        status = self.array("status")
        came = (status >= 200) & (status < 300)
        return came if self.redirects is None else came & (self.redirects < 0)

    def labelled(self, label: str) -> NDArray[np.bool_]:
        """Which pages carry a label."""
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
        """What each page claims, by its place in web.json "languages"; None: no page claims anything."""
        return self.array("language") if (self.folder / "language.npy").exists() else None

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
        )

    @cached_property
    def texts(self) -> Blobs:
        """For each page what `TEXTS` names; of a generated web the last may miss. None for a page without."""
        return Blobs(self.folder, "texts")

    @cached_property
    def contexts(self) -> Blobs:
        """For each page: the fields of each of its links after the URL, as `targets`; the last may miss."""
        return Blobs(self.folder, "contexts")

    def steps(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The links as `link_offsets` and `link_targets`, a redirect counting as the one link of its page."""
        if self.redirects is None:
            return self.link_offsets, self.link_targets
        sources = np.flatnonzero(self.redirects >= 0)
        targets = np.insert(self.link_targets, self.link_offsets[sources], self.redirects[sources])
        shift = np.concatenate([[0], np.cumsum(self.redirects >= 0)])
        return self.link_offsets + shift, targets.astype(np.int32)
