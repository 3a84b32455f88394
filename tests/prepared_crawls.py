"""`python -m tests.prepared_crawls` crawls a tiny site by several targets and strategies, and prints for each which
compiled functions were loaded only during the crawl, and the modules of those that were prepared for it."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from numba.core.dispatcher import Dispatcher

from spoor import settings as config
from spoor.compiled import prepare
from spoor.live.from_settings import kernels_for
from tests.html_site import crawled

WORDS = "Das ist ein langer Text über Reis und andere Dinge, die man essen kann, wenn man Hunger hat. " * 5
LINKS = " ".join(f"<p>Mehr <a href=/{name}>über {name} auf dieser Seite</a> und anderes.</p>" for name in "abc")
PAGES = {f"/{name}": f"<html lang=de><title>Reis {name}</title><h1>Reis</h1>{WORDS}{LINKS}" for name in ("", *"abc")}
TARGETS = {
    "language": '[target]\nlanguage = "de"\n[crawl]\n',
    "keywords": '[target]\nkeywords = ["reis"]\n[crawl]\nstrategy = "breadth-first"\n',
    "nearest": '[target]\nlanguage = "mn"\n[crawl]\nstrategy = "language-focused"\n',
    "ngrams": '[target]\njudge = ["ngram:de"]\n[crawl]\nstrategy = "n-crawl"\n',
    "taught": '[target]\nabout = "Reis und Hunger"\n[crawl]\n',
}


def loaded() -> set[tuple[str, str]]:
    """All functions with machine code, and their types."""
    found: list[Any] = [part for part in gc.get_objects() if isinstance(part, Dispatcher)]
    return {(f"{part.__module__}.{part.__name__}", str(types)) for part in found for types in part.overloads}


def late(settings: str, folder: Path) -> dict[str, list[str]]:
    kernels = kernels_for(config.loads(f'{settings}\nseeds = ["http://a.test/"]\n'))
    prepare(kernels)
    before = loaded()
    asyncio.run(crawled(PAGES, folder, settings))
    names = sorted(f"{name}{types}" for name, types in loaded() - before)
    return {"late": names, "modules": sorted({kernel.module for kernel in kernels})}


def in_a_copy(settings: str, folder: Path) -> dict[str, list[str]]:
    """In a forked process, which has loaded nothing of what the others need."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with os.fdopen(writing, "w") as answer:
            json.dump(late(settings, folder), answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        found = dict(json.load(answer))
    os.waitpid(child, 0)
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        print(json.dumps({name: in_a_copy(settings, Path(scratch, name)) for name, settings in TARGETS.items()}))
