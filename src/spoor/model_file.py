"""Trained models on disk: one file, no code in it, whatever the model is of.

spoor language profiles 1                     the first line: what this is, and the version of the format
[{"tag": "mn-Mong", …, "bytes": 812}, …]      the second: what each part is and was trained on (JSON)
…                                             then the bytes of each part, in that order
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from spoor.bounded_file import read_bounded, read_start
from spoor.errors import BadInput, UsageError

SUFFIX = ".spoor"
"""What the name of a model file ends in."""
LARGEST = 1 << 29
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
    content = read_bounded(path, LARGEST, "model")
    first, _, rest = content.partition(b"\n")
    _check_kind(path, first, kind)
    listed, _, body = rest.partition(b"\n")
    try:
        says = [dict(entry) for entry in json.loads(listed)]
        ends = list(accumulate((_size(entry["bytes"]) for entry in says), initial=0))
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise BadInput(f"{path}: the list of its parts is damaged: {error}") from None
    if ends[-1] != len(body):
        raise BadInput(f"{path} holds {len(body)} bytes of {kind.name} where {ends[-1]} are listed; it is not whole")
    return tuple(Part(entry, body[start:end]) for entry, (start, end) in zip(says, pairwise(ends), strict=True))


def kind_in(path: Path) -> str:
    """What a file holds, by the name of its kind; "" when it is no model."""
    first, _, _ = read_start(path, _LONGEST_LINE, "model").partition(b"\n")
    return _named(first)[0]


def checked_name(out: Path) -> Path:
    """Where a new model may be written."""
    if out.suffix != SUFFIX:
        raise UsageError(f"--out {out}: the name of a model ends in {SUFFIX}, so that it is known for one")
    return out


def unpacked(content: bytes, size: int) -> bytes:
    """What zlib made of `size` bytes; ValueError when they are more or fewer, or too many."""
    if not 0 <= size <= LARGEST:
        raise ValueError(f"a part of {size} bytes")
    unpacker = zlib.decompressobj()
    whole = unpacker.decompress(content, size + 1)
    if len(whole) != size or not unpacker.eof or unpacker.unused_data:
        raise ValueError(f"{len(whole)} bytes instead of {size}")
    return whole


def _size(said: object) -> int:
    if not isinstance(said, int) or isinstance(said, bool) or not 0 <= said <= LARGEST:
        raise ValueError(f"a part of {str(said)[:20]} bytes")
    return said


def _check_kind(path: Path, line: bytes, kind: Kind) -> None:
    found, version = _named(line)
    if found != kind.name:
        holds = f" but of {found}" if found else ""
        raise BadInput(f"{path} is no file of {kind.name}{holds}; `{kind.made_by}` makes one")
    if version != str(kind.version):
        raise BadInput(f"{path} is of version {version}, this spoor reads {kind.version}; train it again")


def _named(line: bytes) -> tuple[str, str]:
    """Kind and version in the first line of a model; empty for other files."""
    words = line[:_LONGEST_LINE].decode("utf8", "replace").split(" ")
    if len(words) < 3 or words[0] != "spoor" or not words[-1].isdecimal():
        return "", ""
    return " ".join(words[1:-1]), words[-1]
