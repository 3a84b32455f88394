"""What does a host of the demo web answer, as bytes? Decided by the plan and by how often the path was asked for."""

from __future__ import annotations

import gzip
import html
from dataclasses import dataclass, field

from spoor.demo.plan import Anchor, Host, Moved, Place, Spelling, Text
from spoor.demo.traps import endless, with_session
from spoor.webs.generate.language_texts import CODECS

RETRY_AFTER = "1"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for `path`, query included, which was asked for `times` times before."""

    path: str
    times: int
    port: int
    takes_gzip: bool = False


def answer(host: Host, asked: Asked) -> Answer:
    habits = host.habits
    if habits.front_of:
        return _moved(Place(habits.front_of, asked.path), asked.port)
    if asked.path == "/robots.txt":
        return _robots(host)
    if habits.at_first != 200 and not asked.times:
        return Answer(habits.at_first, {"Retry-After": RETRY_AFTER})
    match _page(host, asked):
        case Text() as text:
            return _written(host, text, asked)
        case Moved(to):
            return _moved(to, asked.port)
        case None:
            return Answer(404, {"Content-Type": "text/plain"}, b"there is no such page\n")


def url(place: Place, port: int) -> str:
    return f"http://{place.address}:{port}{place.path}"


def _page(host: Host, asked: Asked) -> Text | Moved | None:
    path = asked.path.partition("?")[0]
    page = host.pages.get(path) or endless(host, path)
    if isinstance(page, Text) and host.habits.trap == "sessions":
        return with_session(host, page, f"{asked.path} {asked.times}")
    return page


def _robots(host: Host) -> Answer:
    if host.rules is None:
        return Answer(404)
    return Answer(200, {"Content-Type": "text/plain"}, host.rules.text().encode())


def _moved(to: Place, port: int) -> Answer:
    return Answer(301, {"Location": url(to, port)})


def _written(host: Host, text: Text, asked: Asked) -> Answer:
    spelling = host.spelling
    codec = CODECS.get(spelling.charset, spelling.charset)
    body = _markup(text, spelling, asked.port).encode(codec, "xmlcharrefreplace")
    named = f"; charset={spelling.charset}" if spelling.declared == "header" else ""
    headers = {"Content-Type": f"text/html{named}"}
    if not (host.zips and asked.takes_gzip):
        return Answer(200, headers, body)
    return Answer(200, headers | {"Content-Encoding": "gzip"}, gzip.compress(body, mtime=0))


def _markup(text: Text, spelling: Spelling, port: int) -> str:
    declared = f'<meta charset="{spelling.charset}">' if spelling.declared == "meta" else ""
    paragraphs = "".join(f"<p>{html.escape(paragraph)}</p>\n" for paragraph in text.paragraphs)
    links = "".join(_link(link, port) for link in text.links)
    title = html.escape(text.title)
    head = f"<!DOCTYPE html>\n<html><head>{declared}<title>{title}</title></head>\n"
    return f"{head}<body><h1>{title}</h1>\n{paragraphs}<ul>\n{links}</ul></body></html>\n"


def _link(link: Anchor, port: int) -> str:
    rel = ' rel="nofollow"' if link.nofollow else ""
    return f'<li><a href="{html.escape(url(link.to, port))}"{rel}>{html.escape(link.words)}</a></li>\n'
