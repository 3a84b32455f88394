"""Language profiles on disk: a model file (`spoor.model_file`) with a part for each profile.

The bytes of a part are compressed by zlib. They are the alphabet, the four units of each window and the counts, as
numbers of 32 bits, lowest bytes first, all first bytes before all second bytes and so on. The alphabet and the units,
which are in order or nearly so, are written as differences from one to the next.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput
from spoor.language.profile import Profile
from spoor.language.text import UNITS
from spoor.language.windows import BITS, WIDTH
from spoor.model_file import Kind, Part, read_model, unpacked, write_model

PROFILES = Kind("language profiles", 1, "spoor train language")
_MOST_WINDOWS = 50_000_000


@dataclass(frozen=True)
class ProfileFile:
    """An opened file. Profiles are unpacked when they are asked for: a file of hundreds opens at once."""

    path: Path
    parts: tuple[Part, ...]

    @property
    def entries(self) -> tuple[Mapping[str, Any], ...]:
        """What is said of each profile, in the order of the file."""
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
    """The same profiles make the same bytes."""
    _check_names(path, [(profile.tag, profile.name) for profile in profiles])
    write_model(path, PROFILES, [Part(_says(profile), _packed(profile)) for profile in profiles])


def open_profiles(path: Path) -> ProfileFile:
    parts = read_model(path, PROFILES)
    if not parts:
        raise BadInput(f"{path} holds no profile; `{PROFILES.made_by}` makes one")
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
