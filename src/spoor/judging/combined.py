"""Judges built from other judges: combinations by and, or, not; the perfect judge; a judge with stored verdicts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import Kernels
from spoor.errors import BadInput, UsageError
from spoor.naming import Combined, Requirement, asserted, names, parse
from spoor.records import Page, TargetPrior, Verdict
from spoor.roles import Comparing, Judge
from spoor.strategy import kernels_of, prior_of, reads_main_text, waits

# Boolean combinations of judges.


@dataclass(frozen=True)
class NearestOf:
    """The similarity to several topics is the largest one: a link about one of them is worth a visit."""

    topics: tuple[Comparing, ...]

    def similarities(self, texts: Sequence[str]) -> list[float]:
        return [max(near) for near in zip(*(topic.similarities(texts) for topic in self.topics), strict=True)]


@dataclass(frozen=True)
class CombinedJudge:
    """`CombinedJudge("charset and not script", {"charset": …, "script": …})`. The relevance is the minimum for and, the
    maximum for or, 1 minus the relevance for not. The reasons of all judges are kept."""

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
    def kernels(self) -> Kernels:
        return [kernel for name in self._asked for kernel in kernels_of(self.judges[name])]

    @property
    def target_prior(self) -> TargetPrior:
        """The priors of the judges together, without judges that `require` negates."""
        priors = [prior_of(self.judges[name]) for name in asserted(self._required)]
        language = next((prior.language for prior in priors if prior.language), "")
        return TargetPrior(language, tuple(dict.fromkeys(word for prior in priors for word in prior.words)))

    @property
    def nearest(self) -> NearestOf | None:
        """Similarity of texts to the target, by the judges that can compare texts; None if none of them can."""
        asked = (self.judges[name] for name in asserted(self._required))
        comparing = tuple(judge for judge in asked if isinstance(judge, Comparing))
        return NearestOf(comparing) if comparing else None

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        said = [self.judges[name].judge(pages) for name in self._asked]
        return [self.agreed(dict(zip(self._asked, verdicts, strict=True))) for verdicts in zip(*said, strict=True)]

    def agreed(self, said: Mapping[str, Verdict]) -> Verdict:
        """Combines the verdicts of the judges, given by name."""
        agreed = _weighed(self._required, said)
        because = "; ".join(f"{name}: {verdict.because}" for name, verdict in said.items())
        return Verdict(agreed.relevance, agreed.relevant, because, agreed.label)


def _weighed(required: Requirement, said: Mapping[str, Verdict]) -> Verdict:
    """Without reasons. The first label counts; a negated judge has none."""
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


# The perfect judge: it looks up the label. For comparing strategies independently of the quality of a judge.


@dataclass(frozen=True)
class Truth:
    """A page is relevant if it has the label `target`. `is_relevant` looks it up by URL."""

    target: str
    is_relevant: Callable[[str], bool] = field(repr=False)

    reads_content: ClassVar[bool] = False

    @property
    def target_prior(self) -> TargetPrior:
        """A label such as lang=ja names a language; others consist of words: subject.Science.Biology."""
        kind, _, value = self.target.rpartition("=")
        return (
            TargetPrior(language=value)
            if kind == "lang"
            else TargetPrior(words=tuple(re.findall(r"[^\W_]+", value.lower())))
        )

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        yes, no = Verdict(1.0, True, f"labelled {self.target}"), Verdict(0.0, False, f"not labelled {self.target}")
        return [yes if self.is_relevant(page.url) else no for page in pages]


# The verdicts of a judge on the pages of a web, stored in a file: each page is judged once for any number of crawls.


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Indexed by page number, without reasons and class labels. A page that was not judged is irrelevant."""

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
    """`name` is that of the original judge; `verdict_of` returns its verdict by URL. Reads no texts, so strategies that
    read none either run as fast as with the perfect judge."""

    name: str
    verdict_of: Callable[[str], Verdict] = field(repr=False)

    reads_content: ClassVar[bool] = False

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [self.verdict_of(page.url) for page in pages]
