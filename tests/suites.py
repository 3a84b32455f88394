"""Conformance suites of other projects, archives that lie beside the checkout; tests skip where one is missing."""

from __future__ import annotations

import json
import tarfile
from functools import cache
from typing import Any

import pytest

from tests.shared_data import SHARED

_SUITES = SHARED / "suites"


def needs_suite(name: str) -> pytest.MarkDecorator:
    archive = _SUITES / f"{name}.tar.xz"
    return pytest.mark.skipif(not archive.is_file(), reason=f"no conformance suite {archive}; set SPOOR_DATA")


@cache
def members(name: str) -> dict[str, bytes]:
    """The files of a suite by path; the archive is read in place."""
    with tarfile.open(_SUITES / f"{name}.tar.xz") as archive:
        return {entry.name.removeprefix("./"): _content(archive, entry) for entry in archive if entry.isfile()}


def cases(name: str, file: str) -> list[Any]:
    """Those of a JSON file of the web platform tests, without their comments."""
    return [case for case in json.loads(members(name)[file]) if not isinstance(case, str)]


def _content(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(entry)
    assert file is not None
    return file.read()
