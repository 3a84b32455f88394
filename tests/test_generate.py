"""Generated webs: the same for the same request, of the size asked for, and shaped as their papers say."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from spoor.cli.main import main
from spoor.errors import BadInput, UsageError
from spoor.judging.encodings import collapse, share_inside, shipped
from spoor.judging.language_judges import CodeInterval
from spoor.judging.profile_search import recogniser
from spoor.lab.generate import CATALOGUE, generate
from spoor.lab.generate.chance import Request
from spoor.lab.generate.language_texts import own_words as built_in_words
from spoor.lab.generate.language_texts import words_in
from spoor.lab.generate.language_web import Language
from spoor.lab.generate.languages import JAPANESE, THAI
from spoor.lab.generate.mongolian_words import MONGOLIAN_WORDS
from spoor.lab.generate.prose import TOPICS
from spoor.lab.link_graph import distance_to_relevant, reachable
from spoor.lab.web import Web
from spoor.lab.worlds import RecordedWorld
from spoor.parse.html import ParseOptions, read_page
from spoor.parse.main_text import extractor_named
from spoor.records import Page, Visit
from spoor.settings import USUAL_PARSING, ParseSettings
from tests.shared_data import SHARED

Make = Callable[..., Web]
OF_LANGUAGES = ("thai", "japanese", "mongolian")
"""Generators that write pages only if they are to have texts."""
MENKSOFT = shipped()["menksoft"]
REAL_WORDS = SHARED / "texts" / "mongolian-menksoft-words.txt"
needs_real_words = pytest.mark.skipif(not REAL_WORDS.is_file(), reason=f"no {REAL_WORDS.name} in SPOOR_DATA")


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Webs by name, pages, seed and text, each made once."""
    made: dict[Request, Web] = {}

    def make(name: str, pages: int, seed: int = 1, text: bool = False) -> Web:
        request = Request(name, pages, seed, text)
        if request not in made:
            out = tmp_path_factory.mktemp("webs") / "web"
            generate(request, out, lambda _: None)
            made[request] = Web.open(out)
        return made[request]

    return make


def fingerprint(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def seeds_of(web: Web) -> list[int]:
    return [web.urls.find(url) or 0 for url in (web.folder / "seeds.txt").read_text().split()]


def relevant_links(web: Web, relevant: NDArray[np.bool_]) -> tuple[float, float]:
    """The share of relevant pages among the targets of relevant pages, and among those of others."""
    source = np.repeat(np.arange(web.pages), np.diff(web.link_offsets))
    to_relevant = relevant[web.link_targets]
    return float(to_relevant[relevant[source]].mean()), float(to_relevant[~relevant[source]].mean())


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_same_request_makes_the_same_files_and_another_seed_others(name: str, tmp_path: Path) -> None:
    for folder, seed in (("a", 7), ("b", 7), ("c", 8)):
        generate(Request(name, 300, seed, text=True), tmp_path / folder, lambda _: None)
    first, again, other = (fingerprint(tmp_path / folder) for folder in "abc")
    assert first == again
    assert first["link_targets.npy"] != other["link_targets.npy"]
    assert first["texts.bin"] != other["texts.bin"]


@pytest.mark.parametrize("name", CATALOGUE)
@pytest.mark.parametrize("pages", [10, 11, 397])
def test_even_the_smallest_webs_are_whole(make: Make, name: str, pages: int) -> None:
    web = make(name, pages)
    if name != "japanese":
        assert web.pages == pages
    assert 1 <= web.pages <= pages
    assert len(web.link_offsets) == web.pages + 1
    assert len(web.link_targets) == web.link_offsets[-1] == web.about["links"]
    assert web.labelled("relevant").any()
    assert len(seeds_of(web)) >= 1


@pytest.mark.parametrize("name", CATALOGUE)
def test_links_are_distinct_stay_inside_and_never_lead_to_the_page_itself(make: Make, name: str) -> None:
    web = make(name, 397)
    for page in range(web.pages):
        targets = web.targets(page)
        assert len(set(targets)) == len(targets)
        assert page not in targets
        assert all(0 <= target < web.pages for target in targets)


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_url_is_found_again_and_tells_its_host(make: Make, name: str) -> None:
    web = make(name, 397)
    hosts = web.array("page_host")
    for page in range(web.pages):
        url = web.urls[page]
        assert web.urls.find(url) == page
        assert url.startswith(f"http://h{hosts[page]}.{name}.test/")


def test_pages_come_in_batches_without_a_seam(tmp_path: Path, make: Make) -> None:
    web, steps = make("thai", 30_000), list[int]()
    generate(Request("thai", 1_100_000, 1), tmp_path / "web", steps.append)
    assert len(steps) > 1
    assert sum(steps) == 1_100_000
    larger = Web.open(tmp_path / "web")
    assert larger.link_offsets[-1] == len(larger.link_targets)
    # The relevance of a page follows from the seed, its host and its number, not from the size of the web.
    assert np.array_equal(larger.labelled("relevant")[: web.pages], web.labelled("relevant"))


def test_the_thai_web_has_the_shape_of_w2(make: Make) -> None:
    web = make("thai", 30_000)
    relevant = web.labelled("relevant")
    from_relevant, from_others = relevant_links(web, relevant)
    assert 700 <= web.about["hosts"] <= 1_100
    assert 3.0 <= len(web.link_targets) / web.pages <= 3.5
    assert 0.20 <= relevant.mean() <= 0.35
    assert from_relevant > 0.75
    assert from_others < 0.15


def test_links_come_in_the_order_children_parent_root(make: Make) -> None:
    web = make("thai", 30_000)
    start = int(web.array("host_offsets")[1])
    assert web.targets(start)[:4] == [start + 1, start + 2, start + 3, start + 4]
    fifth = start + 5
    inside = [target for target in web.targets(fifth) if start <= target < web.array("host_offsets")[2]]
    assert (start + 1) in inside
    assert inside[: inside.index(start + 1)] == [
        child for child in range(start + 21, start + 25) if child < web.array("host_offsets")[2]
    ]


def test_fewer_sites_are_mongolian(make: Make) -> None:
    assert 0.05 <= make("mongolian", 30_000).labelled("relevant").mean() <= 0.20


def test_the_japanese_web_is_mostly_japanese_and_all_within_reach(make: Make) -> None:
    web = make("japanese", 30_000)
    assert web.pages == 30_000
    assert 0.65 < web.labelled("relevant").mean() < 0.85
    assert reachable(web.link_offsets, web.link_targets, seeds_of(web), web.pages).all()


@pytest.mark.parametrize("name", ["thai", "japanese", "mongolian"])
def test_five_relevant_seeds(make: Make, name: str) -> None:
    web = make(name, 30_000)
    assert len(set(seeds_of(web))) == 5
    assert web.labelled("relevant")[seeds_of(web)].all()


@pytest.mark.parametrize(
    ("name", "attribute", "language"), [("thai", "meta_charset", THAI), ("japanese", "detected_charset", JAPANESE)]
)
def test_the_charset_gives_the_wanted_language_away(make: Make, name: str, attribute: str, language: Language) -> None:
    web = make(name, 30_000)
    says = np.isin(np.array(web.about["charsets"])[web.array(attribute)], language.own_charsets)
    assert np.array_equal(says, web.labelled("relevant"))


def test_sizes_are_spread_around_twelve_thousand_bytes(make: Make) -> None:
    sizes = make("thai", 30_000).array("size")
    assert 11_000 < np.median(sizes) < 13_000
    assert np.percentile(sizes, 90) > 3 * np.median(sizes)


@pytest.mark.parametrize(
    ("name", "charsets"), [("thai", ("windows-874",)), ("japanese", ("euc-jp", "shift_jis", "iso-2022-jp"))]
)
def test_with_texts_a_real_detector_knows_the_language_by_the_bytes(
    make: Make, name: str, charsets: tuple[str, ...]
) -> None:
    web = make(name, 1_000, text=True)
    says = np.isin(np.array(web.about["charsets"])[web.array("detected_charset")], charsets)
    wrong = says != web.labelled("relevant")
    assert wrong.mean() < 0.01


def test_texts_are_in_the_language_of_the_page(make: Make) -> None:
    web = make("thai", 1_000, text=True)
    relevant = web.labelled("relevant")
    for page in range(0, 1_000, 25):
        text = own_words(web, page)
        thai = sum("\u0e00" <= letter <= "\u0e7f" for letter in text) / len(text)
        assert (thai > 0.9) == relevant[page]


def own_words(web: Web, page: int) -> str:
    """The text of a page without the anchors of its links, which may be in another language."""
    body = web.body(page)
    assert body is not None
    return read_page("http://a.test/", re.sub(rb"<a .*?</a>", b" ", body.content), body.content_type).text


def texts_of(web: Web, pages: NDArray[np.bool_]) -> list[str]:
    return [own_words(web, int(page)) for page in np.flatnonzero(pages)]


def coding(text: str) -> str:
    """As the generator means it: what has a letter that is not in Saiyin's interval is Menksoft."""
    if share_inside(text, MENKSOFT.unicode) > 0.9:
        return "unicode"
    return "menksoft" if share_inside(text, [(0xE294, 0xE34F)]) else "saiyin"


def judged(texts: list[str], judge: CodeInterval) -> float:
    """The share found relevant."""
    return float(np.mean([verdict.relevant for verdict in judge.judge([Page("", text=text) for text in texts])]))


def test_wanted_pages_of_the_mongolian_web_are_in_three_codings(make: Make) -> None:
    web = make("mongolian", 2_000, text=True)
    codings = [coding(text) for text in texts_of(web, web.labelled("relevant"))]
    shares = {name: codings.count(name) / len(codings) for name in ("menksoft", "unicode", "saiyin")}
    assert shares == pytest.approx({"menksoft": 0.60, "unicode": 0.25, "saiyin": 0.15}, abs=0.05)


def test_an_eighth_of_the_other_pages_has_icons_where_mongolian_fonts_have_letters(make: Make) -> None:
    web = make("mongolian", 2_000, text=True)
    others = texts_of(web, ~web.labelled("relevant"))
    assert judged(others, CodeInterval(preset="paper")) == pytest.approx(0.12, abs=0.02)
    assert judged(others, CodeInterval(preset="ratio")) == 0.0


def test_the_other_pages_are_in_english_chinese_and_cyrillic_mongolian(make: Make) -> None:
    web = make("mongolian", 2_000, text=True)
    others = texts_of(web, ~web.labelled("relevant"))
    in_script = {
        name: np.mean([share_inside(text, [interval]) > 0.9 for text in others])
        for name, interval in (("latin", (0x41, 0x7A)), ("han", (0x4E00, 0x9FFF)), ("cyrillic", (0x400, 0x4FF)))
    }
    assert sum(in_script.values()) == pytest.approx(1.0)
    assert min(in_script.values()) > 0.15


def test_anchors_are_in_the_coding_of_the_target_most_of_the_time(make: Make) -> None:
    web = make("mongolian", 2_000, text=True)
    unicode = [coding(own_words(web, page)) == "unicode" for page in range(web.pages)]
    anchors = [
        context[0]
        for page in range(web.pages)
        for target, context in zip(web.targets(page), web.contexts[page], strict=True)
        if unicode[target]
    ]
    assert np.mean([not anchor for anchor in anchors]) == pytest.approx(0.15, abs=0.05)
    assert np.mean([coding(anchor) == "unicode" for anchor in anchors if anchor]) > 0.8


def test_our_own_words_are_spelt_alike_in_unicode_and_menksoft() -> None:
    """But for the signs between letters, and a y that Menksoft does not write."""

    def letters(word: str) -> str:
        return word.translate(dict.fromkeys([*range(0x180B, 0x180F), ord("ᠶ")]))

    assert len(MONGOLIAN_WORDS) > 100
    for word, glyphs in MONGOLIAN_WORDS:
        assert letters(collapse(glyphs, MENKSOFT)) == letters(word)


def test_words_may_come_from_a_list_in_menksoft_or_unicode(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("\ue2c1\ue27f\ue317\ue27e\ue2e8\n\nᠨᠣᠮ\n\ue237\n", "utf8")
    words = words_in(tmp_path / "words.txt")
    assert words.unicode == ("ᠪᠢᠴᠢᠭ", "ᠨᠣᠮ")
    assert words.menksoft == ("\ue2c1\ue27f\ue317\ue27e\ue2e8", "\ue2b1\ue283\ue2f1")
    assert words.saiyin == ("\ue24e\ue246\ue258\ue246\ue251", "\ue24c\ue247\ue252")


def test_pages_are_written_in_the_words_of_the_list(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("ᠨᠣᠮ\n", "utf8")
    request = Request("mongolian", 300, 1, text=True, words=tmp_path / "words.txt")
    generate(request, tmp_path / "web", lambda _: None)
    web = Web.open(tmp_path / "web")
    spellings = {word for text in texts_of(web, web.labelled("relevant")) for word in text.split()}
    assert spellings <= {"ᠨᠣᠮ", "\ue2b1\ue283\ue2f1", "\ue24c\ue247\ue252"}
    assert web.about["made_from"]["words"] == "words.txt"


@pytest.mark.parametrize(
    ("content", "told"),
    [("ᠨᠣᠮ\nbook\n", "line 2: 'book' is not Mongolian"), ("\n\ue237\n", "holds no words; give one a line")],
)
def test_a_list_of_other_words_is_refused_in_one_line(tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / "words.txt").write_text(content, "utf8")
    with pytest.raises(BadInput) as caught:
        words_in(tmp_path / "words.txt")
    assert told in str(caught.value)
    assert "words.txt" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_list_that_cannot_be_read_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot read the word list .*absent\.txt: No such file"):
        words_in(tmp_path / "absent.txt")


def recognised(texts: list[str]) -> float:
    """The share that the n-gram model takes for traditional Mongolian."""
    mongolian = recogniser("mn-Mong")
    return float(np.mean(mongolian.similarities(texts) > mongolian.threshold))


@pytest.mark.parametrize("name", ["unicode", "menksoft", "saiyin"])
def test_generated_pages_in_every_coding_are_recognised(make: Make, name: str) -> None:
    web = make("mongolian", 2_000, text=True)
    assert recognised([text for text in texts_of(web, web.labelled("relevant")) if coding(text) == name]) == 1.0


def test_pages_that_mix_codings_are_recognised() -> None:
    words = built_in_words()
    half_and_half = [" ".join((*words.menksoft[k : k + 60], *words.unicode[k : k + 60])) for k in range(0, 100, 10)]
    assert recognised(half_and_half) == 1.0


@needs_real_words
def test_pages_of_real_words_are_recognised_in_menksoft_and_in_unicode() -> None:
    words = words_in(REAL_WORDS)
    for coded in (words.menksoft, words.unicode):
        assert recognised([" ".join(coded[k::150]) for k in range(50)]) == 1.0


def test_pages_with_icons_are_not_recognised(make: Make) -> None:
    web = make("mongolian", 2_000, text=True)
    assert recognised(texts_of(web, ~web.labelled("relevant"))) == 0.0


def test_nothing_but_icons_is_not_recognised() -> None:
    rng = np.random.default_rng(1)
    texts = ["".join(map(chr, rng.integers(0xE244, 0xE350, 200))) for _ in range(20)]
    assert recognised(texts) == 0.0
    assert recognised([" ".join(text) for text in texts]) == 0.0


@pytest.mark.parametrize("name", ["topical", "topical-weak", "topical-paths", "courses", "thai", "mongolian"])
def test_every_link_has_a_context(make: Make, name: str) -> None:
    web = make(name, 397, text=name in OF_LANGUAGES)
    for page in range(0, web.pages, 20):
        contexts = web.contexts[page]
        assert len(contexts) == len(web.targets(page))
        assert all(left and right for _, left, right, *_ in contexts)


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_page_of_a_generated_web_is_what_our_parser_reads_from_its_html(make: Make, name: str) -> None:
    web = make(name, 397, text=name in OF_LANGUAGES)
    world = RecordedWorld(web, web.labelled("relevant"), with_content=True)
    options = ParseOptions(extractor_named(USUAL_PARSING.main_text))
    for number in range(0, web.pages, 7):
        body = web.body(number)
        assert body is not None
        assert world.fetch(Visit(web.urls[number], "", 0, 0.0))[0] == read_page(
            web.urls[number], body.content, body.content_type, parse_options=options
        )


def test_the_main_text_of_generated_pages_is_extracted_as_asked(tmp_path: Path) -> None:
    words = ["web", "generate", "--like", "topical", "--pages", "10", "--seed", "1", "--out"]
    assert main([*words, str(tmp_path / "web"), "--main-text", "node-ratio", "--context", "40"]) == 0
    web = Web.open(tmp_path / "web")
    options = ParseOptions(extractor_named("node-ratio"), window=40)
    page = read_page(web.urls[0], web.body(0).content, "text/html", parse_options=options)  # type: ignore[union-attr]
    assert web.texts[0][3] == page.main_text != ""
    assert max(len(left) for _, left, *_ in web.contexts[0]) <= 40
    request = Request("thai", 10, 1, parsing=ParseSettings("node-ratio"))
    with pytest.raises(UsageError, match="--main-text and --context are for webs with HTML; add --text"):
        generate(request, tmp_path / "other", lambda _: None)


def test_language_webs_have_texts_only_when_asked(make: Make) -> None:
    assert not make("thai", 397).has_content and not make("thai", 397).has_html
    assert make("topical", 397).has_content and make("topical", 397).has_html


def test_a_topical_page_has_one_type_and_the_first_is_wanted(make: Make) -> None:
    web = make("topical", 3_000)
    types = np.array([web.labelled(f"type={number}") for number in range(9)])
    assert (types.sum(axis=0) == 1).all()
    assert np.array_equal(types[0], web.labelled("relevant"))
    assert 0.05 <= types[0].mean() <= 0.07
    source = np.repeat(np.arange(web.pages), np.diff(web.link_offsets))
    relevant = types[0][web.link_targets]
    assert 0.27 < relevant[types[1][source]].mean() < 0.33
    assert relevant[types[5][source]].mean() < 0.01


def topic_share(text: str) -> float:
    words = text.split()
    return sum(word in TOPICS[0] for word in words) / len(words)


def test_wanted_pages_speak_of_the_topic_and_near_ones_less(make: Make) -> None:
    web = make("topical", 3_000)

    def mean_share(label: str) -> float:
        pages = np.flatnonzero(web.labelled(label))[:200]
        return float(np.mean([topic_share(web.texts[page][1]) for page in pages]))

    assert 0.5 < mean_share("type=0") < 0.7
    assert 0.2 < mean_share("type=1") < 0.4
    assert mean_share("type=7") < 0.15


def test_anchors_tell_more_in_the_topical_web_than_in_the_weak_one(make: Make) -> None:
    def told(web: Web) -> float:
        relevant = web.labelled("relevant")
        anchors = [
            topic_share(context[0])
            for page in range(web.pages)
            for target, context in zip(web.targets(page), web.contexts[page], strict=True)
            if relevant[target]
        ]
        return float(np.mean(anchors))

    assert told(make("topical", 397)) > 1.5 * told(make("topical-weak", 397))


PATHS = {"item": 0, "list": 1, "department": 2, "portal": 3, "other list": 4, "article": 6}


def test_typical_paths_lead_to_items_layer_by_layer(make: Make) -> None:
    """Most links of each type on the path lead to the next; an item is as far from a portal as the path is long."""
    web = make("topical-paths", 2_000)
    types = np.array([web.labelled(f"type={number}") for number in range(10)])
    assert np.array_equal(types[0], web.labelled("relevant"))
    source = np.repeat(np.arange(web.pages), np.diff(web.link_offsets))
    for before, after in (("portal", "department"), ("department", "list"), ("list", "item")):
        assert types[PATHS[after]][web.link_targets[types[PATHS[before]][source]]].mean() > 0.5
    everywhere = np.ones(web.pages, np.bool_)
    distance = distance_to_relevant(*web.steps(), web.labelled("relevant"), everywhere)
    for layer, name in enumerate(("item", "list", "department", "portal")):
        assert np.median(distance[types[PATHS[name]]]) == layer
    assert distance[types[PATHS["article"]]].min() > 3


def test_lists_that_lead_nowhere_are_written_as_those_that_lead_to_items(make: Make) -> None:
    web = make("topical-paths", 2_000)

    def words_of(name: str) -> set[str]:
        pages = np.flatnonzero(web.labelled(f"type={PATHS[name]}"))[:80]
        return {word for page in pages for word in web.texts[page][1].split()}

    assert words_of("list") == words_of("other list")
    assert words_of("list") != words_of("department")


def test_anchors_do_not_tell_items_from_articles(make: Make) -> None:
    web = make("topical-paths", 2_000)

    def told(name: str) -> float:
        there = web.labelled(f"type={PATHS[name]}")
        links = [
            (target, web.contexts[page][k][0])
            for page in range(web.pages)
            for k, target in enumerate(web.targets(page))
        ]
        return float(np.mean([topic_share(anchor) for target, anchor in links if there[target]]))

    assert told("item") == pytest.approx(told("article"), abs=0.02)
    assert told("item") > 2 * told("list")


def test_courses_have_five_classes_and_a_fifth_of_the_pages_is_half_hindi(make: Make) -> None:
    web = make("courses", 1_000)
    assert web.labels == ["relevant", "class=CSE", "class=IT", "class=ENGG", "class=COMP", "class=OTHER"]
    assert np.array_equal(web.labelled("relevant"), web.labelled("class=CSE"))
    hindi = [any("\u0900" <= letter <= "\u097f" for letter in web.texts[page][1]) for page in range(1_000)]
    assert 0.15 < np.mean(hindi) < 0.25


def is_hindi(text: str) -> bool:
    return any("\u0900" <= letter <= "\u097f" for letter in text)


def test_english_courses_are_the_same_web_without_hindi(make: Make) -> None:
    mixed, english = make("courses", 1_000), make("courses-english", 1_000)
    assert np.array_equal(mixed.link_targets, english.link_targets)
    assert np.array_equal(mixed.labelled("class=IT"), english.labelled("class=IT"))
    for page in range(1_000):
        assert not is_hindi(english.texts[page][1]) and not any(
            is_hindi(" ".join(c[:3])) for c in english.contexts[page]
        )
        if not is_hindi(mixed.texts[page][1]):
            assert mixed.texts[page] == english.texts[page]


def test_courses_take_their_hindi_from_a_dictionary_and_our_own_where_it_has_none(tmp_path: Path) -> None:
    words = tmp_path / "words.tsv"
    words.write_text("computer\tसंगणक|यंत्र\nscience\tकिसी बात का बहुत लंबा वर्णन|शास्त्र{नोट}\n", "utf8")
    generate(Request("courses", 300, 1, words=words), tmp_path / "web", lambda _: None)
    web = Web.open(tmp_path / "web")
    titles = " ".join(web.texts[page][0] for page in range(300))
    assert "संगणक शास्त्र और इंजीनियरिंग" in titles
    assert "कंप्यूटर" not in titles


@pytest.mark.parametrize(
    ("content", "told"),
    [("nothing to see\n", "holds no word of the courses"), (None, "cannot read the dictionary")],
)
def test_a_dictionary_that_is_none_is_refused(tmp_path: Path, content: str | None, told: str) -> None:
    words = tmp_path / "words.tsv"
    if content:
        words.write_text(content, "utf8")
    with pytest.raises(BadInput, match=told):
        generate(Request("courses", 100, 1, words=words), tmp_path / "web", lambda _: None)
    assert not (tmp_path / "web").exists()


def test_contexts_of_links_to_wanted_courses_name_them_six_times_in_ten(make: Make) -> None:
    web = make("courses", 1_000)
    relevant = web.labelled("class=CSE")
    named = [
        "computer science and engineering" in context[0] or "कंप्यूटर विज्ञान" in context[0]
        for page in range(1_000)
        for target, context in zip(web.targets(page), web.contexts[page], strict=True)
        if relevant[target]
    ]
    assert 0.5 < np.mean(named) < 0.7


def test_requests_that_cannot_be_met_are_refused_in_one_line(tmp_path: Path) -> None:
    def refusal(request: Request, out: Path, kind: type[Exception]) -> str:
        with pytest.raises(kind) as caught:
            generate(request, out, lambda _: None)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "klingon" in refusal(Request("klingon", 100, 1), tmp_path / "w", UsageError)
    assert "9" in refusal(Request("thai", 9, 1), tmp_path / "w", UsageError)
    assert "too many" in refusal(Request("thai", 10**10, 1), tmp_path / "w", UsageError)
    assert "--text" in refusal(Request("thai", 10**6, 1, text=True), tmp_path / "w", UsageError)
    words = tmp_path / "words.txt"
    assert "--like mongolian --text" in refusal(Request("thai", 99, 1, True, words), tmp_path / "w", UsageError)
    assert "--like mongolian --text" in refusal(Request("mongolian", 99, 1, False, words), tmp_path / "w", UsageError)
    assert "words.txt" in refusal(Request("mongolian", 99, 1, True, words), tmp_path / "w", BadInput)
    (tmp_path / "file").write_text("")
    assert "exists" in refusal(Request("thai", 100, 1), tmp_path / "file", BadInput)
    assert "cannot write" in refusal(Request("thai", 100, 1), Path("/proc/nowhere/web"), BadInput)
    assert not (tmp_path / "w").exists()


def test_the_command_reports_what_it_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "web"
    command = ["web", "generate", "--like", "thai", "--pages", "500", "--seed", "1", "--out", str(out)]
    assert main(command) == 0
    assert "500 pages" in capsys.readouterr().out
    assert main(command) == 1
    assert "already exists" in capsys.readouterr().err
