"""A long crawl: does memory stay flat, and is the crawler as fast at the end as at the start?"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.live import crawl, settings
from bench.served_web import Shape, served
from spoor.cli.terminal import print_table
from spoor.events import Event, Visited

EVERY = 3.0
"""Seconds between two samples."""
HALF_MORE = 1.5
"""How much larger the web is than the crawl, so that links never run out."""


@dataclass(frozen=True)
class Sample:
    """At some moment: pages so far, wall clock, processor time, memory held in bytes."""

    pages: int
    seconds: float
    processor: float
    memory: int


class Sampler:
    """Shown the events of each batch, takes a sample now and then."""

    def __init__(self) -> None:
        self.samples = [_now(0)]
        self._pages = 0

    def __call__(self, events: list[Event]) -> None:
        self._pages += sum(isinstance(event, Visited) for event in events)
        if time.perf_counter() >= self.samples[-1].seconds + EVERY:
            self.samples.append(_now(self._pages))

    def end(self) -> None:
        self.samples.append(_now(self._pages))


def _now(pages: int) -> Sample:
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return Sample(pages, time.perf_counter(), time.process_time(), resident)


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench endurance", description=__doc__)
    parser.add_argument("--pages", type=int, default=200_000, metavar="N", help="pages fetched")
    parser.add_argument("--hosts", type=int, default=10_000, metavar="N", help="hosts they are on")
    parser.add_argument("--strategy", default="learned", metavar="NAME", help="default: %(default)s")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw memory and speed as SVG")
    arguments = parser.parse_args(options)
    if arguments.plot:
        arguments.plot.parent.mkdir(parents=True, exist_ok=True)
    samples = run(arguments.pages, arguments.hosts, arguments.strategy)
    print_samples(samples)
    if arguments.plot:
        arguments.plot.write_text(plot(samples), "utf8")


def run(pages: int, hosts: int, strategy: str) -> list[Sample]:
    """Small pages, made when they are asked for: what grows with a crawl is the number of pages and links."""
    more = round(pages * HALF_MORE)
    shape = Shape(more, size=8_000, anchors=20, targets=15, hosts=hosts, gzip=False, in_stock=False)
    sampler = Sampler()
    first, *others = sorted(os.sched_getaffinity(0))
    with served(shape, others[-1:] or [first]) as seeds, tempfile.TemporaryDirectory() as folder:
        os.sched_setaffinity(0, [first])
        try:
            asyncio.run(crawl(Path(folder), settings(pages, seeds, strategy=strategy), sampler))
        finally:
            os.sched_setaffinity(0, [first, *others])
    sampler.end()
    return sampler.samples


def print_samples(samples: list[Sample]) -> None:
    pages = samples[-1].pages
    rows = [
        [f"{share:.0%}", f"{at.pages:,}", f"{at.memory / 2**20:.0f}"]
        for share in (0.1, 0.25, 0.5, 0.75, 1.0)
        if (at := sample_at(samples, share * pages))
    ]
    print_table(("of the crawl", "pages", "memory, MiB"), rows, f"endurance: {pages:,} pages of 8 KB")
    # In the first tenth processes start and caches fill.
    second = between(sample_at(samples, pages * 0.1), sample_at(samples, pages * 0.2))
    last = between(sample_at(samples, pages * 0.9), samples[-1])
    print_table(
        ("tenth", "pages/s", "CPU ms/page"),
        [
            ["second", f"{second[0]:.0f}", f"{second[1]:.2f}"],
            ["last", f"{last[0]:.0f}", f"{last[1]:.2f}"],
            ["speed, last / second", f"{last[0] / second[0]:.2f}", ""],
            ["the same by processor time", f"{second[1] / last[1]:.2f}", ""],
        ],
    )


def sample_at(samples: list[Sample], pages: float) -> Sample:
    """The first with so many pages."""
    return next((sample for sample in samples if sample.pages >= pages), samples[-1])


def between(start: Sample, end: Sample) -> tuple[float, float]:
    """Pages a second, and milliseconds of processor time a page."""
    pages = end.pages - start.pages
    return pages / (end.seconds - start.seconds), 1000 * (end.processor - start.processor) / pages


def plot(samples: list[Sample]) -> str:
    import io

    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    memory = figure.subplots()
    speed = memory.twinx()
    pages = [sample.pages / 1000 for sample in samples]
    memory.plot(pages, [sample.memory / 2**20 for sample in samples], color="tab:blue")
    # Each point of the speed stands for ten samples: half a minute.
    windows = [(start, end) for start, end in zip(samples[1:], samples[11:], strict=False) if end.pages > start.pages]
    speed.plot([end.pages / 1000 for _, end in windows], [between(*each)[0] for each in windows], color="tab:orange")
    memory.set_xlabel("pages visited, thousands")
    memory.set_ylabel("memory, MiB", color="tab:blue")
    speed.set_ylabel("pages/s", color="tab:orange")
    memory.set_ylim(bottom=0)
    speed.set_ylim(bottom=0)
    memory.grid(alpha=0.25)
    drawing = io.StringIO()
    figure.savefig(drawing, format="svg", metadata={"Date": None})
    return drawing.getvalue()
