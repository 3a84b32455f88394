"""Judges made of other judges: joined by and, or, not; and the perfect judge, and one that remembers its verdicts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput, UsageError
from spoor.naming import Combined, Requirement, asserted, names, parse
from spoor.records import Page, TargetPrior, Verdict
from spoor.roles import Comparing, Judge
from spoor.strategy import prior_of, reads_main_text, waits

# Several judges at once: what one says, another must say too, or may say instead, or must not say.


@dataclass(frozen=True)
class NearestOf:
    """A text is as near to several topics as to the nearest of them: a link about one is worth a visit."""

    topics: tuple[Comparing, ...]

    def similarities(self, texts: Sequence[str]) -> list[float]:
        return [max(near) for near in zip(*(topic.similarities(texts) for topic in self.topics), strict=True)]


@dataclass(frozen=True)
class Agreement:
    """`Agreement("charset and not script", {"charset": …, "script": …})`. Relevance is the least of what is joined by
    and, the most of what is joined by or, what is missing to 1 under not. Every judge's reason is kept."""

    require: str
    judges: Mapping[str, Judge]
    _required: Requirement = field(init=False, repr=False, compare=False)
    _asked: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        required = parse(self.require)
        object.__setattr__(self, "_required", required)
        object.__setattr__(self, "_asked", tuple(names(required)))
        for name in self._asked:
            if name not in self.judges:
                raise UsageError(f"require = {self.require!r} names {name!r}; known are {', '.join(self.judges)}")

    @property
    def reads_content(self) -> bool:
        return any(self.judges[name].reads_content for name in self._asked)

    @property
    def reads_main_text(self) -> bool:
        return any(reads_main_text(self.judges[name]) for name in self._asked)

    @property
    def waits(self) -> bool:
        return any(waits(self.judges[name]) for name in self._asked)

    @property
    def target_prior(self) -> TargetPrior:
        """What the judges look for together; what `require` denies has no part in it."""
        priors = [prior_of(self.judges[name]) for name in asserted(self._required)]
        language = next((prior.language for prior in priors if prior.language), "")
        return TargetPrior(language, tuple(dict.fromkeys(word for prior in priors for word in prior.words)))

    @property
    def nearest(self) -> NearestOf | None:
        """How near texts are to what is asked for, by the judges that can compare; None: none of them can."""
        asked = (self.judges[name] for name in asserted(self._required))
        comparing = tuple(judge for judge in asked if isinstance(judge, Comparing))
        return NearestOf(comparing) if comparing else None

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        said = [self.judges[name].judge(pages) for name in self._asked]
        return [self.agreed(dict(zip(self._asked, verdicts, strict=True))) for verdicts in zip(*said, strict=True)]

    def agreed(self, said: Mapping[str, Verdict]) -> Verdict:
        """What follows from what each of the judges says, by name."""
        agreed = _weighed(self._required, said)
        because = "; ".join(f"{name}: {verdict.because}" for name, verdict in said.items())
        return Verdict(agreed.relevance, agreed.relevant, because, agreed.label)


def _weighed(required: Requirement, said: Mapping[str, Verdict]) -> Verdict:
    """The reasons are left out. Of several labels the first counts; what is denied has none."""
    if not isinstance(required, Combined):
        return said[required]
    parts = [_weighed(part, said) for part in required.parts]
    relevances, decisions = [part.relevance for part in parts], [part.relevant for part in parts]
    label = next((part.label for part in parts if part.label is not None), None)
    match required.by:
        case "and":
            return Verdict(min(relevances), all(decisions), "", label)
        case "or":
            return Verdict(max(relevances), any(decisions), "", label)
        case "not":
            return Verdict(1.0 - relevances[0], not decisions[0], "")


# The perfect judge: it looks the answer up. For comparing strategies apart from the quality of a judge.


@dataclass(frozen=True)
class Truth:
    """Relevant means: carries the label `target`. `is_relevant` answers by URL."""

    target: str
    is_relevant: Callable[[str], bool] = field(repr=False)

    reads_content: ClassVar[bool] = False

    @property
    def target_prior(self) -> TargetPrior:
        """A label such as lang=ja names a language; others are made of words: subject.Science.Biology."""
        kind, _, value = self.target.rpartition("=")
        return (
            TargetPrior(language=value)
            if kind == "lang"
            else TargetPrior(words=tuple(re.findall(r"[^\W_]+", value.lower())))
        )

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        yes, no = Verdict(1.0, True, f"labelled {self.target}"), Verdict(0.0, False, f"not labelled {self.target}")
        return [yes if self.is_relevant(page.url) else no for page in pages]


# What a judge said of the pages of a web, kept in a file: it is asked once, however many crawls come by.


@dataclass(frozen=True, eq=False)
class Verdicts:
    """By the number of the page; reasons and class labels are not kept. A page that nobody judged is not relevant."""

    relevance: NDArray[np.float64]
    relevant: NDArray[np.bool_]

    def write(self, path: Path) -> None:
        with path.open("wb") as file:
            np.savez_compressed(file, relevance=self.relevance, relevant=self.relevant)

    @staticmethod
    def read(path: Path) -> Verdicts:
        try:
            with path.open("rb") as file, np.load(file) as kept:
                return Verdicts(kept["relevance"], kept["relevant"])
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise BadInput(
                f"cannot read the verdicts in {path}: {error}; delete it; it will be created again"
            ) from None

    def of(self, number: int) -> Verdict:
        relevance = float(self.relevance[number])
        return Verdict(relevance, bool(self.relevant[number]), f"judged before, relevance {relevance:.2f}")


@dataclass(frozen=True)
class Remembered:
    """`name` is that of the judge that was asked; `verdict_of` answers by URL. It reads no texts any more, so
    strategies that read none either run as quickly as under a perfect judge."""

    name: str
    verdict_of: Callable[[str], Verdict] = field(repr=False)

    reads_content: ClassVar[bool] = False

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [self.verdict_of(page.url) for page in pages]
