"""Classes of pages and the rules between them, in one file: what tells the class of a page, and where it leads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from spoor.errors import BadInput
from spoor.model_file import Kind, Part, read_model, write_model
from spoor.ontology.rules import Rules
from spoor.text.taxonomy_model import DAMAGED, TaxonomyModel, as_part, from_part, is_good

RULES = Kind("rules", 1, "spoor train rules")


@dataclass(frozen=True, eq=False)
class RuleModel:
    """The classes of the rules are the leaves of the taxonomy, in the same order."""

    taxonomy: TaxonomyModel
    rules: Rules = field(repr=False)

    @property
    def wanted(self) -> tuple[str, ...]:
        return tuple(leaf for leaf in self.rules.classes if is_good(leaf, self.taxonomy.good))


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
