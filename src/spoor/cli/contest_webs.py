"""The recorded webs of the data folder, built where a command needs them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from spoor.cli.progress import counted, progress
from spoor.webs.build.builder import Making, build_web
from spoor.webs.build.gather import Report
from spoor.webs.build.warc_source import read_warcs


def build_webs(recorded: Iterable[Path], webs: Path, processes: int) -> None:
    """Into the folder `webs`, each once: a later contest finds it. What is told of them are folders of the data."""
    for source in dict.fromkeys(recorded):
        if not (webs / source.name).exists():
            build_recorded(source, webs / source.name, processes)


def build_recorded(recorded: Path, folder: Path, processes: int) -> None:
    """`recorded` is a folder of the data: web.warc.xz and truth.tsv."""
    report, archive = Report(), recorded / "web.warc.xz"
    making = Making(recorded.name, archive.name, recorded / "truth.tsv")
    with progress(f"pages of {recorded.name}") as advance:
        build_web(folder, counted(read_warcs([archive], report, processes), advance), making, report)
