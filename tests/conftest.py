"""How property tests run: without a clock, because the machine that runs them may be busy with something else. That
bytecode is kept, by pytest, which rewrites every `assert`, and by the processes which tests start: hundreds of them
import all of spoor. That garbage is not searched for among the tests themselves. And what holds for a run in several
processes."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.effort import times

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # In the background of a shell; so would those that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
settings.register_profile(
    "unhurried", max_examples=times(50), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: many tests wait, for a server or for time to pass."""
    return (os.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    """What numba compiles is there before several processes would each compile it, at the same time."""
    if config.getoption("numprocesses", None) and "PYTEST_XDIST_WORKER" not in os.environ:
        command = [sys.executable, "-m", "tests.machine_code"]
        parts = [
            subprocess.Popen([*command, part], cwd=config.rootpath, stdout=subprocess.DEVNULL)
            for part in ("reading", "simulating")
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


def pytest_collection_finish() -> None:
    """Half a million objects that live as long as the process are not searched again and again."""
    gc.freeze()
