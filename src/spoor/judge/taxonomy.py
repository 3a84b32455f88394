"""The topic of a page as one of the classes of a taxonomy, told by naive Bayes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from spoor.records import Page, Verdict, Wish
from spoor.text.features import LONGEST
from spoor.text.taxonomy_model import TaxonomyModel, goodness, is_good
from spoor.text.words import Words

WISHED = 20
SHOWN = 3
_WORDS = Words()


@dataclass(frozen=True)
class Taxonomy:
    """The relevance is the probability of all wanted classes together; relevant is a page whose best class is wanted.
    That class is the label of the verdict."""

    model: TaxonomyModel
    _wish: Wish = field(init=False, repr=False, compare=False)

    reads_content: ClassVar[bool] = True
    reads_main_text: ClassVar[bool] = True

    def __post_init__(self) -> None:
        wanted = [k for k, leaf in enumerate(self.model.bayes.classes) if is_good(leaf, self.model.good)]
        object.__setattr__(self, "_wish", Wish(words=tuple(self.model.bayes.typical(wanted, WISHED))))

    @property
    def wish(self) -> Wish:
        return self._wish

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [self._judge(f"{page.title}\n{page.main_text or page.text}") for page in pages]

    def similarities(self, texts: Sequence[str]) -> list[float]:
        return [self._judge(text).relevance for text in texts]

    def _judge(self, text: str) -> Verdict:
        bayes, words = self.model.bayes, _WORDS.of(text[:LONGEST])
        if not bayes.knows(words):
            return Verdict(0.0, False, f"holds no word that was met in training {self.model.name}")
        chances = bayes.posterior(words)
        best, rival = map(int, np.argsort(-chances, kind="stable")[:2])
        leaves = dict(zip(bayes.classes, chances.tolist(), strict=True))
        told = ", then ".join(f"{bayes.classes[k]} ({chances[k]:.2f})" for k in (best, rival))
        deciding = bayes.deciding(words, best, rival, SHOWN)
        by = f"; most by {', '.join(deciding)}" if deciding else ""
        label = bayes.classes[best]
        return Verdict(goodness(leaves, self.model.good), is_good(label, self.model.good), f"{told}{by}", label)
