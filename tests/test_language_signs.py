"""Signs of a language before the visit: in URLs, claims and anchors, and their false friends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.errors import UsageError
from spoor.judging.language_mentions import CODE, LETTERS, NAME, WORD, marked, may_name
from spoor.judging.language_signs import (
    MOST_URLS,
    claimed,
    named_in_anchors,
    script_sign,
    signs_in_anchor,
    signs_in_anchors,
    signs_in_url,
    signs_in_urls,
    words_signs,
)
from spoor.judging.language_tags import codes_and_countries, meanings, names
from spoor.ordering.language_order import WEIGHTS, LanguageSigns
from spoor.records import Link, Page, Sighting, Verdict, Visit
from spoor.strategy import hinted
from tests.plain_language_signs import named_in_anchor, named_in_url, plain_hints


def by_url(relevant: str, url: str) -> float:
    named, _ = signs_in_url(relevant, url)
    return round(named.sign, 3)


def by_anchor(relevant: str, anchor: str) -> float:
    said, _ = signs_in_anchor(relevant, anchor)
    return said


# URLs


@pytest.mark.parametrize(
    "url",
    [
        "http://ja.example.org/",
        "http://www-ja.example.org/",
        "http://example.org/ja/page.html",
        "http://example.org/2.10/ja-JP/",
        "http://example.org/ja_JP/",
        "http://example.org/index.ja.html",
        "http://example.org/index.html.ja",
        "http://example.org/guide-ja/",
        "http://example.org/guide_ja.html",
        "http://example.org/japanese/",
        "http://example.org/%E6%97%A5%E6%9C%AC%E8%AA%9E/",
        "http://example.org/?lang=ja",
        "http://example.org/search?q=x&hl=ja",
        "http://example.org/search?lr=lang_ja",
        "http://example.org/jpn/",
        "http://example.org/jp/",
        "http://example.org/en/index.ja.html",
    ],
)
def test_a_language_named_in_a_url_is_a_sign_for_it_and_against_others(url: str) -> None:
    assert by_url("ja", url) > 0.4
    assert by_url("de", url) < -0.4


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "http://example.org/page.html",
        "http://example.org/script.pl",
        "http://example.org/lib.so",
        "http://example.org/sign-in",
        "http://example.org/how-to/",
        "http://example.org/?q=ja",
        "http://ja.org/",
    ],
)
def test_what_only_looks_like_a_code_says_nothing(url: str) -> None:
    assert [by_url(relevant, url) for relevant in ("ja", "pl", "so", "id", "to")] == [0.0] * 5


@pytest.mark.parametrize(("code", "relevant"), [("se", "sv"), ("cn", "zh"), ("cz", "cs"), ("dk", "da"), ("br", "pt")])
def test_a_country_in_a_path_means_its_language(code: str, relevant: str) -> None:
    assert by_url(relevant, f"http://example.org/{code}/") == 0.8


def test_a_code_that_is_both_a_language_and_a_country_means_the_language() -> None:
    assert by_url("sv", "http://example.org/sv/") == 1.0
    assert by_url("es", "http://example.org/sv/") == -1.0


def test_a_code_that_is_also_a_word_says_half_as_much() -> None:
    assert [by_url(relevant, "http://example.org/it/") for relevant in ("it", "de")] == [0.5, -0.5]
    assert by_url("de", "http://cs.example.edu/") == -0.5


def test_english_says_little_against_other_languages() -> None:
    assert by_url("ja", "http://example.org/en/") == -0.25


def test_a_script_is_told_apart() -> None:
    assert by_url("zh-Hant", "http://example.org/zh-tw/") == 1.0
    assert by_url("zh-Hant", "http://example.org/zh-cn/") == -1.0
    assert by_url("zh", "http://example.org/zh-tw/") == 1.0


def test_a_small_language_is_meant_only_where_it_is_wanted() -> None:
    assert by_url("ast", "http://example.org/ast/") == 0.8
    assert by_url("ja", "http://example.org/ast/") == 0.0


def domain_sign(relevant: str, url: str) -> float:
    _, said = signs_in_url(relevant, url)
    return said


def test_a_country_domain_counts_by_how_many_there_speak_the_language() -> None:
    assert domain_sign("ja", "http://www.example.co.jp/") == 0.95
    assert domain_sign("ja", "http://example.de:8080/") == -0.91
    assert domain_sign("de", "http://example.ch/") == 0.76
    assert domain_sign("ca", "http://example.es/") == 0.0
    assert domain_sign("ja", "http://example.org/") == domain_sign("ja", "http://example.tv/") == 0.0


# Claims


def test_what_a_page_claims_is_a_clear_sign_if_it_can_be_understood() -> None:
    assert [claimed("de", said).sign for said in ("de-AT", "fr", "en", "x-default", "")] == [1.0, -1.0, -0.25, 0, 0]


# Anchors


@pytest.mark.parametrize("anchor", ["日本語", "[日本語]", "日本語版", "Japanese", "ja", "in Japanese", "ダウンロード"])
def test_an_anchor_names_a_language_or_is_written_in_it(anchor: str) -> None:
    assert by_anchor("ja", anchor) >= 0.7


@pytest.mark.parametrize("anchor", ["Deutsch", "German (de)", "Русский", "中文"])
def test_an_anchor_that_names_another_language_is_a_sign_against(anchor: str) -> None:
    assert by_anchor("ja", anchor) <= -0.7


def test_an_anchor_that_names_several_languages_says_nothing() -> None:
    assert signs_in_anchor("ja", "German or French") == (-0.2, "")


def test_letters_of_another_script_are_a_sign_against_but_latin_ones_hardly() -> None:
    assert script_sign("de", "Скачать") == script_sign("el", "Скачать") == -1.0
    assert script_sign("ru", "OpenOffice") == -0.2
    assert script_sign("de", "OpenOffice") == 0.0


def test_a_language_of_several_scripts_takes_them_all_unless_one_is_named() -> None:
    assert script_sign("mn", "Монгол") == 0.6
    assert script_sign("mn", "ᠮᠣᠩᠭᠣᠯ") == script_sign("mn-Mong", "ᠮᠣᠩᠭᠣᠯ") == 1.0
    assert script_sign("mn-Mong", "Монгол") == -1.0
    assert script_sign("sr", "Preuzmi") == 0.0


def test_kana_settles_what_chinese_characters_leave_open() -> None:
    assert script_sign("ja", "東京") == 0.4
    assert script_sign("ja", "東京に") == 1.0
    assert script_sign("zh", "東京") == 0.7
    assert script_sign("zh", "東京に") < 0


def test_n_grams_of_a_long_anchor_are_a_sign_for_its_language() -> None:
    german, english = words_signs(
        "de", ["Die Würde des Menschen und die Freiheit", "contributing to the project today"]
    )
    assert german > 0.3 > english == 0.0
    assert words_signs("de", ["kurz"]) == [0.0]


# All together


def page(*links: Link, language: str = "") -> Page:
    return Page("http://example.org/", links=links, language=language)


def keys(scorer: LanguageSigns, seen: Page, relevant: bool = False) -> list[float]:
    sighting = Sighting(Visit(seen.url, "example.org", 0, 0.0), seen, Verdict(float(relevant), relevant, "told"), None)
    return [scorer.key(evidence) for evidence in scorer.evidence(sighting, hinted(scorer, seen, seen.links))]


def test_every_kind_of_evidence_moves_a_link() -> None:
    plain = Link("http://a.org/", "next")
    signed = [
        Link("http://a.org/ja/", "next"),
        Link("http://a.org/", "next", hreflang="ja"),
        Link("http://a.org/", "日本語"),
        Link("http://a.jp/", "next"),
    ]
    none, *some = keys(LanguageSigns("ja"), page(plain, *signed))
    assert all(key > none for key in some)
    assert keys(LanguageSigns("ja"), page(plain, language="ja")) > keys(LanguageSigns("ja"), page(plain))
    assert keys(LanguageSigns("ja"), page(plain), relevant=True) > keys(LanguageSigns("ja"), page(plain))


def test_an_evidence_left_out_counts_for_nothing() -> None:
    plain, named = keys(LanguageSigns("ja", ("url",)), page(Link("http://a.org/"), Link("http://a.org/ja/")))
    assert plain == named


def test_nobody_else_sees_an_evidence_that_is_left_out() -> None:
    scorer, seen = LanguageSigns("ja", ("url",)), page(Link("http://a.org/ja/"))
    sighting = Sighting(Visit(seen.url, "example.org", 0, 0.0), seen, Verdict(1.0, True, "told"), None)
    (evidence,) = scorer.evidence(sighting, hinted(scorer, seen, seen.links))
    assert evidence["url"] == 0.0


def test_an_evidence_that_does_not_exist_cannot_be_left_out() -> None:
    with pytest.raises(UsageError, match="there is no evidence 'uri' to leave out; there are url, hreflang"):
        LanguageSigns("ja", ("uri",))


def choice(seen: Page) -> float:
    """What the first link has of it."""
    scorer = LanguageSigns("ja")
    sighting = Sighting(Visit(seen.url, "example.org", 0, 0.0), seen, Verdict(1.0, True, "told"), None)
    return scorer.evidence(sighting, hinted(scorer, seen, seen.links))[0]["choice"]


def test_a_page_with_links_to_many_languages_is_where_languages_are_chosen() -> None:
    versions = [Link(f"http://{code}.a.org/") for code in ("de", "fr", "it", "es", "ru")]
    assert choice(page(Link("http://a.org/next"), *versions)) == 1.0
    assert choice(page(Link("http://a.org/next"), *versions[:1] * 5)) == 0.0
    next_page, other = keys(LanguageSigns("ja"), page(Link("http://a.org/next"), *versions))[:2]
    assert next_page > 0 > other


@given(st.sampled_from(["ja", "mn-Mong", "gsw"]), st.text(max_size=40), st.text(max_size=40), st.text(max_size=8))
def test_signs_are_between_minus_1_and_1_whatever_the_link(relevant: str, path: str, anchor: str, lang: str) -> None:
    seen = page(Link(f"http://a.b.test/{path}", anchor, hreflang=lang), language=lang)
    assert all(-1.0 <= hint <= 1.0 for hints in LanguageSigns(relevant).hints(seen, seen.links) for hint in hints)
    assert len(WEIGHTS) == 8


# The same as the plain definitions, which read every link as a whole.


PARTS = st.sampled_from(
    ["ja", "de_DE", "guide-de", "japanese", "日本語", "%E6%97%A5", "index", "en", "zh-tw", "ast", "", "v2", "it", "JP"]
)
URLS = st.builds(
    lambda host, path, name, query: f"http://{host}/{'/'.join(path)}{name}{query}",
    st.sampled_from(["a.org", "ja.a.de", "www-fr.b.co.jp:8080", "de.wiki.test", "a.ch"]),
    st.lists(PARTS, max_size=3),
    st.builds("{}.{}.{}".format, PARTS, PARTS, st.sampled_from(["html", "php", "x", ""])),
    st.sampled_from(["", "?lang=ja", "?q=de", "?hl=fr&lr=lang_de", "?/ja/"]),
)
ANCHORS = st.one_of(
    st.sampled_from(
        ["日本語", "日本語版", "中文 (简体)", "German (de)", "Deutsch/Français", "ไทย", "a page", "東京に"]
    ),
    st.text(max_size=45),
    st.lists(st.sampled_from(["German", "in", "日本", "語", "русский", "ja", "–", "Weiter"]), max_size=6).map(" ".join),
)
TAGS = st.sampled_from(["ja", "de", "zh-Hant", "mn-Mong", "gsw", "nb", "x-mine"])


LINKS = st.lists(st.builds(Link, URLS, ANCHORS, hreflang=PARTS), max_size=6, unique_by=lambda link: link.url)


@given(TAGS, LINKS, PARTS, st.data())
def test_the_signs_of_links_are_those_of_the_plain_definitions(
    relevant: str, links: list[Link], claim: str, data: st.DataObject
) -> None:
    seen, scorer = page(*links, language=claim), LanguageSigns(relevant)
    some = data.draw(st.lists(st.sampled_from(links), max_size=4)) if links else []
    for read in (seen.links, some):
        plain = plain_hints(scorer.tag, seen, read)
        words = words_signs(relevant, [link.anchor for link in read])
        assert list(scorer.hints(seen, read)) == [
            (*of[:4], word, *of[4:]) for of, word in zip(plain, words, strict=True)
        ]


# The quick test, after which few texts are read word by word.


LETTERS_OF_ALL_KINDS = st.text(st.sampled_from("jade中文語ไทยİΣςあ2²٣_-./ \0\n%'é\u0301ー𞤆\ud800"), max_size=12)
MENTIONS = st.one_of(
    st.sampled_from([*names(), *codes_and_countries()]),
    st.sampled_from(["zh-Hant-TW", "de_DE", "sr-Latn", "pt-br", "日本語版", "[ja]", "Ja  ", "scottish\n gaelic"]),
)
TEXTS = st.lists(st.one_of(LETTERS_OF_ALL_KINDS, MENTIONS, ANCHORS), min_size=1, max_size=4).map("".join)


@given(st.lists(TEXTS, max_size=5))
def test_no_text_that_names_a_language_is_missed(texts: list[str]) -> None:
    for text, mark in zip(texts, marked(texts), strict=True):
        assert may_name(mark) or not named_in_anchor(text)
        in_file = named_in_url(f"http://a.test/{text}") if text.isprintable() and not set(text) & set("/?%") else {}
        assert mark & (NAME | CODE) or not in_file


def test_every_name_and_every_code_is_marked() -> None:
    assert all(mark & NAME for mark in marked(list(names())))
    codes = [code for code in codes_and_countries() if meanings(code)]
    assert all(mark & CODE and may_name(mark) for mark in marked(codes))


def test_common_words_are_not_marked() -> None:
    texts = ["index", "page-12", "Download the current version", "to be or not", "まえがき", ""]
    assert not any(map(may_name, marked(texts)))


@given(st.lists(TEXTS, max_size=4), TEXTS)
def test_texts_are_marked_one_by_one_as_together(texts: list[str], text: str) -> None:
    assert marked([*texts, text, *texts]) == [*marked(texts), *marked([text]), *marked(texts)]
    assert bool(marked([text])[0] & LETTERS) == bool(WORD.search(text.lower()) or any(c > "\uffff" for c in text))


@given(TAGS, st.lists(URLS, max_size=4), st.lists(TEXTS, max_size=4))
def test_signs_are_read_one_by_one_as_together(relevant: str, urls: list[str], anchors: list[str]) -> None:
    assert signs_in_urls(relevant, urls) == [signs_in_url(relevant, url) for url in urls]
    together = signs_in_anchors(relevant, anchors)
    assert together == [signs_in_anchor(relevant, anchor) for anchor in anchors]
    assert named_in_anchors(relevant, anchors) == [tag for _, tag in together]


def test_signs_of_urls_are_the_same_however_many_were_read_before() -> None:
    urls = [f"http://a.test/{'de' if number % 2 else 'about'}/{number}" for number in range(3 * MOST_URLS // 2)]
    signs = [sign for first in range(0, len(urls), 100) for sign in signs_in_urls("de", urls[first : first + 100])]
    again = signs_in_urls("de", urls[:50] + urls[-50:])
    assert again == signs[:50] + signs[-50:]
    assert {named.tag for named, _ in again[1::2]} == {"de"} and {named.tag for named, _ in again[::2]} == {""}
