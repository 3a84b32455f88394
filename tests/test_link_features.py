"""The features of a link: which words are read, and that the quick way to read them is the plain one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.ordering.learned.features import FIELDS, HEAD, MOST, named_features, packed_features
from spoor.ordering.learned.learned import Learned
from spoor.records import Link, Page
from spoor.strategy import hinted

PAGE = Page("http://p.test/", title="Horses")
LINK = Link("http://a.test/", anchor="Riding schools")


def read(link: Link, page: Page = PAGE, without: Sequence[str] = ()) -> list[int]:
    """What is kept of a link."""
    (packed,) = packed_features(page, [link], [(0.0, 0.0)], without)
    return numbers(packed)


def numbers(packed: bytes) -> list[int]:
    return list(map(int, np.frombuffer(packed, np.int32)))


def names(link: Link, page: Page = PAGE, without: Sequence[str] = ()) -> list[str]:
    """Features by name; the kernel has read the same, in the same order."""
    named = named_features(page, link, without)
    assert read(link, page, without)[HEAD:] == list(named)
    return list(named.values())


def places(url: str) -> list[int]:
    """Of the host and its folders."""
    return read(Link(url))[5:HEAD]


def domain(url: str, page: str = "http://p.test/") -> tuple[int, int]:
    """Whether the link stays within the domain of the page, and the domain as a place."""
    stays, place = read(Link(url), Page(page))[3:5]
    return stays, place


LETTERS = "ab Z09/?.\x00\x01\x02\x03\x07\x09\n\x1f\x7f\u00a0éÉİΣσ\u2014\u3000。๑ไทย日本語カナက្ខ\uff0f１\ud800😀"
TEXTS = st.text(st.sampled_from(LETTERS), max_size=90)
URLS = st.one_of(st.builds("http://{}/{}".format, TEXTS, TEXTS), TEXTS)
LINKS = st.builds(
    Link,
    URLS,
    anchor=TEXTS,
    left=TEXTS,
    right=TEXTS,
    heading=TEXTS,
    hreflang=TEXTS,
    rel=TEXTS,
    path=TEXTS,
    navigation=st.booleans(),
)


@given(st.lists(LINKS, min_size=1, max_size=4), TEXTS, st.sets(st.sampled_from(list(FIELDS))))
def test_the_kernel_reads_what_the_plain_way_reads(links: list[Link], title: str, without: set[str]) -> None:
    page = replace(PAGE, title=title)
    packed = packed_features(page, links, [(0.0, 0.0)] * len(links), tuple(without))
    for link, one in zip(links, packed, strict=True):
        assert numbers(one)[HEAD:] == list(named_features(page, link, tuple(without)))


def test_a_link_is_known_by_words_of_each_field_by_its_places_and_by_its_list() -> None:
    link = Link(
        "http://www.a.test/riding/school.html",
        anchor="Lessons",
        left="our",
        right="daily",
        heading="What we do",
        hreflang="en",
        rel="next",
        path="html/body/ul/li",
        navigation=True,
    )
    assert names(link) == [
        *("host “www”", "host “a”", "host “test”", "host www.a.test"),
        *("URL “riding”", "folder www.a.test/riding/", "URL “school”", "URL “html”"),
        *("anchor “lessons”", "before “our”", "after “daily”", "heading “what”", "heading “we”", "heading “do”"),
        *("element “html”", "element “body”", "element “ul”", "element “li”", "list html/body/ul/li"),
        *("claim “en”", "claim “next”", "claim “nav”", "title “horses”"),
    ]


@pytest.mark.parametrize(
    ("field", "gone"),
    [
        ("url", ("host", "URL", "folder")),
        ("anchor", ("anchor",)),
        ("context", ("before", "after", "heading")),
        ("elements", ("element", "list", "claim")),
        ("title", ("title",)),
    ],
)
def test_a_field_can_be_left_out_and_the_others_stay(field: str, gone: tuple[str, ...]) -> None:
    link = Link("http://a.test/b/c", "in", "the", "words", "around", hreflang="en", path="html/body")
    everything = names(link)
    assert names(link, without=(field,)) == [name for name in everything if not name.startswith(gone)]
    assert len(names(link, without=(field,))) < len(everything)


def test_the_same_word_is_another_feature_in_another_field() -> None:
    word = "horse"
    links = [
        LINK._replace(anchor=word),
        LINK._replace(left=word),
        LINK._replace(right=word),
        LINK._replace(heading=word),
    ]
    assert len({name for link in links for name in names(link) if word in name and "title" not in name}) == 4
    assert len({feature for link in links for feature in read(link)} - set(read(LINK._replace(anchor="")))) == 6


def anchors(text: str) -> list[str]:
    return [name for name in names(LINK._replace(anchor=text)) if name.startswith("anchor")]


def test_every_number_is_the_same() -> None:
    assert anchors("page 7") == anchors("page 1234") == ["anchor “page”", "anchor “0”"]
    assert anchors("vol12no3") == ["anchor “vol0no0”"]


def test_capital_letters_are_small_ones() -> None:
    assert anchors("ÉCOLE") == anchors("école") == ["anchor “école”"]


@pytest.mark.parametrize("run", ["日本語", "ไทย", "មកន", "ကခဂ", "カタカ"])
def test_where_no_blanks_are_written_pairs_of_letters_are_words(run: str) -> None:
    assert anchors(run) == [f"anchor “{run[:2]}”", f"anchor “{run[1:]}”"]


def test_a_word_of_another_script_ends_a_run() -> None:
    assert anchors("日本web語学") == ["anchor “日本”", "anchor “web”", "anchor “語学”"]


def test_a_single_letter_without_neighbour_is_no_pair() -> None:
    assert anchors("日 本") == []


def test_places_go_from_the_host_inwards_and_the_innermost_is_repeated() -> None:
    host, one, two, three = places("http://a.test/x/y/z/page")
    assert len({host, one, two, three}) == 4
    assert places("http://a.test/x/y/page") == [host, one, two, two]
    assert places("http://a.test/x/other") == [host, one, one, one]
    assert places("http://a.test/") == [host] * 4
    assert places("http://a.test/x/y/z/deeper/page") == [host, one, two, three]
    assert places("http://b.test/x/y/z/page")[0] != host


def test_hosts_of_one_registrable_domain_share_a_place_around_them() -> None:
    assert domain("http://www.a.co.uk/x") == domain("http://shop.a.co.uk/") != domain("http://b.co.uk/")


def test_a_link_stays_within_its_domain_or_does_not() -> None:
    assert domain("http://www.p.test/", page="http://blog.p.test/x")[0] == 1
    assert domain("http://a.test/", page="http://p.test/")[0] == 0


def test_what_comes_after_a_question_mark_is_no_folder() -> None:
    assert places("http://a.test/x/page?next=/y/z/") == places("http://a.test/x/page")


def test_links_with_the_same_elements_around_them_stand_in_one_list() -> None:
    lists = [read(Link(f"http://a.test/{n}", path=path))[2] for n, path in enumerate(("ul/li", "ul/li", "ol/li"))]
    assert lists[0] == lists[1] != lists[2]


def test_what_was_foretold_comes_first_in_thousandths_and_then_for_or_against() -> None:
    (packed,) = packed_features(PAGE, [LINK], [(-1.25, 0.5)])
    assert numbers(packed)[:2] == [-1250, 1]


@pytest.mark.parametrize("control", ["\x01", "\x02", "\x03", "\x09"])
def test_no_text_from_the_web_can_begin_a_field_or_another_link(control: str) -> None:
    torn = f"x{control}http://evil.test/"
    page = replace(PAGE, title=torn)
    links = [Link("http://a.test/", torn, torn, torn, torn, hreflang=torn, rel=torn, path=torn), LINK]
    packed = packed_features(page, links, [(0.0, 0.0)] * 2)
    for link, one in zip(links, packed, strict=True):
        assert numbers(one)[5:] == [*places(link.url), *read(link, page)[HEAD:]]
    assert "anchor “evil”" in names(links[0], page) and not any("URL" in name for name in names(links[0], page))


def test_no_more_than_so_many_features_are_kept_the_first_ones() -> None:
    page, link = replace(PAGE, title="late " * 12), Link("http://a.test/" + "-".join(map(chr, range(0x430, 0x480))))
    assert len(names(link, page)) == MOST and not any("title" in name for name in names(link, page))


def test_only_what_is_near_is_read() -> None:
    far = "far " * 40
    link = Link("http://a.test/", f"{'a ' * 40}far", f"{far}{'l ' * 16}", f"{'r ' * 16}{far}", f"{'h ' * 30}far")
    assert not any("far" in name for name in names(link, replace(PAGE, title=f"{'t ' * 30}far")))


def test_a_link_that_says_nothing_has_its_host_and_no_list() -> None:
    assert names(Link("http://a.test/"), Page("http://p.test/")) == [
        "host “a”",
        "host “test”",
        "host a.test",
        "list (none)",
    ]
    assert names(Link(""), Page("")) == ["host ", "list (none)"]


def test_a_link_that_was_read_has_its_hints_and_says_what_it_said() -> None:
    link = Link("http://a.test/", "an", "le", "ri", "he", True, "de", "me", "html/body", True)
    (read,) = hinted(Learned(), PAGE, [link])
    assert len(read.hints) > HEAD and read._replace(hints=()) == link
