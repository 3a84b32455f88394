"""Concepts that broader and related ones stand around, as thesauri and class hierarchies have them."""

from __future__ import annotations

import difflib
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from spoor.errors import UsageError

SUGGESTED = 3


@dataclass(frozen=True, slots=True)
class Label:
    """`language` is a BCP-47 tag, "" when none is said; `preferred` is False for other ways to say it."""

    text: str
    language: str = ""
    preferred: bool = True


@dataclass(frozen=True, slots=True)
class Concept:
    """`broader` and `related` are URIs of concepts of the same file."""

    uri: str
    labels: tuple[Label, ...]
    broader: tuple[str, ...] = ()
    related: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The last part of the URI."""
        return self.uri.rstrip("/#").replace("#", "/").rpartition("/")[2]

    def name(self, languages: Sequence[str] = ()) -> str:
        """How people are told of it: the preferred label, in one of the languages if there is such, else in English."""
        wanted = [*languages, "en", ""]

        def place(label: Label) -> tuple[bool, int]:
            found = [k for k, language in enumerate(wanted) if is_in(label.language, language)]
            return not label.preferred, min(found, default=len(wanted))

        return min(self.labels, key=place).text


def is_in(tag: str, language: str) -> bool:
    """Whether a tag such as `en-GB` names a language such as `en`; case does not matter."""
    return tag.lower() == language.lower() or tag.lower().startswith(f"{language.lower()}-")


@dataclass(frozen=True)
class Concepts:
    """Those of one file, by their URIs, in its order. Broader concepts that the file does not hold are left out."""

    name: str
    by_uri: Mapping[str, Concept] = field(repr=False)

    @cached_property
    def narrower(self) -> Mapping[str, list[str]]:
        below: dict[str, list[str]] = {uri: [] for uri in self.by_uri}
        for concept in self.by_uri.values():
            for broader in concept.broader:
                below[broader].append(concept.uri)
        return below

    @cached_property
    def top(self) -> list[str]:
        """Those that nothing is broader than; all of them, where they go round in circles."""
        return [uri for uri, concept in self.by_uri.items() if not concept.broader] or list(self.by_uri)

    def depths(self, starts: Iterable[str]) -> dict[str, int]:
        """How many steps below the nearest start each concept is that can be reached."""
        return _steps(starts, self.narrower.__getitem__)

    def find(self, wanted: str) -> str:
        """The URI of a concept that is named by a label, its URI, or the last part of that."""
        if wanted in self.by_uri:
            return wanted
        for named in (self._by_preferred, self._by_label, self._by_key):
            if (uri := named.get(wanted.strip().casefold())) is not None:
                return uri
        near = difflib.get_close_matches(wanted.casefold(), self._by_label, SUGGESTED, 0.0)
        told = ", ".join(repr(self.by_uri[self._by_label[label]].name()) for label in near)
        raise UsageError(f"the ontology {self.name} has no concept {wanted!r}; the nearest are {told}")

    @cached_property
    def _by_preferred(self) -> dict[str, str]:
        return self._named(lambda concept: [label.text for label in concept.labels if label.preferred])

    @cached_property
    def _by_label(self) -> dict[str, str]:
        return self._named(lambda concept: [label.text for label in concept.labels])

    @cached_property
    def _by_key(self) -> dict[str, str]:
        return self._named(lambda concept: [concept.key])

    def _named(self, names: Callable[[Concept], list[str]]) -> dict[str, str]:
        """The first that is called so."""
        found: dict[str, str] = {}
        for concept in self.by_uri.values():
            for name in names(concept):
                found.setdefault(name.casefold(), concept.uri)
        return found


def _steps(starts: Iterable[str], following: Callable[[str], Iterable[str]]) -> dict[str, int]:
    found = dict.fromkeys(starts, 0)
    waiting = deque(found)
    while waiting:
        here = waiting.popleft()
        for there in following(here):
            if there not in found:
                found[there] = found[here] + 1
                waiting.append(there)
    return found
