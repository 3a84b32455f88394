"""The texts of a language web: each page in its language and, for real, in its charset, which a detector guesses."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.parse.charset import decode
from spoor.webs.generate.content import Content, Context, write_content
from spoor.webs.generate.prose import LANGUAGE, Author, Vocabulary
from spoor.webs.generate.request import Advance, Request
from spoor.webs.web import Web

LANGUAGES_OF = {
    "iso-8859-1": ("english", "german"),
    "windows-1252": ("german", "english"),
    "utf-8": ("english", "russian", "hindi", "german"),
    "shift_jis": ("japanese",),
    "gb2312": ("chinese",),
    "windows-1251": ("russian",),
}
"""What pages that are not in the wanted language are written in, by charset."""

CODECS = {"windows-874": "cp874"}
"""Where Python has another name for a charset."""

NO_ANCHOR, ANCHOR_OF_TARGET = 0.15, 0.70
"""Chances that an anchor is empty (an image), and that it is in the language of the target; else the page's own."""


Tongue = Callable[[int], Vocabulary]
"""What a page is written in, by its number."""

TongueOf = Callable[[Request, Sequence[str], NDArray[np.bool_]], Tongue]
"""The same for a whole web, by the charsets of its pages and which of them are relevant."""


def everyday_tongue(request: Request, charsets: Sequence[str], relevant: NDArray[np.bool_]) -> Tongue:
    """Relevant pages in the language that the web is named after, others in one that the charset can write."""

    def tongue(page: int) -> Vocabulary:
        if relevant[page]:
            return LANGUAGE[request.name]
        choices = LANGUAGES_OF[charsets[page]]
        return LANGUAGE[choices[page % len(choices)]]

    return tongue


def write_language_texts(request: Request, folder: Path, advance: Advance, tongue_of: TongueOf) -> None:
    """Adds texts and contexts, and puts what the detector says of the bytes in the place of `detected_charset`."""
    web = Web.open(folder)
    declared = np.maximum(web.array("meta_charset"), web.array("detected_charset"))
    charsets = [web.about["charsets"][k] for k in declared]
    author = LanguageAuthor(request.seed, charsets, tongue_of(request, charsets, web.labelled("relevant")))
    write_content(folder, author.compose, advance)
    known = list(dict.fromkeys([*web.about["charsets"], *author.detected]))
    np.save(folder / "detected_charset.npy", np.array([known.index(name) for name in author.detected], np.uint8))
    (folder / "web.json").write_text(json.dumps(web.about | {"charsets": known}, indent=1) + "\n", "utf8")


class LanguageAuthor:
    """Writes pages in order; `detected` grows with each."""

    def __init__(self, seed: int, charsets: Sequence[str], tongue: Tongue) -> None:
        self.detected: list[str] = []
        self._charsets = charsets
        self._tongue = tongue
        self._author = Author(seed)

    def compose(self, page: int, links: list[int]) -> tuple[Content, list[Context]]:
        author, tongue = self._author, self._tongue(page)
        author.turn_to(page)
        title, text = (author.write(tongue, words) for words in (5, 120))
        self.detected.append(decode(self._encoded(page, f"<title>{title}</title><p>{text}</p>"), "").detected)
        return Content(title, text, {"h1": title}), [self._context(tongue, link) for link in links]

    def _encoded(self, page: int, html: str) -> bytes:
        """A character that the charset lacks, such as an icon, is written as a reference to its code point."""
        charset = self._charsets[page]
        return html.encode(CODECS.get(charset, charset), "xmlcharrefreplace")

    def _context(self, tongue: Vocabulary, link: int) -> Context:
        author, draw = self._author, self._author.chance()
        of_anchor = self._tongue(link) if draw < NO_ANCHOR + ANCHOR_OF_TARGET else tongue
        anchor = "" if draw < NO_ANCHOR else author.write(of_anchor, 4)
        left, right = (author.write(tongue, 6) for _ in range(2))
        return Context(anchor, left, right, "")
