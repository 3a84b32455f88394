"""The profiles that come with spoor, and those of model files that a user trained."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import as_file, files
from pathlib import Path

from spoor.errors import UsageError
from spoor.language.profile import Profile
from spoor.language.profile_file import ProfileFile, open_profiles
from spoor.language.tags import matches, read_tag
from spoor.model_file import SUFFIX


@cache
def shipped() -> ProfileFile:
    with as_file(files("spoor.language").joinpath(f"profiles{SUFFIX}")) as path:
        return open_profiles(path)


@cache
def shipped_profiles() -> tuple[Profile, ...]:
    return tuple(shipped().profiles())


def profiles_of(language: str) -> tuple[Profile, ...]:
    """Those of a model file, or the shipped ones of a tag: of every script, unless the tag names one. The same objects
    as long as the file is the same."""
    if language.endswith(SUFFIX):
        path = Path(language).resolve()
        return _profiles_in(path, path.stat().st_mtime_ns if path.exists() else 0)
    return _shipped_of(language)


@lru_cache(maxsize=8)
def _profiles_in(path: Path, changed: int) -> tuple[Profile, ...]:
    """`changed` is when the file was written: a model that was trained again is another one."""
    return tuple(open_profiles(path).profiles())


@cache
def _shipped_of(language: str) -> tuple[Profile, ...]:
    tag = tag_of(language)
    found = tuple(shipped().profile(k) for k, known in enumerate(shipped().tags) if is_in(known, tag))
    if not found:
        raise UsageError(f"no profile of the language {language!r} is shipped; {_remedy(language)}")
    return found


def tag_of(language: str) -> str:
    """The tag of a model file, or a tag in its one spelling."""
    if language.endswith(SUFFIX):
        return profiles_of(language)[0].tag
    return read_tag(language) or language


def _remedy(language: str) -> str:
    name = read_tag(language) or "x-NAME"
    train = f"train one: spoor train language --name {name} TEXTFILES, and then ask for {name}{SUFFIX}"
    return train if read_tag(language) else f"give a BCP-47 tag such as mn or uz-Cyrl, or {train}"


def is_in(found: str, wanted: str) -> bool:
    """Whether a page in the language `found` is one in `wanted`."""
    if found == wanted:
        return True
    return read_tag(found) is not None and read_tag(wanted) is not None and matches(wanted, found)
