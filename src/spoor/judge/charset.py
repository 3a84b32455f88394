"""The language of a page by its character encoding, as the first language-specific crawlers told it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.errors import UsageError
from spoor.records import Page, Verdict, Wish

CHARSETS: dict[str, frozenset[str]] = {
    "ja": frozenset({"euc-jp", "shift_jis", "iso-2022-jp"}),
    "th": frozenset({"tis-620", "windows-874", "iso-8859-11"}),
}
"""The encodings that give a language away."""

ALIASES: dict[str, str] = {
    "x-sjis": "shift_jis",
    "shift-jis": "shift_jis",
    "sjis": "shift_jis",
    "windows-31j": "shift_jis",
    "cp932": "shift_jis",
    "ms_kanji": "shift_jis",
    "eucjp": "euc-jp",
    "x-euc-jp": "euc-jp",
    "tis620": "tis-620",
    "cp874": "windows-874",
    "iso8859-11": "iso-8859-11",
}

SOURCES = ("meta", "header", "detected")


@dataclass(frozen=True)
class Charset:
    """The first of `sources` that names an encoding decides: the META declaration, the HTTP header, or what a detector
    makes of the bytes. UTF-8 says nothing about the language, so such pages are not relevant to this judge."""

    language: str
    sources: tuple[str, ...] = SOURCES

    reads_content: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.language not in CHARSETS:
            known = ", ".join(sorted(CHARSETS))
            raise UsageError(f"no encoding gives the language {self.language!r} away; the charset judge knows {known}")

    @property
    def wish(self) -> Wish:
        return Wish(language=self.language)

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [self._judge(page) for page in pages]

    def _judge(self, page: Page) -> Verdict:
        for source in self.sources:
            if label := getattr(page, f"{source}_charset").strip().lower():
                charset = ALIASES.get(label, label)
                relevant = charset in CHARSETS[self.language]
                verb = "means" if relevant else "does not mean"
                return Verdict(float(relevant), relevant, f"{source} charset {charset} {verb} {self.language}")
        return Verdict(0.0, False, "no charset given")
