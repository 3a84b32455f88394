"""N-gram profiles of languages: in memory, on disk, and those shipped with spoor.

The content of a part is compressed by zlib. It consists of the alphabet, the four units of each window and the counts,
as 32-bit little-endian numbers, stored as byte planes: all first bytes before all second bytes and so on. The alphabet
and the units, which are sorted or almost, are delta-encoded.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput, UsageError
from spoor.files import SUFFIX, Kind, Part, read_model, unpacked, write_model
from spoor.judging.language_tags import hint_at_tag, matches, read_tag
from spoor.judging.ngrams import (
    BITS,
    MOST_UNITS,
    UNITS,
    WIDTH,
    Unit,
    codes,
    kinds,
    numbered,
    packed,
    sorted_windows,
    spelled,
)

# The n-gram counts of one language in one orthography and encoding.


@dataclass(frozen=True, eq=False)
class Profile:
    """`name` distinguishes profiles of one language. `alphabet` contains the distinct units as sorted code points. In
    `windows`, which are sorted, a unit is its position in the alphabet, from 1 (see `ngrams`). `counts` is how often
    each window occurs; from these the exact counts of n-grams of every length up to four follow."""

    tag: str
    name: str
    trained_on: str
    alphabet: NDArray[np.uint32] = field(repr=False)
    windows: NDArray[np.uint64] = field(repr=False)
    counts: NDArray[np.uint32] = field(repr=False)
    unit: Unit = "letter"

    @property
    def size(self) -> int:
        """Number of units in the training text."""
        return int(self.counts.sum())

    def grams(self, n: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The n-grams as windows with zeros after n units, sorted, and how often each occurs."""
        whole = (self.windows >> np.uint64(BITS * (WIDTH - n))) & np.uint64((1 << BITS) - 1) != 0
        prefixes = self.windows[whole] & np.uint64((1 << 64) - (1 << BITS * (WIDTH - n)))
        first = np.flatnonzero(np.concatenate([[True], prefixes[1:] != prefixes[:-1]])[: len(prefixes)])
        if not len(first):
            return prefixes, np.zeros(0, np.int64)
        return prefixes[first], np.add.reduceat(self.counts[whole].astype(np.int64), first)

    def ranks(self, n: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The n-grams, sorted, and the rank of each by descending frequency, from 1; see `ngrams.ranks`."""
        grams, counts = self.grams(n)
        places = np.empty(len(grams), np.int64)
        places[np.argsort(-counts, kind="stable")] = np.arange(1, len(grams) + 1)
        return grams, places

    def as_words(self, n: int) -> dict[str, int]:
        """The ranks by n-gram as a string, for display and comparison, like `ngrams.plain_ranks`."""
        grams, places = self.ranks(n)
        return {self._spelled(gram): place for gram, place in zip(grams.tolist(), places.tolist(), strict=True)}

    def _spelled(self, gram: int) -> str:
        units = (gram >> BITS * (WIDTH - 1 - depth) & (1 << BITS) - 1 for depth in range(WIDTH))
        return "".join(chr(self.alphabet[unit - 1]) for unit in units if unit)


def learned(tag: str, name: str, text: str, trained_on: str, unit: Unit = "letter") -> Profile:
    """The profile of a text."""
    alphabet, places = numbered(spelled(codes(text, unit), kinds(unit)))
    if len(alphabet) - 1 > MOST_UNITS:
        raise BadInput(f"{name}: {len(alphabet) - 1} different characters, more than the {MOST_UNITS} of a profile")
    windows, counts = np.unique(packed(places, sorted_windows(places, len(alphabet))), return_counts=True)
    return Profile(tag, name, trained_on, alphabet[1:] - np.uint32(1), windows, counts.astype(np.uint32), unit)


def merged(profiles: Sequence[Profile]) -> Profile:
    """One profile of all, as if their texts had been one: the single model of the paper."""
    first = profiles[0]
    alphabet = np.unique(np.concatenate([profile.alphabet for profile in profiles]))
    windows = np.concatenate([renumbered(profile.windows, profile.alphabet, alphabet) for profile in profiles])
    distinct, which = np.unique(windows, return_inverse=True)
    counts = np.bincount(which, np.concatenate([profile.counts for profile in profiles])).astype(np.uint32)
    names = ", ".join(profile.name for profile in profiles)
    texts = "; ".join(profile.trained_on for profile in profiles)
    return Profile(first.tag, names, texts, alphabet, distinct, counts, first.unit)


def renumbered(
    windows: NDArray[np.uint64], alphabet: NDArray[np.uint32], larger: NDArray[np.uint32]
) -> NDArray[np.uint64]:
    """Renumbers the units of windows from one alphabet to a superset of it."""
    numbers = np.concatenate([[0], np.searchsorted(larger, alphabet) + 1]).astype(np.uint64)
    out = np.zeros_like(windows)
    for depth in range(WIDTH):
        shift = np.uint64(BITS * depth)
        out |= numbers[(windows >> shift) & np.uint64((1 << BITS) - 1)] << shift
    return out


# Language profiles on disk: a model file with a part for each profile.


PROFILES = Kind("language profiles", 1, "spoor train language")
_MOST_WINDOWS = 50_000_000


@dataclass(frozen=True)
class ProfileFile:
    """An open file. Profiles are decompressed on demand, so a file with hundreds opens at once."""

    path: Path
    parts: tuple[Part, ...]

    @property
    def entries(self) -> tuple[Mapping[str, Any], ...]:
        """The metadata of each profile, in the order of the file."""
        return tuple(part.says for part in self.parts)

    @property
    def tags(self) -> tuple[str, ...]:
        """The language of each profile, in the order of the file."""
        return tuple(str(entry["tag"]) for entry in self.entries)

    def profile(self, number: int) -> Profile:
        try:
            return _unpacked(self.parts[number])
        except (ValueError, KeyError, TypeError, IndexError, OverflowError, zlib.error) as error:
            raise BadInput(f"{self.path}: profile {number + 1} is damaged: {error}") from None

    def profiles(self) -> list[Profile]:
        return [self.profile(number) for number in range(len(self.parts))]


def write_profiles(path: Path, profiles: Sequence[Profile]) -> None:
    """Deterministic: the same profiles give the same bytes."""
    _check_names(path, [(profile.tag, profile.name) for profile in profiles])
    write_model(path, PROFILES, [Part(_says(profile), _packed(profile)) for profile in profiles])


def open_profiles(path: Path) -> ProfileFile:
    parts = read_model(path, PROFILES)
    if not parts:
        raise BadInput(f"{path} holds no profile; create one with `{PROFILES.made_by}`")
    try:
        names = [(str(part.says["tag"]), str(part.says["name"])) for part in parts]
    except KeyError as error:
        raise BadInput(f"{path}: the list of profiles is damaged: {error} is missing") from None
    _check_names(path, names)
    return ProfileFile(path, parts)


def _check_names(path: Path, names: Sequence[tuple[str, str]]) -> None:
    for tag, name in names:
        if names.count((tag, name)) > 1:
            raise BadInput(f"{path}: two profiles of {tag} have the same name {name!r}; give one of them another")


def _says(profile: Profile) -> dict[str, Any]:
    return {
        "tag": profile.tag,
        "name": profile.name,
        "trained_on": profile.trained_on,
        "unit": profile.unit,
        "alphabet": len(profile.alphabet),
        "windows": len(profile.windows),
    }


def _packed(profile: Profile) -> bytes:
    columns = [np.diff(profile.alphabet, prepend=np.uint32(0))]
    columns += [np.diff(_column(profile.windows, depth), prepend=np.uint32(0)) for depth in range(WIDTH)]
    return zlib.compress(b"".join(map(_as_planes, [*columns, profile.counts])), 9)


def _unpacked(part: Part) -> Profile:
    entry = part.says
    letters, windows = int(entry["alphabet"]), int(entry["windows"])
    if not (0 < letters < 1 << BITS and 0 < windows < _MOST_WINDOWS and entry["unit"] in UNITS):
        raise ValueError(f"{letters} letters, {windows} windows, unit {entry['unit']}")
    lengths = [letters, *[windows] * (WIDTH + 1)]
    content = unpacked(part.content, 4 * sum(lengths))
    alphabet, *columns, counts = (
        _from_planes(content[4 * start : 4 * (start + length)])
        for start, length in zip(np.cumsum([0, *lengths]).tolist(), lengths, strict=False)
    )
    packed = np.zeros(windows, np.uint64)
    for column in columns:
        packed = (packed << np.uint64(BITS)) | np.cumsum(column, dtype=np.uint32).astype(np.uint64)
    alphabet = np.cumsum(alphabet, dtype=np.uint32)
    _check_order(alphabet, packed, letters)
    tag, name, trained_on = (str(entry[key]) for key in ("tag", "name", "trained_on"))
    return Profile(tag, name, trained_on, alphabet, packed, counts, entry["unit"])


def _check_order(alphabet: NDArray[np.uint32], windows: NDArray[np.uint64], letters: int) -> None:
    in_order = (alphabet[1:] > alphabet[:-1]).all() and (windows[1:] > windows[:-1]).all()
    if not in_order or alphabet[-1] > 0x10FFFF or max(_column(windows, d).max() for d in range(WIDTH)) > letters:
        raise ValueError("letters or windows are not in order")


def _column(windows: NDArray[np.uint64], depth: int) -> NDArray[np.uint32]:
    return ((windows >> np.uint64(BITS * (WIDTH - 1 - depth))) & np.uint64((1 << BITS) - 1)).astype(np.uint32)


def _as_planes(numbers: NDArray[np.uint32]) -> bytes:
    return np.ascontiguousarray(numbers.astype("<u4")).view(np.uint8).reshape(-1, 4).T.tobytes()


def _from_planes(content: bytes) -> NDArray[np.uint32]:
    planes = np.frombuffer(content, np.uint8).reshape(4, -1)
    return np.ascontiguousarray(planes.T).view("<u4").ravel().astype(np.uint32)


# The profiles shipped with spoor, and those of model files trained by the user.


@cache
def shipped() -> ProfileFile:
    with as_file(files("spoor.judging").joinpath(f"profiles{SUFFIX}")) as path:
        return open_profiles(path)


@cache
def shipped_profiles() -> tuple[Profile, ...]:
    return tuple(shipped().profiles())


def profiles_of(language: str) -> tuple[Profile, ...]:
    """The profiles in a model file, or the shipped ones of a tag: of every script, unless the tag names one. Returns
    the same objects as long as the file is unchanged."""
    if language.endswith(SUFFIX):
        path = Path(language).resolve()
        return _profiles_in(path, path.stat().st_mtime_ns if path.exists() else 0)
    return _shipped_of(language)


@lru_cache(maxsize=8)
def _profiles_in(path: Path, changed: int) -> tuple[Profile, ...]:
    """`changed` is the modification time, so that a retrained model is loaded again."""
    return tuple(open_profiles(path).profiles())


@cache
def _shipped_of(language: str) -> tuple[Profile, ...]:
    tag = tag_of(language)
    found = tuple(shipped().profile(k) for k, known in enumerate(shipped().tags) if is_in(known, tag))
    if not found:
        raise UsageError(f"no profile of the language {language!r} is shipped; {_remedy(language)}")
    return found


def tag_of(language: str) -> str:
    """The tag of a model file, or the canonical spelling of a tag."""
    if language.endswith(SUFFIX):
        return profiles_of(language)[0].tag
    return read_tag(language) or language


def _remedy(language: str) -> str:
    if read_tag(language) is None and (hint := hint_at_tag(language)):
        return hint
    name = read_tag(language) or "x-NAME"
    train = f"train one: spoor train language --name {name} TEXTFILES, and then ask for {name}{SUFFIX}"
    return train if read_tag(language) else f"give a BCP-47 tag such as mn or uz-Cyrl, or {train}"


def is_in(found: str, target: str) -> bool:
    """Whether a page in the language `found` matches `target`."""
    if found == target:
        return True
    return read_tag(found) is not None and read_tag(target) is not None and matches(target, found)
