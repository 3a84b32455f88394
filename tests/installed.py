"""spoor as it is installed: built as it is published, in an environment that holds its core dependencies and no others.

Nothing is downloaded. The dependencies are links to those of the environment that runs the tests."""

from __future__ import annotations

import compileall
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
FORKED = ROOT / "tests" / "forked_commands.py"
MADE = shutil.ignore_patterns("__pycache__", "*.egg-info")


def project() -> dict[str, Any]:
    """The table [project] of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
    return table


def build(folder: Path) -> Path:
    """The wheel, built from the sdist: what `make package` does, without touching the checkout."""
    shutil.copytree(ROOT / "src", folder / "checkout" / "src", ignore=MADE)
    for name in ("LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / "checkout")
    sdist = _backend("build_sdist", folder / "checkout", folder)
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return _backend("build_wheel", folder / sdist.name.removesuffix(".tar.gz"), folder)


def _backend(hook: str, source: Path, into: Path) -> Path:
    """As `build` calls it; the name of the file is the last thing said."""
    code = f"import sys; from setuptools.build_meta import {hook}; print({hook}(sys.argv[1]))"
    return into / run([sys.executable, "-c", code, into], source).splitlines()[-1]


def run(command: Sequence[str | Path], where: Path) -> str:
    """What a command prints that succeeds."""
    done = ask(command, where)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def ask(command: Sequence[str | Path], where: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=where, env=alone(), capture_output=True, text=True)


def ask_spoor(lines: Sequence[str], commands: Path, where: Path) -> dict[str, subprocess.CompletedProcess[str]]:
    """What comes of commands of spoor, one after the other."""
    done = json.loads(run([commands / "python", FORKED, *lines], where))
    return {line: subprocess.CompletedProcess(line, *came) for line, came in zip(lines, done, strict=True)}


def alone() -> dict[str, str]:
    """Variables under which a command sees no packages but those of its own environment."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def install(wheel: Path, folder: Path) -> Path:
    """An environment with the wheel and what its core needs; where its commands are."""
    venv.create(folder, symlinks=True)
    scheme = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", "venv", scheme))
    for needed in closure(project()["dependencies"]):
        _link(needed, packages)
    commands = Path(sysconfig.get_path("scripts", "venv", scheme))
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--python",
        commands / "python",
    ]
    run([*pip, "install", "--quiet", "--no-index", "--no-compile", wheel], folder)
    _take_machine_code(packages / "spoor")
    return commands


def closure(requirements: Iterable[str]) -> list[Distribution]:
    """The distributions that are required here, and those that these require."""
    found: dict[str, Distribution] = {}
    waiting = list(for_this_python(requirements))
    while waiting:
        name = Requirement(waiting.pop()).name
        if canonicalize_name(name) not in found:
            found[canonicalize_name(name)] = distribution(name)
            waiting.extend(for_this_python(distribution(name).requires or []))
    return list(found.values())


def for_this_python(requirements: Iterable[str]) -> Iterator[str]:
    """Without those of extras, of other Pythons and of other machines."""
    for line in requirements:
        marker = Requirement(line).marker
        if marker is None or marker.evaluate({"extra": ""}):
            yield line


def _link(installed: Distribution, packages: Path) -> None:
    """Every file or folder that a distribution has at the top."""
    for name in {file.parts[0] for file in installed.files or []} - {"..", "__pycache__"}:
        (packages / name).symlink_to(str(installed.locate_file(name)))


def _take_machine_code(package: Path) -> None:
    """What was compiled in the checkout, so that it is not compiled again, which takes most of a minute."""
    compileall.compile_dir(package, quiet=1)
    machine_code = Path("__pycache__", "machine-code")
    shutil.copytree(ROOT / "src" / "spoor" / machine_code, package / machine_code, dirs_exist_ok=True)
