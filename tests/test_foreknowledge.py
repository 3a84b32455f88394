"""What the words of a topic tell of links, held against the plain way of counting them."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from spoor.ordering.learned.prior import LinkPrior
from spoor.records import Link, Page, TargetPrior

LETTERS = "ab_ -Aé9日\u0301"
WORDS = st.lists(st.text(st.sampled_from(LETTERS), max_size=7), max_size=3).map(tuple)
TEXTS = st.text(st.sampled_from(LETTERS), max_size=40)


def plainly(words: tuple[str, ...], text: str) -> float:
    """1 for a word that is named, half as much for every other, 2 at most; five letters of a word are enough."""
    stems = {word[:5] for word in re.findall(r"[^\W_]+", text.lower())}
    named = len(stems & {word[:5] for word in words})
    return min(2.0, (1 + named) / 2) if named else 0.0


@given(WORDS, TEXTS)
def test_words_are_counted_as_they_are_one_by_one(words: tuple[str, ...], anchor: str) -> None:
    ((said, _),) = LinkPrior(TargetPrior(words=words)).of(Page("http://a.test/"), [Link("http://a.test/", anchor)])
    assert said == 2.0 * plainly(words, anchor)
