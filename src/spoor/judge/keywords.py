"""The topic of a page by words that somebody named: how often it holds them, above all in its title and headings.

No training, no tokeniser: keywords are looked up in the text as it is, at the borders of words where a script has
blanks, anywhere where it has none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from spoor.errors import UsageError
from spoor.records import Page, Verdict, Wish
from spoor.text.words import any_letter, any_word, folded, is_unspaced, word_count

IN_TITLE = 8
IN_HEADING = 3
"""How many times in the text a keyword in the title, or in a heading, counts for."""
HEADINGS = ("h1", "h2", "h3")
ENOUGH = 0.6
"""Keywords for the square root of the number of words, at which a page is as relevant as not: 6 in 100 words, 19 in a
thousand. Measured (docs/topics.md)."""
SHORTEST = 50
"""Words of a page; a shorter one is taken to have so many, or one word in passing would do."""
ANY_ENDING = "*"
SHOWN = 4


@dataclass(frozen=True)
class Keywords:
    """Relevant from `least` on. A keyword may be a phrase, `hemorrhagic fever`, or end in a star that stands for any
    ending, `agricultur*`."""

    words: tuple[str, ...]
    least: float = 0.5
    _patterns: Mapping[str, re.Pattern[str]] = field(init=False, repr=False, compare=False)

    reads_content: ClassVar[bool] = True
    reads_main_text: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.words:
            raise UsageError("no keywords are given; name one at least, as in keywords:horse+steppe")
        if not 0.0 < self.least <= 1.0:
            raise UsageError(f"least={self.least:g} is not a relevance above 0 and up to 1")
        object.__setattr__(self, "_patterns", {word: pattern_of(word) for word in self.words})

    @property
    def wish(self) -> Wish:
        return Wish(words=tuple(word.removesuffix(ANY_ENDING) for word in self.words))

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [self._judge(page) for page in pages]

    def similarities(self, texts: Sequence[str]) -> list[float]:
        return [_relevance(sum(self._counts(text).values()), max(1, word_count(text))) for text in texts]

    def _judge(self, page: Page) -> Verdict:
        text = page.main_text or page.text
        in_text, in_title = self._counts(text), self._counts(page.title)
        in_headings = self._counts("\n".join(page.tag_texts.get(tag, "") for tag in HEADINGS))
        hits = sum(in_text.values()) + (IN_HEADING - 1) * sum(in_headings.values()) + IN_TITLE * sum(in_title.values())
        words = word_count(text)
        relevance = _relevance(hits, max(SHORTEST, words))
        return Verdict(relevance, relevance >= self.least, self._because(in_text, in_title, words))

    def _counts(self, text: str) -> dict[str, int]:
        """How often each keyword is in the text; those that are not are left out."""
        seen = folded(text)
        times = {word: _times(pattern, seen) for word, pattern in self._patterns.items()} if seen else {}
        return {word: count for word, count in times.items() if count}

    def _because(self, in_text: Mapping[str, int], in_title: Iterable[str], words: int) -> str:
        most = sorted(in_text, key=lambda word: -in_text[word])[:SHOWN]
        told = ", ".join(f"{word} {in_text[word]}" for word in most) or f"none of {', '.join(self.words[:SHOWN])}"
        title = ", ".join(in_title)
        return f"{told} in {words} words" + (f"; {title} in the title" if title else "")


def _relevance(hits: float, words: int) -> float:
    """Longer pages may hold more, but not as many more as they are longer."""
    density = hits / math.sqrt(words)
    return density / (density + ENOUGH)


def _times(pattern: re.Pattern[str], text: str) -> int:
    """That the place before a keyword is no letter is looked at afterwards: a pattern that begins with a letter is
    searched for ten times as fast as one that begins with a condition."""
    spaced = pattern.groupindex.get("unspaced") is None
    found = (match.start() for match in pattern.finditer(text))
    return sum(not (spaced and start and any_letter().match(text, start - 1)) for start in found)


def pattern_of(keyword: str) -> re.Pattern[str]:
    """Finds the keyword in folded text, whatever stands between its words; begins with its first letter. A group called
    `unspaced` stands for a script without blanks, where a keyword may begin after any letter."""
    whole, star, rest = keyword.partition(ANY_ENDING)
    pieces = any_word().findall(folded(whole))
    if rest or not pieces:
        raise UsageError(_no_keyword(keyword))
    between = r"[\W_]{1,3}"
    said = between.join(map(re.escape, pieces))
    end = "" if star or is_unspaced(pieces[-1][-1]) else f"(?!{any_letter().pattern})"
    return re.compile(said + end + ("(?P<unspaced>)" if is_unspaced(pieces[0][0]) else ""))


def _no_keyword(keyword: str) -> str:
    if ANY_ENDING in keyword:
        return f"keyword {keyword!r}: a star stands for any ending, so it comes last, as in agricultur*"
    private = [letter for letter in keyword if "\ue000" <= letter <= "\uf8ff"]
    if private:
        return f"keyword {keyword!r} is in a font of its own (U+{ord(private[0]):04X}); write it in Unicode letters"
    return f"keyword {keyword!r} holds no letters or digits that make a word; leave it out"
