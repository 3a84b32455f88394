"""Strategy: the parts that together decide where a crawl goes. The thing you compare, name, print and run live."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from spoor.errors import BrokenContract
from spoor.pricing import HitRates
from spoor.records import ADMIT, Evidence, Link, Page, Ruling, TargetPrior, TrailState, Verdict, Visit
from spoor.roles import (
    Admission,
    Composite,
    ContentReader,
    ContentUser,
    HasTargetPrior,
    Judge,
    Learner,
    LinkReader,
    LinkScorer,
    MainTextReader,
    Trail,
    Upkeep,
    Waiting,
)


class PageByPage(ABC):
    """A judge that looks at one page after another."""

    @abstractmethod
    def verdict(self, page: Page) -> Verdict: ...

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [self.verdict(page) for page in pages]


@dataclass(frozen=True)
class NoTrail:
    """Paths remember nothing."""

    def root(self) -> TrailState:
        return None

    def advance(self, state: TrailState, page: Page, verdict: Verdict) -> TrailState:
        return None

    def rank(self, state: TrailState) -> float:
        return 0.0


@dataclass(frozen=True)
class AdmitAll:
    """Every link may wait and every waiting link may be visited."""

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return ADMIT

    def at_pop(self, visit: Visit) -> Ruling:
        return ADMIT


@dataclass(frozen=True)
class Strategy:
    """Each part is a dataclass whose constructor takes its parameters; what it learns lives in fields
    declared with `init=False`. So a strategy prints as the code that makes it, and copies fresh."""

    judge: Judge
    scorer: LinkScorer
    trail: Trail = NoTrail()
    admission: Admission = AdmitAll()
    upkeep: Upkeep | None = None
    hit_rates: HitRates = field(default_factory=HitRates, repr=False)

    @property
    def reads_content(self) -> bool:
        return self.judge.reads_content or self.scorer.reads_content or self.way_reads_content

    @property
    def needs_content(self) -> bool:
        """False: on a web without texts it still makes sense."""
        optional = isinstance(self.scorer, ContentUser) and self.scorer.does_without_content
        return self.judge.reads_content or self.way_reads_content or (self.scorer.reads_content and not optional)

    @property
    def way_reads_content(self) -> bool:
        """Whether the trail or the admission does."""
        return some_reads_content((self.trail, self.admission))

    @property
    def link_reader(self) -> LinkReader | None:
        return self.scorer if isinstance(self.scorer, LinkReader) else None

    def fresh(self) -> Strategy:
        """The same parameters, nothing learned."""
        fresh: dict[int, Any] = {id(part): fresh_part(part) for _, part in self._parts()}
        return replace(self, **{name: fresh[id(part)] for name, part in self._parts()})

    def learners(self) -> list[Learner]:
        """The parts that learn, those of composite parts instead of these; one that plays two parts is there once."""
        simple = (one for _, part in self._parts() for one in _simple(part))
        return list({id(part): part for part in simple if isinstance(part, Learner)}.values())

    def _parts(self) -> Iterator[tuple[str, Any]]:
        parts = ((part.name, getattr(self, part.name)) for part in fields(self))
        return ((name, part) for name, part in parts if part is not None)


def fresh_part(part: Any) -> Any:
    """The same parameters, nothing learned. Every part is a dataclass; the roles cannot say so."""
    return replace(part)


def some_reads_content(parts: Iterable[object]) -> bool:
    """Whether one of several trails and admissions does."""
    return any(isinstance(part, ContentReader) and part.reads_content for part in parts)


def _simple(part: object) -> Iterator[object]:
    if not isinstance(part, Composite):
        yield part
        return
    for inner in part.parts:
        yield from _simple(inner)


def hinted(reader: LinkReader, page: Page, links: Sequence[Link]) -> list[Link]:
    """The links of a page with what the reader makes of each."""
    return [Link._make((*link[:-1], hints)) for link, hints in zip(links, reader.hints(page, links), strict=True)]


def verdicts_of(judge: Judge, pages: Sequence[Page]) -> list[Verdict]:
    """One for each page, in their order."""
    verdicts = judge.judge(pages)
    if len(verdicts) != len(pages):
        raise BrokenContract(f"{judge!r} gave {len(verdicts)} verdicts for {len(pages)} pages")
    if judge.reads_content and any(page.needs_scripts for page in pages):
        return [_with_scripts_in_mind(verdict, page) for verdict, page in zip(verdicts, pages, strict=True)]
    return verdicts


def _with_scripts_in_mind(verdict: Verdict, page: Page) -> Verdict:
    """Nothing can be said against a page of which hardly anything could be read."""
    if verdict.relevant or not page.needs_scripts:
        return verdict
    return replace(verdict, because=f"needs scripts: {len(page.text):,} characters of text")


def prior_of(judge: Judge) -> TargetPrior:
    """What a judge says it will look for; nothing when it cannot say."""
    return judge.target_prior if isinstance(judge, HasTargetPrior) else TargetPrior()


def waits(part: object) -> bool:
    """Whether a judge or a scorer may wait for somebody else while it reads a page."""
    return isinstance(part, Waiting) and part.waits


def reads_main_text(judge: Judge) -> bool:
    """Whether a page should be looked through for its main text before it is judged."""
    return isinstance(judge, MainTextReader) and judge.reads_main_text
