"""What the words of a topic tell of links, held against the plain way of counting them."""

from __future__ import annotations

import re
import sys

from hypothesis import given
from hypothesis import strategies as st

from spoor.ordering.learned.prior import LinkPrior
from spoor.ordering.learned.topic_words import _letters
from spoor.records import Link, Page, TargetPrior

LETTERS = "ab_ -Aé9日\u0301\0İΣ\ud800😀"
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


@given(WORDS, st.lists(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS, TEXTS), max_size=4), TEXTS, TEXTS)
def test_words_are_counted_in_each_text_of_each_link(
    words: tuple[str, ...], said: list[tuple[str, str, str, str, str]], title: str, path: str
) -> None:
    links = [Link(f"http://a.test/{name}", anchor, left, right, heading) for name, anchor, left, right, heading in said]
    found = LinkPrior(TargetPrior(words=words)).of(Page(f"http://a.test/{path}", title=title), links)
    on_page = 2.0 * plainly(words, f"{title} {path}")
    for (name, anchor, *around), (prior, by_url) in zip(said, found, strict=True):
        in_link = 2.0 * plainly(words, name) + 2.0 * plainly(words, anchor) + 0.5 * plainly(words, " ".join(around))
        assert (prior, by_url) == (in_link + on_page, 0.0)


def test_the_letters_of_words_are_those_of_regular_expressions() -> None:
    found = re.findall(r"[^\W_]", "".join(map(chr, range(sys.maxunicode + 1))))
    assert [chr(code) for code in _letters().nonzero()[0]] == found
