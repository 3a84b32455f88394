"""Configures the test run. Property tests have no deadline, because the machine may be busy. Bytecode is cached, both
for pytest, which rewrites every `assert`, and for the hundreds of processes that tests start and that import spoor.
The garbage collector skips the tests themselves. The rest configures runs in several processes (pytest-xdist)."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import reprlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

from tests.effort import times
from tests.forked import forked_workers, warm_up

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # In the background of a shell; children inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
SOURCE = Path(__file__).parents[1] / "src" / "spoor"
MACHINE_CODE = SOURCE / "__pycache__" / "machine-code"
settings.register_profile(
    "unhurried", max_examples=times(50), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")
gc.disable()  # Until all tests are collected: imported objects stay alive.
reprlib.aRepr.maxlist = 0
"""`asyncio.run` formats the result of its task and discards the text, which is slow for a long list of events."""
THIS_PYTHON = f"py{sys.version_info.major}{sys.version_info.minor}"
"""As numba writes it into the names of files: every Python has machine code of its own."""
IN_MEMORY = Path("/dev/shm")
if IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free > 4 << 30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))
    tempfile.tempdir = str(IN_MEMORY)
"""Temporary folders are in memory, one gigabyte in all. On disk, a crawl waits for each sync, twenty thousand times in
all tests. Tests kill only processes, never the machine, so the data need not be on disk."""
_TRUST = tempfile.TemporaryDirectory()
os.environ["SPOOR_TRUST"] = f"{_TRUST.name}/trusted.toml"
Path(os.environ["SPOOR_TRUST"]).write_text('private_addresses = ["true"]\n', "utf8")
"""What crawls may use, instead of the file of the person who runs the tests. All servers of tests are on this machine,
so its addresses are allowed, whoever made the folder that a test resumes."""
WAITING = (
    "test_render",
    "test_chaos",
    "test_live_robots",
    "test_package",
    "test_plug_ins",
    "test_demo",
    "test_killed_rendering",
    "test_rendered_crawl",
    "test_dashboard_in_chromium",
    "test_paper_crawls",
    "test_active_learning",
)
"""Modules that mostly wait: for a browser, other processes or timers. Slowest first."""
WORKING = (
    "test_live",
    "test_generate",
    "test_web_build",
    "test_python_api",
    "test_reproduce_ahmm",
    "test_floors",
    "test_untrusted_files",
    "test_reproduce",
    "test_workers",
    "test_resume_exact",
    "test_damage",
    "test_snapshots",
    "test_train_topic",
    "test_student",
)
"""Modules that use most processor time. Slowest first."""


FRESH = ("test_plug_ins", "test_workers")
"""Modules in which worker processes are started as new interpreters, as in production."""


@pytest.fixture(scope="module", autouse=True)
def _workers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Forks worker processes in all other modules: most run for less time than an interpreter takes to start."""
    if request.path.stem in FRESH:
        yield
        return
    if "spoor.live" in sys.modules:
        warm_up()
    with forked_workers():
        yield


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than the number of processors: many tests wait for a server or a timer."""
    return (os.cpu_count() or 1) + 1


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tenth", action="store_true", help="run a tenth of the tests, always the same")


def pytest_configure(config: pytest.Config) -> None:
    """Compiles before the worker processes start, so that they do not all compile the same functions."""
    if config.getoption("numprocesses", None) and "PYTEST_XDIST_WORKER" not in os.environ:
        sources = [
            file for file in sorted(SOURCE.rglob("*.py")) if "from spoor.compiled import" in file.read_text("utf8")
        ]
        known, made = Path(config.rootpath, ".pytest_cache", f"compiled-{THIS_PYTHON}"), _hash(sources)
        if not (known.exists() and known.read_text() == made and MACHINE_CODE.is_dir()):
            _compile(config.rootpath)
            known.parent.mkdir(exist_ok=True)
            known.write_text(made)


def _hash(sources: list[Path]) -> str:
    return sha256(b"".join(file.read_bytes() for file in sources)).hexdigest()


def _compile(root: Path) -> None:
    command = [sys.executable, "-m", "tests.machine_code"]
    parts = [
        subprocess.Popen([*command, part], cwd=root, stdout=subprocess.DEVNULL) for part in ("reading", "simulating")
    ]
    assert [part.wait() for part in parts] == [0, 0]


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Each worker process first imports a different part of the test modules, so that the others find their bytecode:
    rewriting all asserts takes as long as the rest of the startup."""
    worker: dict[str, int | str] | None = getattr(session.config, "workerinput", None)
    if worker is not None and session.config.args == session.config.getini("testpaths"):
        folder, number = Path(__file__).parent, int(str(worker["workerid"]).removeprefix("gw"))
        for path in sorted(folder.rglob("test_*.py"))[number :: int(worker["workercount"])]:
            with contextlib.suppress(Exception, pytest.skip.Exception):  # Collection reports the error.
                importlib.import_module(".".join((folder.name, *path.relative_to(folder).with_suffix("").parts)))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A third of the worker processes starts with the modules in `WAITING`, which rarely compete for processors; the
    others start with those in `WORKING`. Quick tests come last, so that an idle process steals these at the end, and
    not half of a module that would be set up twice."""
    if config.getoption("tenth"):
        items[:] = [item for item in items if crc32(item.nodeid.encode()) % 10 == 0]
    worker: dict[str, int | str] | None = getattr(config, "workerinput", None)
    if worker is None or worker["workercount"] == 1:
        return
    count, rest = int(worker["workercount"]), [item for item in items if item.path.stem not in WAITING + WORKING]
    third = max(1, count // 3)
    dealt = [WAITING[number::third] for number in range(third)]
    dealt += [WORKING[number :: count - third] for number in range(count - third)]
    begins = [[item for name in names for item in items if item.path.stem == name] for names in dealt]
    size = len(items) // count
    items[:] = [
        item
        for number, first in enumerate(begins)
        for item in (*first, *_taken(rest, size - len(first) if number < count - 1 else len(rest)))
    ]


def _taken(items: list[pytest.Item], count: int) -> list[pytest.Item]:
    """Removes and returns the first `count` items."""
    taken, items[:] = items[: max(0, count)], items[max(0, count) :]
    return taken


def pytest_collection_finish() -> None:
    """Exempts half a million objects that live as long as the process from garbage collection."""
    gc.freeze()
    gc.enable()


@pytest.fixture
def in_memory() -> Iterator[Callable[[], sqlite3.Connection]]:
    """Opens databases, and closes them after the test."""
    with contextlib.ExitStack() as opened:
        yield lambda: opened.enter_context(contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)))
