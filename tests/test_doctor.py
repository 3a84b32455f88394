"""`spoor doctor`: what an installation is and lacks."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from scripts.tested_versions import FILE, locked_versions

from spoor.cli import doctor, installation
from spoor.cli.installation import Requirement
from spoor.cli.main import main
from spoor.compiled import CompiledCode
from spoor.open_files import OpenFiles
from spoor.settings import Crawling

YEAR = 365 * installation.DAY
NOW = 1_800_000_000.0


def test_what_runs_these_tests_can_crawl(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[-1].startswith("a crawl can run")
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["can_crawl"] is True
    assert {"spoor", "Python", "SQLite", "libraries", "event loop", "browser", "machine code", "open files"} <= {
        check["name"] for check in found["checks"]
    }
    assert all(check["remedy"] for check in found["checks"] if check["state"] != "good")


def test_without_its_libraries_it_still_says_what_is_missing() -> None:
    """A program of its own, to which no library can be imported."""
    hidden = ["numpy", "numba", "aiohttp", "rich", "selectolax", "can_ada", "fastwarc", "tldextract"]
    program = f"import sys; sys.modules.update(dict.fromkeys({hidden}))\n"
    program += "from spoor.cli.main import main; sys.exit(main(['doctor']))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    assert "broken   crawling" in done.stdout


def test_without_certificates_no_crawl_can_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert installation.certificate_store(100, ssl.get_default_verify_paths()).state == "good"
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.setitem(os.environ, name, "/nonexistent")
    found = installation.certificate_store(0, ssl.get_default_verify_paths())
    assert found.state == "broken" and "ca-certificates" in found.remedy and "/nonexistent" in found.says


def test_a_wrong_clock_is_known_by_the_certificates() -> None:
    starts, ends = [NOW - 9 * YEAR, NOW - YEAR], [NOW + 5 * YEAR, NOW + 20 * YEAR]
    assert installation.clock(NOW, NOW - 1.0, starts, ends).state == "good"
    assert "too early" in installation.clock(NOW - 12 * YEAR, NOW - 12 * YEAR, starts, ends).says
    assert "too early" in installation.clock(NOW - 2 * installation.DAY, NOW, [], []).says
    late = installation.clock(NOW + 50 * YEAR, NOW, starts, ends)
    assert late.state == "broken" and "set the clock" in late.remedy


@pytest.mark.parametrize(("version", "state"), [("3.34.1", "broken"), ("3.37.2", "broken"), ("3.38.0", "good")])
def test_an_old_sqlite_is_told(version: str, state: str) -> None:
    assert installation.sqlite(version).state == state


def test_few_open_files_are_told_but_no_crawl_fails_of_them() -> None:
    assert installation.files(OpenFiles(1024, 4096)).state == "good"
    assert installation.files(OpenFiles(64, 64)).state == "lacking"
    assert Crawling.connections == installation.USUAL_CONNECTIONS


def test_little_memory_is_told() -> None:
    states = [installation.memory(available).state for available in (None, 4_000_000_000, 100_000_000)]
    assert states == ["good", "good", "broken"]


def test_machine_code_that_cannot_be_kept_costs_time_only(tmp_path: Path) -> None:
    assert "first crawl compiles" in doctor.machine_code(CompiledCode(tmp_path, 0, 9, True)).says
    assert "9 of 9 kernels" in doctor.machine_code(CompiledCode(tmp_path, 9, 9, True)).says
    assert doctor.machine_code(CompiledCode(tmp_path, 0, 9, False)).state == "lacking"


def test_proxies_of_the_environment_are_named() -> None:
    assert "HTTPS_PROXY, NO_PROXY set" in installation.proxies({"https_proxy": "http://p:1", "NO_PROXY": "a"}).says
    assert installation.proxies({}).says == "none in the environment"


def test_libraries_are_compared_with_those_of_the_tests() -> None:
    pytest_version, rich_version = (installation._installed(name) for name in ("pytest", "rich"))
    required = [
        Requirement("rich", "14"),
        Requirement("pytest", "1"),
        Requirement("no-such-library", "2"),
        Requirement("only-elsewhere", is_conditional=True),
        Requirement("numpy", "99"),
        Requirement("absent", "1", "special"),
    ]
    found = {
        check.name: check
        for check in installation.libraries(required, {"rich": rich_version, "pytest": "0.1", "numpy": "99.1"})
    }
    assert found["libraries"].says == f"as tested: rich {rich_version}"
    assert found["pytest"].says.startswith(f"{pytest_version}; tested with 0.1") and found["pytest"].state == "good"
    assert found["no-such-library"].state == found["numpy"].state == "broken"
    assert found["numpy"].remedy == "pip install 'numpy==99.1'"
    assert found["[special]"].remedy == "pip install 'spoor[special]'" and found["[special]"].state == "lacking"
    assert "only-elsewhere" not in found


def test_the_tested_versions_are_those_of_the_lock() -> None:
    """`make lock` writes both."""
    assert FILE.read_text("ascii") == locked_versions()
    extras = {requirement.extra for requirement in installation.requirements()}
    assert {"", "text", "ray", "topics"} <= extras and "dev" not in extras
