"""Is what a page links to likely to lead to what is wanted, by the class of the page and the rules of its class?"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spoor.ontology.rule_model import RuleModel
from spoor.text.features import LONGEST
from spoor.text.words import Words

_WORDS = Words()


@dataclass(frozen=True)
class LookAhead:
    """The score of a page, which all of its links have: that of its most probable class, or with `soft` those of all
    classes, each by its probability. A page without a known word has none, 0."""

    model: RuleModel
    combine: str = "sum"
    soft: bool = False
    _by_class: NDArray[np.float64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ahead = self.model.rules.look_ahead(self.model.wanted, self.combine)
        object.__setattr__(self, "_by_class", ahead)

    def score(self, text: str) -> float:
        bayes, words = self.model.taxonomy.bayes, _WORDS.of(text[:LONGEST])
        if not bayes.knows(words):
            return 0.0
        chances = bayes.posterior(words)
        return float(chances @ self._by_class if self.soft else self._by_class[int(chances.argmax())])
