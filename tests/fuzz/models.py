"""Model files of every kind, taken apart so that what is packed in them can be changed too."""

from __future__ import annotations

import contextlib
import json
import tempfile
import zlib
from functools import cache
from pathlib import Path

import numpy as np

from spoor.errors import SpoorError
from spoor.files import SUFFIX
from spoor.judging.classifiers import NaiveBayes, TaxonomyModel, open_taxonomy, open_topic, write_taxonomy
from spoor.judging.profiles import learned, open_profiles, write_profiles
from spoor.ordering.path_model import open_paths

OPENERS = (open_profiles, open_topic, open_taxonomy, open_paths)


def models() -> list[bytes]:
    """Two lines that say what there is, then the parts, unpacked."""
    with tempfile.TemporaryDirectory() as folder:
        profiles, taxonomy = Path(folder) / f"profiles{SUFFIX}", Path(folder) / f"taxonomy{SUFFIX}"
        write_profiles(profiles, [learned("x-a", "one", "the quick brown fox; jumps over the lazy dog", "a text")])
        times = np.arange(6, dtype=np.uint32).reshape(3, 2)
        bayes = NaiveBayes(("good", "other"), (2, 3), ("one", "two", "three"), times)
        write_taxonomy(taxonomy, TaxonomyModel("t", "texts", ("good",), bayes))
        return [_taken_apart(profiles.read_bytes()), _taken_apart(taxonomy.read_bytes()), taxonomy.read_bytes()]


def model(given: bytes) -> None:
    """Whatever is in a model file, opening it says what is wrong, or it can be used."""
    path = _file()
    for content in (given, _put_together(given)):
        path.write_bytes(content)
        for opened in OPENERS:
            with contextlib.suppress(SpoorError):
                _used(opened(path))


def _used(found: object) -> None:
    match found:
        case TaxonomyModel():
            found.bayes.classes  # noqa: B018
        case _ if hasattr(found, "profiles"):
            found.profiles()


def _taken_apart(content: bytes) -> bytes:
    kind, said, packed = content.split(b"\n", 2)
    return b"\n".join([kind, said, zlib.decompress(packed)])


def _put_together(given: bytes) -> bytes:
    """The only part packed again, with its true length; what is no list of one part stays as it is."""
    kind, _, rest = given.partition(b"\n")
    said, _, unpacked = rest.partition(b"\n")
    packed = zlib.compress(unpacked, 1)
    with contextlib.suppress(ValueError, TypeError, RecursionError):
        (entry,) = json.loads(said)
        said = json.dumps([{**entry, "bytes": len(packed)}]).encode()
    return b"\n".join([kind, said, packed])


@cache
def _file() -> Path:
    return Path(tempfile.mkdtemp(prefix="spoor-fuzz-")) / f"model{SUFFIX}"
