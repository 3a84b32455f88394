"""Files: written completely or not at all; and those that hold what was learned, read within bounds, with no code in
them.

spoor language profiles 1                     the first line: what this is, and the version of the format
[{"tag": "mn-Mong", …, "bytes": 812}, …]      the second: what each part is and was trained on (JSON)
…                                             then the bytes of each part, in that order
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

# A file that somebody else made, read into memory only if it is not too large for that.


_CHUNK = 1 << 20


def read_bounded(path: Path, most: int, kind: str) -> bytes:
    """`kind` is what complaints call it. What has no size of its own, such as a pipe, is read as far as it may be."""
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


# Files and folders that are complete or absent, whenever the process that writes them is killed.


@contextlib.contextmanager
def replacing(path: Path, partial: str = "", durable: bool = False) -> Iterator[Path]:
    """A file to write into that takes the place of `path` only if everything went well. `partial` is its name until
    then: by default one that no other process uses; where only one process writes, a fixed one, so that whoever is
    killed leaves at most one. `durable`: complete also after a power cut."""
    part = path.with_name(partial or f".{path.name}.{os.getpid()}.partial")
    try:
        yield part
        if durable:
            with part.open("rb") as written:
                os.fsync(written.fileno())
        os.replace(part, path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


@contextlib.contextmanager
def complete_or_absent(out: Path) -> Iterator[Path]:
    """A folder to write into that takes the name `out` only if everything went well."""
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
    """An error about a file of somebody else's is about reading it; any other kept us from writing."""
    reason = error.strerror or str(error)
    if error.filename and not str(error.filename).startswith(str(partial)):
        return BadInput(f"cannot read {error.filename}: {reason}")
    return BadInput(f"cannot write {out}: {reason}")


# What a part has learned, as arrays, lists of strings and numbers; and how it is read back without trusting it.


State = Mapping[str, Union["NDArray[np.generic]", list[str], int, float, "State"]]
"""By name. States inside a state belong to the parts of a part."""

LARGEST_NUMBER = float(1 << 53)
"""A number beyond this was not counted by anybody."""
ANY = -1
"""In a shape: as many as there are."""


def array_in(
    state: State,
    name: str,
    kind: DTypeLike,
    shape: tuple[int, ...],
    least: float = -LARGEST_NUMBER,
    most: float = LARGEST_NUMBER,
) -> NDArray[np.generic]:
    """An array of this type and shape, `ANY` fitting every length, all of it between `least` and `most`. NaN is not."""
    found = state.get(name)
    if not isinstance(found, np.ndarray) or found.dtype != np.dtype(kind) or not _fits(found.shape, shape):
        raise BadInput(f"{name} is not an array of {np.dtype(kind)} of the shape {shape}")
    if found.size and not (found.min() >= least and found.max() <= most):
        raise BadInput(f"{name} holds a number that is not between {least:g} and {most:g}")
    return found


def counts_in(state: State, name: str, length: int, most: float = LARGEST_NUMBER) -> list[int]:
    """Whole numbers from 0 on."""
    return [int(number) for number in array_in(state, name, np.int64, (length,), 0, most).tolist()]


def texts_in(state: State, name: str, length: int = ANY) -> list[str]:
    found = state.get(name)
    if not isinstance(found, list) or length not in (ANY, len(found)):
        raise BadInput(f"{name} is not a list of {'' if length == ANY else f'{length} '}strings")
    return found


def count_in(state: State, name: str, most: float = LARGEST_NUMBER) -> int:
    """A whole number from 0 on."""
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
    """A state as this version names its parts; `earlier` has the names of snapshots of earlier versions."""
    return {earlier.get(name, name): value for name, value in state.items()}


def as_counts(numbers: Iterable[int]) -> NDArray[np.int64]:
    """As `counts_in` reads them."""
    return np.fromiter(numbers, np.int64)


def slices(sizes: Sequence[int], length: int) -> list[slice]:
    """Where lists of these sizes are that were put one after the other."""
    ends = list(accumulate(sizes, initial=0))
    if ends[-1] != length:
        raise BadInput(f"there are {length} items where {ends[-1]} are counted")
    return [slice(start, end) for start, end in pairwise(ends)]


def _fits(found: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    return len(found) == len(shape) and all(asked in (ANY, size) for size, asked in zip(found, shape, strict=True))


# Trained models on disk: one file, no code in it, whatever the model is of.


SUFFIX = ".spoor"
"""What the name of a model file ends in."""
LARGEST_MODEL = 1 << 29
"""Bytes of a model file, and of any of its parts when unpacked: a few bytes may stand for gigabytes."""
_LONGEST_LINE = 100
"""Bytes of the first line that are looked at."""


@dataclass(frozen=True)
class Kind:
    """`name` says what the file holds, `made_by` is the command that makes one."""

    name: str
    version: int
    made_by: str

    @property
    def line(self) -> str:
        return f"spoor {self.name} {self.version}"


@dataclass(frozen=True)
class Part:
    """What is said of a part, in what JSON can say, and its bytes."""

    says: Mapping[str, Any]
    content: bytes


def write_model(path: Path, kind: Kind, parts: Sequence[Part]) -> None:
    """The same parts make the same bytes."""
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
    """What a file holds, by the name of its kind; "" when it is no model."""
    first, _, _ = read_start(path, _LONGEST_LINE, "model").partition(b"\n")
    return _named(first)[0]


def checked_name(out: Path) -> Path:
    """Where a new model may be written."""
    if out.suffix != SUFFIX:
        raise UsageError(f"--out {out}: the name of a model ends in {SUFFIX}, so rename it")
    return out


def unpacked(content: bytes, size: int) -> bytes:
    """What zlib made of `size` bytes; ValueError when they are more or fewer, or too many."""
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
    """TOML writes texts as JSON does, but for one character; numbers as Python does."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case tuple():
            return "[" + ", ".join(map(as_toml, value)) + "]"
        case _:
            return repr(value)
