"""Atomic writing of files; and model files, which contain no code and are read within size limits.

spoor language profiles 1                     first line: the kind of file, and the version of the format
[{"tag": "mn-Mong", …, "bytes": 812}, …]      second line: what each part is and was trained on (JSON)
…                                             then the bytes of each part, in the same order
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Union

import numpy as np
from numpy.typing import DTypeLike, NDArray

from spoor.errors import BadInput, UsageError

# Reading files of other origin into memory, with a limit on their size.


_CHUNK = 1 << 20


def read_bounded(path: Path, most: int, kind: str) -> bytes:
    """`kind` is used in error messages. A file without a size, such as a pipe, is read up to the limit."""
    content = bytearray()
    try:
        with path.open("rb") as file:
            while len(content) <= most and (chunk := file.read(_CHUNK)):
                content += chunk
    except OSError as error:
        raise BadInput(f"cannot read the {kind} {path}: {error.strerror}") from None
    if len(content) > most:
        raise BadInput(f"the {kind} {path} has more than {most:,} bytes, the limit; give a smaller one")
    return bytes(content)


def read_start(path: Path, size: int, kind: str) -> bytes:
    """The first bytes of a file of any size."""
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError as error:
        raise BadInput(f"cannot read the {kind} {path}: {error.strerror}") from None


def allocate(file: int, size: int) -> None:
    """Writes so many zeros to an empty file; raises OSError if there is no room, of which a memory map would die."""
    left = size
    while left:
        left -= os.write(file, bytes(min(left, _CHUNK)))


# Files and folders that are complete or absent, even if the writing process is killed.


@contextlib.contextmanager
def complete_or_absent(out: Path) -> Iterator[Path]:
    """Yields a folder to write to, which is renamed to `out` only on success."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(f"{out} already exists; remove it or give another --out")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{out.name}-", suffix=".partial", dir=out.parent))
    except OSError as error:
        raise BadInput(f"cannot write {out}: {error.strerror}") from error
    try:
        yield partial
        partial.chmod(0o755)
        os.replace(partial, out)
    except OSError as error:
        raise _failed(error, partial, out) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _failed(error: OSError, partial: Path, out: Path) -> BadInput:
    """An error about another file was an error in reading; any other is an error in writing."""
    reason = error.strerror or str(error)
    if error.filename and not str(error.filename).startswith(str(partial)):
        return BadInput(f"cannot read {error.filename}: {reason}")
    return BadInput(f"cannot write {out}: {reason}")


# Learned state as arrays, lists of strings and numbers; validated when it is read back.


State = Mapping[str, Union["NDArray[np.generic]", list[str], int, float, "State"]]
"""Values by name. A nested state belongs to a part of a composite."""

LARGEST_NUMBER = float(1 << 53)
"""Larger numbers cannot be counts."""
ANY = -1
"""In a shape: any length."""


def array_in(
    state: State,
    name: str,
    kind: DTypeLike,
    shape: tuple[int, ...],
    least: float = -LARGEST_NUMBER,
    most: float = LARGEST_NUMBER,
) -> NDArray[np.generic]:
    """An array of this type and shape, where `ANY` matches every length, with all values between `least` and `most`.
    NaN is invalid."""
    found = state.get(name)
    if not isinstance(found, np.ndarray) or found.dtype != np.dtype(kind) or not _fits(found.shape, shape):
        raise BadInput(f"{name} is not an array of {np.dtype(kind)} of the shape {shape}")
    if found.size and not (found.min() >= least and found.max() <= most):
        raise BadInput(f"{name} holds a number that is not between {least:g} and {most:g}")
    return found


def counts_in(state: State, name: str, length: int, most: float = LARGEST_NUMBER) -> list[int]:
    """Integers of at least 0."""
    return [int(number) for number in array_in(state, name, np.int64, (length,), 0, most).tolist()]


def texts_in(state: State, name: str, length: int = ANY) -> list[str]:
    found = state.get(name)
    if not isinstance(found, list) or length not in (ANY, len(found)):
        raise BadInput(f"{name} is not a list of {'' if length == ANY else f'{length} '}strings")
    return found


def count_in(state: State, name: str, most: float = LARGEST_NUMBER) -> int:
    """An integer of at least 0."""
    found = state.get(name)
    if not isinstance(found, int) or not 0 <= found <= most:
        raise BadInput(f"{name} is not a whole number from 0 to {most:g}")
    return found


def number_in(state: State, name: str) -> float:
    found = state.get(name)
    if not isinstance(found, float) or not math.isfinite(found):
        raise BadInput(f"{name} is not a number")
    return found


def state_in(state: State, name: str) -> State:
    found = state.get(name)
    if not isinstance(found, Mapping):
        raise BadInput(f"{name} is missing")
    return found


def renamed_parts(state: State, earlier: Mapping[str, str]) -> State:
    """A state with the current names of its parts; `earlier` has the names in snapshots of earlier versions."""
    return {earlier.get(name, name): value for name, value in state.items()}


def as_counts(numbers: Iterable[int]) -> NDArray[np.int64]:
    """In the form that `counts_in` reads."""
    return np.fromiter(numbers, np.int64)


def slices(sizes: Sequence[int], length: int) -> list[slice]:
    """The slices of concatenated lists of these sizes."""
    ends = list(accumulate(sizes, initial=0))
    if ends[-1] != length:
        raise BadInput(f"there are {length} items where {ends[-1]} are counted")
    return [slice(start, end) for start, end in pairwise(ends)]


def _fits(found: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    return len(found) == len(shape) and all(asked in (ANY, size) for size, asked in zip(found, shape, strict=True))


# Trained models on disk: one file without code, for any kind of model.


SUFFIX = ".spoor"
"""The suffix of model files."""
LARGEST_MODEL = 1 << 29
"""Maximum size in bytes of a model file, and of each of its parts when decompressed: a few bytes may expand to
gigabytes."""
_LONGEST_LINE = 100
"""Bytes of the first line that are read."""


@dataclass(frozen=True)
class Kind:
    """`name` is the kind of contents, `made_by` the command that creates such a file."""

    name: str
    version: int
    made_by: str

    @property
    def line(self) -> str:
        return f"spoor {self.name} {self.version}"


@dataclass(frozen=True)
class Part:
    """The metadata of a part, JSON-serialisable, and its bytes."""

    says: Mapping[str, Any]
    content: bytes


def write_model(path: Path, kind: Kind, parts: Sequence[Part]) -> None:
    """Deterministic: the same parts give the same bytes."""
    listed = [{**part.says, "bytes": len(part.content)} for part in parts]
    head = f"{kind.line}\n{json.dumps(listed, ensure_ascii=False, separators=(',', ':'))}\n"
    try:
        path.write_bytes(head.encode("utf8") + b"".join(part.content for part in parts))
    except OSError as error:
        raise BadInput(f"cannot write the {kind.name} to {path}: {error.strerror}") from None


def read_model(path: Path, kind: Kind) -> tuple[Part, ...]:
    content = read_bounded(path, LARGEST_MODEL, "model")
    first, _, rest = content.partition(b"\n")
    _check_kind(path, first, kind)
    listed, _, body = rest.partition(b"\n")
    try:
        says = [dict(entry) for entry in json.loads(listed)]
        ends = list(accumulate((_size(entry["bytes"]) for entry in says), initial=0))
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise BadInput(f"{path}: the list of its parts is damaged: {error}") from None
    if ends[-1] != len(body):
        raise BadInput(f"{path} holds {len(body)} bytes of {kind.name} where {ends[-1]} are listed; it is incomplete")
    return tuple(Part(entry, body[start:end]) for entry, (start, end) in zip(says, pairwise(ends), strict=True))


def kind_in(path: Path) -> str:
    """The kind of a model file; "" if it is not a model."""
    first, _, _ = read_start(path, _LONGEST_LINE, "model").partition(b"\n")
    return _named(first)[0]


def checked_name(out: Path) -> Path:
    """The path for a new model."""
    if out.suffix != SUFFIX:
        raise UsageError(f"--out {out}: the name of a model ends in {SUFFIX}, so rename it")
    return out


def unpacked(content: bytes, size: int) -> bytes:
    """Decompresses to exactly `size` bytes; ValueError if there are more or fewer, or too many."""
    if not 0 <= size <= LARGEST_MODEL:
        raise ValueError(f"a part of {size} bytes")
    unpacker = zlib.decompressobj()
    whole = unpacker.decompress(content, size + 1)
    if len(whole) != size or not unpacker.eof or unpacker.unused_data:
        raise ValueError(f"{len(whole)} bytes instead of {size}")
    return whole


def _size(said: object) -> int:
    if not isinstance(said, int) or isinstance(said, bool) or not 0 <= said <= LARGEST_MODEL:
        raise ValueError(f"a part of {str(said)[:20]} bytes")
    return said


def _check_kind(path: Path, line: bytes, kind: Kind) -> None:
    found, version = _named(line)
    if found != kind.name:
        holds = f" but of {found}" if found else ""
        raise BadInput(f"{path} is not a file of {kind.name}{holds}; create one with `{kind.made_by}`")
    if version != str(kind.version):
        raise BadInput(f"{path} is of version {version}, this spoor reads {kind.version}; train it again")


def _named(line: bytes) -> tuple[str, str]:
    """Kind and version in the first line of a model; empty for other files."""
    words = line[:_LONGEST_LINE].decode("utf8", "replace").split(" ")
    if len(words) < 3 or words[0] != "spoor" or not words[-1].isdecimal():
        return "", ""
    return " ".join(words[1:-1]), words[-1]


# Values as TOML.


def as_toml(value: Any) -> str:
    """TOML strings are those of JSON, except for one character; numbers are those of Python."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case tuple():
            return "[" + ", ".join(map(as_toml, value)) + "]"
        case _:
            return repr(value)
