"""The storage format of evidence: only its numbers; the names are stored once per file.

So many links are written that the names would dominate: packing takes an eighth of the time of JSON.
"""

from __future__ import annotations

import json
import sqlite3
import struct
import sys
from collections.abc import Collection, ItemsView, Iterable, Iterator, Mapping

from spoor.errors import BrokenContract
from spoor.records import Evidence

NAMES_SCHEMA = "CREATE TABLE IF NOT EXISTS evidence_names (id INTEGER PRIMARY KEY, names TEXT NOT NULL);"
NO_EVIDENCE = b""
"""The evidence of a seed."""
_OF_LEARNED = frozenset(
    ["relevance", "relevant_parents", "parents", "since", "depth", "signs", "words", "place", "hub", "list", "dead"]
)
_RENAMED = {
    _OF_LEARNED: {"signs": "prior", "place": "site_yield", "hub": "hub_yield", "list": "list_yield"},
    frozenset(("goodness", "best_is_good")): {"goodness": "relevance", "best_is_good": "best_is_relevant"},
    frozenset(("goodness", "brought_forward")): {"goodness": "relevance"},
    frozenset(("wanted_class",)): {"wanted_class": "target_class"},
}
"""Lists of names as written by strategies up to version 4, each with the names that have changed since."""
_MOST_LISTS = 1 << 16
_NUMBER = struct.Struct("<H")


class PackedEvidence(Mapping[str, float]):
    """Evidence as it is stored: names that many links share, and a double for each. It is read on first use, so that
    evidence which is only kept, or computed by compiled code, never becomes a dict."""

    __slots__ = ("_read", "names", "numbers")

    def __init__(self, names: tuple[str, ...], numbers: bytes) -> None:
        self.names = names
        self.numbers = numbers
        self._read: dict[str, float] | None = None

    def __getitem__(self, name: str) -> float:
        return self._dict()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def items(self) -> ItemsView[str, float]:
        """Those of the dict, which are faster than the ones that a Mapping has by itself."""
        return self._dict().items()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PackedEvidence) and self.names == other.names:
            # Bytes differ for 0 and -0, which are equal.
            return self.numbers == other.numbers or self._unpacked() == other._unpacked()
        return self._dict() == (other._dict() if isinstance(other, PackedEvidence) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._dict())

    def __reduce__(self) -> tuple[type[dict[str, float]], tuple[dict[str, float]]]:
        """Other processes get it as a dict."""
        return dict, (self._dict(),)

    def _dict(self) -> dict[str, float]:
        if self._read is None:
            self._read = dict(zip(self.names, self._unpacked(), strict=True))
        return self._read

    def _unpacked(self) -> tuple[float, ...]:
        return struct.unpack(f"<{len(self.names)}d", self.numbers)


class EvidenceNames:
    """Lists of names by number, numbered at first use. A scorer needs one. Stored evidence begins with the number of
    its list, followed by a double for each name."""

    def __init__(self, lists: Iterable[tuple[int, str]] = ()) -> None:
        self._names: dict[int, tuple[str, ...]] = {}
        self._packers: dict[int, struct.Struct] = {}
        self._prefixes: dict[int, bytes] = {}
        self._numbers: dict[tuple[str, ...], int] = {}
        self._unwritten: list[int] = []
        for number, names in lists:
            if (read := names_in(names)) is not None:
                self._know(number, current_names(read))

    @staticmethod
    def of(db: sqlite3.Connection) -> EvidenceNames:
        """The lists of a file; a file of an earlier version has none."""
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'evidence_names'").fetchone() is None:
            return EvidenceNames()
        return EvidenceNames(db.execute("SELECT id, names FROM evidence_names"))

    def pack(self, evidence: Evidence) -> bytes:
        if not evidence:
            return NO_EVIDENCE
        names = evidence.names if isinstance(evidence, PackedEvidence) else tuple(evidence)
        number = self._numbers.get(names)
        if number is None:
            number = self._number(names)
        if isinstance(evidence, PackedEvidence):
            return self._prefixes[number] + evidence.numbers
        return self._packers[number].pack(number, *evidence.values())

    def unpack(self, packed: object) -> Evidence:
        """Raises ValueError if it is not evidence. Earlier versions stored JSON."""
        if isinstance(packed, str):
            return _from_json(packed)
        if packed == NO_EVIDENCE:
            return {}
        try:
            assert isinstance(packed, bytes)
            (number,) = _NUMBER.unpack_from(packed)
            assert len(packed) == self._packers[number].size
            return PackedEvidence(self._names[number], packed[_NUMBER.size :])
        except (AssertionError, KeyError, struct.error):
            raise ValueError(f"not evidence: {packed!r}") from None

    def write(self, db: sqlite3.Connection) -> None:
        """Writes the new lists, inside a transaction of the caller."""
        rows = [(number, json.dumps(self._names[number])) for number in self._unwritten]
        db.executemany("INSERT OR REPLACE INTO evidence_names VALUES (?, ?)", rows)
        self._unwritten.clear()

    def _number(self, names: tuple[str, ...]) -> int:
        number = max(self._names, default=0) + 1
        if number >= _MOST_LISTS:
            raise BrokenContract(f"a scorer gives every link the same names, not others again and again: {names}")
        self._know(number, names)
        self._unwritten.append(number)
        return number

    def _know(self, number: int, names: tuple[str, ...]) -> None:
        self._names[number] = names
        self._numbers[names] = number
        self._packers[number] = struct.Struct(f"<H{len(names)}d")
        self._prefixes[number] = _NUMBER.pack(number)


def current_names(names: Collection[str]) -> tuple[str, ...]:
    """Maps the names of earlier versions to the current ones."""
    renamed = _RENAMED.get(frozenset(names), {})
    # One object for each name: equal lists are then compared by identity.
    return tuple(sys.intern(renamed.get(name, name)) for name in names)


def renamed_evidence(evidence: Evidence) -> Evidence:
    return dict(zip(current_names(evidence), evidence.values(), strict=True))


def names_in(text: object) -> tuple[str, ...] | None:
    """Parses a stored list; None if it is invalid."""
    try:
        names = json.loads(text if isinstance(text, str) else "")
    except (ValueError, RecursionError):
        return None
    known = isinstance(names, list) and names and all(isinstance(name, str) for name in names)
    return tuple(names) if known else None


def _from_json(text: str) -> Evidence:
    found = json.loads(text)
    if not isinstance(found, dict) or not all(isinstance(value, float | int) for value in found.values()):
        raise ValueError(f"not evidence: {text}")
    return renamed_evidence(found)
