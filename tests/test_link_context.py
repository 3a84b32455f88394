"""The words around a link: a hundred characters on each side, and nothing cut that a reader would take for one."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.live.page_reader import Reader, with_canonical_links
from spoor.ordering.learned.learned import Learned
from spoor.ordering.trails import LastPage
from spoor.parse.html import ParseOptions, read_page
from spoor.parse.tidy_text import WINDOW, end_after, start_before, tidied, words_after, words_before
from spoor.records import Judged, Link, Page, Response, TargetPrior, Visit
from spoor.strategy import Strategy, hinted
from tests.tiny import graph, truth


def link(before: str, after: str) -> Link:
    html = f"<meta charset=utf-8><p>{before}<a href=x>anchor</a>{after}</p>"
    (found,) = read_page("http://a.test/", html.encode(), "text/html; charset=utf-8").links
    return found


def test_a_window_holds_whole_words_only() -> None:
    said = link("word " * 50, " letters" * 50)
    assert said.left == " ".join(["word"] * 20)
    assert said.right == " ".join(["letters"] * 12)


def test_a_word_that_just_fits_is_kept() -> None:
    assert link("no " + "y" * WINDOW + " ", " " + "y" * WINDOW + " no").left == "y" * WINDOW
    assert link("no " + "y" * WINDOW + " ", " " + "y" * WINDOW + " no").right == "y" * WINDOW


def test_what_is_longer_than_a_window_is_no_word() -> None:
    said = link("x" * 1000, "x" * 1000)
    assert (said.left, said.right) == ("", "")


def test_white_space_of_the_markup_does_not_count() -> None:
    said = link(("word" + " " * 40 + "\n\t") * 50, (" \n" * 30 + "word") * 50)
    assert said.left == said.right == " ".join(["word"] * 20)


def test_hindi_is_cut_between_words() -> None:
    words = "विश्वविद्यालय में कंप्यूटर विज्ञान और इंजीनियरिंग विभाग का पाठ्यक्रम "
    said = link(words * 5, " " + words * 5)
    assert WINDOW - 15 < len(said.left) <= WINDOW and WINDOW - 15 < len(said.right) <= WINDOW
    assert set(said.left.split()) | set(said.right.split()) <= set(words.split())


@pytest.mark.parametrize("run", ["计算机科学", "コンピューター", "วิทยาศาสตร์น้ำ", "កុំព្យូទ័រ", "ကွန်ပျူတာသိပ္ပံ", "ຄອມພິວເຕີນ້ຳ"])
def test_scripts_without_blanks_fill_the_window_and_keep_letters_with_their_marks(run: str) -> None:
    said = link(run * 100, run * 100)
    for text in (said.left, said.right):
        assert WINDOW - 6 < len(text) <= WINDOW
    assert not begins_inside_of_a_letter(run * 100, len(run * 100) - len(said.left))
    assert not begins_inside_of_a_letter(run * 100, len(said.right))


def begins_inside_of_a_letter(text: str, place: int) -> bool:
    tied = unicodedata.combining(text[place - 1]) == 9
    return tied or text[place] in "\u0e33\u0eb3" or unicodedata.category(text[place]).startswith("M")


def test_a_latin_word_among_chinese_is_not_cut() -> None:
    assert link("学" * 50 + "Wikipedia" + "学" * 95, "").left == "学" * 95
    assert link("", "学" * 95 + "Wikipedia" + "学" * 50).right == "学" * 95


def test_the_windows_reach_over_other_links_and_blocks() -> None:
    html = b"<h2>Above</h2><p>one <a href=1>two</a> three</p><ul><li><a href=2>four</a><li><a href=3>five</a></ul>six"
    two = read_page("http://a.test/", html, "text/html").links[1]
    assert (two.heading, two.left, two.anchor, two.right) == ("Above", "Above one two three", "four", "five six")


TEXTS = st.text(st.sampled_from("ab. \n\x1f学น้ำक्ष"), max_size=300)


@given(TEXTS, st.data())
def test_windows_are_ends_of_the_tidied_text(text: str, data: st.DataObject) -> None:
    tidy = tidied(np.array([ord(letter) for letter in text], np.uint32))
    for place in data.draw(st.lists(st.integers(0, len(text)), max_size=6)):
        left, right = " ".join(text[:place].split()), " ".join(text[place:].split())
        before, after = words_before(tidy.words, tidy.ends[place]), words_after(tidy.words, tidy.begins[place])
        assert left.endswith(before) and right.startswith(after) and max(len(before), len(after)) <= WINDOW
        assert before == left or len(left) > WINDOW
        assert after == right or len(right) > WINDOW


@given(TEXTS, st.data(), st.integers(0, 40))
def test_contexts_start_and_end_where_their_words_do(text: str, data: st.DataObject, window: int) -> None:
    tidy = tidied(np.array([ord(letter) for letter in text], np.uint32))
    for place in data.draw(st.lists(st.integers(0, len(text)), max_size=6)):
        end, begin = tidy.ends[place], tidy.begins[place]
        start, stop = start_before(tidy.codes, end, window), end_after(tidy.codes, begin, window)
        assert start < 0 or tidy.words[start:end] == words_before(tidy.words, end, window)
        assert stop < 0 or tidy.words[begin:stop] == words_after(tidy.words, begin, window)
        assert (start >= 0 and stop >= 0) or not text.isascii()


# Contexts that are read when they are needed.


PAGE = """
<title>A page</title><link rel=canonical href="/declared?utm_source=x"><h2>Kinds of links</h2>
<p>Before <a href="/a?utm_source=y" hreflang=de rel=next>plain</a> after, and <a href="/b">another</a>.
<ul><li><a href="/declared">itself</a> <li><a href="/c;jsessionid=1">a session</a></ul>
"""


def read(later: bool) -> Page:
    page = read_page("http://a.test/", PAGE.encode(), "text/html", parse_options=ParseOptions(contexts_later=later))
    return with_canonical_links(page)


def test_links_have_the_same_contexts_if_these_are_read_later_whatever_their_urls_are_then() -> None:
    at_once, later = read(later=False), read(later=True)
    assert later.links != at_once.links and later.contexts is not None
    assert later.contexts.of(later.links) == list(at_once.links)
    assert later.contexts.of(later.links[2:0:-1]) == list(at_once.links[2:0:-1])
    unknown = Link("http://a.test/of-a-script", "anchor")
    assert later.contexts.of([unknown]) == [unknown]


def test_the_learning_strategy_reads_contexts_only_of_links_that_it_scores() -> None:
    scorer = Learned(TargetPrior("th"))
    here, in_worker = read_live(scorer, PAGE)
    assert in_worker.page.contexts is None
    assert not any(link.left or link.right or link.heading for link in here.page.links)
    read_here = hinted(scorer, here.page, here.page.links)
    assert [link.hints for link in read_here] == [link.hints for link in in_worker.page.links]
    assert [link.hints for link in read_here] == [link.hints for link in hinted(scorer, here.page, read(False).links)]


def test_a_worker_sends_no_contexts_even_if_no_link_is_left() -> None:
    here, in_worker = read_live(Learned(TargetPrior("th")), "<p><a href='/?utm_source=x'>itself</a>")
    assert here.page.links == in_worker.page.links == () and in_worker.page.contexts is None


def read_live(scorer: Learned, html: str) -> tuple[Judged, Judged]:
    """As a live crawl reads it in its own process and in a worker."""
    reader = Reader.of(Strategy(truth(graph("S:")), scorer, LastPage()))
    body = html.encode()
    answer = Response("http://a.test/", 200, {"content-type": "text/html"}, body, body, b"", b"", "", 0.0, 0.0)
    visit = Visit("http://a.test/", "a.test", 0, 0.0)
    here, in_worker = reader.read(visit, answer), reader.read_in_worker(visit, answer)
    assert isinstance(here, Judged) and isinstance(in_worker, Judged)
    return here, in_worker


def test_anchors_read_without_contexts_are_those_that_links_have_with_them() -> None:
    shapes = (
        "<meta http-equiv=refresh content='9; url=/meta' name=meta>",
        "<a href=/words>some <b>words</b></a>",
        "<a href=/twice><img></a> and <a href=/twice>the second has words</a>",
        "<a href=/picture><img alt='a picture'></a><a href=/titled title='a title'></a><a href=/empty></a>",
        "<link rel=alternate hreflang=de href=/de><a href=/fr hreflang=fr>Français</a>",
        f"<a href=/long>{'long ' * 200}</a><area href=/area alt=area><iframe src=/frame></iframe>",
    )
    options = ParseOptions(contexts_later=True)
    page = read_page("http://a.test/", "".join(shapes).encode(), "text/html", parse_options=options)
    assert page.contexts is not None
    anchored, whole = page.contexts.anchors_of(page.links), page.contexts.of(page.links)
    assert anchored == [(link.anchor, link.hreflang) for link in whole]
    assert {anchor for anchor, _ in anchored} >= {"some words", "the second has words", "Français"}
