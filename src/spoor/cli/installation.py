"""What an installation is and lacks: each fact, and whether it is as it should be.

Imports only the standard library and what needs no more, because it is asked when a library is missing.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sqlite3
import ssl
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata, resources
from pathlib import Path

import spoor
from spoor.errors import MissingExtra
from spoor.open_files import OpenFiles, open_files
from spoor.store.sqlite_version import LEAST_SQLITE

TESTED_PYTHONS = ("3.11", "3.12", "3.13")
LEAST_PYTHON = (3, 11)
LEAST_MEMORY = 300_000_000
"""Bytes that a small crawl takes in all its processes."""
LEAST_FREE = 64_000_000
"""Bytes of room in a folder for temporary files, and of shared memory for a browser."""
DAY = 86_400.0
USUAL_CONNECTIONS = 64
"""Those of a crawl by default."""
PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
TESTED = "tested_versions.toml"
"""Beside this module: the version of each library that the tests ran with, as in requirements.lock."""
INSTALL_CERTIFICATES = "install the package ca-certificates, or name a file of certificates with SSL_CERT_FILE"


@dataclass(frozen=True, slots=True)
class Checkup:
    """One fact. All is well without a remedy; `needed`: a crawl cannot run before it is applied."""

    name: str
    says: str
    remedy: str = ""
    needed: bool = False

    @property
    def state(self) -> str:
        return ("broken" if self.needed else "lacking") if self.remedy else "good"


def checkups(now: float) -> Iterator[Checkup]:
    """Of this process and machine; `now` is the time by its clock."""
    yield Checkup("spoor", f"{spoor.__version__} in {Path(spoor.__file__).parent} on {platform.platform()}")
    yield python(sys.version_info[:3])
    yield sqlite(sqlite3.sqlite_version)
    yield from libraries(requirements(), tested_versions())
    yield event_loop()
    yield browser()
    yield files(open_files())
    yield from temporary_folders()
    yield memory(available_memory())
    certificates = ssl.create_default_context().get_ca_certs()
    starts = [ssl.cert_time_to_seconds(str(one["notBefore"])) for one in certificates]
    ends = [ssl.cert_time_to_seconds(str(one["notAfter"])) for one in certificates]
    yield clock(now, Path(spoor.__file__).stat().st_mtime, starts, ends)
    yield certificate_store(len(certificates), ssl.get_default_verify_paths())
    yield proxies(os.environ)


# Python and libraries.


def python(version: Sequence[int]) -> Checkup:
    found, short = ".".join(map(str, version)), ".".join(map(str, version[:2]))
    says = f"{found} ({platform.python_implementation()}) at {sys.executable}"
    if tuple(version[:2]) < LEAST_PYTHON:
        return Checkup("Python", says, f"install one of {', '.join(TESTED_PYTHONS)}", needed=True)
    tested = "" if short in TESTED_PYTHONS else f"; tested with {', '.join(TESTED_PYTHONS)}"
    return Checkup("Python", says + tested)


def sqlite(version: str) -> Checkup:
    least = ".".join(map(str, LEAST_SQLITE))
    if numbers_of(version) < LEAST_SQLITE:
        remedy = f"use a Python with SQLite {least} or later, such as that of uv, conda or pyenv"
        return Checkup("SQLite", f"{version} is too old", remedy, needed=True)
    return Checkup("SQLite", f"{version}; {least} or later is needed")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A library that spoor needs. `least` is the lowest version, "" for any; `extra` is the one that needs it, "" for
    the core; `is_conditional`: only on some machines or Pythons."""

    name: str
    least: str = ""
    extra: str = ""
    is_conditional: bool = False


_REQUIREMENT = re.compile(r"([\w.-]+)[^;]*?(?:>=\s*([\w.]+))?[^;]*(?:;(.*))?")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([\w-]+)['"]""")


def requirements() -> list[Requirement]:
    """Those of the installed package, without those of its developers."""
    try:
        lines = metadata.requires("spoor") or ()
    except metadata.PackageNotFoundError:  # A checkout that is not installed.
        return []
    return [requirement for line in lines if (requirement := _requirement(line)).extra != "dev"]


def _requirement(line: str) -> Requirement:
    found = _REQUIREMENT.fullmatch(line)
    assert found is not None, line
    name, least, marker = found[1], found[2] or "", found[3] or ""
    extra = _EXTRA.search(marker)
    return Requirement(name, least, extra[1] if extra else "", bool(_EXTRA.sub("", marker).strip()))


def tested_versions() -> dict[str, str]:
    return tomllib.loads(resources.files(__package__).joinpath(TESTED).read_text("ascii"))


def numbers_of(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with: `3.14.0rc1` is (3, 14, 0)."""
    return tuple(int(number) for number in re.findall(r"\d+", re.split(r"[^\d.]", version)[0]))


def libraries(required: Sequence[Requirement], tested: Mapping[str, str]) -> Iterator[Checkup]:
    """Those of the core in one line, each that is not as tested in a line of its own, then each extra."""
    core = [(requirement, _installed(requirement.name)) for requirement in required if not requirement.extra]
    as_tested = [f"{one.name} {version}" for one, version in core if version and version == tested.get(one.name)]
    yield Checkup("libraries", f"as tested: {', '.join(as_tested) or 'none'}")
    for requirement, version in core:
        if not (requirement.is_conditional and not version):
            yield from _library(requirement, version, tested.get(requirement.name, ""))
    for extra in dict.fromkeys(requirement.extra for requirement in required if requirement.extra):
        yield _extra(extra, [requirement for requirement in required if requirement.extra == extra])


def _library(requirement: Requirement, version: str, tested: str) -> Iterator[Checkup]:
    name, least = requirement.name, requirement.least
    remedy = f"pip install '{name}{f'=={tested}' if tested else ''}'"
    if not version:
        yield Checkup(name, "is not installed", remedy, needed=True)
    elif numbers_of(version) < numbers_of(least):
        yield Checkup(name, f"{version} is older than {least}, the lowest that works", remedy, needed=True)
    elif version != tested:
        yield Checkup(name, f"{version}; tested with {tested or 'none'}. If something fails, try {remedy}")


def _extra(extra: str, required: Sequence[Requirement]) -> Checkup:
    versions = {requirement.name: _installed(requirement.name) for requirement in required}
    install = f"pip install 'spoor[{extra}]'"
    if missing := [name for name, version in versions.items() if not version]:
        return Checkup(f"[{extra}]", f"{', '.join(missing)} not installed", install)
    old = [one.name for one in required if numbers_of(versions[one.name]) < numbers_of(one.least)]
    says = ", ".join(f"{name} {version}" for name, version in versions.items())
    return Checkup(f"[{extra}]", f"{says}; too old: {', '.join(old)}" if old else says, install if old else "")


def _installed(name: str) -> str:
    """The version; "" if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def event_loop() -> Checkup:
    uvloop = _installed("uvloop")
    return Checkup("event loop", f"asyncio; uvloop {uvloop} is installed" if uvloop else "asyncio")


def browser() -> Checkup:
    try:
        from spoor.render.browser import find_browser

        program = find_browser()
    except ImportError as error:
        return Checkup("browser", f"cannot be looked for: {error}")
    except MissingExtra as missing:
        problem, _, remedy = str(missing).partition(";")
        return Checkup("browser", problem, remedy.strip() or problem)
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return Checkup("browser", f"{program} does not start ({error})", "install chromium-headless-shell")
    return Checkup("browser", f"{' '.join(said.split())} at {program}")


def _is_writable(folder: Path) -> bool:
    """By trying, because root may write to any folder, but not to a full disk or a read-only one."""
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(4096))
    except OSError:
        return False
    return True


# The machine.


def files(limits: OpenFiles) -> Checkup:
    """A crawl raises the soft limit itself."""
    most = OpenFiles(limits.hard, limits.hard).most_connections
    says = f"soft limit {limits.soft:,}, hard limit {limits.hard:,}: {most:,} connections at most"
    return Checkup("open files", says, "" if most >= USUAL_CONNECTIONS else "raise the limit with `ulimit -n 1024`")


def temporary_folders() -> Iterator[Checkup]:
    try:
        yield room("temporary files", Path(tempfile.gettempdir()), "free space there, or name another with TMPDIR")
    except FileNotFoundError:
        yield Checkup("temporary files", "no folder can be written", "name one with TMPDIR")
    if (shared := Path("/dev/shm")).is_dir():
        yield room("shared memory", shared, "give the container more (--shm-size): browsers and Ray need it")


def room(name: str, folder: Path, remedy: str) -> Checkup:
    free = shutil.disk_usage(folder).free
    return Checkup(name, f"{size(free)} free in {folder}", "" if free >= LEAST_FREE else remedy)


def available_memory() -> int | None:
    """Bytes that this process may still take: of the machine, or of its control group. None if unknown."""
    known = []
    try:
        (kib,) = re.findall(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text("ascii"), re.M)
        known.append(1024 * int(kib))
    except (OSError, ValueError):
        pass
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        group = Path("/sys/fs/cgroup")
        try:
            known.append(int((group / limit).read_text("ascii")) - int((group / used).read_text("ascii")))
        except (OSError, ValueError):  # "max"
            continue
    return min(known) if known else None


def memory(available: int | None) -> Checkup:
    if available is None:
        return Checkup("memory", "unknown")
    enough = available >= LEAST_MEMORY
    remedy = f"end other programs, or raise the limit of the container: a crawl needs {size(LEAST_MEMORY)}"
    return Checkup("memory", f"{size(available)} available", "" if enough else remedy, needed=True)


def clock(now: float, installed: float, starts: Sequence[float], ends: Sequence[float]) -> Checkup:
    """Certificates begin in the past, and most roots have not ended; neither was spoor installed in the future.
    `starts` and `ends` are those of the trusted certificates."""
    shown = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    remedy = "set the clock: with a wrong one every https host is refused"
    latest = max([installed, *starts])
    if now < latest - DAY:
        before = datetime.fromtimestamp(latest, UTC).strftime("%Y-%m-%d")
        return Checkup("clock", f"{shown} is too early: spoor or a trusted certificate is of {before}", remedy, True)
    if ends and now > statistics.median(ends):
        return Checkup("clock", f"{shown} is too late, or the certificates are: most have ended", remedy, True)
    return Checkup("clock", shown)


def certificate_store(loaded: int, paths: ssl.DefaultVerifyPaths) -> Checkup:
    """`loaded` are those of the file; those of a folder are loaded when they are needed."""
    file = os.environ.get(paths.openssl_cafile_env) or paths.cafile or paths.openssl_cafile
    folder = Path(os.environ.get(paths.openssl_capath_env) or paths.capath or paths.openssl_capath)
    hashed = sum(1 for _ in folder.glob("*.[0-9]")) if folder.is_dir() else 0
    if loaded or hashed:
        return Checkup("certificates", f"{loaded} in {file}" if loaded else f"{hashed} in {folder}")
    return Checkup("certificates", f"none in {file}, nor in {folder}", INSTALL_CERTIFICATES, needed=True)


def size(number: float) -> str:
    return f"{number / 1e9:,.1f} GB" if number >= 1e9 else f"{number / 1e6:,.0f} MB"


def proxies(environment: Mapping[str, str]) -> Checkup:
    named = [name for name in PROXY_VARIABLES if environment.get(name) or environment.get(name.lower())]
    if not named:
        return Checkup("proxies", "none in the environment")
    return Checkup("proxies", f"{', '.join(named)} set: used by `spoor crawl --proxy env` only")
