"""Tries spoor as people install it: the wheel in an empty environment, without the lock, with the newest release of
everything it requires. Runs what the README shows on a web served on this machine, then looks whether all that is
required can be had for every Python and machine of docs/where-it-runs.md. Exits with 1 where anything fails."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from shutil import copy2
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
TOOLS = Path(sys.executable).parent
STEP_SECONDS = 300
"""A crawl that fetches nothing does not end by itself."""
SUITE_SECONDS = 7_200

MACHINES = {
    "Linux on x86-64": "x86_64-manylinux_2_28",
    "Linux on ARM": "aarch64-manylinux_2_28",
    "macOS on ARM": "aarch64-apple-darwin",
}
"""Names of the page, and what uv calls them."""
NO_WHEEL = {"pycld2": ("Python 3.14", "Linux on ARM"), "jieba": ("every Python",)}
"""Packages for which there is no wheel: pip builds them from their source."""
SUITE = ("hypothesis", "pytest", "pytest-xdist", "setuptools", "warcio")
"""What the tests need beside spoor."""
EXTRA = "text"
"""As in the first line of the README that installs spoor."""
UVLOOP = "uvloop>=0.22"
"""Which other packages bring."""


class Failed(Exception):
    """Its message is a command and the end of what it printed."""


Command = Sequence[str | Path]


def run(command: Command, where: Path, given: str = "", seconds: float = STEP_SECONDS) -> str:
    """What a command prints."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    line = " ".join(map(str, command))
    try:
        done = subprocess.run(command, cwd=where, env=env, input=given, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{line}\ndid not end within {seconds:.0f} s") from error
    if done.returncode != 0:
        raise Failed(f"{line}\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


def uv(*arguments: str | Path, given: str = "") -> str:
    return run([TOOLS / "uv", *arguments, "--quiet"], ROOT, given)


@contextmanager
def step(says: str) -> Iterator[None]:
    """Says what is done, and afterwards how long it took."""
    print(f"  {says} …", end="", flush=True)
    began = time.monotonic()
    yield
    print(f" {time.monotonic() - began:.1f} s", flush=True)


def project() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
    return table


# The environment: which versions, and what is installed beside spoor.


@dataclass(frozen=True, slots=True)
class Versions:
    """`options` are those of uv that select the versions."""

    title: str
    options: tuple[str | Path, ...] = ()


NEWEST = Versions("the newest versions")
LOCKED = Versions("the versions of the lock", ("--constraint", LOCK))
LOWEST = Versions("the lowest versions that pyproject.toml allows", ("--resolution", "lowest-direct"))


def extras() -> list[str]:
    return sorted(set(project()["optional-dependencies"]) - {"dev"})


def copied(folder: Path) -> Path:
    """The checkout without what was made in it: nothing is built where other commands are reading."""
    listed = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT)
    for name in filter(None, listed.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy2(ROOT / name, folder / name)
    return folder


def built(checkout: Path, folder: Path) -> Path:
    run([TOOLS / "python", "-m", "build", "--no-isolation", "--outdir", folder], checkout)
    return next(folder.glob("*.whl"))


def environment(folder: Path) -> Path:
    """The commands of a new one, with pip and nothing else."""
    uv("venv", "--seed", "--python", sys.executable, folder)
    return folder / "bin"


def install(commands: Path, versions: Versions, *asked: str) -> None:
    uv("pip", "install", "--python", commands / "python", "--compile-bytecode", *versions.options, *asked)


def pins(text: str) -> dict[str, str]:
    """The versions in a lock, or in what uv has resolved."""
    return dict(re.findall(r"^([\w.-]+)==([^\s;\\]+)", text, re.M))


def newer_than_the_lock(wheel: Path) -> Iterator[str]:
    newest = uv("pip", "compile", "--python", sys.executable, "-", given=f"spoor[{EXTRA}] @ {wheel.as_uri()}\n{UVLOOP}")
    locked = pins(LOCK.read_text("utf8"))
    for name, version in pins(newest).items():
        if version != locked.get(name, version):
            yield f"{name} {version}, in the lock {locked[name]}"


def an_index_answers() -> bool:
    try:
        uv("pip", "compile", "--no-cache", "--no-deps", "-", given="uv")
    except Failed:
        return False
    return True


# What the README shows.


TARGET = "--language th --seeds web/seeds.txt --rest 0 --max-pages 1000"
"""More visits than the web has pages: every crawl finds all of them."""
BY_API = """
import sys
if sys.argv[2] == "uvloop":
    import uvloop
    uvloop.install()
import spoor
seeds = open("web/seeds.txt").read().split()
crawl = spoor.crawl(sys.argv[2], language="th", seeds=seeds, max_pages=1000, host_delay=0, proxy=sys.argv[1])
assert all(page.url for page in crawl)
"""
FOUND = """
import sys, spoor
print(*sorted(page.url for page in spoor.open_crawl(sys.argv[1]).pages(texts=False)), sep="\\n")
"""


def try_out(wheel: Path, versions: Versions, commands: Path, desk: Path) -> None:
    """Runs the commands of an environment in a folder. What else is installed there comes when it is needed."""

    def spoor(line: str) -> str:
        return run([commands / "spoor", *line.split()], desk)

    def found(folder: str) -> list[str]:
        return run([commands / "python", "-c", FOUND, folder], desk).split()

    print(f"{wheel.name} with {versions.title}, on Python {sys.version.split()[0]}", flush=True)
    with step("an empty environment"):
        install(commands, versions, f"{wheel}[{EXTRA}]")
    with step("import without a warning"):
        run([commands / "python", "-W", "error", "-c", "import spoor; spoor.crawl"], desk)
    with step("a web is generated and simulated on"):
        spoor("web generate --like thai --pages 300 --seed 1 --text --out web")
        spoor("simulate web --strategy soft-focused --target relevant --seeds web/seeds.txt --clock")
    with served(commands, desk) as proxy:
        with step("crawl, report, export"):
            spoor(f"crawl {TARGET} --proxy {proxy} --out thai")
            spoor("report thai")
            spoor("export thai --format jsonl --out pages.jsonl")
        pages = [json.loads(line) for line in (desk / "pages.jsonl").read_text("utf8").splitlines()]
        if not any(page["text"] for page in pages):
            raise Failed("spoor export: no text")
        with step("the same from Python"):
            run([commands / "python", "-c", BY_API, proxy, "asyncio"], desk)
        same(found("thai"), found("asyncio"))
        with step("uvloop and Ray are installed"):
            install(commands, versions, f"{wheel}[{EXTRA},ray]", UVLOOP)
        with step("the same from Python, on uvloop"):
            run([commands / "python", "-c", BY_API, proxy, "uvloop"], desk)
        same(found("thai"), found("uvloop"))
        with step("the same in two shards"):
            spoor(f"crawl {TARGET} --proxy {proxy} --shards 2 --out shards")
        same(found("thai"), found("shards"))
    with step("demo"):
        spoor("demo --max-pages 200 --out demo")


def same(pages: list[str], others: list[str]) -> None:
    if not pages or pages != others:
        raise Failed(f"{len(pages)} pages here, {len(others)} there; they must be the same, and some")


@contextmanager
def served(commands: Path, desk: Path) -> Iterator[str]:
    """The address of a proxy on this machine that answers for every host of the web."""
    command: Command = [commands / "spoor", "web", "serve", "web", "--port", "0"]
    with subprocess.Popen(command, cwd=desk, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            address = re.search(r"http://127\.0\.0\.1:\d+", line)
            if address is None:
                raise Failed(f"spoor web serve: {line}")
            yield address[0]
        finally:
            server.terminate()


# For which Pythons and machines all of it can be had.


def pythons() -> list[str]:
    """As the classifiers name them."""
    return [found[1] for line in project()["classifiers"] if (found := re.search(r":: Python :: (3\.\d+)$", line))]


def requirements() -> list[str]:
    """Of the core and of the extras that people install."""
    return [
        *project()["dependencies"],
        *(line for name in extras() for line in project()["optional-dependencies"][name]),
    ]


def name_of(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def has_no_wheel(package: str, python: str, machine: str) -> bool:
    return bool({"every Python", f"Python {python}", machine} & set(NO_WHEEL.get(package, ())))


def resolved(lines: Sequence[str], python: str, machine: str) -> str:
    """What is missing, "" if all these requirements can be installed from wheels."""
    options = ("--python-version", python, "--python-platform", MACHINES[machine], "--only-binary", ":all:")
    try:
        uv("pip", "compile", *options, "-", given="\n".join(lines))
    except Failed as failed:
        return f"Python {python}, {machine}: {failed}"
    return ""


def lacking(pool: Executor) -> Iterator[str]:
    """What is missing anywhere. It is asked for at once, and mostly waits for the index."""

    def missing(python: str, machine: str) -> str:
        return resolved(
            [line for line in requirements() if not has_no_wheel(name_of(line), python, machine)], python, machine
        )

    return filter(None, pool.map(missing, *zip(*product(pythons(), MACHINES), strict=True)))


def check_wheels(missing: Iterator[str]) -> None:
    with step(f"wheels for Python {', '.join(pythons())} on {', '.join(MACHINES)}"):
        if found := list(missing):
            raise Failed("\n".join(found))
        for package in NO_WHEEL:
            places = [place for place in product(pythons(), MACHINES) if has_no_wheel(package, *place)]
            if not any(resolved([package], *place) for place in places):
                print(f" (there are wheels of {package} now: docs/where-it-runs.md)", end="")


# The suite on the lowest versions, in the copy: compiled code lies beside its source, for one numba at a time.


def run_suite(commands: Path, checkout: Path) -> None:
    locked = pins(LOCK.read_text("utf8"))
    install(commands, LOWEST, f"{checkout}[{','.join(extras())}]")
    install(commands, NEWEST, *(f"{name}=={locked[name]}" for name in SUITE))
    install(commands, NEWEST, "--no-deps", "--no-build-isolation", "--editable", str(checkout))
    if (data := ROOT.parent / "shared").is_dir():
        (checkout.parent / data.name).symlink_to(data)
    command: Command = [commands / "python", "-m", "pytest", "-n", "2", "--dist", "worksteal"]
    if subprocess.run(command, cwd=checkout, timeout=SUITE_SECONDS).returncode != 0:
        raise Failed("the suite, with the lowest versions")


def place(folder: Path) -> tuple[Path, Path]:
    """The commands of a new environment, and a folder to use them in."""
    (folder / "desk").mkdir(parents=True)
    return environment(folder / "environment"), folder / "desk"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--lowest", action="store_true", help="the lowest versions allowed, and the suite on them")
    asked.add_argument("--forgive", action="store_true", help="if the lock passes, or no index answers, go on")
    options = asked.parse_args()
    if options.forgive and not an_index_answers():
        print("no index of packages answers: a plain installation is not tried")
        return
    with tempfile.TemporaryDirectory(prefix="spoor-plain-") as name:
        folder = Path(name)
        checkout = copied(folder / "checkout")
        wheel = built(checkout, folder / "dist")
        try:
            with ThreadPoolExecutor(len(MACHINES) * len(pythons())) as pool:
                missing = lacking(pool)
                commands, desk = place(folder / "tried")
                try_out(wheel, LOWEST if options.lowest else NEWEST, commands, desk)
                check_wheels(missing)
            if options.lowest:
                run_suite(commands, checkout)
        except Failed as failed:
            print(f"\nfailed: {failed}", file=sys.stderr, flush=True)
            if not options.forgive:
                sys.exit(1)
            go_on(wheel, *place(folder / "locked"))


def go_on(wheel: Path, commands: Path, desk: Path) -> None:
    """A release of others must not stop us. Exits with 1 if it is not theirs."""
    try:
        try_out(wheel, LOCKED, commands, desk)
    except Failed as failed:
        sys.exit(f"\nfailed: {failed}")
    print("it works with the versions of the lock; these are newer:", *newer_than_the_lock(wheel), sep="\n  ")


if __name__ == "__main__":
    main()
