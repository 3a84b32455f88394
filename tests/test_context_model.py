"""Path models: what is learned from pages around relevant ones, the layer of a page, and the file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from spoor.errors import BadInput, UsageError
from spoor.ordering.clusters import tells
from spoor.ordering.hidden_markov import HiddenMarkov, forward
from spoor.ordering.path_model import PathView, open_paths, write_paths
from spoor.ordering.train_paths import Lesson, seen_on_walks, train_paths
from tests.written_links import SAID, WrittenLinks, corridors, learned

MODEL = learned()


def test_pages_that_say_the_same_are_in_one_cluster() -> None:
    clusters = {kind: MODEL.cluster("", text) for kind, text in SAID.items()}
    assert len(set(clusters.values())) == 4
    assert MODEL.cluster("road", "a sign at every mile") == clusters["road"]


def test_the_number_of_clusters_is_found_when_none_is_given() -> None:
    assert learned(clusters=None).path.symbols > 1


def test_a_page_is_in_the_layer_whose_pages_it_is_like() -> None:
    assert [MODEL.layer("", text, 0.5).layer for text in SAID.values()] == [0, 1, 2, 3]
    assert MODEL.layer("", SAID["stable"], 0.5).chance > 0.9


def test_a_page_that_is_like_no_layer_or_like_two_is_rejected() -> None:
    assert MODEL.layer("", "zebra", 0.5).layer is None
    both = f"{SAID['stable']} {SAID['road']}"
    assert MODEL.layer("", both, 0.6).layer is None
    assert MODEL.layer("", both, 0.4).layer in (1, 2)


def test_the_words_of_wanted_pages_are_told() -> None:
    assert {"horse", "saddle", "mane"} <= set(MODEL.words)
    assert not {"stable", "road", "city"} & set(MODEL.words)


@pytest.mark.parametrize("order", [1, 2])
def test_the_nearer_the_pages_on_a_path_the_nearer_its_links_lead(order: int) -> None:
    path = PathView(MODEL, order)
    state, found = None, []
    for kind in ("city", "road", "stable"):
        state = path.go_on(state, "", SAID[kind])
        assert state is not None
        found.append((int(path.ahead(state).argmax()), path.nearness(state)))
    layers, nearness = zip(*found, strict=True)
    assert layers == (3, 1, 0)
    assert list(nearness) == sorted(nearness)


def test_a_state_keeps_its_size_however_long_the_path() -> None:
    path, state = PathView(MODEL), None
    sizes = []
    for _ in range(5):
        state = path.go_on(state, "", SAID["city"])
        sizes.append(len(state or ()))
    assert sizes == [4, 16, 16, 16, 16]


def test_clusters_that_go_with_layers_leave_no_doubt_and_others_all_of_it() -> None:
    layers = np.array([0, 0, 1, 1])
    assert tells(np.array([1, 1, 0, 0]), layers) == pytest.approx(1.0)
    assert tells(np.array([0, 1, 0, 1]), layers) == pytest.approx(0.0)
    assert tells(layers, np.zeros(4, np.int64)) == 0.0


def test_nothing_is_learned_where_no_page_is_wanted_or_none_has_a_text() -> None:
    with pytest.raises(BadInput, match="there is no page that is 'unicorn' in corridors"):
        train_paths(corridors(), np.array([], np.int64), Lesson("unicorn", "corridors"), lambda pages: None)
    silent = WrittenLinks("b>a c>b", dict.fromkeys("abc", ""))
    with pytest.raises(BadInput, match="no page that is 'a' in silent has a text"):
        train_paths(silent, np.array([0]), Lesson("a", "silent"), lambda pages: None)
    strange = WrittenLinks("b>a c>b")
    with pytest.raises(BadInput, match="no two pages of strange share a word"):
        train_paths(strange, np.array([0]), Lesson("a", "strange"), lambda pages: None)


def test_a_lesson_that_cannot_be_taught_is_refused() -> None:
    with pytest.raises(UsageError, match="--layers 0"):
        Lesson("a", "web", layers=0)
    with pytest.raises(UsageError, match="--clusters 1"):
        Lesson("a", "web", clusters=1)
    with pytest.raises(UsageError, match="--refine -1"):
        Lesson("a", "web", refine=-1)


# Refined by walks


def test_a_walk_sees_what_its_pages_show_and_ends_where_no_link_goes_on() -> None:
    source = WrittenLinks("city1>road1 road1>stable1 stable1>horse1", {f"{kind}1": SAID[kind] for kind in SAID})
    kinds = {MODEL.cluster("", text): kind for kind, text in SAID.items()}
    walks = [[kinds[seen] for seen in walk] for walk in seen_on_walks(source, MODEL.observer)]
    ways = ["city road stable horse", "road stable horse", "stable horse"]
    assert sorted(walks) == [way.split() for way in ways]


def test_rounds_of_baum_welch_explain_walks_better() -> None:
    source = corridors()
    relevant = source.numbers(" ".join(name for name in source.names if name.startswith("horse")))
    lessons = [Lesson("horse", "corridors", 3, 4, refine) for refine in (0, 2)]

    def likelihood(model: HiddenMarkov) -> float:
        return sum(forward(model, seen).log_probability for seen in walks)

    counted, refined = (train_paths(source, relevant, lesson, lambda pages: None).model for lesson in lessons)
    walks = seen_on_walks(source, counted.observer)
    assert likelihood(refined.path) > likelihood(counted.path)


# The file


def test_a_model_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    write_paths(tmp_path / "m.spoor", MODEL)
    again = open_paths(tmp_path / "m.spoor")
    assert (again.target, again.trained_on, again.layers, again.words) == ("horse", "corridors", 3, MODEL.words)
    for name in ("start", "start_shows", "first_step", "step", "shows"):
        assert (getattr(again.path, name) == getattr(MODEL.path, name)).all()
    for text in SAID.values():
        assert again.cluster("", text) == MODEL.cluster("", text)
        assert again.layer("", text, 0.5) == MODEL.layer("", text, 0.5)


def test_the_same_lesson_makes_the_same_bytes(tmp_path: Path) -> None:
    write_paths(tmp_path / "one.spoor", learned())
    write_paths(tmp_path / "two.spoor", learned())
    assert (tmp_path / "one.spoor").read_bytes() == (tmp_path / "two.spoor").read_bytes()


def test_a_file_of_another_kind_is_refused_with_the_command_that_makes_one(tmp_path: Path) -> None:
    (tmp_path / "m.spoor").write_text("spoor topic models 1\n[]\n")
    with pytest.raises(
        BadInput, match="not a file of path models but of topic models; create one with `spoor train context`"
    ):
        open_paths(tmp_path / "m.spoor")


@pytest.mark.parametrize(
    ("place", "change"),
    [
        (0, {"layers": 7}),
        (0, {"layers": 0}),
        (0, {"characters": 10**12}),
        (0, {"classes": ["0", "1", "2", "9"]}),
        (0, {"texts_of_classes": [0, 1, 1, 1]}),
        (1, {"shape": [10**9]}),
        (1, {"dtype": "<O8"}),
        (3, {"shape": [1, 4]}),
        (7, {"name": "steps"}),
    ],
)
def test_a_damaged_model_is_refused_in_one_line(tmp_path: Path, place: int, change: dict[str, object]) -> None:
    file = tmp_path / "m.spoor"
    write_paths(file, MODEL)
    kind, listed, body = file.read_bytes().split(b"\n", 2)
    parts = json.loads(listed)
    parts[place] |= change
    file.write_bytes(b"\n".join([kind, json.dumps(parts).encode(), body]))
    with pytest.raises(BadInput, match="the model is damaged"):
        open_paths(file)
