"""The language of a page by the code points that a legacy font has its letters at, as Ma and others told it (2014)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import ClassVar

from spoor.errors import UsageError
from spoor.language.encoding_table import load, shipped, shipped_for
from spoor.language.encodings import Encoding, Interval, share_inside
from spoor.records import Page, Verdict, Wish

PRESETS = {"paper": 0.0, "ratio": 0.10}
"""The share that makes a page relevant; of `paper`, any share above 0: a single code point inside is enough."""


@dataclass(frozen=True)
class CodeInterval:
    """The relevance is the share of characters, white space left out, in the letters of all encodings of the language.

    `language` is a BCP-47 tag, or the path of an encoding table of your own (`FILE.toml`). Pages in Unicode lie outside
    of the intervals and are missed, which is the known defect of the method; `include_unicode` mends it.
    """

    language: str = "mn-Mong"
    preset: str = "paper"
    include_unicode: bool = False
    _intervals: tuple[Interval, ...] = field(init=False, repr=False, compare=False)

    reads_content: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise UsageError(f"unknown preset {self.preset!r}; known are {', '.join(PRESETS)}")
        encodings = _encodings(self.language)
        letters = [interval for encoding in encodings for interval in encoding.letters]
        in_unicode = [interval for encoding in encodings for interval in encoding.unicode if self.include_unicode]
        object.__setattr__(self, "_intervals", (*letters, *in_unicode))

    @property
    def wish(self) -> Wish:
        return Wish(language=_encodings(self.language)[0].language)

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [self._judge(page) for page in pages]

    def _judge(self, page: Page) -> Verdict:
        share = share_inside(page.text, self._intervals)
        least = PRESETS[self.preset]
        relevant = share > 0.0 and share >= least
        return Verdict(share, relevant, f"{share:.1%} of the characters are in the code intervals of {self.language}")


@cache
def _encodings(language: str) -> tuple[Encoding, ...]:
    if language.endswith(".toml"):
        return (load(Path(language)),)
    if found := shipped_for(language):
        return found
    known = ", ".join(sorted({encoding.language for encoding in shipped().values()}))
    raise UsageError(f"no font encoding of {language!r} is known, only of {known}; describe it in a FILE.toml")
