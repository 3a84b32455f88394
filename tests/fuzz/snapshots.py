"""Snapshots of what was learned, with a checksum that fits whatever was changed in them."""

from __future__ import annotations

import contextlib
import tempfile
from functools import cache
from pathlib import Path

from spoor.errors import SpoorError
from spoor.files import Part, read_model, write_model
from spoor.ordering.host_yield import HostYield
from spoor.ordering.language_order import AbandonedServers, ServerLanguage
from spoor.ordering.link_analysis import Distiller, PageRankOrder
from spoor.ordering.scope import Scope
from spoor.ordering.tag_paths import TagPathBandit
from spoor.ordering.trails import ChainHops
from spoor.pricing import HitRates
from spoor.records import Link, Page, Sighting, Verdict, Visit, WaitingLink
from spoor.roles import Learner
from spoor.store.journal import Place
from spoor.store.snapshots import SNAPSHOT, Snapshot, checksum, named_parts, read_snapshot, write_snapshot

LINKS = tuple(Link(f"http://{name}.test/x/", path="html/body/p") for name in "bc")
PAGE = Page("http://a.test/de/", links=LINKS)
SIGHTING = Sighting(Visit(PAGE.url, "a.test", 0, 0.0), PAGE, Verdict(1.0, True, "good"), None)


def learners() -> list[Learner]:
    scorers = (TagPathBandit(), HostYield(), PageRankOrder(), Distiller(), ServerLanguage("de"))
    return [HitRates(), ChainHops(3), Scope(pages_per_host=1), AbandonedServers(), *scorers]


def snapshots() -> list[bytes]:
    taught = learners()
    for part in taught:
        part.learn(SIGHTING)
        if isinstance(part, TagPathBandit | HostYield):
            part.evidence(SIGHTING, LINKS)
    states = {name: part.state() for name, part in named_parts(taught).items()}
    write_snapshot(_file(), Snapshot(Place(1, PAGE.url, 0.5), "", states))
    return [_file().read_bytes()]


def snapshot(given: bytes) -> None:
    """Whatever is in a snapshot, it is refused, or those who are restored from it can learn on."""
    _file().write_bytes(given)
    with contextlib.suppress(SpoorError):
        _sign(_file())
        read = read_snapshot(_file())
        for name, part in named_parts(learners()).items():
            if name in read:
                with contextlib.suppress(SpoorError):
                    part.restore(read.state(name))
                    _used(part)


def _used(part: object) -> None:
    assert isinstance(part, Learner)
    part.learn(SIGHTING)
    if isinstance(part, TagPathBandit | HostYield | PageRankOrder | Distiller):
        for evidence in part.evidence(SIGHTING, LINKS):
            assert part.key(evidence) == part.key(evidence)
        list(part.revise(Nothing()))
    if isinstance(part, HitRates):
        assert part.gain((1.0,)) > 0.0


class Nothing:
    """A frontier in which nothing waits."""

    def evidence_of(self, url: str) -> None:
        return None

    def links_found_on(self, url: str, most: int) -> list[WaitingLink]:
        return []

    def some(self, most: int) -> list[WaitingLink]:
        return []


def _sign(file: Path) -> None:
    parts = read_model(file, SNAPSHOT)
    if parts:
        head = Part({**parts[0].says, "checksum": checksum(parts)}, parts[0].content)
        with contextlib.suppress(UnicodeEncodeError):  # half a character: nothing that we could have written
            write_model(file, SNAPSHOT, [head, *parts[1:]])


@cache
def _file() -> Path:
    return Path(tempfile.mkdtemp(prefix="spoor-fuzz-")) / "00000001.snapshot"
