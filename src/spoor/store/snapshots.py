"""Snapshots of what a crawl had learned up to a row of its journal: one file each, `learned/00012345.snapshot`.

A model file (see `spoor.files`) whose first part is the header: the row of the journal, the warm start, the parts of
the strategy with their parameters, and a checksum of everything else. It is followed by the arrays, lists of strings
and numbers, compressed by zlib.
"""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput
from spoor.files import Kind, Part, State, read_model, slices, unpacked, write_model
from spoor.result_files import replacing
from spoor.roles import Learner, Snapshotted
from spoor.store.incidents import Finding
from spoor.store.journal import Place

# One snapshot file, readable from untrusted sources.


SNAPSHOT = Kind("snapshot of what was learned", 1, "spoor crawl")
LARGEST = 1 << 30
"""Most uncompressed bytes of one file, as a protection against decompression bombs."""
LEVEL = 1
"""Compression level of zlib. Most numbers of a young crawl are 0, so higher levels save little."""
_TYPES = frozenset({"<f4", "<f8", "<i4", "<i8", "<u8"})
_INSIDE = "/"


@dataclass(frozen=True)
class Snapshot:
    """`states` are keyed by the repr of the parts of a strategy. `warm` is the folder of the earlier crawl that was
    learned from first, "" for none."""

    place: Place
    warm: str
    states: Mapping[str, State]


@dataclass(frozen=True)
class PackedSnapshot:
    """A snapshot with a verified checksum; its states are still compressed."""

    place: Place
    warm: str
    _parts: Mapping[str, list[Part]]

    def __contains__(self, part: str) -> bool:
        return part in self._parts

    def state(self, part: str) -> State:
        """Raises BadInput if the state is invalid."""
        state: dict[str, Any] = {}
        left = LARGEST
        try:
            for leaf in self._parts[part]:
                left -= leaf.says.get("size", 0)
                if left < 0:
                    raise ValueError(f"more than {LARGEST:,} bytes")
                _put(state, str(leaf.says["name"]), _leaf_in(leaf))
        except (ValueError, KeyError, TypeError, OverflowError, zlib.error) as error:
            raise BadInput(f"the state of {part[:80]} is damaged: {error}") from None
        return state


def write_snapshot(file: Path, snapshot: Snapshot) -> None:
    leaves = [
        Part({"part": number, "name": name, **leaf.says}, leaf.content)
        for number, state in enumerate(snapshot.states.values())
        for name, leaf in _leaves(state)
    ]
    place = snapshot.place
    origin = {"number": place.number, "url": place.url, "at": place.at, "warm": snapshot.warm}
    head = Part({**origin, "parts": list(snapshot.states)}, b"")
    sealed = Part({**head.says, "checksum": checksum([head, *leaves])}, b"")
    write_model(file, SNAPSHOT, [sealed, *leaves])


def read_snapshot(file: Path) -> PackedSnapshot:
    """Raises BadInput if the file is damaged, or not a snapshot."""
    parts = read_model(file, SNAPSHOT)
    if not parts:
        raise BadInput(f"{file} is empty")
    head = parts[0].says
    if head.get("checksum") != checksum(parts):
        raise BadInput(f"{file} is damaged: its checksum is wrong")
    try:
        place = Place(int(head["number"]), str(head["url"]), float(head["at"]))
        names = [str(name) for name in head["parts"]]
        leaves: dict[str, list[Part]] = {name: [] for name in names}
        for part in parts[1:]:
            leaves[names[int(part.says["part"])]].append(part)
        return PackedSnapshot(place, str(head["warm"]), leaves)
    except (ValueError, KeyError, TypeError, IndexError, OverflowError) as error:
        raise BadInput(f"{file} is not a valid snapshot: {error!r}") from None


def checksum(parts: Sequence[Part]) -> str:
    """The checksum of all headers, except for the checksum itself, and all contents."""
    said = [[{**part.says, "checksum": "", "bytes": len(part.content)}] for part in parts]
    digest = hashlib.blake2b(json.dumps(said, sort_keys=True).encode(), digest_size=16)
    for part in parts:
        digest.update(part.content)
    return digest.hexdigest()


def _leaves(state: State, above: str = "") -> Iterator[tuple[str, Part]]:
    for name, value in state.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{name}{_INSIDE}")
        else:
            yield above + name, _leaf(value)


def _leaf(value: NDArray[np.generic] | list[str] | int | float) -> Part:
    if isinstance(value, np.ndarray):
        little = value.astype(value.dtype.newbyteorder("<"), copy=False)
        return _packed({"dtype": little.dtype.str, "shape": list(little.shape)}, little.tobytes())
    if isinstance(value, list):
        lengths = np.fromiter(map(len, value), np.dtype("<i4"), len(value))
        return _packed({"texts": len(value)}, lengths.tobytes() + "".join(value).encode("utf8", "surrogatepass"))
    return Part({"value": value}, b"")


def _packed(says: Mapping[str, Any], content: bytes) -> Part:
    return Part({**says, "size": len(content)}, zlib.compress(content, LEVEL))


def _leaf_in(leaf: Part) -> NDArray[np.generic] | list[str] | int | float:
    says = leaf.says
    if "value" in says:
        value = says["value"]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{says['name']} is not a number")
        return value
    content = unpacked(leaf.content, int(says["size"]))
    return _array_in(content, says) if "dtype" in says else _texts_in(content, int(says["texts"]))


def _array_in(content: bytes, says: Mapping[str, Any]) -> NDArray[np.generic]:
    shape = [int(length) for length in says["shape"]]
    if says["dtype"] not in _TYPES or any(length < 0 for length in shape):
        raise ValueError(f"{says['name']} is an array of {str(says['dtype'])[:20]}, {str(shape)[:40]}")
    kind = np.dtype(says["dtype"])
    if math.prod(shape) * kind.itemsize != len(content):
        raise ValueError(f"{says['name']} has {len(content)} bytes for {str(shape)[:40]}")
    return np.frombuffer(content, kind).reshape(shape)


def _texts_in(content: bytes, count: int) -> list[str]:
    if not 0 <= 4 * count <= len(content):
        raise ValueError(f"{count} strings in {len(content)} bytes")
    lengths = np.frombuffer(content[: 4 * count], np.dtype("<i4"))
    if count and lengths.min() < 0:
        raise ValueError("a string of negative length")
    text = content[4 * count :].decode("utf8", "surrogatepass")
    return [text[place] for place in slices(lengths.tolist(), len(text))]


def _put(state: dict[str, Any], name: str, value: object) -> None:
    *above, last = name.split(_INSIDE)
    for outer in above:
        state = state.setdefault(outer, {})
        if not isinstance(state, dict):
            raise ValueError(f"{name} is inside a number")
    state[last] = value


# The snapshots of a crawl: `learned/00012345.snapshot`, each named by its row of the journal.


SUFFIX = ".snapshot"
KEPT = 2
"""The newest, and one to fall back to."""


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The snapshots in a folder, which need not exist."""

    folder: Path

    def files(self) -> list[Path]:
        """The files, newest first."""
        found = [file for file in self.folder.glob(f"*{SUFFIX}") if _number(file) is not None]
        return sorted(found, key=lambda file: -(_number(file) or 0))

    def read(self, file: Path) -> PackedSnapshot:
        """Raises BadInput if the file is damaged, or does not match its name."""
        snapshot = read_snapshot(file)
        if snapshot.place.number != _number(file):
            raise BadInput(f"{file} claims to belong to row {snapshot.place.number}")
        return snapshot

    def write(self, snapshot: Snapshot) -> Path:
        """Writes atomically and keeps the two newest. Row numbers only grow, so a snapshot with a larger one belongs to
        rows that were lost, and is deleted."""
        self.folder.mkdir(exist_ok=True)
        file = self.folder / f"{snapshot.place.number:08}{SUFFIX}"
        with replacing(file, ".partial", durable=True) as partial:
            write_snapshot(partial, snapshot)
        stay = [one for one in self.files() if (_number(one) or 0) <= snapshot.place.number][:KEPT]
        for other in self.files():
            if other not in stay:
                other.unlink(missing_ok=True)
        return file

    def check(self, tell: Callable[[Finding], None]) -> int:
        """Reports damaged snapshots; returns the number of all. Read-only."""
        files = self.files()
        for file in files:
            if (damage := self._damage(file)) is not None:
                tell(Finding("snapshot", f"{self.folder.name}/{file.name}", damage))
        return len(files)

    def remove_damaged(self) -> list[str]:
        """Deletes damaged snapshots: the state is read from the other one, or relearned from the journal."""
        damaged = [file for file in self.files() if self._damage(file) is not None]
        for file in damaged:
            file.unlink(missing_ok=True)
        return [f"{file} was damaged and is removed" for file in damaged]

    def _damage(self, file: Path) -> str | None:
        try:
            self.read(file)
        except BadInput as error:
            # A running crawl may have deleted it.
            return str(error).removeprefix(f"{file} ").removeprefix(f"{file}: ") if file.exists() else None
        return None


def named_parts(learners: Iterable[Learner]) -> dict[str, Snapshotted]:
    """The parts with a state to snapshot, by repr: a part with other parameters has learned something else. Parts with
    equal parameters are distinguished by their order."""
    named: dict[str, Snapshotted] = {}
    for part in learners:
        if isinstance(part, Snapshotted):
            same = sum(repr(part) == repr(other) for other in named.values())
            named[f"{part!r} {same + 1}" if same else repr(part)] = part
    return named


def _number(file: Path) -> int | None:
    return int(file.stem) if file.stem.isdecimal() and file.stem.isascii() else None
