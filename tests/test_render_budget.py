"""Which pages that need scripts are rendered: by what rendering gained on their host, also when a crawl is resumed."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Container, Iterator

import pytest

from spoor.events import Failed, Visited
from spoor.records import Rendering, Verdict, Visit
from spoor.render_budget import ALLOWANCE, HostRenders, RenderSettings, is_spent, refusal
from spoor.store.renders import Renders, render_of, render_totals

AUTO = RenderSettings()


def visited(visit: Visit, rendering: Rendering) -> Visited:
    return Visited(visit, 1.0, 200, 0, Verdict(0.0, False, ""), 0, 0, (), 1, rendering=rendering)


def decided(pages: int, gaining: Container[int], settings: RenderSettings = AUTO, resumed_every: int = 1000) -> str:
    """Of each page of a host, one after another: R when it was rendered. The crawl is killed and resumed now and
    then, always while a page is under way."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        return "".join(_decisions(db, pages, gaining, settings, resumed_every))


def _decisions(
    db: sqlite3.Connection, pages: int, gaining: Container[int], settings: RenderSettings, resumed_every: int
) -> Iterator[str]:
    renders = Renders.create(db)
    for number in range(pages):
        visit = Visit(f"http://a.test/{number}", "a.test", number, 0.0)
        is_rendered = not refusal(settings, renders.of("a.test"))
        renders.begin(visit, is_rendered)
        if number % resumed_every == resumed_every - 1:
            renders = Renders.create(db)
            assert is_rendered is not bool(refusal(settings, renders.of("a.test")))
            renders.begin(visit, is_rendered)
        yield "R" if is_rendered else "."
        rendering = Rendering("settled", 0.0, float(is_rendered), gained=is_rendered and number in gaining)
        renders.note([visited(visit, rendering)])
        renders.write(db)


@pytest.mark.parametrize("resumed_every", [1000, 3])
def test_a_host_on_which_nothing_is_gained_is_tried_seldom(resumed_every: int) -> None:
    rendered = decided(62, (), resumed_every=resumed_every)
    assert [number for number, one in enumerate(rendered) if one == "R"] == [0, 1, 2, 3, 4, 19, 39, 59]


@pytest.mark.parametrize("resumed_every", [1000, 3])
def test_rendering_goes_on_while_a_fifth_of_the_pages_gain(resumed_every: int) -> None:
    assert decided(40, range(0, 40, 5), resumed_every=resumed_every) == "R" * 40
    assert decided(12, {0}, resumed_every=resumed_every) == "R" * 6 + "." * 6


def test_a_host_has_its_limit_and_always_means_always() -> None:
    assert decided(9, range(9), RenderSettings(renders_per_host=3)) == "RRR......"
    assert decided(40, (), RenderSettings(mode="always")) == "R" * 40


def test_what_is_under_way_counts_as_rendered_and_not_as_in_vain(in_memory: Callable[[], sqlite3.Connection]) -> None:
    renders = Renders.create(in_memory())
    visits = [Visit(f"http://a.test/{number}", "a.test", number, 0.0) for number in range(6)]
    for visit in visits:
        renders.begin(visit, True)
    assert renders.of("a.test") == HostRenders(flagged=6, rendered=6)
    assert renders.of("b.test") == HostRenders()
    renders.note([Failed(visits[0], 1.0, "reading needed over 1 GB", None, 1)])
    renders.note([visited(visits[1], Rendering("settled", 0.0, 1.0, gained=True))])
    assert renders.of("a.test") == HostRenders(flagged=5, rendered=5, finished=1, gained=1)


def test_tabs_have_a_minute_each_and_then_a_share_of_the_time() -> None:
    settings = RenderSettings(tabs=2, render_share=0.5)
    assert not is_spent(settings, 2 * ALLOWANCE, 0.0)
    assert is_spent(settings, 2 * ALLOWANCE + 101.0, 100.0)
    assert not is_spent(settings, 2 * ALLOWANCE + 99.0, 100.0)
    assert not is_spent(RenderSettings(mode="always", render_share=0.0), 1e9, 0.0)


def test_a_folder_of_an_earlier_version_has_no_renders(in_memory: Callable[[], sqlite3.Connection]) -> None:
    db = in_memory()
    assert render_of(db, "a.test", "http://a.test/", 0) is None
    assert render_totals(db).rendered == 0
