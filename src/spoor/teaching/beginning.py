"""Makes a student before the first answer, from example pages, a sentence and background word frequencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from spoor.errors import UsageError
from spoor.judging.classifiers import PRIOR_WORDS
from spoor.judging.regression import sample_of
from spoor.judging.training_pages import document
from spoor.parse.words import features
from spoor.records import Page
from spoor.settings import Target
from spoor.teaching.fitting import Example
from spoor.teaching.presumed import presumed_negatives, telling_words
from spoor.teaching.student import HALF, Aim, Student

NOTHING_FETCHED: Mapping[str, Page] = {}


def student_of(target: Target, fetched: Mapping[str, Page] = NOTHING_FETCHED, aim: Aim = HALF) -> Student:
    """The student that `[target] like` and `about` define. `fetched` are example pages by their name in `like`: all
    URLs, and files that are already read."""
    return beginner([_example(one, fetched) for one in target.like], target.about, aim)


def _example(name: str, fetched: Mapping[str, Page]) -> Page:
    if name in fetched:
        return fetched[name]
    if "://" in name:
        raise UsageError(f"[target] like = {name!r} must be fetched first; save the page, and give its file here")
    return document(Path(name))


def beginner(examples: Sequence[Page], about: str = "", aim: Aim = HALF) -> Student:
    """A student that starts from example pages, a sentence, or both."""
    texts = [features(page.title, page.best_text) for page in examples]
    if about:
        texts.append(features(about, about))
    if not any(len(text.words) for text in texts):
        raise UsageError("the examples and the sentence hold no words; set [target] like or about to some that do")
    words = tuple(telling_words([about] if about else [page.titled_text for page in examples], PRIOR_WORDS))
    positive = [Example(sample_of(text), True) for text in texts]
    negative = [Example(sample_of(text), False) for text in presumed_negatives(texts)]
    return Student.beginning(" ".join(words[:3]) or "the examples", positive + negative, words, aim)
