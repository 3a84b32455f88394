"""Link rules between page classes: counted from pages, stored in a model file, and used as look-ahead scores.

    P(i → j) = pages of class j that pages of class i link to / all pages that pages of class i link to

A link on a page of class i is worth following for class t if there are paths from i to t, of one step or several. Their
sum (`sum`) or the best path (`max`) is the look-ahead score:

    LARS(i, t) = 10 · Σ over paths i → … → t:  Π P

A path has at most three steps, visits no class twice, and reaches t only at its end.

There are two sets of pages: examples of each class (train-0), and the pages of the web that they link to (train-1). The
first train the classifier; the second are classified and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput, UsageError
from spoor.files import Kind, Part, read_model, write_model
from spoor.judging.classifiers import DAMAGED, Taxonomy, TaxonomyModel, as_part, from_part, is_at_or_below
from spoor.judging.train_taxonomy import LEAST_PAGES, modelled
from spoor.judging.training_pages import Example, Kept, usable
from spoor.parse.words import LONGEST, Words
from spoor.progress import Advance, unseen
from spoor.records import Page
from spoor.urls import normalise

# Rules between classes, counted from pages and their links.


STEPS = 3
SCALE = 10.0
"""The factor 10 is that of the paper."""
DIGITS = 9
"""Scores are rounded to this many digits, so that ten times 0.3 is not above 3."""
COMBINATIONS: dict[str, Callable[..., NDArray[np.float64]]] = {"sum": np.sum, "max": np.max}


@dataclass(frozen=True, eq=False)
class Rules:
    """`times[i, j]` is the number of pages of class j that pages of class i link to, in the order of `classes`."""

    classes: tuple[str, ...]
    times: NDArray[np.int64] = field(repr=False)

    @property
    def chances(self) -> NDArray[np.float64]:
        """P(i → j); a class whose pages have no links has a row of zeros."""
        out = self.times.sum(axis=1, keepdims=True)
        return np.asarray(self.times / np.maximum(out, 1))

    def look_ahead(self, relevant: Sequence[str], combine: str = "sum", steps: int = STEPS) -> NDArray[np.float64]:
        """LARS of a link on a page of each class, with respect to all `relevant` classes together."""
        if combine not in COMBINATIONS:
            raise UsageError(f"combine={combine} is not known; give {' or '.join(COMBINATIONS)}")
        if not 1 <= steps <= STEPS:
            raise UsageError(f"steps={steps}: a path to look ahead has 1 to {STEPS} steps")
        taken, chances = COMBINATIONS[combine], self.chances
        ends = [self.classes.index(name) for name in relevant]
        ahead = [_ahead(start, ends, chances, taken, steps) for start in range(len(self.classes))]
        return np.round(SCALE * np.array(ahead), DIGITS)


def _ahead(
    start: int, ends: list[int], chances: NDArray[np.float64], taken: Callable[..., NDArray[np.float64]], steps: int
) -> float:
    """Over all paths from one class. A path passes neither through an end nor through its start and never stays in a
    class, so it visits no class twice within three steps."""
    passing = chances.copy()
    passing[:, [*ends, start]] = 0.0
    np.fill_diagonal(passing, 0.0)
    arriving = taken(chances[:, ends], axis=1)
    by_steps = [arriving[start]]
    for _ in range(steps - 1):
        arriving = taken(passing * arriving, axis=1)
        by_steps.append(arriving[start])
    return float(taken(np.array(by_steps)))


def rules_from(times: Mapping[str, Mapping[str, int]]) -> Rules:
    """`times` counts, for each class, the pages of each class that its pages link to."""
    classes = tuple(times)
    return Rules(classes, np.array([[times[one].get(other, 0) for other in classes] for one in classes], np.int64))


# Taxonomy and rules in one model file: the classifier, and the links between its classes.


RULES = Kind("rules", 1, "spoor train rules")


@dataclass(frozen=True, eq=False)
class RuleModel:
    """The classes of the rules are the leaves of the taxonomy, in the same order."""

    taxonomy: TaxonomyModel
    rules: Rules = field(repr=False)

    @property
    def relevant(self) -> tuple[str, ...]:
        return tuple(leaf for leaf in self.rules.classes if is_at_or_below(leaf, self.taxonomy.relevant))


def write_rules(path: Path, model: RuleModel) -> None:
    write_model(path, RULES, [as_part(model.taxonomy), Part({"times": model.rules.times.tolist()}, b"")])


def open_rules(path: Path) -> RuleModel:
    parts = read_model(path, RULES)
    try:
        taxonomy, rules = parts
        model = from_part(taxonomy)
        return RuleModel(model, _rules(model, rules.says))
    except DAMAGED as error:
        raise BadInput(f"{path}: the rules are damaged: {error}") from None


def _rules(model: TaxonomyModel, says: Mapping[str, Any]) -> Rules:
    classes, times = model.bayes.classes, np.array(says["times"], np.int64)
    if times.shape != (len(classes), len(classes)) or times.min() < 0:
        raise ValueError(f"no table of {len(classes)} classes")
    return Rules(classes, times)


# The look-ahead score of a page's links, from the class of the page and the rules.


_WORDS = Words()


@dataclass(frozen=True)
class LookAhead:
    """The score of a page applies to all of its links: the score of its most probable class, or with `soft` the mean
    over all classes weighted by their probabilities. 0 for a page without a known word."""

    model: RuleModel
    combine: str = "sum"
    soft: bool = False
    _by_class: NDArray[np.float64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ahead = self.model.rules.look_ahead(self.model.relevant, self.combine)
        object.__setattr__(self, "_by_class", ahead)

    def score(self, text: str) -> float:
        bayes, words = self.model.taxonomy.bayes, _WORDS.of(text[:LONGEST])
        if not bayes.knows(words):
            return 0.0
        chances = bayes.posterior(words)
        return float(chances @ self._by_class if self.soft else self._by_class[int(chances.argmax())])


# Training: rules from example pages of each class and the pages of a web that they link to.


MOST_PAGES = 1_000
"""Maximum number of examples read for each class; more improve little."""


class UrlFinder(Protocol):
    def __getitem__(self, number: int, /) -> str: ...

    def find(self, url: str, /) -> int | None: ...


class LabelledWeb(Protocol):
    """The parts of a web needed here: texts, links and labels of its pages, by number."""

    @property
    def name(self) -> str: ...
    @property
    def pages(self) -> int: ...
    @property
    def labels(self) -> list[str]: ...
    @property
    def has_content(self) -> bool: ...
    @property
    def urls(self) -> UrlFinder: ...
    @property
    def texts(self) -> Any: ...
    def labelled(self, label: str) -> NDArray[np.bool_]: ...
    def targets(self, number: int) -> list[int]: ...


@dataclass(frozen=True)
class Examples:
    """Train-0: the usable pages of each class, the numbers of the pages that they link to, and the known classes of
    pages of the web, by number."""

    pages: Mapping[str, Kept]
    linked: Mapping[str, frozenset[int]] = field(repr=False)
    known: Mapping[int, str] = field(default_factory=dict, repr=False)


def trained_on_web(web: LabelledWeb, target: str, classes: Sequence[str] = ()) -> RuleModel:
    """Trains on all labels of the same kind as `target`, which is the relevant one."""
    examples = labelled_examples(web, classes or siblings(web, target))
    pages = {leaf: kept.examples for leaf, kept in examples.pages.items()}
    taxonomy = modelled(target, pages, (target,), web.name)
    return RuleModel(taxonomy, counted_rules(web, taxonomy, examples))


def siblings(web: LabelledWeb, target: str) -> tuple[str, ...]:
    """The labels of the same kind: `class=student` for `class=course`, `subject.Art` for `subject.IT`."""
    web.labelled(target)  # Raises if there is no such label.
    kind = target[: max(target.rfind("="), target.rfind(".")) + 1]
    found = tuple(label for label in web.labels if _kind(label) == kind)
    if not kind or len(found) < 2:
        raise UsageError(f"no labels of the web {web.name} are of a kind with {target}; name several with --classes")
    return found


def _kind(label: str) -> str:
    return label[: max(label.rfind("="), label.rfind(".")) + 1]


def labelled_examples(web: LabelledWeb, classes: Sequence[str], where: str = "") -> Examples:
    """A page with several of these labels is an example of the first. `where` restricts to pages that also have this
    label. Classes with too few pages are left out."""
    if not web.has_content:
        raise BadInput(
            f"the web {web.name} has no texts, which are needed to distinguish classes; build it from WARC files"
        )
    open_ = web.labelled(where) if where else np.ones(web.pages, np.bool_)
    kept: dict[str, Kept] = {}
    linked: dict[str, frozenset[int]] = {}
    known: dict[int, str] = {}
    for label in classes:
        numbers = np.flatnonzero(web.labelled(label) & open_)
        open_ = open_ & ~web.labelled(label)
        known.update(dict.fromkeys(numbers.tolist(), label))
        read = numbers[:: -(-len(numbers) // MOST_PAGES) or 1].tolist()
        examples = usable(Example(f"{label}/{web.urls[number]}", _page(web, number)) for number in read)
        if len(examples.examples) >= LEAST_PAGES:
            kept[label] = examples
            linked[label] = frozenset(to for number in read for to in web.targets(number) if to != number)
    return Examples(kept, linked, known)


def page_examples(web: LabelledWeb, classes: Mapping[str, Kept]) -> Examples:
    """Examples from pages outside the web; the web contains the pages that they link to."""
    linked = {leaf: frozenset(_found(web, kept.examples)) for leaf, kept in classes.items()}
    if not any(linked.values()):
        raise BadInput(f"none of the examples links to a page of the web {web.name}; give a web that holds such pages")
    return Examples(classes, linked)


def _found(web: LabelledWeb, examples: Iterable[Example]) -> Iterable[int]:
    for link in [link for example in examples for link in example.page.links]:
        number = web.urls.find(normalise(link.url) or link.url)
        if number is not None:
            yield number


def checked(examples: Examples, targets: Sequence[str]) -> Examples:
    """Raises for targets that cannot be learned: with too few pages, or if every class is a target."""
    for name in targets:
        if name not in examples.pages:
            classes = ", ".join(examples.pages) or "none"
            raise UsageError(
                f"target {name}: there are too few such pages to learn from; classes with enough are {classes}"
            )
    if set(targets) == set(examples.pages):
        raise UsageError("the target is every class; a class that is not relevant is needed too")
    return examples


def counted_rules(web: LabelledWeb, taxonomy: TaxonomyModel, examples: Examples, advance: Advance = unseen) -> Rules:
    """Counts every page of train-1 once for each class that links to it. Its class is the known one, else the one that
    the taxonomy predicts; pages without text and pages that were not fetched have none."""
    judge, classes = Taxonomy(taxonomy), taxonomy.bayes.classes
    class_of: dict[int, str | None] = {}
    for number in frozenset().union(*examples.linked.values()):
        known = examples.known.get(number)
        if known in classes:
            class_of[number] = known
        elif number < web.pages:
            (verdict,) = judge.judge([_page(web, number)])
            class_of[number] = verdict.label
        advance(1)
    times = {leaf: Counter(class_of.get(number) for number in examples.linked[leaf]) for leaf in classes}
    return rules_from({leaf: {to: n for to, n in counts.items() if to is not None} for leaf, counts in times.items()})


def _page(web: LabelledWeb, number: int) -> Page:
    title, text, _, *main = web.texts[number] or ("", "", {})
    return Page(web.urls[number], title=title, text=text, main_text=main[0] if main else "")
