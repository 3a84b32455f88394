"""The API of the dashboard: what it says of small crawls that have ended."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from prometheus_client.parser import text_string_to_metric_families

from spoor.dashboard.counts import count_on, open_to_count
from spoor.dashboard.openapi import document
from spoor.dashboard.page_texts import query_of
from spoor.dashboard.page_view import marked
from spoor.dashboard.routes import ROUTES, Route
from spoor.dashboard.watching import WatchedCrawl
from spoor.store.crawl_folder import locked
from spoor.store.idle_time import note_idle
from tests.kept_crawl import kept_crawl
from tests.served_dashboard import ServedDashboard, served_dashboard
from tests.small_disk import fill, small_disk
from tests.written_crawl import small_crawl

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedDashboard]:
    """Crawl 1 has failures and redirects, crawl 2 an archive."""
    path = tmp_path_factory.mktemp("dashboard")
    folders = (small_crawl(path / "small"), kept_crawl(path / "kept"))
    with served_dashboard(*folders) as served:
        served.until_searchable()
        yield served


def test_the_overview_counts_what_the_report_counts(dashboard: ServedDashboard) -> None:
    small, kept = dashboard.read("crawls")
    assert (small["visits"], small["pages"], small["relevant"], small["failures"], small["redirects"]) == (
        11,
        5,
        3,
        2,
        2,
    )
    assert (small["bytes"], small["hosts"], small["hosts_with_relevant"], small["parked"]) == (1500, 3, 2, 1)
    assert (small["state"], small["because"]) == ("ended", "nothing is waiting")
    assert kept["because"] == "the budget of 40 visits is spent" and kept["waiting"] > 0


def test_a_crawl_on_a_full_disk_is_counted_elsewhere(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "4m"):
        folder = small_crawl(tmp_path / "disk" / "crawl")
        fill(tmp_path / "disk")
        with served_dashboard(folder) as served:
            (crawl,) = served.read("crawls")
        assert crawl["pages"] > 0


def test_the_curve_runs_over_all_visits(dashboard: ServedDashboard) -> None:
    points = dashboard.read("crawls/1/curve")["points"]
    assert points[-1]["visits"] == 11 and points[-1]["relevant"] == 3
    assert [point["visits"] for point in points] == sorted(point["visits"] for point in points)


@pytest.mark.parametrize("sort", ["relevant", "pages", "share", "failures", "seconds", "last", "name"])
@pytest.mark.parametrize("direction", ["descending", "ascending"])
def test_hosts_are_sorted_by_any_column_and_read_a_part_at_a_time(
    dashboard: ServedDashboard, sort: str, direction: str
) -> None:
    rows = whole_list(dashboard, f"crawls/2/hosts?sort={sort}&direction={direction}")
    key = "host" if sort == "name" else sort
    values = [row[key] for row in rows]
    assert len(rows) == 4 and values == sorted(values, reverse=direction == "descending")
    assert {row["host"] for row in rows} == {"a.test", "b.test", "c.test", "d.test"}


def whole_list(dashboard: ServedDashboard, path: str) -> list[dict[str, Any]]:
    """Two rows at a time."""
    rows, cursor = list[dict[str, Any]](), ""
    while True:
        part = dashboard.read(f"{path}{'&' if '?' in path else '?'}limit=2&cursor={cursor}")
        assert len(part["items"]) <= 2
        rows += part["items"]
        if (cursor := part["cursor"]) is None:
            return rows


def test_hosts_are_searched(dashboard: ServedDashboard) -> None:
    assert [row["host"] for row in dashboard.read("crawls/2/hosts?search=B.te")["items"]] == ["b.test"]
    assert dashboard.read("crawls/2/hosts?search=%25")["items"] == []


@pytest.mark.parametrize("order", ["newest", "best", "borderline"])
def test_every_order_of_pages_holds_every_page_once(dashboard: ServedDashboard, order: str) -> None:
    rows = whole_list(dashboard, f"crawls/2/pages?order={order}")
    numbers = [row["id"] for row in rows]
    assert len(numbers) == len(set(numbers)) == 38
    if order == "newest":
        assert numbers == sorted(numbers, reverse=True)
    if order == "best":
        assert [row["relevance"] for row in rows] == [1.0] * 19 + [0.0] * 19


def test_pages_are_filtered(dashboard: ServedDashboard) -> None:
    relevant = whole_list(dashboard, "crawls/2/pages?verdict=relevant")
    assert len(relevant) == 19 and all(row["relevant"] for row in relevant)
    of_host = whole_list(dashboard, "crawls/2/pages?host=a.test&verdict=irrelevant&order=best")
    assert of_host and all(row["host"] == "a.test" and not row["relevant"] for row in of_host)
    assert len(dashboard.read("crawls/1/pages?language=mn")["items"]) == 2
    assert dashboard.read("crawls/1/languages")["items"][0] == {"language": "mn", "pages": 2, "relevant": 2}


def test_texts_are_searched(dashboard: ServedDashboard) -> None:
    (found,) = dashboard.read(f"crawls/2/pages?search={quote('124435904 page')}&verdict=irrelevant")["items"]
    shown = dashboard.read(f"crawls/2/pages/{found['id']}")
    assert found["title"] == "Page 7" and "".join(piece["text"] for piece in shown["text"]).startswith("page 7 ")
    assert len(dashboard.read(f"crawls/2/pages?search={quote('copy of')}")["items"]) == 8
    assert dashboard.read(f"crawls/1/pages?search={quote('Эхл')}")["items"][0]["title"] == "Эхлэл"
    assert dashboard.read("crawls/2/pages?search=%22%20*")["items"] == []


def test_a_word_of_a_script_without_blanks_is_a_phrase_of_pairs() -> None:
    assert query_of("ไทย Wort") == '"ไท ทย" AND "wort" *'
    assert query_of('" OR -') == '"or" *'


def test_words_of_the_reason_are_marked_in_the_text() -> None:
    pieces = marked("Horses and a horse. หมา", ["horse", "a", "หมา"])
    assert [piece.text for piece in pieces if piece.marked] == ["horse", "หมา"]
    assert "".join(piece.text for piece in pieces) == "Horses and a horse. หมา"


def test_links_that_wait_come_in_the_order_of_the_queue(dashboard: ServedDashboard) -> None:
    rows = whole_list(dashboard, "crawls/2/queue")
    keys = [tuple(map(float, str(row["key"]).split())) for row in rows]
    assert [row["place"] for row in rows] == list(range(1, 39)) and keys == sorted(keys, reverse=True)
    assert rows[0]["evidence"]


def test_why_explains_any_url(dashboard: ServedDashboard) -> None:
    lines = dashboard.read(f"crawls/1/why?url={quote('HTTP://A.test/gone')}")
    assert lines["url"] == "http://a.test/gone"
    assert {"name": "state", "what": "given up"} in lines["lines"]
    assert "is not an http" in dashboard.ask("/api/v1/crawls/1/why?url=nonsense").json["error"]


def test_a_redirect_that_was_not_followed_explains_its_target(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl", redirect_to="http://e.test/private")
    with served_dashboard(folder) as served:
        served.until_searchable()
        (state,) = [
            line["what"]
            for line in served.read("crawls/1/why?url=http://e.test/private")["lines"]
            if line["name"] == "state"
        ]
    assert state.startswith("never queued: a redirect led here, but outside scope")


def test_failures_come_by_reason_with_examples_and_events(dashboard: ServedDashboard) -> None:
    slow, gone = dashboard.read("crawls/1/failures")["items"]
    assert (slow["reason"], slow["times"], slow["given_up"]) == ("timed out", 3, 1)
    assert gone["examples"] == ["http://a.test/gone"]
    assert len(dashboard.read(f"crawls/1/events?failure={slow['id']}")["items"]) == 3
    assert dashboard.read("crawls/1/events?kind=ended")["items"][0]["detail"]["because"] == "nothing is waiting"
    assert len(whole_list(dashboard, "crawls/1/events")) == 13


@pytest.mark.parametrize("route", [route for route in ROUTES if route.listed], ids=lambda route: route.name)
def test_every_list_is_exported(dashboard: ServedDashboard, route: Route) -> None:
    path = f"crawls/1/{route.name}"
    listed = dashboard.read(path)["items"]
    table = dashboard.ask(f"/api/v1/{path}?format=csv")
    lines = dashboard.ask(f"/api/v1/{path}?format=jsonl")
    assert [json.loads(line) for line in lines.body.splitlines()] == listed
    assert len(list(csv.DictReader(io.StringIO(table.body)))) == len(listed)
    assert re.fullmatch(r'attachment; filename="\w+-1\.csv"', table.headers["Content-Disposition"])


def test_an_answer_that_the_client_has_is_not_sent_again(dashboard: ServedDashboard) -> None:
    first = dashboard.ask("/api/v1/crawls/1/hosts")
    again = dashboard.ask("/api/v1/crawls/1/hosts", If_None_Match=first.headers["ETag"])
    assert (again.status, again.body) == (304, "")


def test_several_crawls_are_drawn_on_one_chart(dashboard: ServedDashboard) -> None:
    drawn = dashboard.ask("/api/v1/chart?what=share&over=time&crawls=1,2")
    assert drawn.headers["Content-Type"] == "image/svg+xml"
    assert drawn.body.count("<path") == 4 and "1 small" in drawn.body and "2 kept" in drawn.body


@pytest.mark.parametrize(
    "path",
    [
        "crawls/9",
        "crawls/1/pages/999999",
        "crawls/1/hosts?sort=x",
        "crawls/1/hosts?limit=0",
        "crawls/1/pages?nonsense=1",
        "crawls/1/pages?cursor=WyJ4Il0",
        "crawls/1/why",
        "crawls/1/hosts?format=xls",
        "crawls/1/queue?cursor=Wy0xXQ",
    ],
)
def test_what_cannot_be_answered_is_explained_in_one_line(dashboard: ServedDashboard, path: str) -> None:
    answer = dashboard.ask(f"/api/v1/{path}")
    assert answer.status in (400, 404)
    assert answer.json["error"] and "\n" not in answer.json["error"]


def test_what_was_counted_of_another_crawl_is_counted_anew(tmp_path: Path) -> None:
    first, second = small_crawl(tmp_path / "first"), kept_crawl(tmp_path / "second")
    file = tmp_path / "dashboard.db"
    for folder, pages in ((first, 5), (second, 38)):
        with closing(open_to_count(folder, file)) as db:
            assert count_on(db, 7)[0] == 7
            while len(set(count_on(db, 7))) > 1:
                pass
            assert db.execute("SELECT sum(pages), count(*) FROM fine_curve").fetchone()[0] == pages


def test_the_database_of_the_crawl_is_not_changed(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    before = folder.database.read_bytes()
    with served_dashboard(folder) as served:
        served.until_searchable()
    assert folder.database.read_bytes() == before
    with closing(sqlite3.connect(folder.database)) as db:
        assert not db.execute("SELECT 1 FROM sqlite_master WHERE name IN ('listed', 'texts')").fetchall()


def test_the_openapi_document_describes_every_route() -> None:
    described = document()
    assert described["openapi"] == "3.1.0" and {"title", "version"} <= described["info"].keys()
    for route in ROUTES:
        operation = described["paths"][f"/api/v1/crawls/{{crawl}}{route.path}"]["get"]
        named = {(parameter["name"], parameter["in"]) for parameter in operation["parameters"]}
        assert named >= {(name, "path") for name in re.findall(r"{(\w+)}", "{crawl}" + route.path)}
    operations = [operation for path in described["paths"].values() for operation in path.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names))
    for operation in operations:
        assert operation["summary"] and all("description" in answer for answer in operation["responses"].values())
    references = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(described)))
    assert references <= described["components"]["schemas"].keys()


def test_an_outside_validator_finds_the_openapi_document_valid() -> None:
    missing = "openapi-spec-validator is not installed: make validators"
    pytest.importorskip("openapi_spec_validator", reason=missing).validate(document())


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.path or "crawl")
def test_answers_have_the_fields_that_the_document_promises(dashboard: ServedDashboard, route: Route) -> None:
    path = route.path.replace("{page}", "10") + ("?url=http://a.test/0" if "why" in route.path else "")
    answer = dashboard.read(f"crawls/2{path}")
    schema = document()["components"]["schemas"][route.answers.__name__]
    for record in answer["items"] if route.listed else [answer]:
        assert list(record) == list(schema["properties"])


def test_metrics_of_every_crawl_are_there_for_prometheus(dashboard: ServedDashboard) -> None:
    answer = dashboard.ask("/metrics")
    families = {family.name: family for family in text_string_to_metric_families(answer.body)}
    relevant = {sample.labels["crawl"]: sample.value for sample in families["spoor_relevant_pages"].samples}
    assert relevant == {"small": 3.0, "kept": 19.0}


def test_a_crawl_that_was_locked_for_an_action_does_not_count_as_running_afterwards(tmp_path: Path) -> None:
    watched = WatchedCrawl(small_crawl(tmp_path / "crawl"), 1)
    with locked(watched.folder):
        assert watched.is_running()
    watched.acted()
    assert not watched.is_running()


def test_an_action_on_a_crawl_that_has_ended_is_done_at_once(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    with served_dashboard(folder) as served:
        assert served.act(1, {"action": "block", "pattern": "B.test"}).json["done"]
        assert served.act(1, {"action": "mark", "url": "http://a.test/", "relevant": False}).json["done"]
        assert served.read("crawls/1")["blocks"] == ["b.test"]
        assert served.read("crawls/1")["state"] == "ended"
        assert {row["host"]: row["blocked"] for row in served.read("crawls/1/hosts")["items"]}[
            "b.test"
        ] == "blocked: b.test"
        marks = {row["url"]: row["mark"] for row in served.read("crawls/1/pages")["items"]}
        assert marks["http://a.test/"] is False and marks["http://b.test/"] is None
        again = served.act(1, {"action": "block", "pattern": "b.test"})
        assert again.status == 400 and "already blocked" in again.json["error"]


def test_a_host_is_slowed_down_but_never_below_what_politeness_demands(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    with served_dashboard(folder) as served:
        assert served.act(1, {"action": "slow down", "host": "a.test", "seconds": 7}).json["done"]
        delays = {row["host"]: row["delay"] for row in served.read("crawls/1/hosts")["items"]}
        assert delays["a.test"] == 7.0
        refused = served.act(1, {"action": "slow down", "host": "a.test", "seconds": 0.1})
        assert refused.status == 400 and "politeness requires" in refused.json["error"]


def test_idle_time_is_that_of_ended_runs_and_of_the_one_that_is_going_on(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    note_idle(folder.idle, 12.5)
    with served_dashboard(folder) as served:
        assert served.read("crawls/1")["idle"] == 12.5
        assert 'spoor_idle_by_choice_seconds_total{crawl="crawl"} 12.5' in served.ask("/metrics").body


def test_the_api_is_documented() -> None:
    text = (ROOT / "docs" / "api.md").read_text("utf8")
    for path in document()["paths"]:
        assert f"`{path}`" in text, path
