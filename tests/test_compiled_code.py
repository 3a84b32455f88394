"""Functions are compiled once on a machine, before a crawl makes its first request. What was compiled is kept in files;
where these cannot be written, or are damaged, everything goes on."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from logging.handlers import BufferingHandler
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from numba.core import event

from spoor import compiled
from spoor.cli.terminal import announced, quietly
from spoor.compiled import INT, Kernel, compiled_code, prepare
from tests.forked import Forked, warm_up

FACTOR: object = 3


def _added(number: int) -> int:
    return number + FACTOR  # type: ignore[operator]


def _called(number: int) -> int:
    return FACTOR(number)  # type: ignore[operator, no-any-return]


def kernel_of(function: Callable[[int], int], factor: object = FACTOR) -> Kernel:
    """A kernel as a new process sees it: not compiled yet. `factor` is the constant in its module."""
    copy = FunctionType(function.__code__, {**globals(), "FACTOR": factor}, function.__name__)
    return Kernel(compiled.compiled(copy), (INT,))


class Compilations(event.Listener):
    """The functions that were compiled, and not loaded from files."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_start(self, event: event.Event) -> None:
        self.names.append(event.data["dispatcher"].__name__)

    def on_end(self, event: event.Event) -> None: ...


@contextlib.contextmanager
def compilations() -> Iterator[list[str]]:
    listener = Compilations()
    numba_events: Any = event
    numba_events.register("numba:compile", listener)
    try:
        yield listener.names
    finally:
        numba_events.unregister("numba:compile", listener)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where compiled code is kept: nothing yet."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    warm_up()  # Its process keeps the folder for temporary files that it began with.
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / "cache" / "spoor"


# In files.


def test_what_was_compiled_is_loaded_in_the_next_run(folder: Path) -> None:
    with compilations() as first:
        prepare([kernel_of(_added)])
    with compilations() as second:
        kernel = kernel_of(_added)
        prepare([kernel])
        assert kernel.dispatcher(4) == 7
    assert (first, second) == (["_added"], [])
    code = compiled_code()
    assert (code.folder, code.is_writable) == (folder, True)


def test_code_for_another_constant_or_another_called_function_is_not_loaded(folder: Path) -> None:
    by_three, by_seven = (kernel_of(_added, factor).dispatcher for factor in (3, 7))
    kernels = [kernel_of(_added, 3), kernel_of(_added, 4), kernel_of(_called, by_three), kernel_of(_called, by_seven)]
    for kernel in kernels:
        prepare([kernel])
    assert [kernel.dispatcher(10) for kernel in kernels] == [13, 14, 13, 17]


def test_files_of_earlier_versions_of_a_function_are_removed(folder: Path) -> None:
    for factor in (3, 4, 5):
        prepare([kernel_of(_added, factor)])
    assert len([*folder.glob("*._added-*")]) == 1 and kernel_of(_added, 5).is_kept


@pytest.mark.parametrize("damage", ["empty", "cut", "changed"])
def test_a_damaged_file_is_written_anew(folder: Path, damage: str) -> None:
    prepare([kernel_of(_added)])
    (file,) = folder.glob("*._added-*")
    whole = file.read_bytes()
    file.write_bytes({"empty": b"", "cut": whole[:-100], "changed": whole[:500] + b"????" + whole[504:]}[damage])
    assert not kernel_of(_added).is_kept
    kernel = kernel_of(_added)
    prepare([kernel])
    assert kernel.dispatcher(4) == 7 and kernel_of(_added).is_kept


# Where files cannot be written.


def test_where_no_lasting_folder_can_be_written_the_code_serves_this_run(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder.parent.write_text("a file, not a folder")
    assert not compiled_code().is_writable
    prepare([kernel_of(_added)])
    assert f"cannot be kept, so that the next run compiles it again ({folder}: Not a directory)" in caplog.text
    assert len(caplog.records) == 1
    with compilations() as names:  # As in a worker process, which has the same environment.
        prepare([kernel_of(_added)])
    assert names == [] and [*tmp_path.glob("spoor-machine-code-*")]


def test_where_nothing_can_be_written_the_code_is_in_memory(folder: Path, tmp_path: Path) -> None:
    """No file of this process can have more than 1,000 bytes, as on a full disk."""
    result = tmp_path / "result"
    assert Forked(_prepare_without_room, folder.parent, result).wait(60) == 0
    assert json.loads(result.read_text()) == [["_added"], 7, 1]
    assert not [*folder.glob("*._added-*")]
    assert not [*tmp_path.glob("spoor-machine-code-*")]


def _prepare_without_room(cache: Path, result: Path) -> None:
    os.environ["NUMBA_CACHE_DIR"] = str(cache)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
    warnings = BufferingHandler(100)
    logging.getLogger("spoor").addHandler(warnings)
    with compilations() as names:
        kernel = kernel_of(_added)
        prepare([kernel])
        added = kernel.dispatcher(4)
    result.write_text(json.dumps([names, added, len(warnings.buffer)]))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a file system")
def test_a_full_disk_is_named(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder.mkdir(parents=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("this container may not mount a file system")
    try:
        (folder / "something else").write_bytes(bytes(1 << 16))
        kernel = kernel_of(_added)
        prepare([kernel])
        assert kernel.dispatcher(4) == 7
    finally:
        subprocess.run(["umount", folder], check=True)
    assert f"({folder}: No space left on device)" in caplog.text


# Once on a machine.


def _note_compilations(cache: Path, names: Path) -> None:
    os.environ["NUMBA_CACHE_DIR"] = str(cache)
    with compilations() as found:
        prepare([kernel_of(_added)])
    names.write_text(" ".join(found))


def test_two_processes_that_begin_together_compile_once(folder: Path, tmp_path: Path) -> None:
    noted = [tmp_path / "first", tmp_path / "second"]
    children = [Forked(_note_compilations, folder.parent, path) for path in noted]
    assert [child.wait(60) for child in children] == [0, 0]
    assert sorted(path.read_text() for path in noted) == ["", "_added"]


def test_what_takes_so_long_is_said_and_not_when_quiet(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with quietly(True):
        prepare([kernel_of(_added, 3)], announced)
    assert capsys.readouterr().err == ""
    prepare([kernel_of(_added, 4)], announced)
    prepare([kernel_of(_added, 4)], announced)
    assert capsys.readouterr().err == "compiling for this machine, once …\n"


# Before the first request.


def test_a_crawl_calls_only_kernels_that_were_prepared() -> None:
    """In processes that have loaded nothing else: functions that are loaded during a crawl would be compiled during it,
    after an installation."""
    done = subprocess.run([sys.executable, "-m", "tests.prepared_crawls"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    crawls = json.loads(done.stdout)
    assert len(crawls) == 5 and not [name for crawl in crawls.values() for name in crawl["late"]]
    assert "spoor.judging.profile_search" not in crawls["keywords"]["modules"]
