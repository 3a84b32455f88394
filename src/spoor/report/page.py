"""Writes report.html: the figures of a crawl in one self-contained file that needs no network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from spoor.actions import Mark, described
from spoor.errors import BadInput
from spoor.events import Steered
from spoor.report.charts import line_chart
from spoor.report.figures import MOST_ROWS
from spoor.report.showing import duration, moment, plain, share, size
from spoor.report.style import STYLE
from spoor.report.summary import Figures, Find, Incident, Kind, Pace, Reason
from spoor.result_files import replacing
from spoor.stopping import ExpectedFinds
from spoor.teaching.history import TaughtSoFar

Cell = str
"""HTML; text from the crawl is already escaped."""

HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
"""
LESSON_COLUMNS = ("version", "answers", "changed", "surprises", "contradictions")
LESSON_NOTE = (
    "Changed: verdicts on pages. Surprises: new answers that contradict confident verdicts. "
    "Contradictions: pages on which two teachers disagree."
)


def write_page(figures: Figures, path: Path) -> None:
    """Writes the whole file, or leaves the previous one unchanged."""
    try:
        with replacing(path) as partial:
            partial.write_text(html_of(figures), "utf8")
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}; name another file with --out") from None


def html_of(figures: Figures) -> str:
    tables = (
        _kinds("Hosts by yield", "host", figures.hosts, _spread(figures)),
        _kinds("Responses", "status", figures.statuses),
        _reasons("Failed visits", figures.failures, ("given up", "tried again")),
        _reasons("Links not followed", figures.refusals, ("dropped", "parked")),
        _reasons("Redirects", figures.redirects, ("left", "followed")),
        _paces(figures.slowest),
        _incidents(figures.incidents),
        _steered(figures.steered, bool(figures.taught.answers)),
        _teachers(figures.taught),
        _lessons(figures.taught),
        _kinds("Languages", "language", figures.languages),
        _kinds("Labels", "label", figures.labels),
        _stops(figures),
    )
    charts, columns = "".join(_curves(figures)), "".join(tables)
    parts = f'<div class="charts">{charts}</div><div class="columns">{columns}</div>{_finds(figures.finds)}'
    title = f"<title>{_safe(figures.name)} – spoor</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
    body = f"{_header(figures)}<main>{_tiles(figures)}{parts}{_footer(figures)}</main>"
    return f"{HEAD}{title}{body}\n</body>\n</html>\n"


def _header(figures: Figures) -> str:
    totals = figures.totals
    when = f"{moment(totals.began)} to {moment(totals.ended)}, {duration(totals.seconds)}" if totals.visits else ""
    return f"<header><h1>{_safe(figures.name)}</h1><p>{_state(figures)}</p><p>{when}</p></header>"


def _state(figures: Figures) -> str:
    if figures.going_on:
        return "This crawl has not ended: it is running, or was killed."
    return f"Ended because {_safe(figures.stops[-1].because)}."


def _tiles(figures: Figures) -> str:
    totals, links = figures.totals, figures.links
    speed = totals.visits / totals.seconds if totals.seconds else 0.0
    idle = sum(stop.idle for stop in figures.stops)
    unkept = f"; {totals.not_kept:,} were not stored" if totals.not_kept else ""
    sitemaps = (f"{totals.sitemaps_read:,}", f"sitemaps read, {totals.sitemap_links:,} of their links queued")
    gained = f"{totals.gained:,} gained text or links; tabs were busy for {duration(totals.render_seconds)}"
    excused = f", {totals.excused:,} excused, as the cause was on our side" if totals.excused else ""
    others = f", {totals.sitemap_requests:,} for sitemaps" if totals.sitemap_requests else ""
    others += f", {totals.script_requests:,} of scripts" if totals.script_requests else ""
    rendered = (f"{totals.rendered:,}", f"pages rendered in a browser, {gained}")
    tiles = (
        (f"{totals.relevant:,}", f"relevant pages, {share(totals.relevant, totals.pages)} of all"),
        (f"{totals.pages:,}", f"pages, {size(totals.page_bytes)}, median {size(totals.median_size)}{unkept}"),
        (f"{totals.visits:,}", f"visits, {totals.redirects:,} of them redirects, {speed:,.1f} a second"),
        (duration(idle), "idle by choice: a connection was left free for better links on delayed hosts"),
        (f"{totals.failures:,}", f"failures: nothing came; {totals.retries:,} visits to be tried again{excused}"),
        (f"{totals.requests:,}", f"requests, {totals.robots_requests:,} of them for robots.txt{others}"),
        *(
            [(f"{totals.internal_errors:,}", "requests failed because of errors of spoor, not of the web")]
            if totals.internal_errors
            else []
        ),
        (f"{totals.hosts_with_relevant:,}", f"hosts with a relevant page, of {totals.hosts:,} discovered"),
        (f"{links['waiting'] + links['returning']:,}", f"links waiting, {links['parked']:,} parked"),
        *_expected(figures.expected),
        (f"{totals.dropped:,}", "links dropped"),
        (f"{totals.needs_scripts:,}", "pages that need scripts: they have hardly any text"),
        *([rendered] if totals.rendered else []),
        *([sitemaps] if totals.sitemaps_read else []),
        (
            f"{totals.duplicates:,}",
            f"duplicates, and {totals.near_duplicates:,} near-duplicates; {totals.relevant_duplicates:,} are relevant",
        ),
    )
    return f'<div class="tiles">{"".join(_tile(*tile) for tile in tiles)}</div>'


def _expected(expected: ExpectedFinds | None) -> Iterable[tuple[str, str]]:
    if expected is not None:
        soon = f"{expected.next_200:,.0f} in the next 200 requests, {expected.next_500:,.0f} in the next 500"
        yield f"{expected.among_waiting:,.0f}", f"relevant pages expected among the waiting links: {soon}"


def _tile(number: str, meaning: str) -> str:
    return f'<div class="tile"><b>{number}</b><span>{meaning}</span></div>'


def _curves(figures: Figures) -> Iterable[str]:
    if figures.curve:
        found = [(0.0, 0.0)] + [(float(visits), float(found)) for visits, found, _ in figures.curve]
        waiting = [(float(visits), float(waiting)) for visits, _, waiting in figures.curve]
        yield _section("Relevant pages found", line_chart(found, "relevant pages found, over visits", "visits"))
        yield _section("Links waiting", line_chart(waiting, "links waiting, over visits", "visits"))


def _kinds(title: str, what: str, kinds: Sequence[Kind], note: str = "") -> str:
    rows = [
        (
            _safe(kind.name),
            f"{kind.pages:,}",
            f"{kind.relevant:,}",
            share(kind.relevant, kind.pages) + _bar(kind.relevant, kind.pages),
        )
        for kind in kinds
    ]
    return _table(title, (what, "pages", "relevant", "share"), rows, note)


def _spread(figures: Figures) -> str:
    totals = figures.totals
    return f"{totals.hosts_with_relevant:,} of {totals.hosts_with_pages:,} hosts with pages have a relevant one."


def _bar(part: int, whole: int) -> str:
    return f'<span class="bar"><i style="width:{100 * part / max(1, whole):.0f}%"></i></span>'


def _paces(paces: Sequence[Pace]) -> str:
    rows = [(_safe(pace.host), f"{pace.seconds:,.3f}", f"{pace.visits:,}") for pace in paces]
    return _table("Slowest hosts", ("host", "median seconds", "visits"), rows)


def _incidents(incidents: Sequence[Incident]) -> str:
    rows = [
        (_safe(one.what), f"{one.times:,}", "–" if one.longest is None else duration(one.longest)) for one in incidents
    ]
    return _table("Incidents", ("what", "times", "longest"), rows)


def _steered(actions: Sequence[Steered], without_marks: bool) -> str:
    """Marks that a judge learned from are counted as answers."""
    rows = [
        (_safe(described(one.action)), _safe(one.who), moment(one.at), _safe(one.refused or "done"))
        for one in actions
        if not (without_marks and isinstance(one.action, Mark))
    ]
    return _table("Steered by persons", ("action", "who", "when", "outcome"), rows)


def _teachers(taught: TaughtSoFar) -> str:
    rows = [
        (_safe(one.who), _number(one.relevant), _number(one.irrelevant), _number(one.unsaid)) for one in taught.answers
    ]
    return _table("Answers of teachers", ("teacher", "relevant", "irrelevant", "could not say"), rows)


def _lessons(taught: TaughtSoFar) -> str:
    lessons = taught.lessons[-MOST_ROWS:]
    most = max((one.changed for one in lessons), default=0)
    rows = [
        (
            f"{one.version}",
            _number(one.answers),
            _number(one.changed) + _bar(one.changed, most),
            _number(one.surprises),
            _number(one.contradictions),
        )
        for one in lessons
    ]
    return _table("Lessons of the judge", LESSON_COLUMNS, rows, LESSON_NOTE)


def _reasons(title: str, reasons: Sequence[Reason], columns: tuple[str, str]) -> str:
    rows = [(_safe(reason.because), _number(reason.for_good), _number(reason.for_now)) for reason in reasons]
    return _table(title, ("reason", *columns), rows)


def _number(count: int) -> str:
    return f"{count:,}" if count else "–"


def _finds(finds: Sequence[Find]) -> str:
    rows = [(_find(find), f"{find.relevance:.2f}") for find in finds]
    return _table("Best relevant pages", ("page", "relevance"), rows)


def _find(find: Find) -> Cell:
    return f"{_link(find.url, find.title)}<br><small>{_safe(find.url)}<br>{_safe(find.because)}</small>"


def _link(url: str, title: str) -> str:
    """Only http(s) URLs become links; anything else in the database stays text."""
    shown = _safe(title.strip() or url)
    if not url.startswith(("http://", "https://")):
        return shown
    return f'<a href="{escape(url, quote=True)}" rel="noreferrer noopener nofollow">{shown}</a>'


def _stops(figures: Figures) -> str:
    rows = [(_safe(stop.because), moment(stop.at)) for stop in figures.stops[-MOST_ROWS:]]
    return _table("Runs and why they ended", ("because", "when"), rows)


def _footer(figures: Figures) -> str:
    links = figures.links
    states = ", ".join(
        f"{links[state]:,} {state.replace('_', ' ')}" for state in ("settled", "in_transit", "returning")
    )
    return f"<footer>Of the links in the frontier {states}. Made by <b>spoor report</b>.</footer>"


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]], note: str = "") -> str:
    """Empty if there are no rows."""
    if not rows:
        return ""
    head = "".join(f"<th>{column}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    above = f'<p class="note">{note}</p>' if note else ""
    table = f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    return _section(title, above + table)


def _section(title: str, content: str) -> str:
    return f"<section><h2>{title}</h2>{content}</section>"


def _safe(text: str) -> Cell:
    """Isolated (bdi), so that right-to-left text does not affect its neighbours."""
    return f"<bdi>{escape(plain(text, 160), quote=True)}</bdi>"
