"""Main texts: the ratios of paper 002 in numbers, what pages are cleaned of, and what is measured on gold texts."""

from __future__ import annotations

import sys
from statistics import mean

import pytest
from bench.extraction import Marks, agreement, gold_pages

from spoor.errors import MissingExtra
from spoor.parse.main_text import (
    BEST,
    NODE_RATIO,
    QUICK,
    Extractor,
    main_element,
    node_ratio,
    outline,
    unlink_node_ratio,
)
from tests.shared_data import SHARED

needs_gold_texts = pytest.mark.skipif(
    not (SHARED / "data" / "extraction").is_dir(),
    reason=f"no gold texts at {SHARED}/data/extraction; set SPOOR_DATA to the folder that has data/extraction",
)

TOY = f"""<html><body>
<div id="nav"><a href="/1">Home page</a> <a href="/2">News</a></div>
<div id="main"><h1 id="head">Short head</h1><p id="first">{"a" * 40}</p>
<p id="second">{"b" * 20} <a href="/x">link text</a></p><p id="third">{"c" * 10}</p></div>
<div id="foot">copyright!</div></body></html>"""
"""Check V-1."""


def test_the_ratios_of_the_toy_page_are_those_of_the_specification() -> None:
    page = outline(TOY)
    assert (page.letters, page.blocks) == (90, 5)
    ratios = {
        element.node.id: (round(node_ratio(element, page), 4), round(unlink_node_ratio(element, page), 4))
        for element in page.elements
        if element.node.id
    }
    assert ratios == {
        "nav": (0.0, 0.0),
        "head": (0.1111, 0.2),
        "first": (0.4444, 0.2),
        "second": (0.2222, 0.2),
        "third": (0.1111, 0.2),
        "main": (0.8889, 0.8),
        "foot": (0.1111, 0.2),
    }


def test_the_main_element_of_the_toy_page_is_the_div_around_its_paragraphs() -> None:
    chosen = main_element(outline(TOY))
    assert chosen and chosen.node.id == "main"


def test_the_main_text_has_its_short_paragraphs_and_the_words_of_its_links() -> None:
    lines = ["Short head", "a" * 40, "b" * 20 + " link text", "c" * 10]
    assert NODE_RATIO.extract(TOY).text.splitlines() == lines


def test_inline_markup_adds_no_blocks() -> None:
    page = outline("<div><p>one <b>two</b> <i>three</i></p><p>four</p></div>")
    assert (page.letters, page.blocks) == (3 + 3 + 5 + 4, 2)


def test_an_inline_element_around_all_paragraphs_can_be_the_main_element() -> None:
    chosen = main_element(outline("<div><span><p>one</p><p>two</p></span></div>"))
    assert chosen and chosen.node.tag == "span"


def test_a_page_without_text_outside_of_links_has_no_main_element() -> None:
    assert main_element(outline("<p><a href='/'>home</a></p>")) is None


def test_an_element_that_is_called_an_advert_is_left_out() -> None:
    text = NODE_RATIO.extract("<div><p>one</p><div class='box ad-slot'><p>buy</p></div><p>two</p></div>").text
    assert text == "one\ntwo"


def test_what_stands_around_an_advert_stays_apart() -> None:
    assert NODE_RATIO.extract("<div>one<div id='ad'>buy</div>two</div>").text == "one\ntwo"


def test_an_element_is_not_an_advert_because_a_word_of_its_name_begins_like_one() -> None:
    text = NODE_RATIO.extract("<div><p>one</p><p class='adventure headline'>two</p></div>").text
    assert text == "one\ntwo"


def test_a_whole_article_in_an_element_that_is_called_an_advert_is_kept() -> None:
    story = "word " * 100
    text = NODE_RATIO.extract(f"<div class='ads'><p>{story}</p><p>{story}</p></div>").text
    assert text.count("word") == 200


@pytest.mark.parametrize("notice", ["© Example", "Copyright 2026 by nobody", "All rights reserved.", "版权所有 某某"])
def test_a_copyright_notice_is_left_out(notice: str) -> None:
    assert NODE_RATIO.extract(f"<div><p>one</p><p>two</p><p>{notice}</p></div>").text == "one\ntwo"


def test_a_long_text_that_mentions_copyright_is_kept() -> None:
    text = "The law of copyright 1886 was made in Bern. " * 10
    assert NODE_RATIO.extract(f"<div><p>one</p><p>{text}</p></div>").text == f"one\n{text.strip()}"


def test_a_short_page_with_a_copyright_notice_in_its_body_is_kept() -> None:
    assert NODE_RATIO.extract("<body class='no-ads'>Under construction. © nobody").text.startswith(
        "Under construction."
    )


def test_quick_keeps_the_words_of_neighbouring_cells_apart() -> None:
    table = "<table><tr><td>Price</td><td>100</td></tr><tr><TH>Cost</TH><TD>20</TD></tr></table>"
    assert QUICK.extract(f"<article>{table}<p>one</p></article>").text == "Price 100\nCost 20\none"


@pytest.mark.parametrize(
    "word",
    [
        "\ue264\ue26c\ue2b5",
        "\U0010ff00x",
        "\ufdd0x",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u1828\u180e\u1820",
    ],
    ids=["font", "private plane", "unassigned", "Persian", "Mongolian"],
)
def test_best_keeps_letters_that_its_library_does_not_print(word: str) -> None:
    words = " ".join([word] * 40)
    page = f"<html><body><article><h1>one</h1><p>{words}, \U00020000</p><p>two, twice</p></article></body></html>"
    assert f"{words}, \U00020000" in BEST.extract(page).text


def test_best_keeps_letters_of_a_font_that_are_written_as_references() -> None:
    references = " ".join(["&#xE264;&#57964;&zwnj;a"] * 40)
    assert "\ue264\ue26c" in BEST.extract(f"<html><body><article><p>{references}</p></article></body></html>").text


def test_where_best_loses_the_text_of_a_page_quick_is_taken() -> None:
    days = [f"<p>It was a long ride, and day {n} of them was no shorter.</p>" for n in range(400)]
    entries = [f'<div class="entry-content">{text}</div>' for text in ("".join(days[:8]), "".join(days[8:]))]
    page = f"<html><body>{''.join(entries)}</body></html>"
    assert "day 0 of" in BEST.extract(page).text and "day 399 of" in BEST.extract(page).text


def test_best_without_its_library_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    with pytest.raises(MissingExtra, match=r"pip install 'spoor\[text\]'"):
        BEST.extract("<p>one</p>")


def test_marks_count_every_word_as_often_as_it_occurs() -> None:
    marks = agreement("One two two three", "two TWO four, one")
    assert marks == Marks(precision=3 / 4, recall=3 / 4)
    assert marks.f1 == 3 / 4


def test_nothing_found_has_no_marks() -> None:
    assert agreement("", "one").f1 == 0.0


@needs_gold_texts
@pytest.mark.parametrize(("extractor", "least"), [(BEST, 0.95), (QUICK, 0.90), (NODE_RATIO, 0.82)])
def test_main_texts_agree_with_gold_texts(extractor: Extractor, least: float) -> None:
    pages = gold_pages()
    assert mean(agreement(extractor.extract(page.html, page.url).text, page.text).f1 for page in pages) >= least
