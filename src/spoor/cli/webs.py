"""`spoor web`: build, generate, inspect and serve webs for the simulator."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from spoor.cli.simulating import check_conditions
from spoor.cli.terminal import print_json, progress, say
from spoor.errors import BadInput, UsageError
from spoor.lab.build.builder import BuildOptions, build_web
from spoor.lab.build.gather import BuildReport, Packed
from spoor.lab.build.log_source import is_log, read_logs
from spoor.lab.build.warc_source import parsing_of, read_warcs, warc_files
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.link_graph import locality
from spoor.lab.web import Web
from spoor.lab.worlds import FIELD, Conditions
from spoor.progress import counted
from spoor.settings import USUAL_PARSING, WIDEST_CONTEXT, ParseSettings

# `spoor web build`: a web from recorded crawls.


ALWAYS_SHOWN = ("redirects", "duplicates", "non-HTML", "errors", "broken", "truncated")


def run_web_build(arguments: argparse.Namespace) -> int:
    began = time.monotonic()
    report = BuildReport()
    made_from = " ".join(map(str, arguments.source))
    parsing = _parsing(arguments, parsing_of(arguments.source[0]))
    records = _records(arguments.source, report, arguments.workers, parsing)
    name = arguments.name or arguments.out.resolve().name
    making = BuildOptions(name, made_from, arguments.truth, arguments.exact, parsing)
    with progress("pages read") as advance:
        web = build_web(arguments.out, counted(records, advance), making, report)
    facts = _build_facts(web)
    if arguments.json:
        keyed = {what.replace(" ", "_"): count for what, count in facts.items()}
        print_json({"web": str(web.folder), "seconds": time.monotonic() - began, **keyed})
    else:
        lines = [f"{what:<42}{count:>12,}" for what, count in facts.items()]
        say(f"{web.folder} built in {time.monotonic() - began:.1f} s", *lines)
    return 0


def _parsing(arguments: argparse.Namespace, usual: ParseSettings) -> ParseSettings:
    context = usual.context if arguments.context is None else arguments.context
    if not 0 <= context <= WIDEST_CONTEXT:
        raise UsageError(f"--context {context}: give a number of characters from 0 to {WIDEST_CONTEXT:,}")
    return ParseSettings(arguments.main_text or usual.main_text, context)


def _records(sources: list[Path], report: BuildReport, workers: int | None, parsing: ParseSettings) -> Iterator[Packed]:
    for source in sources:
        if not source.exists():
            raise BadInput(f"there is no file or folder {source}")
    logs = [source for source in sources if is_log(source)]
    if not logs:
        return read_warcs([file for source in sources for file in warc_files(source)], report, workers, parsing)
    if len(logs) < len(sources):
        raise UsageError("give either WARC, WAT and WET files and crawl folders, or a log and its links, not both")
    return read_logs(logs, report)


def _build_facts(web: Web) -> dict[str, int]:
    """Counts of the built web and of anomalies; rare anomalies only if they occurred."""
    about, noticed = web.about, dict(web.about["report"])
    facts = {"pages": web.pages, "hosts": about["hosts"], "links": about["links"]}
    facts |= {"unrecorded link targets": about["unrecorded"], "labels": len(web.labels)}
    facts |= {what: noticed.pop(what, 0) for what in ALWAYS_SHOWN}
    return facts | {what: count for what, count in sorted(noticed.items()) if count}


# `spoor web generate`: a web from a generator, the same for the same seed.


def run_web_generate(arguments: argparse.Namespace) -> int:
    shares = {name: getattr(arguments, name) for name in ("mislabelled", "errors", "non_html")}
    parsing = _parsing(arguments, USUAL_PARSING)
    request = Request(
        arguments.like, arguments.pages, arguments.seed, arguments.text, arguments.words, **shares, parsing=parsing
    )
    with progress(f"generating {request.name}", request.pages) as advance:
        generate(request, arguments.out, advance)
    web = Web.open(arguments.out)
    if arguments.json:
        print_json({"web": str(web.folder), **_generate_facts(web)})
    else:
        say(_generate_summary(web, request))
    return 0


def _generate_facts(web: Web) -> dict[str, int]:
    about, relevant = web.about, int(web.labelled("relevant").sum())
    return {"pages": web.pages, "hosts": about["hosts"], "links": about["links"], "relevant": relevant}


def _generate_summary(web: Web, request: Request) -> str:
    facts = _generate_facts(web)
    counts = "{pages:,} pages on {hosts:,} hosts, {links:,} links, {relevant:,} relevant pages".format_map(facts)
    short = f" ({request.pages:,} were requested; the trace ended there)" if web.pages < request.pages else ""
    return f"{web.folder}: {counts}{short}"


# `spoor web info`: the contents of a web, and how relevant pages are linked.


_MOST_SHOWN = 20


def run_web_info(arguments: argparse.Namespace) -> int:
    web = Web.open(arguments.web)
    found = _target(web, arguments.target) if arguments.target else None
    if arguments.json:
        facts = {name.replace(" ", "_"): value for name, value in (_overview(web) | _vocabularies(web)).items()}
        print_json(facts if found is None else facts | {"target": asdict(found)})
        return 0
    lines = [_fact(name, value) for name, value in _overview(web).items()]
    lines += [line for title, counts in _vocabularies(web).items() for line in _ranking(title, counts)]
    print("\n".join([*lines, *(found.lines() if found else ())]))
    return 0


def _overview(web: Web) -> dict[str, object]:
    about = web.about
    return {
        "web": web.name,
        "made from": _origin(about["made_from"]),
        "pages": web.pages,
        "hosts": about["hosts"],
        "links": about["links"],
        "unrecorded link targets": about["unrecorded"],
        "redirects": 0 if web.redirects is None else int((web.redirects >= 0).sum()),
        "pages that need scripts": 0 if web.needs_scripts is None else int(web.needs_scripts.sum()),
        "sitemaps": len(web.sitemaps.named),
        "texts": web.has_content,
        "HTML": web.has_html,
    }


def _origin(made_from: str | dict[str, object]) -> str:
    """Generated webs store their parameters, built ones the name of their source."""
    return made_from if isinstance(made_from, str) else ", ".join(f"{key} {value}" for key, value in made_from.items())


def _vocabularies(web: Web) -> dict[str, dict[str, int]]:
    """How many pages have each value, most frequent first, then by name."""
    charsets, labels = web.about["charsets"], np.diff(web.array("label_offsets"))
    found = {
        "statuses": _counts(web.array("status")),
        "content types": _counts(web.array("content_type"), web.about["content_types"]),
        "charsets in headers": _counts(web.array("header_charset"), charsets),
        "charsets in pages": _counts(web.array("meta_charset"), charsets),
        "charsets detected": _counts(web.array("detected_charset"), charsets),
        "labels": dict(zip(web.labels, labels.tolist(), strict=True)),
    }
    return {title: _ranked(counts) for title, counts in found.items()}


def _ranked(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _counts(column: NDArray[Any], words: Sequence[str] | None = None) -> dict[str, int]:
    """`words` maps the numbers of the column to names; None to use the numbers."""
    values, counts = np.unique(column, return_counts=True)
    names = [str(value) if words is None else words[value] or "(none)" for value in values.tolist()]
    return dict(zip(names, counts.tolist(), strict=True))


@dataclass(frozen=True)
class Linkage:
    """How the pages with a label are linked; a probability is None if there are no such links."""

    label: str
    pages: int
    share: float | None
    links: int
    after_relevant: float | None
    after_others: float | None

    def lines(self) -> list[str]:
        share = "no pages" if self.share is None else f"{self.share:.2%} of all pages"
        return [
            f"target {self.label}",
            _fact("  relevant pages", f"{self.pages:,} ({share})"),
            _fact("  links from relevant pages", self.links),
            _fact("  P(child relevant | parent relevant)", _probability(self.after_relevant)),
            _fact("  P(child relevant | parent irrelevant)", _probability(self.after_others)),
        ]


def _target(web: Web, label: str) -> Linkage:
    relevant = web.labelled(label)
    found = locality(web, relevant)
    share = float(relevant.mean()) if web.pages else None
    return Linkage(label, int(relevant.sum()), share, found.from_relevant, found.after_relevant, found.after_others)


def _ranking(title: str, ranked: dict[str, int]) -> list[str]:
    """A long list ends with the number of entries left out."""
    lines = [_fact(f"  {name}", count) for name, count in list(ranked.items())[:_MOST_SHOWN]]
    left_out = len(ranked) - _MOST_SHOWN
    return [f"{title}{'' if ranked else ': none'}", *lines, *([f"  and {left_out} more"] if left_out > 0 else [])]


def _fact(name: str, value: object) -> str:
    if isinstance(value, bool):
        return f"{name:<42}{'yes' if value else 'no'}"
    return f"{name:<42}{f'{value:,}' if isinstance(value, int) else value}"


def _probability(value: float | None) -> str:
    return "no such links" if value is None else f"{value:.4f}"


# `spoor web serve`: a recorded web as a local HTTP proxy.


DRAWN = {
    "latency": "latency",
    "bandwidth": "bandwidth",
    "rest": "delay",
    "failures": "failures",
    "retry_after": "retry_after",
    "clock_seed": "seed",
}
"""Options that change field conditions, and the fields that they set."""


def run_web_serve(arguments: argparse.Namespace) -> int:
    web, conditions = Web.open(arguments.web), _conditions(arguments)
    with _opened(arguments.log) as log:
        asyncio.run(_serve(web, arguments.port, conditions, log))
    return 0


def _opened(log: Path | None) -> contextlib.AbstractContextManager[TextIO | None]:
    """Line-buffered, so that the log is complete however the server ends."""
    if log is None:
        return contextlib.nullcontext()
    try:
        return log.open("a", buffering=1, encoding="utf8")
    except OSError as error:
        raise BadInput(f"cannot write {log}: {error.strerror}; give another --log") from None


def _conditions(arguments: argparse.Namespace) -> Conditions | None:
    """None if every response is immediate."""
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

    runner = ServerRunner(Server(WebServer(web, conditions, log).answer), shutdown_timeout=0.1)
    await runner.setup()
    try:
        await TCPSite(runner, "127.0.0.1", port).start()
    except OSError as error:
        raise BadInput(f"cannot listen on port {port}: {error.strerror or error}; give another --port") from None
    host, bound, *_ = runner.addresses[0]
    under = " under field conditions" if conditions else ""
    say(f"{web.name} is served{under} by the proxy http://{host}:{bound}; stop it with Ctrl-C", always=True)
    try:
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()
