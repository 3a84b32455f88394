"""The likelier the page that links there is of a wanted class, the sooner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.records import Evidence, Hints, Link, Page, Sighting
from spoor.roles import Merge
from spoor.text.features import LONGEST
from spoor.text.taxonomy_model import TaxonomyModel, goodness
from spoor.text.words import Words

_WORDS = Words()


@dataclass(frozen=True)
class PageClass:
    """The probability of all wanted classes together, as the judge `taxonomy` tells it, whoever judges."""

    model: TaxonomyModel

    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {"wanted_class": max}

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        bayes, words = self.model.bayes, _WORDS.of(f"{page.title}\n{page.main_text or page.text}"[:LONGEST])
        leaves = dict(zip(bayes.classes, bayes.posterior(words).tolist(), strict=True)) if bayes.knows(words) else {}
        return [(goodness(leaves, self.model.good),)] * len(links)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"wanted_class": wanted} for (wanted,) in (link.hints for link in links)]

    def key(self, evidence: Evidence) -> float:
        return evidence["wanted_class"]
