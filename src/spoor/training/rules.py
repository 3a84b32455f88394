"""From classes of pages, and what these link to in a web, to rules between the classes.

Two sets of pages: examples of each class (train-0), and the pages of the web that they link to (train-1). The first
teach to tell classes apart; the second are told apart, and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput, UsageError
from spoor.judge.taxonomy import Taxonomy
from spoor.ontology.rule_model import RuleModel
from spoor.ontology.rules import Rules, rules_from
from spoor.records import Page
from spoor.text.taxonomy_model import TaxonomyModel
from spoor.training.pages import Example, Kept, usable
from spoor.training.taxonomy import LEAST_PAGES, modelled
from spoor.urls import normalise

MOST_PAGES = 1_000
"""Examples of a class that are read; more teach little."""


class UrlFinder(Protocol):
    def __getitem__(self, number: int, /) -> str: ...

    def find(self, url: str, /) -> int | None: ...


class LabelledWeb(Protocol):
    """What is needed of a web: texts, links and labels of its pages, by number."""

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
    """Train-0: the pages of each class that can be used, the numbers of the pages that they link to, and what is known
    of the class of pages of the web, by number."""

    pages: Mapping[str, Kept]
    linked: Mapping[str, frozenset[int]] = field(repr=False)
    known: Mapping[int, str] = field(default_factory=dict, repr=False)


def trained_on_web(web: LabelledWeb, target: str, classes: Sequence[str] = ()) -> RuleModel:
    """From all labels of the kind of `target`, which is the wanted one."""
    examples = labelled_examples(web, classes or siblings(web, target))
    pages = {leaf: kept.examples for leaf, kept in examples.pages.items()}
    taxonomy = modelled(target, pages, (target,), web.name)
    return RuleModel(taxonomy, counted_rules(web, taxonomy, examples))


def siblings(web: LabelledWeb, target: str) -> tuple[str, ...]:
    """The labels that say something else of the same kind: `class=student` of `class=course`, `subject.Art` of
    `subject.IT`."""
    web.labelled(target)  # Whether there is such a label.
    kind = target[: max(target.rfind("="), target.rfind(".")) + 1]
    found = tuple(label for label in web.labels if _kind(label) == kind)
    if not kind or len(found) < 2:
        raise UsageError(f"no labels of the web {web.name} are of a kind with {target}; name several with --classes")
    return found


def _kind(label: str) -> str:
    return label[: max(label.rfind("="), label.rfind(".")) + 1]


def labelled_examples(web: LabelledWeb, classes: Sequence[str], where: str = "") -> Examples:
    """A page with several of these labels is an example of the first. `where`: only pages that have this label too.
    Classes with too few pages are left out."""
    if not web.has_content:
        raise BadInput(f"the web {web.name} keeps no texts, by which classes are told apart; build it from WARC files")
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
    """Pages of each class that lie elsewhere; the web holds what they link to."""
    linked = {leaf: frozenset(_found(web, kept.examples)) for leaf, kept in classes.items()}
    if not any(linked.values()):
        raise BadInput(f"none of the examples links to a page of the web {web.name}; give a web that holds such pages")
    return Examples(classes, linked)


def _found(web: LabelledWeb, examples: Iterable[Example]) -> Iterable[int]:
    for link in [link for example in examples for link in example.page.links]:
        number = web.urls.find(normalise(link.url) or link.url)
        if number is not None:
            yield number


def counted_rules(
    web: LabelledWeb, taxonomy: TaxonomyModel, examples: Examples, advance: Callable[[int], None] = lambda pages: None
) -> Rules:
    """Every page of train-1 once for each class that links to it. Its class is the one known, else that which the
    taxonomy tells; pages without text, and those that were only linked to, have none."""
    judge, classes = Taxonomy(taxonomy), taxonomy.bayes.classes
    told: dict[int, str | None] = {}
    for number in frozenset().union(*examples.linked.values()):
        known = examples.known.get(number)
        if known in classes:
            told[number] = known
        elif number < web.pages:
            (verdict,) = judge.judge([_page(web, number)])
            told[number] = verdict.label
        advance(1)
    times = {leaf: Counter(told.get(number) for number in examples.linked[leaf]) for leaf in classes}
    return rules_from({leaf: {to: n for to, n in counts.items() if to is not None} for leaf, counts in times.items()})


def _page(web: LabelledWeb, number: int) -> Page:
    title, text, _, *main = web.texts[number] or ("", "", {})
    return Page(web.urls[number], title=title, text=text, main_text=main[0] if main else "")
