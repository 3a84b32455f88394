"""Options of `spoor web build`, `generate`, `info` and `serve`."""

from __future__ import annotations

import argparse
from pathlib import Path

from spoor.cli.command import Commands, add_command, add_json, add_speeds, add_web, add_workers, new_folder

WEB_EXAMPLES = """
spoor web build crawl.warc.gz --out my-web
spoor web generate --like thai --pages 30000 --seed 1 --out thai-web
spoor web info thai-web --target relevant
"""

BUILD_EXAMPLES = """
spoor web build crawl.warc.gz --out my-web
spoor web build my-crawl --out my-web --truth labels.tsv
spoor web build log.csv.gz links.csv.gz --out my-web
spoor web build crawl.log --out my-web
spoor web build CC-MAIN-0.warc.wat.gz CC-MAIN-0.warc.wet.gz --out my-web
spoor web build index.cdxj links.csv --out my-web
spoor web build crawl.warc.gz --out my-web --main-text node-ratio --context 200
"""

GENERATE_EXAMPLES = """
spoor web generate --like thai --pages 30000 --seed 1 --out thai-web
spoor web generate --like thai --pages 2000 --seed 1 --text --out thai-texts
spoor web generate --like thai --pages 30000 --seed 1 --mislabelled 0.05 --errors 0.36 --non-html 0.36 --out thai-log
spoor web generate --like mongolian --pages 5000 --seed 1 --text --words words.txt --out mongolian-web
spoor web generate --like topical --pages 20000 --seed 7 --out topical-web
"""

INFO_EXAMPLES = """
spoor web info my-web
spoor web info my-web --target lang=ja
"""

SERVE_EXAMPLES = """
spoor web serve my-web --port 8080
curl --proxy http://127.0.0.1:8080 http://recorded.example/
spoor web serve my-web --conditions field --rest 0.1 --latency 0.02
spoor web serve my-web --log requests.tsv
"""

GENERATORS = {
    "thai": "sites in many languages, a third of them Thai, identified by their declared charset",
    "japanese": "the pages of a crawl for Japanese: mostly Japanese, identified by their detected charset",
    "mongolian": "sites in many languages, an eighth of them in traditional Mongolian, which no charset identifies",
    "topical": "pages on the topic and at any distance from it, in nine types, with texts",
    "topical-weak": "the same, but anchors hardly describe their targets",
    "topical-paths": "pages on the topic at the end of typical paths, and similar pages elsewhere",
    "courses": "engineering courses in five classes, a fifth of the pages half in Hindi",
    "courses-english": "the same, all in English",
}


def register_web(commands: Commands) -> None:
    group = add_command(commands, "web", "build, generate, describe and serve webs for the simulator", WEB_EXAMPLES)
    actions = group.add_subparsers(metavar="ACTION", required=True)
    for register in (_register_build, _register_generate, _register_info, _register_serve):
        register(actions)


def _register_build(actions: Commands) -> None:
    summary = "build a web from WARC files, a crawl folder, a crawl log or an index"
    parser = add_command(actions, "build", summary, BUILD_EXAMPLES, "webs.run_web_build")
    parser.add_argument(
        "source",
        nargs="+",
        type=Path,
        metavar="SOURCE",
        help="WARC, WAT and WET files, crawl folders; or logs and indexes (CSV, TSV, Parquet, Heritrix crawl.log, CDX, "
        "CDXJ, Common Crawl's columnar index) and tables of links. Plain or compressed, recognised by their content",
    )
    parser.add_argument("--out", type=new_folder, required=True, metavar="WEB", help="folder to create")
    parser.add_argument(
        "--truth", type=Path, metavar="TSV", help="labels of pages: columns url and labels, tab-separated"
    )
    parser.add_argument(
        "--exact",
        action="store_true",
        help="resolve links only to exactly the same URL, not to one that nearly matches",
    )
    parser.add_argument("--name", help="name of the web (default: that of the folder)")
    _add_parsing(parser, "that of the crawl whose folder is given, else ")
    add_workers(parser)
    add_json(parser)


def _add_parsing(parser: argparse.ArgumentParser, usual: str = "") -> None:
    parser.add_argument(
        "--main-text",
        choices=("quick", "best", "node-ratio"),
        help=f"how the main text of a page is extracted ({usual}quick)",
    )
    parser.add_argument("--context", type=int, metavar="N", help=f"characters around a link, on each side ({usual}100)")


def _register_generate(actions: Commands) -> None:
    summary = "generate a synthetic web"
    parser = add_command(actions, "generate", summary, GENERATE_EXAMPLES, "webs.run_web_generate")
    kinds = "; ".join(f"{name}: {meaning}" for name, meaning in GENERATORS.items())
    parser.add_argument("--like", required=True, metavar="NAME", choices=GENERATORS, help=kinds)
    parser.add_argument("--pages", required=True, metavar="N", type=int, help="number of pages")
    parser.add_argument(
        "--seed", required=True, metavar="K", type=int, help="random seed; the same seed makes the same web"
    )
    parser.add_argument("--out", required=True, metavar="WEB", type=new_folder, help="folder to create")
    parser.add_argument("--text", action="store_true", help="write the pages of a language web, in real charsets")
    words = (
        "words of traditional Mongolian pages, one per line, in Menksoft glyphs or Unicode; for courses a "
        "dictionary: English, a tab, Hindi (default: built in)"
    )
    parser.add_argument("--words", metavar="FILE", type=Path, help=words)
    _add_parsing(parser)
    of_languages = parser.add_argument_group("shares, for language webs")
    of_languages.add_argument(
        "--mislabelled",
        metavar="P",
        type=float,
        default=0.0,
        help="share of the Thai pages that declare no charset or a wrong one (0)",
    )
    of_languages.add_argument(
        "--errors",
        metavar="P",
        type=float,
        default=0.0,
        help="share of all URLs that are errors; not counted in --pages (0)",
    )
    of_languages.add_argument(
        "--non-html",
        metavar="P",
        type=float,
        default=0.0,
        help="share of all URLs that are images and other media; not counted in --pages (0)",
    )
    add_json(parser)


def _register_info(actions: Commands) -> None:
    parser = add_command(actions, "info", "describe a web", INFO_EXAMPLES, "webs.run_web_info")
    add_web(parser)
    parser.add_argument("--target", metavar="LABEL", help="also show how the pages with this label are linked")
    add_json(parser)


def _register_serve(actions: Commands) -> None:
    summary = "serve every host of a web, as an HTTP proxy on this machine"
    parser = add_command(actions, "serve", summary, SERVE_EXAMPLES, "webs.run_web_serve")
    add_web(parser)
    parser.add_argument(
        "--port", type=int, default=8080, metavar="P", help="port to listen on; 0: any free port (8080)"
    )
    parser.add_argument(
        "--conditions",
        choices=("lab", "field"),
        default="lab",
        help="lab: every response is immediate; field: hosts take time, fail and ask for a crawl delay, "
        "as in a simulation under field conditions (lab)",
    )
    parser.add_argument(
        "--log",
        type=Path,
        metavar="FILE",
        help="append a line for every request: arrival (seconds since 1970), seconds that the response took, "
        "status, URL",
    )
    field = parser.add_argument_group("field conditions, as of `spoor simulate`")
    field.add_argument("--rest", type=float, metavar="S", help="crawl delay in seconds that hosts ask for (1)")
    add_speeds(field)
    field.add_argument("--failures", type=float, metavar="P", help="share of requests that time out (0.02)")
    field.add_argument(
        "--retry-after", type=int, metavar="S", help="Retry-After in seconds of requests that time out (60)"
    )
    field.add_argument("--clock-seed", type=int, metavar="K", help="random seed for speeds, delays and failures (0)")
