"""A judge that starts from a few example pages and a sentence, and is retrained on answers.

At first the examples are the positives, and texts drawn from background word frequencies are the presumed negatives.
Each answer adds a labelled page. Each training uses all of them, and makes the next version of the student.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from spoor.compiled import Kernels
from spoor.errors import UsageError
from spoor.judging.classifiers import Prediction, TopicModel
from spoor.judging.regression import KERNELS, Sample, sample_of
from spoor.parse.words import features
from spoor.records import Page, TargetPrior, Verdict
from spoor.store.verdicts import said_by
from spoor.strategy import PageByPage
from spoor.teaching.fitting import Example, Fit, divided, has_enough, learned_from, needed_shift


@dataclass(frozen=True, slots=True)
class Answer:
    """The label of a page by a teacher. `who` is "person", "file" or the name of a model; `at` is a Unix time."""

    url: str
    relevant: bool
    who: str
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer and the features of its page: `sample(page)`."""

    answer: Answer
    sample: Sample


def sample(page: Page) -> Sample:
    """The features that a student stores of a page: a few kilobytes, enough to judge the page again."""
    return sample_of(features(page.title, page.best_text))


@dataclass(frozen=True)
class Aim:
    """The precision or the recall at which the threshold is set once there are enough answers. If both are None, the
    threshold is 0.5."""

    precision: float | None = None
    recall: float | None = None

    def __post_init__(self) -> None:
        for name, share in (("precision", self.precision), ("recall", self.recall)):
            if share is not None and not 0.0 < share <= 1.0:
                raise UsageError(f"{name}={share:g} is not a share above 0 and up to 1")
        if self.precision is not None and self.recall is not None:
            raise UsageError("precision and recall are both set; the threshold can follow one of them")


HALF = Aim()


@dataclass(frozen=True, eq=False)
class Student(PageByPage):
    """A judge that is retrained on answers. Relevance is the calibrated probability that the page is relevant; on a
    page with an answer, the answer overrides it. `begun` are the examples and presumed negatives, `version` the number
    of trainings. Training is deterministic and does not depend on the order of the answers."""

    name: str
    begun: tuple[Example, ...] = field(repr=False)
    words: tuple[str, ...] = field(repr=False)
    fit: Fit = field(repr=False)
    aim: Aim = HALF
    answers: Mapping[str, Answered] = field(default_factory=dict, repr=False)
    version: int = 0

    reads_content: ClassVar[bool] = True
    reads_main_text: ClassVar[bool] = True
    kernels: ClassVar[Kernels] = KERNELS

    @staticmethod
    def beginning(name: str, begun: Sequence[Example], words: Sequence[str], aim: Aim = HALF) -> Student:
        return Student(name, tuple(begun), tuple(words), _fit(name, begun, {}, aim), aim)

    @property
    def model(self) -> TopicModel:
        return self.fit.model

    @property
    def target_prior(self) -> TargetPrior:
        """From the examples and the sentence only, so that a lesson does not change the prior of links."""
        return TargetPrior(words=self.words)

    def taught(self, answers: Sequence[Answered]) -> Student:
        """Returns the next version, trained on these answers only; the last answer about a page counts."""
        latest = {one.answer.url: one for one in answers}
        fit = _fit(self.name, self.begun, latest, self.aim)
        return replace(self, fit=fit, answers=latest, version=self.version + 1)

    def is_example(self, one: Sample) -> bool:
        """Whether this page is one of the examples, so that no question about it is needed."""
        return any(each.relevant and np.array_equal(each.sample.places, one.places) for each in self.begun)

    def shift_by(self, seen: Sequence[Sample]) -> float:
        """By how much the log odds are too high, estimated from where the scores of `seen` divide into two classes. The
        more answers there are, the less the estimate counts. Pages of the training set are ignored."""
        answers = _said(self.answers)
        said = np.array([each.relevant for each in answers], bool)
        if self.aim != HALF and has_enough(said):
            return 0.0
        fitted_to = {each.sample.places.tobytes() for each in (*self.begun, *answers)}
        new = [one for one in seen if one.places.tobytes() not in fitted_to]
        split = divided(self.model.log_odds(new))
        return needed_shift(self.fit.unseen, said, split) if split else 0.0

    def shifted(self, shift: float) -> Student:
        return replace(self, fit=self.fit.shifted(shift))

    def verdict(self, page: Page) -> Verdict:
        if (known := self.answers.get(page.url)) is not None:
            return confirmed(known.answer)
        return self._verdict(self.model.opinion(page.title, page.best_text))

    def revised(self, urls: Sequence[str], samples: Sequence[Sample]) -> list[Verdict]:
        """Verdicts on pages judged before, from their stored samples. The reasons name no words."""
        return [
            self.with_probability(url, probability)
            for url, probability in zip(urls, self.model.probabilities(samples).tolist(), strict=True)
        ]

    def similarities(self, texts: Sequence[str]) -> list[float]:
        return [self.model.opinion("", text).probability for text in texts]

    def with_probability(self, url: str, probability: float) -> Verdict:
        if (known := self.answers.get(url)) is not None:
            return confirmed(known.answer)
        because = f"probability {probability:.2f} of {self.name}, version {self.version}"
        return Verdict(probability, probability >= self.model.threshold, because)

    def _verdict(self, opinion: Prediction) -> Verdict:
        again = self.with_probability("", opinion.probability)
        sides = {"for it": opinion.speaks_for, "against it": opinion.against}
        deciding = "; ".join(f"{side} {', '.join(words)}" for side, words in sides.items() if words)
        return replace(again, because=f"{again.because}: {deciding}") if deciding else again


def _fit(name: str, begun: Sequence[Example], answers: Mapping[str, Answered], aim: Aim) -> Fit:
    return learned_from(name, begun, _said(answers), (aim.precision, aim.recall))


def _said(answers: Mapping[str, Answered]) -> list[Example]:
    by_url = sorted(answers.values(), key=lambda one: one.answer.url)
    return [Example(one.sample, one.answer.relevant) for one in by_url]


def confirmed(answer: Answer) -> Verdict:
    """The verdict on a page with an answer."""
    return said_by(answer.relevant, answer.who)
