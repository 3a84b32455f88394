"""Layers around relevant pages, by back links, and the steps between them counted (check A-7)."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from spoor.cli.main import main
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.link_graph import FAR, WebBacklinks, distance_to_relevant
from spoor.lab.web import Web
from spoor.ordering.train_paths import Labelled, counted, layers, triples
from tests.written_links import WrittenLinks

A_7 = WrittenLinks("d>c c>b b>a c>a2 e>b d>e a>b")


def layers_of(source: WrittenLinks, relevant: str, most: int) -> dict[str, int]:
    found = layers(source, source.numbers(relevant), most)
    return dict(zip(source.names, found.tolist(), strict=True))


def labelled(source: WrittenLinks, relevant: str, most: int) -> Labelled:
    layer = np.minimum(layers(source, source.numbers(relevant), most), most)
    return Labelled(most + 1, 1, layer, np.zeros(len(layer), np.int64), *source.links_to(source.pages()))


def test_a_7_a_page_belongs_to_the_layer_of_its_shortest_way() -> None:
    assert layers_of(A_7, "a a2", most=2) == {"a": 0, "a2": 0, "b": 1, "c": 1, "d": 2, "e": 2}


def test_pages_farther_than_the_last_layer_are_beyond_it() -> None:
    assert layers_of(A_7, "a a2", most=1) == {"a": 0, "a2": 0, "b": 1, "c": 1, "d": 2, "e": 2}
    assert layers_of(WrittenLinks("c>b b>a a>z"), "a", most=1) == {"a": 0, "b": 1, "c": 2, "z": 2}


def test_a_7_paths_of_two_links_are_counted_by_their_layers() -> None:
    found = triples(labelled(A_7, "a a2", 2))
    expected = {(0, 1, 0): 1, (1, 0, 1): 1, (1, 1, 0): 1, (2, 1, 0): 2, (2, 1, 1): 1, (2, 2, 1): 1}
    assert {place: int(count) for place, count in np.ndenumerate(found) if count} == expected


def test_triples_are_those_of_enumeration() -> None:
    names = "abcdef"
    rng = np.random.default_rng(4)
    links = [(one, other) for one, other in product(names, repeat=2) if one != other and rng.random() < 0.4]
    source = WrittenLinks(" ".join(f"{one}>{other}" for one, other in links))
    known = labelled(source, "a", 2)
    layer = dict(zip(source.names, known.layer.tolist(), strict=True))
    expected = np.zeros((3, 3, 3))
    for (one, other), (third, fourth) in product(links, repeat=2):
        if other == third:
            expected[layer[one], layer[other], layer[fourth]] += 1
    assert triples(known).tolist() == expected.tolist()


def test_a_7_smoothing_leaves_nothing_impossible() -> None:
    model = counted(labelled(A_7, "a a2", 2), smoothing=1.0)
    assert model.step[2, 1].round(4).tolist() == [0.5, 0.3333, 0.1667]
    assert model.step[0, 0, 0] == pytest.approx(1 / 3)


def test_a_7_without_smoothing_steps_are_the_shares_that_were_seen() -> None:
    model = counted(labelled(A_7, "a a2", 2), smoothing=1e-9)
    assert model.step[2, 1].round(4).tolist() == [0.6667, 0.3333, 0.0]


def test_clusters_count_where_somebody_looked() -> None:
    """Two pages of layer 1 show clusters 0 and 1; the third was not read."""
    source = WrittenLinks("b>a c>a d>a e>b")
    layer = np.minimum(layers(source, source.numbers("a"), 2), 2)
    known = Labelled(3, 2, layer, np.array([1, 0, 1, -1, -1]), *source.links_to(source.pages()))
    model = counted(known, smoothing=1.0)
    assert model.start_shows.tolist() == [[1 / 3, 2 / 3], [0.5, 0.5], [0.5, 0.5]]
    assert model.shows[2, 1].tolist() == [2 / 3, 1 / 3]
    assert model.shows[1, 0].tolist() == [0.2, 0.8]
    assert model.start.tolist() == [2 / 8, 4 / 8, 2 / 8]


# Over a web on disk


def test_layers_of_a_web_are_the_distances_to_its_wanted_pages(tmp_path: Path) -> None:
    generate(Request("topical", 2000, 3), tmp_path / "web", lambda pages: None)
    web = Web.open(tmp_path / "web")
    relevant = web.labelled("relevant")
    found = layers(WebBacklinks(web), np.flatnonzero(relevant), 3)
    away = distance_to_relevant(*web.steps(), relevant, np.ones(web.pages, np.bool_))
    assert set(found.tolist()) == {0, 1, 2, 3, 4}
    assert found.tolist() == np.minimum(np.where(away == FAR, 4, away), 4).tolist()


def test_a_link_to_a_redirect_is_one_to_where_it_leads_and_errors_are_no_pages(tmp_path: Path) -> None:
    statuses = {"a": 200, "b": 301, "c": 200, "d": 404}
    log = ["url,status", *(f"http://{name}.test/,{status}" for name, status in statuses.items())]
    (tmp_path / "log.csv").write_text("\n".join([*log, ""]))
    targets = ["http://b.test/", "http://d.test/", "http://elsewhere.test/"]
    links = ["source,target,anchor", *(f"http://a.test/,{target},x" for target in targets)]
    links.append("http://b.test/,http://c.test/,")
    (tmp_path / "links.csv").write_text("\n".join([*links, ""]))
    files = [str(tmp_path / name) for name in ("log.csv", "links.csv")]
    assert main(["web", "build", *files, "--out", str(tmp_path / "web")]) == 0
    web = Web.open(tmp_path / "web")
    a, c = web.urls.find("http://a.test/"), web.urls.find("http://c.test/")
    source = WebBacklinks(web)
    assert source.pages().tolist() == [a, c]
    assert [ends.tolist() for ends in source.links_to(source.pages())] == [[a], [c]]
