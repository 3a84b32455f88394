"""The role of finding the main text of a page, with its title and when it was published."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from html import unescape

from spoor.parse.bounds import bounded
from spoor.parse.main_text.published import LATEST, published

_SAMPLE = 4_000
"""Characters that are looked at to tell text from an image that is called HTML."""
_ILLEGIBLE = re.compile("[\x00-\x08\x0e-\x1f\x7f\ufffd]")
_TITLE = re.compile(r"<[tT][iI][tT][lL][eE]\b[^<>]*>([^<]*)")

FindText = Callable[[str, str], str]
"""HTML and URL to the main text, a line for each block. May count on HTML that is legible and not endless."""


@dataclass(frozen=True, slots=True)
class MainText:
    """`text` has a line for each block, none of them empty; `published` is a date such as 2026-11-15. "" is unknown."""

    title: str = ""
    text: str = ""
    published: str = ""


@dataclass(frozen=True)
class Extractor:
    """One way to find the main text. Never fails; of what cannot be read nothing is said."""

    find: FindText

    def extract(self, html: str, url: str = "", came: date = LATEST) -> MainText:
        """`came` is the day on which the page was fetched: it was not published later."""
        if not _is_legible(html):
            return MainText()
        html = bounded(html)
        try:
            text = self.find(html, url)
        except UnicodeEncodeError:  # Half a character, which no page that was decoded has.
            return MainText()
        return MainText(_title(html), _tidy(text), published(html, url, came))


def _is_legible(html: str) -> bool:
    """Of its characters at most one in twenty is none that a text has."""
    sample = html[:_SAMPLE]
    return bool(sample) and 20 * len(_ILLEGIBLE.findall(sample)) <= len(sample)


def _title(html: str) -> str:
    found = _TITLE.search(html)
    return " ".join(unescape(found[1]).split()) if found else ""


def _tidy(text: str) -> str:
    return "\n".join([line for said in text.splitlines() if (line := " ".join(said.split()))])
