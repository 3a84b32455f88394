"""report.html: the figures of a crawl as one file that opens anywhere, without a network."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from spoor.actions import described
from spoor.errors import BadInput
from spoor.events import Steered
from spoor.files import replacing
from spoor.report.figures import MOST_ROWS, Figures, Find, Incident, Kind, Pace, Reason
from spoor.report.showing import duration, moment, plain, share, size

# One line over the number of visits, as SVG that needs nothing from outside.


WIDTH, HEIGHT = 480, 230
LEFT, RIGHT, TOP, BOTTOM = 46, 16, 10, 38
"""Room for what is written beside the lines."""

Point = tuple[float, float]


def line_chart(points: Sequence[Point], name: str, across: str) -> str:
    """`points` run from left to right and are not negative; `name` says what is drawn, `across` over what."""
    widest = max((x for x, _ in points), default=1.0) or 1.0
    steps = ticks(max((y for _, y in points), default=1.0) or 1.0)
    drawn = [_place(x / widest, y / steps[-1]) for x, y in points or [(0.0, 0.0)]]
    path = "M" + " L".join(f"{x:.1f},{y:.1f}" for x, y in drawn)
    floor, left = HEIGHT - BOTTOM, drawn[0][0]
    parts = [
        *(_level(step, step / steps[-1]) for step in steps),
        *(_mark(step, step / widest) for step in ticks(widest) if 0 < step <= widest),
        f'<path class="area" d="{path} L{drawn[-1][0]:.1f},{floor} L{left:.1f},{floor} Z"/>',
        f'<path class="line" d="{path}"/>',
        f'<text class="tick" x="{WIDTH - RIGHT}" y="{HEIGHT - 4}" text-anchor="end">{escape(across)}</text>',
    ]
    said = escape(name, quote=True)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{said}">{"".join(parts)}</svg>'


def ticks(highest: float) -> list[float]:
    """A few round numbers from 0 to `highest` or just above."""
    rough = highest / 4
    unit = 10 ** math.floor(math.log10(rough))
    step = max(1, next(unit * n for n in (1, 2, 5, 10) if unit * n >= rough * 0.999))
    return [step * n for n in range(math.ceil(highest / step - 1e-9) + 1)]


def _place(x: float, y: float) -> Point:
    return LEFT + x * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y * (HEIGHT - TOP - BOTTOM)


def _level(value: float, height: float) -> str:
    _, y = _place(0, height)
    line = f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return line + f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_short(value)}</text>'


def _mark(value: float, along: float) -> str:
    x, y = _place(along, 0)
    return f'<text class="tick" x="{x:.1f}" y="{y + 16}" text-anchor="middle">{_short(value)}</text>'


def _short(value: float) -> str:
    for unit, length in (("M", 10**6), ("k", 10**3)):
        if value >= 10 * length:
            return f"{value / length:g}{unit}"
    return f"{value:,g}"


# report.html: the figures of a crawl as one file that opens anywhere, without a network and without scripts.


Cell = str
"""HTML: whatever came from the crawl is escaped already."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5d6b7a; --line: #dde3ea; --card: #fff; --ground: #f4f6f8;
  --accent: #0b6e75; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e9ee; --soft: #98a5b3; --line: #313c48; --card: #1b232c;
  --ground: #12181e; --accent: #45b8bf; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 1.5rem clamp(.75rem, 4vw, 3rem) 3rem; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
main, header { max-width: 72rem; margin: 0 auto; }
h1 { margin: 0; font-size: 1.6rem; overflow-wrap: anywhere; }
h2 { margin: 0 0 .6rem; font-size: 1.05rem; }
header p, .note { margin: .25rem 0 0; color: var(--soft); }
.note { margin: 0 0 .6rem; font-size: .88rem; }
.tiles, .charts { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); }
.tiles { grid-template-columns: repeat(auto-fit, minmax(max(9rem, 22%), 1fr)); margin: 1.25rem 0 .75rem; }
.columns { columns: 2 26rem; column-gap: .75rem; }
section { margin-bottom: .75rem; break-inside: avoid; }
.columns section { display: inline-block; width: 100%; }
.tile, section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .9rem 1.1rem; }
.tile b { display: block; font-size: 1.5rem; line-height: 1.25; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: .88rem; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .92rem; }
th { color: var(--soft); font-weight: 500; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
td { text-align: right; border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; }
tr:last-child td { border-bottom: 0; }
th, td { padding: .3rem 0 .3rem 1rem; vertical-align: top; }
th:first-child, td:first-child { text-align: left; padding-left: 0; overflow-wrap: anywhere; min-width: 8rem; }
.bar { display: block; height: .3rem; margin-top: .15rem; border-radius: .15rem; background: var(--line); }
.bar i { display: block; height: 100%; border-radius: inherit; background: var(--accent); }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
small { color: var(--soft); }
svg { display: block; width: 100%; height: auto; }
.grid { stroke: var(--line); }
.tick { fill: var(--soft); font: 12px system-ui, sans-serif; }
.line { fill: none; stroke: var(--accent); stroke-width: 2.2; stroke-linejoin: round; }
.area { fill: var(--accent); opacity: .12; }
footer { margin-top: 1rem; color: var(--soft); font-size: .85rem; text-align: center; }
@media print { :root { --ink: #000; --soft: #444; --line: #bbb; --card: #fff; --ground: #fff; --accent: #0b6e75; }
  body { padding: 0; font-size: 11px; } .tile { break-inside: avoid; }
  .bar i, .area { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""

HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
"""


def write_page(figures: Figures, path: Path) -> None:
    """The whole file or, whatever happens, the one that was there before."""
    try:
        with replacing(path) as partial:
            partial.write_text(html_of(figures), "utf8")
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}; name another file with --out") from None


def html_of(figures: Figures) -> str:
    tables = (
        _kinds("Hosts by yield", "host", figures.hosts, _spread(figures)),
        _kinds("Answers", "status", figures.statuses),
        _reasons("Failed visits", figures.failures, ("given up", "tried again")),
        _reasons("Links not followed", figures.refusals, ("dropped", "parked")),
        _reasons("Redirects", figures.redirects, ("left", "followed")),
        _paces(figures.slowest),
        _incidents(figures.incidents),
        _steered(figures.steered),
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
        return "This crawl has not ended: it is running, or was cut off."
    return f"Ended because {_safe(figures.stops[-1].because)}."


def _tiles(figures: Figures) -> str:
    totals, links = figures.totals, figures.links
    speed = totals.visits / totals.seconds if totals.seconds else 0.0
    idle = sum(stop.idle for stop in figures.stops)
    unkept = f"; {totals.not_kept:,} were not kept" if totals.not_kept else ""
    sitemaps = (f"{totals.sitemaps:,}", f"sitemaps read, {totals.from_sitemaps:,} links let in by them")
    tiles = (
        (f"{totals.relevant:,}", f"relevant pages, {share(totals.relevant, totals.pages)} of all"),
        (f"{totals.pages:,}", f"pages, {size(totals.bytes)}, median {size(totals.median_size)}{unkept}"),
        (f"{totals.visits:,}", f"visits, {speed:,.1f} a second"),
        (duration(idle), "idle by choice: a connection was kept free for better links on hosts under a delay"),
        (f"{totals.failures:,}", f"failed visits, {totals.given_up:,} given up"),
        (f"{totals.hosts_with_relevant:,}", f"hosts with a relevant page, of {totals.hosts:,} discovered"),
        (f"{links['waiting'] + links['returning']:,}", f"links waiting, {links['parked']:,} parked"),
        (f"{totals.dropped:,}", "links dropped"),
        (f"{totals.needs_scripts:,}", "pages that need scripts: hardly anything could be read of them"),
        *([sitemaps] if totals.sitemaps else []),
        (f"{totals.duplicates:,}", f"duplicates, and {totals.near_duplicates:,} near-duplicates"),
    )
    return f'<div class="tiles">{"".join(_tile(*tile) for tile in tiles)}</div>'


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
        (_safe(kind.name), f"{kind.pages:,}", f"{kind.relevant:,}", share(kind.relevant, kind.pages) + _bar(kind))
        for kind in kinds
    ]
    return _table(title, (what, "pages", "relevant", "share"), rows, note)


def _spread(figures: Figures) -> str:
    totals = figures.totals
    return f"{totals.hosts_with_relevant:,} of {totals.hosts_with_pages:,} hosts that gave pages gave a relevant one."


def _bar(kind: Kind) -> str:
    return f'<span class="bar"><i style="width:{100 * kind.relevant / kind.pages:.0f}%"></i></span>'


def _paces(paces: Sequence[Pace]) -> str:
    rows = [(_safe(pace.host), f"{pace.seconds:,.3f}", f"{pace.visits:,}") for pace in paces]
    return _table("Slowest hosts", ("host", "median seconds", "visits"), rows)


def _incidents(incidents: Sequence[Incident]) -> str:
    rows = [
        (_safe(one.what), f"{one.times:,}", "–" if one.longest is None else duration(one.longest)) for one in incidents
    ]
    return _table("Incidents", ("what", "times", "longest"), rows)


def _steered(actions: Sequence[Steered]) -> str:
    rows = [
        (_safe(described(one.action)), _safe(one.who), moment(one.at), _safe(one.refused or "done")) for one in actions
    ]
    return _table("Steered by persons", ("action", "who", "when", "outcome"), rows)


def _reasons(title: str, reasons: Sequence[Reason], columns: tuple[str, str]) -> str:
    rows = [(_safe(reason.because), _number(reason.for_good), _number(reason.for_now)) for reason in reasons]
    return _table(title, ("reason", *columns), rows)


def _number(count: int) -> str:
    return f"{count:,}" if count else "–"


def _finds(finds: Sequence[Find]) -> str:
    rows = [(_find(find), f"{find.relevance:.2f}") for find in finds]
    return _table("The best of the relevant pages", ("page", "relevance"), rows)


def _find(find: Find) -> Cell:
    return f"{_link(find.url, find.title)}<br><small>{_safe(find.url)}<br>{_safe(find.because)}</small>"


def _link(url: str, title: str) -> str:
    """Only what leads to the web is a link; what else a database might hold stays text."""
    shown = _safe(title.strip() or url)
    if not url.startswith(("http://", "https://")):
        return shown
    return f'<a href="{escape(url, quote=True)}" rel="noreferrer noopener nofollow">{shown}</a>'


def _stops(figures: Figures) -> str:
    rows = [(_safe(stop.because), moment(stop.at)) for stop in figures.stops[-MOST_ROWS:]]
    return _table("Every stop and its reason", ("because", "when"), rows)


def _footer(figures: Figures) -> str:
    links = figures.links
    states = ", ".join(
        f"{links[state]:,} {state.replace('_', ' ')}" for state in ("settled", "in_transit", "returning")
    )
    return f"<footer>Of the links in the frontier {states}. Made by <b>spoor report</b>.</footer>"


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]], note: str = "") -> str:
    """Nothing at all when there are no rows."""
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
    """Isolated, so that text written from right to left does not turn what stands beside it."""
    return f"<bdi>{escape(plain(text, 160), quote=True)}</bdi>"
