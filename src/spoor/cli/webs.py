"""`spoor web`: build, generate, look at and serve webs for the simulator."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from spoor.cli.command import SUMMARIES, Commands, add_command, add_workers
from spoor.cli.simulating import check_conditions
from spoor.cli.terminal import counted, progress
from spoor.errors import BadInput, UsageError
from spoor.lab.build.builder import Making, build_web
from spoor.lab.build.gather import BuildReport, Packed
from spoor.lab.build.log_source import is_table, read_logs
from spoor.lab.build.warc_source import read_warcs, warc_files
from spoor.lab.generate import CATALOGUE, generate
from spoor.lab.generate.chance import Request
from spoor.lab.link_graph import locality
from spoor.lab.web import Web
from spoor.lab.worlds import FIELD, Conditions

# `spoor web build`: a web from what a crawl has recorded.


WEB_BUILD_EXAMPLES = """
spoor web build crawl.warc.gz --out my-web
spoor web build my-crawl --out my-web --truth labels.tsv
spoor web build log.csv links.csv --out my-web
"""

ALWAYS_TOLD = ("redirects", "duplicates", "non-HTML", "errors", "broken", "truncated")


def register_web_build(kinds: Commands) -> None:
    parser = add_command(
        kinds, "build", "make a web from WARC files, a crawl folder or a crawl log", WEB_BUILD_EXAMPLES, run_web_build
    )
    parser.add_argument(
        "source",
        nargs="+",
        type=Path,
        metavar="SOURCE",
        help="WARC (plain, .gz, .xz, .lz4, .zst), crawl folder, or a log and its links (.csv, .parquet)",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="WEB", help="folder to make")
    parser.add_argument(
        "--truth", type=Path, metavar="TSV", help="labels of pages: columns url and labels, tab-separated"
    )
    parser.add_argument("--exact", action="store_true", help="links lead only to the very URL, not to near misses")
    parser.add_argument("--name", help="name of the web (default: that of the folder)")
    add_workers(parser)


def run_web_build(arguments: argparse.Namespace) -> int:
    began = time.monotonic()
    report = BuildReport()
    records = _records(arguments.source, report, arguments.workers)
    made_from = " ".join(map(str, arguments.source))
    making = Making(arguments.name or arguments.out.resolve().name, made_from, arguments.truth, arguments.exact)
    with progress("pages read") as advance:
        web = build_web(arguments.out, counted(records, advance), making, report)
    print(_build_summary(web, time.monotonic() - began))
    return 0


def _records(sources: list[Path], report: BuildReport, workers: int | None) -> Iterator[Packed]:
    for source in sources:
        if not source.exists():
            raise BadInput(f"there is no file or folder {source}")
    tables = [source for source in sources if is_table(source)]
    if not tables:
        return read_warcs([file for source in sources for file in warc_files(source)], report, workers)
    if len(tables) < len(sources):
        raise UsageError("give either WARC files and crawl folders, or a log and its links, not both")
    return read_logs(tables, report)


def _build_summary(web: Web, seconds: float) -> str:
    """What was built and what was noticed on the way; the rarer things only when they occurred."""
    about, noticed = web.about, dict(web.about["report"])
    facts = {"pages": web.pages, "hosts": about["hosts"], "links": about["links"]}
    facts |= {"unrecorded link targets": about["unrecorded"], "labels": len(web.labels)}
    facts |= {what: noticed.pop(what, 0) for what in ALWAYS_TOLD}
    facts |= {what: count for what, count in sorted(noticed.items()) if count}
    lines = [f"{what:<42}{count:>12,}" for what, count in facts.items()]
    return "\n".join([f"{web.folder} built in {seconds:.1f} s", *lines])


# `spoor web generate`: make a web by a generator, the same one for the same seed.


WEB_GENERATE_EXAMPLES = """
spoor web generate --like thai --pages 30000 --seed 1 --out thai-web
spoor web generate --like thai --pages 2000 --seed 1 --text --out thai-texts
spoor web generate --like mongolian --pages 5000 --seed 1 --text --words words.txt --out mongolian-web
spoor web generate --like topical --pages 20000 --seed 7 --out topical-web
"""


def register_web_generate(kinds: Commands) -> None:
    parser = add_command(kinds, "generate", "make a web by a generator", WEB_GENERATE_EXAMPLES, run_web_generate)
    names = "; ".join(f"{name}: {generator.sentence}" for name, generator in CATALOGUE.items())
    parser.add_argument("--like", required=True, metavar="NAME", choices=CATALOGUE, help=names)
    parser.add_argument("--pages", required=True, metavar="N", type=int, help="how many pages")
    parser.add_argument("--seed", required=True, metavar="K", type=int, help="any whole number; same seed, same web")
    parser.add_argument("--out", required=True, metavar="WEB", type=Path, help="the folder to make")
    parser.add_argument("--text", action="store_true", help="give the pages of a language web texts, in real charsets")
    words = (
        "the words of traditional Mongolian pages, one a line, in Menksoft glyphs or Unicode; for courses a "
        "dictionary: English, a tab, Hindi (default: our own)"
    )
    parser.add_argument("--words", metavar="FILE", type=Path, help=words)


def run_web_generate(arguments: argparse.Namespace) -> int:
    request = Request(arguments.like, arguments.pages, arguments.seed, arguments.text, arguments.words)
    with progress(f"generating {request.name}", request.pages) as advance:
        generate(request, arguments.out, advance)
    print(_generate_summary(Web.open(arguments.out), request))
    return 0


def _generate_summary(web: Web, request: Request) -> str:
    about, relevant = web.about, int(web.labelled("relevant").sum())
    counts = f"{web.pages:,} pages on {about['hosts']:,} hosts, {about['links']:,} links, {relevant:,} relevant pages"
    short = f" ({request.pages:,} were asked for; the trace ended there)" if web.pages < request.pages else ""
    return f"{web.folder}: {counts}{short}"


# `spoor web info`: what a web holds, and how wanted pages lie in it.


WEB_INFO_EXAMPLES = """
spoor web info my-web
spoor web info my-web --target lang=ja
"""

_MOST_SHOWN = 20


def register_web_info(kinds: Commands) -> None:
    parser = add_command(kinds, "info", "show what a web holds", WEB_INFO_EXAMPLES, run_web_info)
    parser.add_argument(
        "web", type=Path, metavar="WEB", help="a folder made by `spoor web build` or `spoor web generate`"
    )
    parser.add_argument("--target", metavar="LABEL", help="also show how the pages with this label are linked")


def run_web_info(arguments: argparse.Namespace) -> int:
    web = Web.open(arguments.web)
    lines = _target(web, arguments.target) if arguments.target else []
    print("\n".join([*_overview(web), *_vocabularies(web), *lines]))
    return 0


def _overview(web: Web) -> list[str]:
    about = web.about
    redirects = 0 if web.redirects is None else int((web.redirects >= 0).sum())
    return [
        _fact("web", web.name),
        _fact("made from", _origin(about["made_from"])),
        _fact("pages", web.pages),
        _fact("hosts", about["hosts"]),
        _fact("links", about["links"]),
        _fact("unrecorded link targets", about["unrecorded"]),
        _fact("redirects", redirects),
        _fact("texts", "yes" if web.has_content else "no"),
    ]


def _origin(made_from: str | dict[str, object]) -> str:
    """Generated webs keep their parameters, built ones the name of their source."""
    return made_from if isinstance(made_from, str) else ", ".join(f"{key} {value}" for key, value in made_from.items())


def _vocabularies(web: Web) -> list[str]:
    labels = np.diff(web.array("label_offsets"))
    return [
        *_ranking("statuses", *_counts(web.array("status"))),
        *_ranking("content types", *_named(web.array("content_type"), web.about["content_types"])),
        *_ranking("charsets in headers", *_named(web.array("header_charset"), web.about["charsets"])),
        *_ranking("charsets in pages", *_named(web.array("meta_charset"), web.about["charsets"])),
        *_ranking("charsets detected", *_named(web.array("detected_charset"), web.about["charsets"])),
        *_ranking("labels", web.labels, labels.tolist()),
    ]


def _target(web: Web, label: str) -> list[str]:
    relevant = web.labelled(label)
    found = locality(web, relevant)
    share = f"{relevant.mean():.2%} of all pages" if web.pages else "no pages"
    return [
        f"target {label}",
        _fact("  relevant pages", f"{int(relevant.sum()):,} ({share})"),
        _fact("  links from relevant pages", found.from_relevant),
        _fact("  P(child relevant | parent relevant)", _probability(found.after_relevant)),
        _fact("  P(child relevant | parent irrelevant)", _probability(found.after_others)),
    ]


def _counts(column: NDArray[Any]) -> tuple[list[str], list[int]]:
    values, counts = np.unique(column, return_counts=True)
    return [str(value) for value in values.tolist()], counts.tolist()


def _named(column: NDArray[Any], words: Sequence[str]) -> tuple[list[str], list[int]]:
    values, counts = np.unique(column, return_counts=True)
    return [words[value] or "(none)" for value in values.tolist()], counts.tolist()


def _ranking(title: str, names: Sequence[str], counts: Sequence[int]) -> list[str]:
    """The most frequent first; names break ties. Long lists end in how many are left out."""
    ranked = sorted(zip(counts, names, strict=True), key=lambda pair: (-pair[0], pair[1]))
    lines = [_fact(f"  {name}", count) for count, name in ranked[:_MOST_SHOWN]]
    left_out = len(ranked) - _MOST_SHOWN
    return [f"{title}{'' if ranked else ': none'}", *lines, *([f"  and {left_out} more"] if left_out > 0 else [])]


def _fact(name: str, value: object) -> str:
    return f"{name:<42}{f'{value:,}' if isinstance(value, int) else value}"


def _probability(value: float | None) -> str:
    return "no such links" if value is None else f"{value:.4f}"


# `spoor web serve`: a recorded web as an HTTP proxy on this machine.


WEB_SERVE_EXAMPLES = """
spoor web serve my-web --port 8080
curl --proxy http://127.0.0.1:8080 http://recorded.example/
spoor web serve my-web --conditions field --rest 0.1 --latency 0.02
spoor web serve my-web --log requests.tsv
"""

DRAWN = {
    "latency": "latency",
    "bandwidth": "bandwidth",
    "rest": "rest",
    "failures": "failures",
    "retry_after": "retry_after",
    "clock_seed": "seed",
}
"""Options that change field conditions, and the fields that they set."""


def register_web_serve(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "serve",
        "answer for every host of a web, as an HTTP proxy on this machine",
        WEB_SERVE_EXAMPLES,
        run_web_serve,
    )
    parser.add_argument(
        "web", type=Path, metavar="WEB", help="folder made by `spoor web build` or `spoor web generate`"
    )
    parser.add_argument("--port", type=int, default=8080, metavar="P", help="(8080; 0 takes a free one)")
    parser.add_argument(
        "--conditions",
        choices=("lab", "field"),
        default="lab",
        help="lab: every answer comes at once; field: hosts take time, fail and ask for a crawl delay, "
        "as in a simulation under field conditions (lab)",
    )
    parser.add_argument(
        "--log",
        type=Path,
        metavar="FILE",
        help="append a line for every request: when it came (seconds since 1970), seconds that the answer took, "
        "status, URL",
    )
    field = parser.add_argument_group("field conditions, as of `spoor simulate`")
    field.add_argument("--rest", type=float, metavar="S", help="crawl delay in seconds that hosts ask for (1)")
    field.add_argument("--latency", type=float, metavar="S", help="seconds, median over hosts (0.2)")
    field.add_argument("--bandwidth", type=float, metavar="B", help="bytes/s, median over hosts (500000)")
    field.add_argument("--failures", type=float, metavar="P", help="share of requests that time out (0.02)")
    field.add_argument(
        "--retry-after", type=int, metavar="S", help="seconds to wait after one that timed out, as hosts say (60)"
    )
    field.add_argument("--clock-seed", type=int, metavar="K", help="draws speeds, delays and failures (0)")


def run_web_serve(arguments: argparse.Namespace) -> int:
    web, conditions = Web.open(arguments.web), _conditions(arguments)
    with _opened(arguments.log) as log:
        asyncio.run(_serve(web, arguments.port, conditions, log))
    return 0


def _opened(log: Path | None) -> contextlib.AbstractContextManager[TextIO | None]:
    """Line by line, so that nothing is missing from it however the server ends."""
    if log is None:
        return contextlib.nullcontext()
    try:
        return log.open("a", buffering=1, encoding="utf8")
    except OSError as error:
        raise BadInput(f"cannot write {log}: {error.strerror}; give another --log") from None


def _conditions(arguments: argparse.Namespace) -> Conditions | None:
    """None: every answer comes at once."""
    given = {name: getattr(arguments, name) for name in DRAWN if getattr(arguments, name) is not None}
    if arguments.conditions == "lab":
        if given:
            option = f"--{next(iter(given)).replace('_', '-')}"
            raise UsageError(f"{option} has no effect under lab conditions; add --conditions field")
        return None
    check_conditions({name.replace("_", "-"): value for name, value in given.items() if name != "clock_seed"})
    return replace(FIELD, **{DRAWN[name]: value for name, value in given.items()})


async def _serve(web: Web, port: int, conditions: Conditions | None, log: TextIO | None) -> None:
    from aiohttp.web import Server, ServerRunner, TCPSite

    from spoor.lab.serve import WebServer

    runner = ServerRunner(Server(WebServer(web, conditions, log).answer))
    await runner.setup()
    try:
        await TCPSite(runner, "127.0.0.1", port).start()
    except OSError as error:
        raise BadInput(f"cannot listen on port {port}: {error.strerror or error}; give another --port") from None
    host, bound, *_ = runner.addresses[0]
    under = " under field conditions" if conditions else ""
    print(f"{web.name} is served{under} by the proxy http://{host}:{bound}; stop it with Ctrl-C", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


# `spoor web`: make webs and look at them.


WEB_EXAMPLES = """
spoor web build crawl.warc.gz --out my-web
spoor web generate --like thai --pages 30000 --seed 1 --out thai-web
spoor web info thai-web --target relevant
"""


def register_web(commands: Commands) -> None:
    group = add_command(commands, "web", SUMMARIES["web"], WEB_EXAMPLES)
    kinds = group.add_subparsers(metavar="ACTION", required=True)
    for register in (register_web_build, register_web_generate, register_web_info, register_web_serve):
        register(kinds)
