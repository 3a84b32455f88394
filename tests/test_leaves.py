"""Errors, other media and mislabelled pages of generated webs."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from spoor.cli.main import main
from spoor.errors import UsageError
from spoor.judging.language_judges import Charset
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.runs import run
from spoor.lab.task import Task, read_seeds
from spoor.lab.web import Web

PLAIN = Request("thai", 1_500, 3, text=True)
WITH_LEAVES = Request("thai", 1_500, 3, text=True, errors=0.4, non_html=0.2)


def made(folder: Path, request: Request) -> Web:
    generate(request, folder / "web", lambda _: None)
    return Web.open(folder / "web")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Web:
    return made(tmp_path_factory.mktemp("plain"), PLAIN)


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Web:
    return made(tmp_path_factory.mktemp("grown"), WITH_LEAVES)


def html(web: Web) -> NDArray[np.bool_]:
    is_html: NDArray[np.bool_] = web.answers() & (web.array("content_type") == 0)
    return is_html


def seeds_of(web: Web) -> list[int]:
    return [web.urls.find(url) or 0 for url in read_seeds(web.folder / "seeds.txt")]


@pytest.mark.parametrize(
    ("name", "links", "charsets"),
    [("thai", "4e8f20c5b349a1fb", "12a0295e159d1355"), ("japanese", "9ccdaa671e5f37c1", "3f60d54abd66e545")],
)
def test_webs_without_leaves_are_those_of_always(tmp_path: Path, name: str, links: str, charsets: str) -> None:
    web = made(tmp_path, Request(name, 1_500, 3))
    column = "meta_charset" if name == "thai" else "detected_charset"
    found = [(web.folder / f"{file}.npy").read_bytes() for file in ("link_targets", column)]
    assert [hashlib.sha256(content).hexdigest()[:16] for content in found] == [links, charsets]


def test_errors_and_other_media_are_their_shares_of_all_urls(grown: Web) -> None:
    errors = ~grown.answers()
    assert errors.mean() == pytest.approx(0.4, abs=0.02)
    assert (~errors & ~html(grown)).mean() == pytest.approx(0.2, abs=0.02)


def test_without_its_leaves_the_web_is_the_same(plain: Web, grown: Web) -> None:
    pages = np.flatnonzero(html(grown))
    assert len(pages) == plain.pages == 1_500
    number = {int(page): place for place, page in enumerate(pages)}
    for place, page in enumerate(pages.tolist()):
        assert sorted(number[target] for target in grown.targets(page) if target in number) == sorted(
            plain.targets(place)
        )
    assert np.array_equal(grown.labelled("relevant")[pages], plain.labelled("relevant"))
    assert np.array_equal(grown.array("page_host")[pages], plain.array("page_host"))


def test_every_leaf_has_one_link_from_its_own_host_and_none_of_its_own(grown: Web) -> None:
    leaves, hosts = ~html(grown), grown.array("page_host")
    source = np.repeat(np.arange(grown.pages), np.diff(grown.link_offsets))
    to_leaves = leaves[grown.link_targets]
    assert sorted(grown.link_targets[to_leaves].tolist()) == np.flatnonzero(leaves).tolist()
    assert np.array_equal(hosts[source[to_leaves]], hosts[grown.link_targets[to_leaves]])
    assert not np.diff(grown.link_offsets)[leaves].any()
    assert not (grown.labelled("relevant") & leaves).any()


def test_leaves_stand_anywhere_among_the_links(grown: Web) -> None:
    leaves = ~html(grown)
    first = grown.link_targets[grown.link_offsets[:-1][np.diff(grown.link_offsets) > 1]]
    assert 0.2 < leaves[first].mean() < 0.8


def test_seeds_are_the_same_relevant_pages(plain: Web, grown: Web) -> None:
    assert seeds_of(grown) == np.flatnonzero(html(grown))[seeds_of(plain)].tolist()


def test_leaves_have_no_texts_and_links_to_them_have_anchors(grown: Web) -> None:
    leaves = ~html(grown)
    assert [grown.texts[page] is None for page in range(300)] == leaves[:300].tolist()
    anchors = [
        context[0]
        for page in np.flatnonzero(~leaves)[:300].tolist()
        for target, context in zip(grown.targets(page), grown.contexts[page], strict=True)
        if leaves[target]
    ]
    assert sum(map(bool, anchors)) > 0.7 * len(anchors) > 100


@pytest.mark.parametrize("name", ["japanese", "mongolian"])
def test_the_other_language_webs_may_have_leaves_too(tmp_path: Path, name: str) -> None:
    web = made(tmp_path, Request(name, 800, 3, text=True, errors=0.1, non_html=0.1))
    assert (~html(web)).mean() == pytest.approx(0.2, abs=0.03)
    assert web.labelled("relevant")[seeds_of(web)].all()


def test_a_crawl_requests_leaves_and_finds_all_that_there_is_without_them(plain: Web, grown: Web) -> None:
    found = []
    for web in (plain, grown):
        seeds = read_seeds(web.folder / "seeds.txt")
        done = run(Task(web.folder, "relevant", seeds, "charset:th:sources=meta", budget=web.pages), "breadth-first")
        found.append(int(done.found.sum()))
    assert found[0] == found[1]
    assert done.failed is not None and 0.3 < done.failed.mean() < 0.5


def test_some_thai_pages_declare_no_charset_or_a_wrong_one(plain: Web, tmp_path: Path) -> None:
    web = made(tmp_path, Request("thai", 1_500, 3, text=True, mislabelled=0.2))
    relevant = np.flatnonzero(web.labelled("relevant"))
    assert np.array_equal(web.labelled("relevant"), plain.labelled("relevant"))
    assert np.array_equal(web.link_targets, plain.link_targets)
    by = {
        source: np.array([v.relevant for v in Charset("th", (source,)).judge([web.page(int(n)) for n in relevant])])
        for source in ("meta", "detected")
    }
    assert by["meta"].mean() == pytest.approx(0.8, abs=0.05)
    assert by["detected"].mean() > 0.99
    declared = {web.page(int(number)).meta_charset for number in relevant[~by["meta"]]}
    assert declared == {"", "windows-1252"}, "ISO-8859-1 is read as Windows-1252, as in browsers"
    silent = next(number for number in relevant.tolist() if not web.page(number).meta_charset)
    assert web.texts[silent] == plain.texts[silent]


@pytest.mark.parametrize(
    ("request_", "complaint"),
    [
        (Request("japanese", 100, 1, mislabelled=0.1), "--mislabelled is for --like thai"),
        (Request("topical", 100, 1, errors=0.1), "--errors and --non-html are for --like thai, japanese, mongolian"),
        (Request("thai", 100, 1, mislabelled=1.1), "--mislabelled 1.1: give a share from 0 to 1"),
        (Request("thai", 100, 1, errors=0.5, non_html=0.5), "give shares, together 0 to 0.9"),
        (Request("thai", 100, 1, errors=-0.5, non_html=0.6), "give shares, together 0 to 0.9"),
        (Request("thai", 500_000_000, 1, errors=0.9), "too many with so many errors"),
        (Request("thai", 100, 1, errors=float("nan")), "give shares, together 0 to 0.9"),
    ],
)
def test_shares_that_make_no_sense_are_refused(tmp_path: Path, request_: Request, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        generate(request_, tmp_path / "web", lambda _: None)
    assert not (tmp_path / "web").exists()


def test_the_command_takes_shares_and_the_web_remembers_them(tmp_path: Path) -> None:
    words = ["--like", "thai", "--pages", "500", "--seed", "1", "--errors", "0.3", "--non-html", "0.1"]
    assert main(["web", "generate", *words, "--mislabelled", "0.1", "--out", str(tmp_path / "web")]) == 0
    made_from = Web.open(tmp_path / "web").about["made_from"]
    assert (made_from["mislabelled"], made_from["errors"], made_from["non_html"]) == (0.1, 0.3, 0.1)
