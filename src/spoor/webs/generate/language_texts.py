"""The texts of a language web: each page in its language and, for real, in its charset, which a detector guesses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.parse.charset import decode
from spoor.webs.generate.content import Content, Context, write_content
from spoor.webs.generate.prose import LANGUAGE, Author
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


def write_language_texts(request: Request, folder: Path, advance: Advance) -> None:
    """Adds texts and contexts, and puts what the detector says of the bytes in the place of `detected_charset`."""
    web = Web.open(folder)
    declared = np.maximum(web.array("meta_charset"), web.array("detected_charset"))
    charsets = [web.about["charsets"][k] for k in declared]
    author = LanguageAuthor(request, charsets, web.labelled("relevant"))
    write_content(folder, author.compose, advance)
    known = list(dict.fromkeys([*web.about["charsets"], *author.detected]))
    np.save(folder / "detected_charset.npy", np.array([known.index(name) for name in author.detected], np.uint8))
    (folder / "web.json").write_text(json.dumps(web.about | {"charsets": known}, indent=1) + "\n", "utf8")


class LanguageAuthor:
    """Writes pages in order; `detected` grows with each."""

    def __init__(self, request: Request, charsets: list[str], relevant: NDArray[np.bool_]) -> None:
        self.detected: list[str] = []
        self._own = request.name
        self._charsets = charsets
        self._relevant = relevant
        self._author = Author(request.seed)

    def compose(self, page: int, links: list[int]) -> tuple[Content, list[Context]]:
        author, language = self._author, self._language(page)
        author.turn_to(page)
        title, text = (author.write(LANGUAGE[language], words) for words in (5, 120))
        body = f"<title>{title}</title><p>{text}</p>".encode(CODECS.get(self._charsets[page], self._charsets[page]))
        self.detected.append(decode(body, "").detected)
        return Content(title, text, {"h1": title}), [self._context(language, link) for link in links]

    def _context(self, language: str, link: int) -> Context:
        author, draw = self._author, self._author.chance()
        of_anchor = self._language(link) if draw < NO_ANCHOR + ANCHOR_OF_TARGET else language
        anchor = "" if draw < NO_ANCHOR else author.write(LANGUAGE[of_anchor], 4)
        left, right = (author.write(LANGUAGE[language], 6) for _ in range(2))
        return Context(anchor, left, right, "")

    def _language(self, page: int) -> str:
        if self._relevant[page]:
            return self._own
        choices = LANGUAGES_OF[self._charsets[page]]
        return choices[page % len(choices)]
