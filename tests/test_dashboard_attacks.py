"""The dashboard against people and pages that mean harm: other sites, other machines, and what was crawled."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from spoor.dashboard.guard import COOKIE, CSRF_HEADER
from spoor.dashboard.page_view import without_harm
from spoor.store.crawl_folder import CrawlFolder
from tests.kept_crawl import kept_crawl
from tests.served_dashboard import Answer, ServedDashboard, served_dashboard
from tests.written_crawl import HOSTILE, HOSTILE_URL, small_crawl

SPLITTING = "x\r\nSet-Cookie: stolen=1\r\n\r\n<script>alert(1)</script>"
PAUSE = json.dumps({"action": "pause"})


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[CrawlFolder, CrawlFolder]:
    """The first has markup for a title and a URL; in the second, rows name files outside of the archive."""
    path = tmp_path_factory.mktemp("attacked")
    small, kept = small_crawl(path / f"small {HOSTILE[:8]}\n"), kept_crawl(path / "kept")
    (path / "secret.warc.gz").write_bytes(b"a secret")
    with closing(sqlite3.connect(kept.database)) as db:
        db.execute("UPDATE pages SET warc_file = '../../secret.warc.gz', warc_offset = 0 WHERE id = 10")
        db.execute("UPDATE pages SET title = ?, because = ?, host = ? WHERE id = 11", (SPLITTING, SPLITTING, SPLITTING))
        db.execute("UPDATE events SET detail = json_set(detail, '$.reason', ?) WHERE kind = 'failed'", (SPLITTING,))
        db.commit()
    return small, kept


@pytest.fixture(scope="module")
def dashboard(folders: tuple[CrawlFolder, CrawlFolder]) -> Iterator[ServedDashboard]:
    with served_dashboard(*folders) as served:
        served.until_searchable()
        yield served


@pytest.fixture(scope="module")
def reachable(folders: tuple[CrawlFolder, CrawlFolder]) -> Iterator[ServedDashboard]:
    """As if other machines could reach it."""
    with served_dashboard(folders[0], address="0.0.0.0") as served:
        yield served


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[::1", "10.0.0.1"])
def test_a_name_that_somebody_made_to_mean_this_machine_is_refused(dashboard: ServedDashboard, host: str) -> None:
    answer = dashboard.ask("/api/v1/crawls", Host=host)
    assert answer.status in (400, 421) and "relevant" not in answer.body


def test_names_of_this_machine_are_answered_also_through_a_tunnel(dashboard: ServedDashboard) -> None:
    for host in ("127.0.0.1:9999", "localhost", "LOCALHOST:1", "[::1]:8737"):
        assert dashboard.ask("/api/v1/crawls", Host=host).status == 200


def test_other_machines_need_the_token(reachable: ServedDashboard) -> None:
    token = reachable.guard.token
    assert len(token) >= 32
    for path in ("/", "/api/v1/crawls", "/api/v1/session", "/static/app.js", "/api/v1/stream", "/metrics"):
        assert reachable.ask(path).status == 401, path
    assert reachable.ask("/healthz").status == 200
    assert reachable.ask("/api/v1/crawls", Authorization=f"Bearer {token}").status == 200
    assert reachable.ask("/api/v1/crawls", Cookie=f"{COOKIE}={token}").status == 200
    assert reachable.ask("/api/v1/crawls", Authorization=f"Bearer {token[:-1]}").status == 401
    assert reachable.ask(f"/api/v1/crawls?token={token}").status == 401


def test_the_link_with_the_token_becomes_a_cookie_that_scripts_cannot_read(reachable: ServedDashboard) -> None:
    answer = reachable.ask(f"/?token={reachable.guard.token}")
    assert (answer.status, answer.headers["Location"]) == (303, "/")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and reachable.guard.token in cookie


def post(dashboard: ServedDashboard, **headers: str) -> Answer:
    return dashboard.ask("/api/v1/crawls/1/actions", "POST", PAUSE, **headers)


def test_another_site_cannot_act(dashboard: ServedDashboard, folders: tuple[CrawlFolder, CrawlFolder]) -> None:
    own = {"Content-Type": "application/json", CSRF_HEADER: dashboard.guard.csrf}
    attempts: list[dict[str, str]] = [
        {},
        {"Content-Type": "application/json"},
        {"Content-Type": "application/json", CSRF_HEADER: "guessed"},
        {**own, "Content-Type": "text/plain"},
        {**own, "Origin": "http://evil.example"},
        {**own, "Origin": "null"},
        {**own, "Sec-Fetch-Site": "cross-site"},
    ]
    assert [post(dashboard, **headers).status for headers in attempts] == [403] * len(attempts)
    assert not list(folders[0].path.glob("inbox/*"))


def test_nothing_is_shared_with_other_origins(dashboard: ServedDashboard) -> None:
    for path in ("/", "/api/v1/crawls", "/api/v1/session", "/static/app.js", "/nowhere"):
        headers = dashboard.ask(path, Origin="http://evil.example").headers
        assert not [name for name in headers if name.startswith("Access-Control")]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert dashboard.ask("/api/v1/crawls/1/actions", "OPTIONS").status in (403, 405)


@pytest.mark.parametrize("path", ["/static/..%2fserver.py", "/static/%2e%2e/server.py", "/static/", "/static/x%00.js"])
def test_only_files_of_the_page_are_handed_out(dashboard: ServedDashboard, path: str) -> None:
    assert dashboard.ask(path).status in (400, 404)


@pytest.mark.parametrize("page", ["..%2f..%2fsecret", "10%00", "-1", "1e3", "99999999999999999999"])
def test_a_preview_is_asked_for_by_number_alone(dashboard: ServedDashboard, page: str) -> None:
    assert dashboard.ask(f"/api/v1/crawls/2/pages/{page}/preview").status == 404


def test_a_row_that_names_a_file_outside_of_the_archive_shows_nothing(dashboard: ServedDashboard) -> None:
    preview = dashboard.ask("/api/v1/crawls/2/pages/10/preview")
    assert preview.status == 200 and "not in the archive" in preview.body and "secret" not in preview.body


def test_a_preview_may_do_nothing(dashboard: ServedDashboard) -> None:
    headers = dashboard.ask("/api/v1/crawls/2/pages/3/preview").headers
    policy = {part.split()[0]: part.split()[1:] for part in headers["Content-Security-Policy"].split("; ")}
    assert policy["sandbox"] == [] and policy["default-src"] == ["'none'"] and policy["img-src"] == ["data:"]
    assert policy["style-src"] == ["'unsafe-inline'"] and "script-src" not in policy
    assert headers["Content-Type"] == "text/html; charset=utf-8"


def test_what_could_load_or_run_is_taken_out_of_a_preview() -> None:
    page = (
        "<meta http-equiv=refresh content='0;url=http://evil.example'><base href=http://evil.example><script>x</script>"
        "<link rel=stylesheet href=//evil.example><p onclick=alert(1)>text<img src=x onerror=alert(2)>"
        "<iframe srcdoc='<script>1</script>'></iframe><svg><script>2</script><a xlink:href='javascript:3'>l</a></svg>"
        "<a href='javascript:alert(3)' ping=//evil.example>link</a><object data=x></object><form action=//evil.example>"
    )
    shown = without_harm(page)
    for harm in ("script", "refresh", "evil.example", "onclick", "onerror", "srcdoc", "iframe", "object"):
        assert harm not in shown, harm
    assert "text" in shown and "link" in shown


def test_markup_in_titles_urls_hosts_and_reasons_stays_text_in_json(dashboard: ServedDashboard) -> None:
    pages = dashboard.ask("/api/v1/crawls/1/pages")
    assert pages.headers["Content-Type"].startswith("application/json")
    assert {HOSTILE, HOSTILE_URL} & {text for page in pages.json["items"] for text in (page["title"], page["url"])}
    reasons = [failure["reason"] for failure in dashboard.read("crawls/2/failures")["items"]]
    assert reasons == [SPLITTING]


def test_markup_in_the_name_of_a_folder_is_escaped_in_charts(dashboard: ServedDashboard) -> None:
    drawn = dashboard.ask("/api/v1/chart?crawls=1,2").body
    assert "<script" not in drawn and "&lt;script" in drawn


@pytest.mark.parametrize("form", ["csv", "jsonl", "json"])
def test_nothing_crawled_reaches_a_header(dashboard: ServedDashboard, form: str) -> None:
    for path in ("pages", "failures", "hosts", f"pages?host={SPLITTING.encode().hex()}"):
        mark = "&" if "?" in path else "?"
        answer = dashboard.ask(f"/api/v1/crawls/2/{path}{mark}format={form}")
        assert answer.status == 200 and "Set-Cookie" not in answer.headers
    split = dashboard.ask("/api/v1/crawls/2/hosts?sort=x%0d%0aSet-Cookie:%20stolen=1")
    assert split.status == 400 and "Set-Cookie" not in split.headers


def test_a_cell_of_a_table_is_no_formula(tmp_path: Path) -> None:
    folder = kept_crawl(tmp_path / "crawl")
    with closing(sqlite3.connect(folder.database)) as db:
        db.execute("UPDATE pages SET title = '=HYPERLINK(\"http://evil.example\")' WHERE id = 3")
        db.commit()
    with served_dashboard(folder) as served:
        served.until_searchable()
        assert ",\"'=HYPERLINK(" in served.ask("/api/v1/crawls/1/pages?format=csv").body


def test_an_action_that_makes_no_sense_is_refused(dashboard: ServedDashboard) -> None:
    asked: list[Any] = [{"action": "explode"}, {"action": "block"}, {"action": "mark", "url": "x", "relevant": 1}, []]
    for action in asked:
        answer = dashboard.act(1, action)
        assert answer.status == 400 and answer.json["error"]
