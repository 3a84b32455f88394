"""How property tests run: without a clock, because the machine that runs them may be busy with something else. That
the processes which tests start keep the bytecode they make: hundreds of them import all of spoor. And what holds for
a run in several processes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, settings

from tests.effort import times

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
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
