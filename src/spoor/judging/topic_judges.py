"""Judges of topic: keywords, one gold document, TF-IDF cosine, tag weights, and a regular expression.

The keyword judge needs no training and no tokeniser: it searches the text as it is, at word boundaries in scripts with
spaces, anywhere in scripts without.

The tag-weighted judge computes

    W = W₀ + Σ λᵢ Wᵢ

where W₀ compares the text with the words of the topic, and Wᵢ the text in elements of one tag.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from spoor.errors import BadInput, UsageError
from spoor.judging.ngrams import calibrate
from spoor.judging.similar_words import Field, RewrittenTopic
from spoor.judging.vectors import Likeness, Topic, cut_to, general_space
from spoor.parse.words import Words, any_letter, any_word, folded, is_unspaced, word_count
from spoor.records import Page, TargetPrior, Verdict
from spoor.strategy import PageByPage

# Similarity of a page to a topic: the verdict for a cosine.


class Comparable(Protocol):
    def likeness(self, text: str) -> Likeness: ...


def judged_near(page: Page, topic: Comparable, least: float, name: str) -> Verdict:
    """Title and text have the same weight."""
    likeness = topic.likeness(page.titled_text)
    words = ", ".join(likeness.words)
    because = f"{likeness.cosine:.2f} near {name}, most by {words}" if words else f"shares no words with {name}"
    return Verdict(likeness.cosine, likeness.cosine >= least, because)


class NearTopic(PageByPage):
    """Base of judges that compare texts with a topic vector."""

    _topic: Topic

    reads_content: ClassVar[bool] = True
    reads_main_text: ClassVar[bool] = True

    def similarities(self, texts: Sequence[str]) -> list[float]:
        return [self._topic.likeness(text).cosine for text in texts]


def checked_least(least: float) -> None:
    if not 0.0 < least <= 1.0:
        raise UsageError(f"least={least:g} is not a similarity above 0 and up to 1")


# The topic of a page by given keywords: how often it contains them, above all in title and headings.


IN_TITLE = 8
IN_HEADING = 3
"""Weight of a keyword in the title, or in a heading, relative to one in the text."""
HEADINGS = ("h1", "h2", "h3")
ENOUGH = 0.6
"""Keywords divided by the square root of the number of words, at a relevance of 0.5: 6 in 100 words, 19 in a thousand.
Measured (docs/topics.md)."""
SHORTEST = 50
"""Words; a shorter page counts as this long. Otherwise one mention in passing would make it relevant."""
ANY_ENDING = "*"
SHOWN = 4


@dataclass(frozen=True)
class Keywords(PageByPage):
    """Relevant at `least` or more. A keyword may be a phrase, `hemorrhagic fever`, or end in a star, which matches any
    ending: `agricultur*`."""

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
    def target_prior(self) -> TargetPrior:
        return TargetPrior(words=tuple(word.removesuffix(ANY_ENDING) for word in self.words))

    def similarities(self, texts: Sequence[str]) -> list[float]:
        return [_relevance(sum(self._counts(text).values()), max(1, word_count(text))) for text in texts]

    def verdict(self, page: Page) -> Verdict:
        text = page.best_text
        in_text, in_title = self._counts(text), self._counts(page.title)
        in_headings = self._counts("\n".join(page.tag_texts.get(tag, "") for tag in HEADINGS))
        hits = sum(in_text.values()) + (IN_HEADING - 1) * sum(in_headings.values()) + IN_TITLE * sum(in_title.values())
        words = word_count(text)
        relevance = _relevance(hits, max(SHORTEST, words))
        return Verdict(relevance, relevance >= self.least, self._because(in_text, in_title, words))

    def _counts(self, text: str) -> dict[str, int]:
        """How often the text contains each keyword; keywords that do not occur are left out."""
        seen = folded(text)
        times = {word: _times(pattern, seen) for word, pattern in self._patterns.items()} if seen else {}
        return {word: count for word, count in times.items() if count}

    def _because(self, in_text: Mapping[str, int], in_title: Iterable[str], words: int) -> str:
        most = sorted(in_text, key=lambda word: -in_text[word])[:SHOWN]
        counts = ", ".join(f"{word} {in_text[word]}" for word in most) or f"none of {', '.join(self.words[:SHOWN])}"
        title = ", ".join(in_title)
        return f"{counts} in {words} words" + (f"; {title} in the title" if title else "")


def _relevance(hits: float, words: int) -> float:
    """Longer pages contain more keywords, but not in proportion to their length; hence the square root."""
    density = hits / math.sqrt(words)
    return density / (density + ENOUGH)


def _times(pattern: re.Pattern[str], text: str) -> int:
    """Checks afterwards that no letter precedes a match: a pattern that begins with a literal is found ten times as
    fast as one that begins with a lookbehind."""
    spaced = pattern.groupindex.get("unspaced") is None
    found = (match.start() for match in pattern.finditer(text))
    return sum(not (spaced and start and any_letter().match(text, start - 1)) for start in found)


def pattern_of(keyword: str) -> re.Pattern[str]:
    """Finds the keyword in folded text, whatever punctuation or space separates its words. Begins with its first
    letter. A group `unspaced` marks a script without spaces, where a keyword may begin after any letter."""
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
        return f"keyword {keyword!r}: a star matches any ending, so it must come last, as in agricultur*"
    private = [letter for letter in keyword if "\ue000" <= letter <= "\uf8ff"]
    if private:
        return f"keyword {keyword!r} is in a font encoding (U+{ord(private[0]):04X}); write it in Unicode letters"
    return f"keyword {keyword!r} holds no letters or digits that make a word; leave it out"


# The topic of a page by one ideal document: does the page use the same uncommon words?


@dataclass(frozen=True)
class Gold(NearTopic):
    """`name` and `text` are those of the document. The topic vector consists of its `terms` words with the highest
    TF-IDF: frequent in the document, rare in general texts. A page is relevant at a cosine of `least` or more.
    `language` is that of the document, "" if it does not matter."""

    name: str
    text: str = field(repr=False)
    terms: int = 10
    least: float = 0.12
    language: str = ""
    _topic: Topic = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        checked_least(self.least)
        if self.terms < 1:
            raise UsageError(f"terms={self.terms} is not a number of words, 1 or more")
        words, space = Words(self.language), general_space("linear")
        vector = cut_to(space.vector(words.of(self.text)), self.terms)
        if not vector:
            raise BadInput(f"{self.name} holds no words to compare pages with; give a document with text")
        object.__setattr__(self, "_topic", Topic(words, space, vector))

    @property
    def target_prior(self) -> TargetPrior:
        return TargetPrior(words=self._topic.heaviest(self.terms))

    def verdict(self, page: Page) -> Verdict:
        return judged_near(page, self._topic, self.least, self.name)


# The topic of a page by texts of the field: cosine of TF-IDF vectors, optionally with similar words merged.


UNCALIBRATED = 0.1
"""The threshold if there are no other texts for calibration."""
FOLDS = 5
PRIOR_WORDS = 20
"""Words of the target prior."""


@dataclass(frozen=True)
class VectorSpaceModel:
    """`name` is that of the field. Relevant at `least` or more."""

    name: str
    topic: Topic | RewrittenTopic = field(repr=False)
    least: float = UNCALIBRATED

    reads_content: ClassVar[bool] = True
    reads_main_text: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked_least(self.least)
        if not self.topic.heaviest(1):
            raise BadInput(
                f"{self.name} holds no words that distinguish its texts from others; give texts of the field"
            )

    @property
    def target_prior(self) -> TargetPrior:
        return TargetPrior(words=self.topic.heaviest(PRIOR_WORDS))

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [judged_near(page, self.topic, self.least, self.name) for page in pages]

    def similarities(self, texts: Sequence[str]) -> list[float]:
        return [self.topic.likeness(text).cosine for text in texts]


def calibrated(learned: Field, terms: int, texts: Sequence[str], others: Sequence[str]) -> float:
    """The threshold that best separates texts of the field from other texts, by cross-validation: each text is compared
    with a topic built without it. `UNCALIBRATED` if there are no other texts, or fewer than two of the field."""
    if not others or len(texts) < 2:
        return UNCALIBRATED
    relevant: list[float] = []
    folds = min(FOLDS, len(texts))
    for fold in range(folds):
        left_out = range(fold, len(texts), folds)
        topic = learned.topic(terms, left_out)
        relevant += [topic.likeness(texts[number]).cosine for number in left_out]
    whole = learned.topic(terms)
    return calibrate(relevant, [whole.likeness(text).cosine for text in others])


# The topic of a page by given words, in the text and again in emphasised elements.


LAMBDA = {
    "title": 1.0, "h1": 0.9, "h2": 0.7, "h3": 0.6, "strong": 0.5, "b": 0.4, "em": 0.4, "u": 0.4, "i": 0.4,
}  # fmt: skip
"""Weight of each tag; the text has weight 1."""
HIGHEST = 1.0 + sum(LAMBDA.values())


def stressed(text: float, tags: Mapping[str, float]) -> float:
    """W, from the similarities of the text and of each tag's text to the topic."""
    return text + sum(LAMBDA[tag] * near for tag, near in tags.items())


@dataclass(frozen=True)
class TagWeighted(NearTopic):
    """The relevance is W divided by its maximum. Relevant above `least`. Without `normalise`, similarity is the dot
    product instead of the cosine, and the relevance is capped at 1."""

    words: tuple[str, ...]
    least: float = 0.05
    normalise: bool = True
    language: str = ""
    _topic: Topic = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        checked_least(self.least)
        words, space = Words(self.language), general_space("lg")
        vector = space.raw(words.of("\n".join(self.words)))
        if not vector:
            raise UsageError(f"{' '.join(self.words)!r} holds no words; name some, as in tag-weighted:horse+steppe")
        object.__setattr__(self, "_topic", Topic(words, space, vector))

    @property
    def target_prior(self) -> TargetPrior:
        return TargetPrior(words=self._topic.heaviest(len(self._topic.vector)))

    def verdict(self, page: Page) -> Verdict:
        text = self._topic.likeness(page.best_text)
        tags = {tag: self._near(self._topic.likeness(said)) for tag in LAMBDA if (said := _said(page, tag))}
        weight = stressed(self._near(text), tags)
        relevance = min(1.0, weight / HIGHEST)
        parts = {"text": self._near(text), **tags}
        return Verdict(relevance, relevance > self.least, _because(weight, parts, text.words))

    def _near(self, likeness: Likeness) -> float:
        return likeness.cosine if self.normalise else likeness.product


def _said(page: Page, tag: str) -> str:
    return page.title if tag == "title" else page.tag_texts.get(tag, "")


def _because(weight: float, parts: Mapping[str, float], words: Sequence[str]) -> str:
    similar = ", ".join(f"{part} {near:.2f}" for part, near in parts.items() if near) or "no word of the topic"
    return f"weight {weight:.2f} of {HIGHEST:.1f}: {similar}" + (f"; most by {', '.join(words)}" if words else "")


# Pages whose URL, title or text matches a regular expression.


PLACES = ("url", "title", "text")
LONGEST = 60
"""Characters of the match shown in the reason."""


@dataclass(frozen=True)
class Pattern(PageByPage):
    """The relevance is 1 or 0. Case is ignored, unless the pattern contains `(?-i:…)`."""

    pattern: str
    where: tuple[str, ...] = PLACES
    _compiled: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for place in self.where:
            if place not in PLACES:
                raise UsageError(f"where={place!r} is not a part of a page; known are {', '.join(PLACES)}, joined by +")
        try:
            object.__setattr__(self, "_compiled", re.compile(self.pattern, re.IGNORECASE))
        except re.error as error:
            raise UsageError(f"{self.pattern!r} is not a regular expression: {error}") from None

    @property
    def reads_content(self) -> bool:
        return self.where != ("url",)

    def verdict(self, page: Page) -> Verdict:
        said = {"url": page.url, "title": page.title, "text": page.text}
        for place in self.where:
            if found := self._compiled.search(said[place]):
                return Verdict(1.0, True, f"{place} holds {found[0][:LONGEST]!r}")
        return Verdict(0.0, False, f"{self.pattern!r} is not in {', '.join(self.where)}")
