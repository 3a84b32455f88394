"""A web made from a seed, served from a process of its own: hosts on 127.0.1.1 and up, one port, pages that link on.
One socket listens for all of them; only this machine is answered.

Sizes are spread as on the web: one page in ten is half the median or less, one in ten twice the median or more.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import socket
import subprocess
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from spoor.lab.generate.prose import LANGUAGE, LANGUAGES, Author, Vocabulary

SPOKEN = ("english", "thai", "english", "german", "english", "russian", "english", "japanese")
"""The languages of the hosts, in turn."""
PARAGRAPHS = 16_000
"""In stock for each language: so many that those of a page are nearly always new on its host."""
SPREAD = 0.77
AT_HOME = 0.5
"""The share of links that stay on their host."""
SEEDS = 16
STYLE = "".join(
    f".c{n} {{ margin: {n}px auto; padding: 0 {n % 7}em; color: #{n * 7919 % 4096:03x} }}\n" for n in range(60)
)
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n"


@dataclass(frozen=True)
class Shape:
    """What a web is like. `size` is the mean of a page in bytes of HTML, of which near half is text to be read;
    `anchors` is how many links it shows on average, `targets` to how many different pages. Pages `in_stock` are
    made before the first is asked for, the others when they are."""

    pages: int
    size: int = 50_000
    anchors: int = 126
    targets: int = 43
    hosts: int = 200
    seed: int = 1
    gzip: bool = True
    in_stock: bool = True


class Writer:
    """Makes pages, each from its number alone. Cheap: paragraphs are written once and put together anew."""

    def __init__(self, shape: Shape, port: int) -> None:
        self._shape = shape
        self._sites = [f"http://{address(host)}:{port}" for host in range(shape.hosts)]
        author = Author(shape.seed)
        self._stock = {name: _paragraphs(author, name) for name in set(SPOKEN)}
        bytes_each = {name: sum(map(len, stock)) / len(stock) for name, stock in self._stock.items()}
        rest = max(1_000.0, shape.size - 85 * shape.anchors - len(STYLE) * self._styles)
        self._mean_paragraphs = {name: rest / length for name, length in bytes_each.items()}

    @property
    def _styles(self) -> int:
        """Copies of the style sheet in a page; a small page has none."""
        return self._shape.size // 16_000

    def url(self, page: int) -> str:
        return self._sites[page % self._shape.hosts] + self.path(page)

    def path(self, page: int) -> str:
        return f"/{'abcdefghij'[page // self._shape.hosts % 10]}/page-{page}.html"

    def seeds(self) -> list[str]:
        return [self.url(page) for page in range(min(SEEDS, self._shape.pages))]

    def answer(self, path: bytes) -> bytes:
        """Status, headers and body."""
        number = path.rpartition(b"-")[2].removesuffix(b".html")
        if not number.isdigit() or int(number) >= self._shape.pages:
            return NOT_FOUND
        body, encoding = self.html(int(number)), ""
        if self._shape.gzip:
            packer = zlib.compressobj(5, zlib.DEFLATED, 31)
            body, encoding = packer.compress(body) + packer.flush(), "Content-Encoding: gzip\r\n"
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n{encoding}Content-Length: {len(body)}\r\n"
        return f"{head}Server: bench\r\n\r\n".encode() + body

    def html(self, page: int) -> bytes:
        rng = random.Random(self._shape.seed << 32 | page)
        language = SPOKEN[page % self._shape.hosts % len(SPOKEN)]
        larger = min(8.0, rng.lognormvariate(-SPREAD * SPREAD / 2, SPREAD))
        paragraphs = rng.choices(self._stock[language], k=1 + round(self._mean_paragraphs[language] * larger))
        links = self._links(page, rng, max(3, round(self._shape.anchors * larger)))
        per_paragraph = -(-len(links) // len(paragraphs))
        title = paragraphs[0].split(b">")[2][:40].decode("utf8", "ignore")
        about = f'<title>{title}</title>\n<meta name="description" content="page {page}"><style>{STYLE * self._styles}'
        body = [f"<!DOCTYPE html>\n<html><head>{about}</style></head>\n<body><h1 class=c2>{title}</h1>\n".encode()]
        for place, paragraph in enumerate(paragraphs):
            body.append(paragraph)
            body.append("".join(links[place * per_paragraph : (place + 1) * per_paragraph]).encode())
            body.append(b"</p></div>\n")
        return b"".join(body) + b"</body></html>\n"

    def _links(self, page: int, rng: random.Random, count: int) -> list[str]:
        """Anchors: every target at least once if there is room. Links at home are relative, as most are."""
        shape, home = self._shape, page % self._shape.hosts
        targets: set[int] = set()
        for _ in range(shape.targets * 2):
            at_home = rng.random() < AT_HOME
            drawn = int(rng.random() * shape.pages)
            targets.add(home + drawn // shape.hosts * shape.hosts if at_home else drawn)
            if len(targets) == shape.targets:
                break
        known = [target for target in targets if target < shape.pages]
        chosen = (known + rng.choices(known, k=max(0, count - len(known))))[: max(count, 1)]
        hrefs = {t: self.path(t) if t % shape.hosts == home else self.url(t) for t in known}
        return [f'<a class="c{t % 60}" href="{hrefs[t]}" title="to {t}">page {t}</a>\n' for t in chosen]


def _paragraphs(author: Author, language: str) -> list[bytes]:
    """Each with words of its own, as pages on different subjects have."""
    words, like = _words(language), LANGUAGE[language]
    paragraphs = []
    for number in range(PARAGRAPHS):
        author.turn_to(number)
        own = tuple(words[int(author.chance() * len(words))] for _ in like.words)
        text = author.write(Vocabulary(own, like.sums, like.between), 50)
        paragraphs.append(f'<div class="c{number % 60:02d}"><p id="p{number:05d}">{text}. '.encode())
    return paragraphs


def _words(language: str) -> list[str]:
    """Everyday words, and each of them joined with every other: a language has more than forty."""
    everyday = LANGUAGES[language]
    return [*everyday, *(one + other for one in everyday for other in everyday if one != other)]


class Answering(asyncio.Protocol):
    """HTTP/1.1 in so far as a crawler needs it: GET, kept connections, one request after another."""

    def __init__(self, writer: Writer, stock: dict[bytes, bytes]) -> None:
        self._writer = writer
        self._stock = stock
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if not transport.get_extra_info("peername")[0].startswith("127."):
            transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            path = self._buffer.split(b" ", 2)[1]
            self._buffer = self._buffer[end + 4 :]
            self._transport.write(self._stock.get(path) or self._writer.answer(path))


def address(host: int) -> str:
    """Of up to 63,750 hosts."""
    return f"127.0.{host // 250 + 1}.{host % 250 + 1}"


async def serve(shape: Shape) -> None:
    """Says its seeds once it is ready; ends with its standard input."""
    listening = socket.create_server(("0.0.0.0", 0), backlog=512)
    writer = Writer(shape, listening.getsockname()[1])
    paths = [writer.path(page).encode() for page in range(shape.pages if shape.in_stock else 0)]
    stock = {path: writer.answer(path) for path in paths}
    loop = asyncio.get_running_loop()
    await loop.create_server(lambda: Answering(writer, stock), sock=listening)
    print(json.dumps(writer.seeds()), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


@contextlib.contextmanager
def served(shape: Shape, cores: Sequence[int]) -> Iterator[list[str]]:
    """The seeds of a web that is served on these cores."""
    command = [sys.executable, "-m", "bench.served_web", json.dumps(asdict(shape)), json.dumps(list(cores))]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None and server.stdin is not None
    try:
        yield json.loads(server.stdout.readline())
    finally:
        server.stdin.close()
        server.wait()
        server.stdout.close()


if __name__ == "__main__":
    os.sched_setaffinity(0, json.loads(sys.argv[2]))
    asyncio.run(serve(Shape(**json.loads(sys.argv[1]))))
