"""Judges of a topic that need no training: named words, a document, documents of a field, a regular expression."""

from __future__ import annotations

import tarfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

import pytest

from spoor import registry
from spoor import settings as config
from spoor.cli.crawling import settings_for
from spoor.cli.main import parser
from spoor.errors import BadInput, UsageError
from spoor.judging.similar_words import learned
from spoor.judging.topic_judges import (
    HIGHEST,
    UNCALIBRATED,
    Gold,
    Keywords,
    Pattern,
    TagWeighted,
    VectorSpaceModel,
    calibrated,
    stressed,
)
from spoor.parse.html import ParseOptions, read_page
from spoor.parse.main_text import QUICK
from spoor.parse.words import Words
from spoor.records import Page, TargetPrior, Verdict
from spoor.roles import Judge
from spoor.store.crawl_folder import CrawlFolder
from spoor.strategy import prior_of
from tests.shared_data import SHARED

FILLER = "nobody expects these words to tell anything about what this page is meant for " * 8
HORSES = [
    "The horse grazes on the steppe; herders milk the mare and ride the horse.",
    "Herders of the steppe follow the horse; a mare and her foal graze.",
    "A foal follows the mare; the herders saddle a horse on the steppe.",
    "On the steppe herders race: each horse has a saddle, each foal a mare.",
]
SHIPS = [
    "The ship left the harbour; the sailors set the sails.",
    "A sailor steers the ship through the harbour at night.",
    "Sails and masts: the ship is repaired in the harbour.",
    "The captain of the ship and her sailors sleep.",
]


def verdict(judge: Judge, text: str = "", title: str = "", **tags: str) -> Verdict:
    (said,) = judge.judge([Page("http://a.test/", title=title, text=text, tag_texts=tags)])
    return said


# --- keywords


def test_a_page_that_keeps_using_the_words_is_wanted_one_that_mentions_them_is_not() -> None:
    judge = Keywords(("horse", "steppe"))
    assert verdict(judge, HORSES[0] * 3 + FILLER).relevant
    assert not verdict(judge, "A horse. " + FILLER).relevant
    assert verdict(judge, FILLER) == Verdict(0.0, False, "none of horse, steppe in 112 words")


def test_a_word_in_the_title_or_in_a_heading_counts_more() -> None:
    judge = Keywords(("horse",))
    plain, heading = verdict(judge, "horse " + FILLER), verdict(judge, "horse " + FILLER, h2="horse")
    title = verdict(judge, "horse " + FILLER, title="Horse")
    assert plain.relevance < heading.relevance < title.relevance
    assert title.relevant


def test_the_reason_names_the_words_that_counted_most() -> None:
    said = verdict(Keywords(("horse", "steppe", "yurt")), "The horse, a horse; on the steppe.", title="Steppe")
    assert said.because == "horse 2, steppe 1 in 7 words; steppe in the title"


def test_the_main_text_is_read_where_somebody_has_found_it() -> None:
    page = Page("http://a.test/", text="horse " * 20 + FILLER, main_text=FILLER)
    assert Keywords(("horse",)).judge([page])[0].relevance == 0.0
    assert Keywords(("horse",)).reads_main_text


@pytest.mark.parametrize(
    ("keyword", "text", "times"),
    [
        ("horse", "Horse, horses, seahorse, HORSE's", 2),
        ("horse*", "Horse, horses, seahorse", 2),
        ("hemorrhagic fever", "Hemorrhagic\nfever; hemorrhagic-fever; hemorrhagic and fever", 2),
        ("agricultur*", "agriculture agricultural", 2),
        ("covid-19", "COVID 19, covid-19, covid-190", 2),
        ("straße", "STRASSE", 1),
        ("किताब", "किताब किताबें", 1),
        ("เกษตร", "กระทรวงเกษตรและสหกรณ์", 1),
        ("农业", "中国农业生产", 1),
        ("ok农业", "look农业 ok农业", 1),
    ],
)
def test_keywords_are_found_as_words_and_anywhere_in_scripts_without_blanks(
    keyword: str, text: str, times: int
) -> None:
    assert f"{keyword} {times} in" in verdict(Keywords((keyword,)), text).because


@pytest.mark.parametrize(
    ("keyword", "complaint"),
    [
        ("", "keyword '' holds no letters or digits that make a word; leave it out"),
        ("?!", r"keyword '\?!' holds no letters or digits that make a word"),
        ("agri*ture", r"keyword 'agri\*ture': a star matches any ending, so it must come last, as in agricultur\*"),
        ("\ue264\ue265", r"is in a font encoding \(U\+E264\); write it in Unicode letters"),
    ],
)
def test_a_keyword_that_makes_no_word_is_refused(keyword: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        Keywords(("horse", keyword))


def test_keywords_must_be_named() -> None:
    with pytest.raises(UsageError, match="no keywords are given; name one at least"):
        Keywords(())


def test_keywords_are_known_beforehand_and_anchors_can_be_compared_with_them() -> None:
    judge = Keywords(("horse", "agricultur*"))
    assert prior_of(judge) == TargetPrior(words=("horse", "agricultur"))
    horse, longer, other, nothing = judge.similarities(["Horse", "a horse that grazes far away", "ship", ""])
    assert horse > longer > other == nothing == 0.0


# --- tag-weighted


def test_a5_what_is_stressed_counts_by_its_tag() -> None:
    weight = stressed(0.30, {"title": 0.5, "h1": 0.8, "b": 0.25})
    assert weight == pytest.approx(1.62)
    assert pytest.approx(6.3) == HIGHEST
    assert weight / HIGHEST == pytest.approx(0.257143, abs=1e-6)


def test_a_page_of_nothing_but_the_topic_everywhere_has_relevance_1() -> None:
    everywhere = dict.fromkeys(["h1", "h2", "h3", "strong", "b", "em", "u", "i"], "steppe horse")
    said = verdict(TagWeighted(("horse", "steppe")), "horse steppe", "horse steppe", **everywhere)
    assert said.relevance == pytest.approx(1.0)
    assert said.relevant


def test_the_reason_says_which_tags_and_which_words_counted() -> None:
    said = verdict(TagWeighted(("horse", "steppe")), "horse horse", "A ship", h1="The steppe")
    assert said.because == "weight 1.34 of 6.3: text 0.71, h1 0.71; most by horse"


def test_without_normalising_the_plain_product_counts() -> None:
    cosine, plain = (TagWeighted(("horse",), normalise=normalise) for normalise in (True, False))
    assert verdict(cosine, "horse ship").relevance < verdict(cosine, "horse").relevance
    assert verdict(plain, "horse ship").relevance == verdict(plain, "horse").relevance


def test_a_topic_of_no_words_is_refused() -> None:
    with pytest.raises(UsageError, match="'!' holds no words; name some, as in tag-weighted:horse"):
        TagWeighted(("!",))


# --- gold


def test_pages_with_the_uncommon_words_of_a_document_are_near_it() -> None:
    judge = Gold("horses.txt", " ".join(HORSES[:2]))
    assert verdict(judge, HORSES[2]).relevant
    assert not verdict(judge, SHIPS[0]).relevant
    assert verdict(judge, "zebra").because == "shares no words with horses.txt"


def test_the_words_of_a_document_are_told_beforehand_common_ones_are_not() -> None:
    words = prior_of(Gold("horses.txt", " ".join(HORSES), terms=5)).words
    assert {"horse", "steppe", "mare"} < set(words)
    assert not {"the", "on", "and", "a"} & set(words)


def test_the_reason_says_how_near_and_by_which_words() -> None:
    said = verdict(Gold("horses.txt", HORSES[0]), HORSES[2])
    assert said.because == "0.57 near horses.txt, most by horse, herders, steppe"


def test_a_document_without_words_is_refused() -> None:
    with pytest.raises(BadInput, match=r"empty\.txt holds no words to compare pages with"):
        Gold("empty.txt", " … ")


# --- vsm


def vsm(texts: Sequence[str], others: Sequence[str], semantic: bool = False) -> VectorSpaceModel:
    field = learned(texts, others, Words(), semantic)
    return VectorSpaceModel("horses", field.topic(20), calibrated(field, 20, texts, others))


@pytest.mark.parametrize("semantic", [False, True])
def test_texts_of_a_field_tell_its_pages_from_others(semantic: bool) -> None:
    judge = vsm(HORSES[:3], SHIPS[:3], semantic)
    assert verdict(judge, HORSES[3]).relevant
    assert not verdict(judge, SHIPS[3]).relevant


def test_the_threshold_lies_between_texts_of_the_field_and_the_others() -> None:
    judge = vsm(HORSES, SHIPS)
    near = [verdict(judge, text).relevance for text in HORSES]
    far = [verdict(judge, text).relevance for text in SHIPS]
    assert max(far) < judge.least < min(near)


def test_without_others_the_background_tells_what_is_common_and_the_threshold_is_fixed() -> None:
    judge = vsm(HORSES, [])
    assert judge.least == UNCALIBRATED
    assert verdict(judge, HORSES[0]).relevance > 0.3
    assert "the" not in prior_of(judge).words


def test_a_field_without_words_of_its_own_is_refused() -> None:
    with pytest.raises(BadInput, match="horses holds no words that distinguish its texts from others"):
        vsm(["!", "?"], SHIPS)


# --- pattern


def test_a_pattern_is_looked_for_in_url_title_and_text() -> None:
    judge = Pattern(r"hors(e|ing)")
    assert verdict(judge, "on HORSES").because == "text holds 'HORSE'"
    assert verdict(judge, title="Horsing around").because == "title holds 'Horsing'"
    assert verdict(judge, "hors") == Verdict(0.0, False, "'hors(e|ing)' is not in url, title, text")


def test_a_pattern_for_urls_needs_no_texts() -> None:
    judge = Pattern("a[.]test", where=("url",))
    assert not judge.reads_content
    assert verdict(judge).relevant
    assert Pattern("x").reads_content


def test_what_is_no_pattern_or_no_place_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'\(' is not a regular expression: missing \)"):
        Pattern("(")
    with pytest.raises(UsageError, match="where='body' is not a part of a page; known are url, title, text"):
        Pattern("x", ("body",))


# --- as people ask for them


def test_judges_by_name(tmp_path: Path) -> None:
    (tmp_path / "field").mkdir()
    (tmp_path / "others").mkdir()
    for number, (horses, ships) in enumerate(zip(HORSES, SHIPS, strict=True)):
        (tmp_path / "field" / f"{number}.txt").write_text(horses)
        (tmp_path / "others" / f"{number}.html").write_text(f"<p>{ships}")
    gold = tmp_path / "gold.html"
    gold.write_text(f"<title>Horses</title><p>{HORSES[0]}")
    assert registry.judge("keywords:horse+wild steppe:least=0.4") == Keywords(("horse", "wild steppe"), 0.4)
    assert registry.judge("tag-weighted:horse:normalise=False") == TagWeighted(("horse",), normalise=False)
    assert registry.judge(r"pattern:^https?://(?:a|b)\.test/\?id=:where=url") == Pattern(
        r"^https?://(?:a|b)\.test/\?id=", ("url",)
    )
    for asked in (f"gold:{gold}", f"vsm:{tmp_path / 'field'}:background={tmp_path / 'others'}:terms=20"):
        judge = registry.judge(asked)
        assert verdict(judge, HORSES[3]).relevant
        assert not verdict(judge, SHIPS[3]).relevant


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ("gold:nowhere.html", "cannot read the document nowhere.html: No such file"),
        ("vsm:nowhere", "nowhere is not a folder; name one that holds documents"),
        ("vsm:EMPTY", "holds no documents; put some there"),
        ("keywords:", "judge 'keywords' needs a subject, as in keywords:horse"),
        ("keywords:least=0.5", "judge 'keywords' needs a subject"),
        ("keywords:horse:most=1", "judge 'keywords' has no parameter 'most'; it has least=0.5"),
    ],
)
def test_what_cannot_be_read_or_understood_is_told_in_a_line(asked: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises((UsageError, BadInput), match=complaint):
        registry.judge(asked.replace("EMPTY", str(tmp_path)))


def test_thai_pages_about_agriculture_are_two_lines() -> None:
    settings = config.loads("""
        [target]
        language = "th"
        keywords = ["เกษตร", "ข้าว"]

        [crawl]
        seeds = ["http://a.test/"]
    """)
    judge = registry.judge_of(settings.target)
    farming = "เกษตรกรปลูกข้าวในนา ข้าวเป็นพืชสำคัญของการเกษตรไทย เกษตรกรส่วนใหญ่ปลูกข้าวหอมมะลิ "
    assert verdict(judge, farming).relevant
    assert not verdict(judge, "ภาษาไทยเป็นภาษาราชการของประเทศไทย และเป็นภาษาแม่ของคนส่วนใหญ่").relevant
    assert not verdict(judge, "Thai farmers grow rice. Rice is an important crop of Thai agriculture.").relevant
    assert judge.target_prior == TargetPrior("th", ("เกษตร", "ข้าว"))  # type: ignore[attr-defined]


def test_keywords_are_given_to_a_crawl_by_a_flag() -> None:
    flags = ["--keywords", "horse, wild steppe", "--language", "mn", "--seed", "http://a.test/", "--out", "nowhere"]
    settings = settings_for(CrawlFolder(Path("nowhere")), parser().parse_args(["crawl", *flags]))
    assert settings.target.named() == {"language": "mn", "keywords": ("horse", "wild steppe")}


def test_settings_name_a_document_beside_them_and_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "horses.txt").write_text(HORSES[0])
    text = '[target]\ngold = "horses.txt"\npattern = "/animals/"\nrequire = "gold or pattern"\n'
    settings = config.loads(text + '[crawl]\nseeds = ["http://a.test/"]', tmp_path)
    assert settings.target.gold == str(tmp_path / "horses.txt")
    assert config.loads(config.dumps(settings)) == settings
    (ship,) = registry.judge_of(settings.target).judge([Page("http://a.test/animals/", text=SHIPS[0])])
    assert ship.relevant


def test_a_pattern_that_is_none_is_refused_with_its_key() -> None:
    with pytest.raises(UsageError, match=r'\[target\] pattern = "\(": is not a regular expression: missing \)'):
        config.loads('[target]\npattern = "("')


# --- real pages

EBOLA = SHARED / "data" / "example-pages" / "ebola.tar.xz"


@pytest.mark.skipif(
    not EBOLA.exists(), reason=f"no example pages at {EBOLA}; set SPOOR_DATA to the folder that has them"
)
def test_a_plain_list_of_keywords_tells_real_pages_of_a_topic_from_those_of_its_neighbours() -> None:
    """Among the others are other diseases, with their viruses and outbreaks."""
    judge = Keywords(("ebola", "virus", "outbreak", "hemorrhagic fever"))
    hits = taken = relevant = 0
    with tarfile.open(EBOLA) as archive:
        for member in archive:
            if (file := archive.extractfile(member)) is None:
                continue
            url, truth = unquote(Path(member.name).name), "/positive/" in member.name
            (said,) = judge.judge([read_page(url, file.read(), "text/html", parse_options=ParseOptions(QUICK))])
            relevant, taken, hits = relevant + truth, taken + said.relevant, hits + (said.relevant and truth)
    assert relevant == 170
    assert 2 * hits / (taken + relevant) > 0.9
