"""How property tests run: without a clock, because the machine that runs them may be busy with something else. That
bytecode is kept, by pytest, which rewrites every `assert`, and by the processes which tests start: hundreds of them
import all of spoor. That garbage is not searched for among the tests themselves. And what holds for a run in several
processes."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import reprlib
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.effort import times
from tests.forked import forked_workers, warm_up

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # In the background of a shell; so would those that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
SOURCE = Path(__file__).parents[1] / "src" / "spoor"
settings.register_profile(
    "unhurried", max_examples=times(50), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")
gc.disable()  # Until all tests are collected: what is imported stays.
reprlib.aRepr.maxlist = 0
"""`asyncio.run` writes down what its task returned, only to throw that away; of many events that takes long."""
IN_MEMORY = Path("/dev/shm")
if IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free > 4 << 30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))
    tempfile.tempdir = str(IN_MEMORY)
"""Where folders of tests are made, a gigabyte in all. A crawl waits for the disk whenever it writes, twenty thousand
times in all tests; what is killed in them is a process, never the machine."""
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
"""Modules that wait long for a browser, for other processes or for time to pass; those first that take most time."""
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
"""Modules that keep a processor busy for long; those first that do so longest."""


FRESH = ("test_plug_ins", "test_workers")
"""Modules in which worker processes are interpreters of their own, as they are when spoor runs."""


@pytest.fixture(scope="module", autouse=True)
def _workers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Elsewhere they are forked: most of them would do nothing that takes as long as to begin."""
    if request.path.stem in FRESH:
        yield
        return
    if "spoor.live" in sys.modules:
        warm_up()
    with forked_workers():
        yield


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: many tests wait, for a server or for time to pass."""
    return (os.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    """What numba compiles is there before several processes would each compile it, at the same time."""
    if config.getoption("numprocesses", None) and "PYTEST_XDIST_WORKER" not in os.environ:
        sources = [file for file in sorted(SOURCE.rglob("*.py")) if "\n@compiled\n" in file.read_text("utf8")]
        known, made = Path(config.rootpath, ".pytest_cache", "compiled"), _hash(sources)
        if not (known.exists() and known.read_text() == made and all(map(_has_machine_code, sources))):
            _compile(config.rootpath)
            known.parent.mkdir(exist_ok=True)
            known.write_text(made)


def _hash(sources: list[Path]) -> str:
    return sha256(b"".join(file.read_bytes() for file in sources)).hexdigest()


def _has_machine_code(source: Path) -> bool:
    return any(source.parent.glob(f"__pycache__/{source.stem}.*.nbi"))


def _compile(root: Path) -> None:
    command = [sys.executable, "-m", "tests.machine_code"]
    parts = [
        subprocess.Popen([*command, part], cwd=root, stdout=subprocess.DEVNULL) for part in ("reading", "simulating")
    ]
    assert [part.wait() for part in parts] == [0, 0]


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Each of several processes first imports other tests than the rest, so that the others find their bytecode: to
    rewrite what all tests assert takes as long as everything else before the first of them."""
    worker: dict[str, int | str] | None = getattr(session.config, "workerinput", None)
    if worker is not None and session.config.args == session.config.getini("testpaths"):
        folder, number = Path(__file__).parent, int(str(worker["workerid"]).removeprefix("gw"))
        for path in sorted(folder.rglob("test_*.py"))[number :: int(worker["workercount"])]:
            with contextlib.suppress(Exception, pytest.skip.Exception):  # What is wrong is told when it is collected.
                importlib.import_module(".".join((folder.name, *path.relative_to(folder).with_suffix("").parts)))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of several processes a third begins with the modules that wait, so that it rarely takes a processor from the
    others; these begin with those that take longest otherwise. What is taken over from a process in the end, when
    another has nothing left, are quick tests, not half of a module that would be set up twice."""
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
    """So many from the front, which are there no longer."""
    taken, items[:] = items[: max(0, count)], items[max(0, count) :]
    return taken


def pytest_collection_finish() -> None:
    """Half a million objects that live as long as the process are not searched, now that all are there."""
    gc.freeze()
    gc.enable()
