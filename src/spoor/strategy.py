"""Strategy: the parts that together decide the order of a crawl; compared, named, printed and run as one object."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

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
    UsesKernels,
    Waiting,
)

if TYPE_CHECKING:
    from spoor.compiled import Kernels


class PageByPage(ABC):
    """A judge that reads one page at a time."""

    @abstractmethod
    def verdict(self, page: Page) -> Verdict: ...

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [self.verdict(page) for page in pages]


@dataclass(frozen=True)
class NoTrail:
    """A trail without state."""

    def root(self) -> TrailState:
        return None

    def advance(self, state: TrailState, page: Page, verdict: Verdict) -> TrailState:
        return None

    def rank(self, state: TrailState) -> float:
        return 0.0


@dataclass(frozen=True)
class AdmitAll:
    """Admits every link, at both times."""

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return ADMIT

    def at_pop(self, visit: Visit) -> Ruling:
        return ADMIT


@dataclass(frozen=True)
class Strategy:
    """The parts of a strategy. Each is a dataclass whose constructor takes its parameters; learned state is in fields
    with `init=False`. So `repr` is the code that creates the strategy, and a copy has learned nothing."""

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
        """False if it also works on a web without texts."""
        optional = isinstance(self.scorer, ContentUser) and self.scorer.does_without_content
        return self.judge.reads_content or self.way_reads_content or (self.scorer.reads_content and not optional)

    @property
    def way_reads_content(self) -> bool:
        """Whether the trail or the admission reads content."""
        return some_reads_content((self.trail, self.admission))

    @property
    def reads_main_text(self) -> bool:
        return reads_main_text(self.judge) or reads_main_text(self.scorer)

    @property
    def link_reader(self) -> LinkReader | None:
        return self.scorer if isinstance(self.scorer, LinkReader) else None

    @property
    def kernels(self) -> Kernels:
        """The compiled functions that the parts call."""
        simple = (one for _, part in self._parts() for one in _simple(part))
        return list(dict.fromkeys(kernel for part in simple for kernel in kernels_of(part)))

    def fresh(self) -> Strategy:
        """A copy with the same parameters that has learned nothing."""
        fresh: dict[int, Any] = {id(part): fresh_part(part) for _, part in self._parts()}
        return replace(self, **{name: fresh[id(part)] for name, part in self._parts()})

    def learners(self) -> list[Learner]:
        """The parts that learn, each once even if it plays two roles; a composite is replaced by its parts."""
        simple = (one for _, part in self._parts() for one in _simple(part))
        return list({id(part): part for part in simple if isinstance(part, Learner)}.values())

    def _parts(self) -> Iterator[tuple[str, Any]]:
        parts = ((part.name, getattr(self, part.name)) for part in fields(self))
        return ((name, part) for name, part in parts if part is not None)


def fresh_part(part: Any) -> Any:
    """A copy with the same parameters that has learned nothing. Every part is a dataclass; the roles cannot express
    that."""
    return replace(part)


def some_reads_content(parts: Iterable[object]) -> bool:
    """Whether one of these trails and admissions reads content."""
    return any(isinstance(part, ContentReader) and part.reads_content for part in parts)


def _simple(part: object) -> Iterator[object]:
    if not isinstance(part, Composite):
        yield part
        return
    for inner in part.parts:
        yield from _simple(inner)


def hinted(reader: LinkReader, page: Page, links: Sequence[Link]) -> list[Link]:
    """The links of a page with the hints of the reader."""
    read = links if page.contexts is None else page.contexts.of(links)
    return [Link._make((*link[:-1], hints)) for link, hints in zip(read, reader.hints(page, read), strict=True)]


def verdicts_of(judge: Judge, pages: Sequence[Page]) -> list[Verdict]:
    """One per page, in the same order."""
    verdicts = judge.judge(pages)
    if len(verdicts) != len(pages):
        raise BrokenContract(f"{judge!r} gave {len(verdicts)} verdicts for {len(pages)} pages")
    if judge.reads_content and any(page.needs_scripts for page in pages):
        return [_with_scripts_in_mind(verdict, page) for verdict, page in zip(verdicts, pages, strict=True)]
    return verdicts


def _with_scripts_in_mind(verdict: Verdict, page: Page) -> Verdict:
    """The reason for an irrelevant page that needs scripts: hardly any of its text could be read."""
    if verdict.relevant or not page.needs_scripts:
        return verdict
    return replace(verdict, because=f"needs scripts: {len(page.text):,} characters of text")


def prior_of(judge: Judge) -> TargetPrior:
    """The prior of a judge; empty if it has none."""
    return judge.target_prior if isinstance(judge, HasTargetPrior) else TargetPrior()


def kernels_of(part: object) -> Kernels:
    """The compiled functions that a part calls."""
    return part.kernels if isinstance(part, UsesKernels) else ()


def waits(part: object) -> bool:
    """Whether a judge or a scorer may block on a request while it reads a page."""
    return isinstance(part, Waiting) and part.waits


def reads_main_text(part: object) -> bool:
    """Whether the main text of a page should be extracted for this judge or scorer."""
    return isinstance(part, MainTextReader) and part.reads_main_text
