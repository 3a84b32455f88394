"""How long does a sitemap take, and how much memory? One of 50,000 URLs, plain and packed, and a bomb."""

from __future__ import annotations

import argparse
import gzip
import subprocess
import sys
import zlib
from collections.abc import Sequence

from spoor.cli.terminal import print_table

MEASURE = """
import pathlib, re, sys, time
from spoor.parse.sitemaps import read_sitemap
body = sys.stdin.buffer.read()
used = lambda: int(re.search("VmHWM:\\s*([0-9]+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1024
before, began = used(), time.process_time()
found = read_sitemap("https://www.example.org/sitemap.xml", body)
print(f"{time.process_time() - began:.2f}", f"{used() - before:.0f}", f"{used():.0f}", found.count)
"""
"""In a process of its own, so that the memory is that of one file."""


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench sitemaps", description=__doc__)
    parser.add_argument("--urls", type=int, default=50_000, metavar="N", help="URLs of the sitemap (50,000)")
    body = sitemap(parser.parse_args(options).urls)
    files = {"plain": body, "gzip": gzip.compress(body), "gzip bomb of 1 GB": bomb()}
    rows = [(name, *measured(file)) for name, file in files.items()]
    print_table(("file", "s", "MB more", "MB in all", "URLs read"), rows, "a sitemap in a process of its own")


def sitemap(urls: int) -> bytes:
    head = '<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    items = (
        f"<url><loc>https://www.example.org/some/folder/page-number-{number}.html</loc>"
        "<lastmod>2026-01-02T03:04:05+00:00</lastmod><priority>0.5</priority></url>\n"
        for number in range(urls)
    )
    return f"{head}{''.join(items)}</urlset>".encode()


def bomb() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    pieces = [packer.compress(b"<urlset>"), *(packer.compress(b" " * (1 << 20)) for _ in range(1_000)), packer.flush()]
    return b"".join(pieces)


def measured(file: bytes) -> tuple[str, ...]:
    done = subprocess.run([sys.executable, "-c", MEASURE], input=file, stdout=subprocess.PIPE, check=True)
    return tuple(done.stdout.decode().split())
