"""Plug-ins: strategies and judges of scripts, notebooks and installed packages, in this process and in others."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from spoor import registry
from spoor.cli.main import main
from spoor.errors import BadInput, BrokenContract, UsageError
from spoor.lab.comparison import workers
from spoor.lab.contest import code_of
from spoor.lab.web import Web
from spoor.live.page_reader import Reader
from spoor.live.reading_processes import ReadingLimits, packed_to_send, reading
from spoor.origins import pack
from spoor.records import Failure, Page, Response, Visit
from spoor.registry import register_judge, register_strategy
from spoor.roles import Judge
from spoor.strategy import Strategy
from tests.deadly_crawl import DeadlyJudge
from tests.served import served
from tests.test_reading_processes import asked
from tests.tiny import events_of, graph, names, truth

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "spoor-example"

PARTS = (EXAMPLE / "spoor_example.py").read_text("utf8")
"""A strategy `anchor-mentions` and a judge `mentions`, registered by decorators."""


@pytest.fixture(autouse=True)
def none_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test registers, the others do not know."""
    for known in (registry.STRATEGIES, registry.JUDGES):
        monkeypatch.setattr(known, "_plug_ins", {})
        monkeypatch.setattr(known, "_complete", False)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Installs a package whose one module holds `code`, and returns the name of the module."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(code: str, strategies: str = "", judges: str = "", name: str = "plugged") -> str:
        information = tmp_path / f"{name}-1.5.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
        points = f"[spoor.strategies]\n{strategies}\n[spoor.judges]\n{judges}\n"
        (information / "entry_points.txt").write_text(points)
        (tmp_path / f"{name}.py").write_text(code)
        monkeypatch.delitem(sys.modules, name, raising=False)
        return name

    return install


def made(judge: Judge, n: int = 2) -> Strategy:
    """Through a few pages that are
    not relevant. The rest is for readers of the code."""
    return registry.strategy(f"limited-distance:n={n}", judge)


def listed(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main([command]) == 0
    return capsys.readouterr().out


# Registered by a decorator


def test_a_registered_strategy_is_asked_for_by_its_name_and_parameters() -> None:
    register_strategy("far")(made)
    world = graph("S: A; A: B; B: C; C: D")
    assert names(events_of(world, registry.strategy("far", truth(world)), ["S"])) == "s a b"
    assert names(events_of(world, registry.strategy("far:n=1", truth(world)), ["S"])) == "s a"


@dataclass(frozen=True)
class Reach:
    pages: int = 2
    strict: bool = False


TWO = Reach()


def test_the_fields_of_a_dataclass_are_parameters_like_any_other() -> None:
    register_strategy("far")(lambda judge, reach=TWO, step=1: made(judge, 0 if reach.strict else reach.pages * step))
    assert registry.STRATEGIES["far"].parameters() == {"pages": 2, "strict": False, "step": 1}
    judge = truth(graph("S: A"))
    asked = ("far", "far:pages=3:step=2", "far:strict=True")
    assert [registry.strategy(text, judge) for text in asked] == [made(judge, n) for n in (2, 6, 0)]


def test_it_is_listed_after_those_built_in_with_its_parameters_and_the_first_sentence_of_its_docstring(
    capsys: pytest.CaptureFixture[str],
) -> None:
    register_strategy("far", source="A paper (2020)")(made)
    assert listed("strategies", capsys).endswith(
        "far:n=2\n    Through a few pages that are not relevant\n    A paper (2020)\n"
    )


def test_a_judge_has_a_subject_where_its_function_has_an_argument_without_default(
    capsys: pytest.CaptureFixture[str],
) -> None:
    register_judge("about")(lambda words, least=0.5: registry.judge(f"keywords:{words}:least={least}"))
    register_judge("thai")(lambda: registry.judge("script:thai"))
    assert registry.judge("about:horse:least=0.25") == registry.judge("keywords:horse:least=0.25")
    assert registry.judge("thai") == registry.judge("script:thai")
    assert "about:SUBJECT:least=0.5\n    subjects: WORDS\nthai\n" in listed("judges", capsys)
    with pytest.raises(UsageError, match="judge 'about' needs a subject, as in about:WORDS"):
        registry.judge("about")
    with pytest.raises(UsageError, match="judge 'thai' has no subject, so 'x' has no place in its name"):
        registry.judge("thai:x")


def test_a_crawl_makes_its_strategy_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = []
    register_strategy("far")(lambda judge: asked.append(judge) or made(judge))  # type: ignore[func-returns-value]
    seed = "http://127.0.0.1:9/"
    main(["crawl", "--script", "thai", "--seed", seed, "--strategy", "far", "--out", str(tmp_path / "crawl")])
    assert "ended because nothing is waiting" in capsys.readouterr().out
    assert len(asked) == 1


def test_a_live_crawl_takes_any_judge_by_its_name(tmp_path: Path) -> None:
    register_judge("thai")(lambda: registry.judge("script:thai"))
    (tmp_path / "crawl.toml").write_text(
        '[target]\nkeywords = ["x"]\njudge = "thai"\nrequire = "not keywords and thai"'
    )
    judge = registry.judge(str(tmp_path / "crawl.toml"))
    assert [verdict.relevant for verdict in judge.judge([Page("http://a.test/", text="ภาษาไทย")])] == [True]


@pytest.mark.parametrize(
    ("name", "make", "why"),
    [
        ("learned", made, "strategy 'learned' is built in; give yours another name"),
        ("Far:away", made, "strategy 'Far:away': a name consists of lower-case letters, digits and hyphens"),
        (
            "far",
            lambda judge, n: None,
            "strategy 'far': its function takes the judge, then parameters that have defaults",
        ),
        ("far", lambda n=1: None, "strategy 'far': its function takes the judge, then parameters that have defaults"),
        ("far", lambda judge, n=(): None, r"strategy 'far': n=\(\) must be a number, a text, True or False"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(name: str, make: Callable[..., Strategy], why: str) -> None:
    with pytest.raises(UsageError, match=f"^{why}$"):
        register_strategy(name)(make)


def test_a_name_belongs_to_the_function_that_took_it_first() -> None:
    register_strategy("far")(made)
    register_strategy("far")(made)
    with pytest.raises(UsageError, match=r"is already registered, by tests\.test_plug_ins\.made; give yours"):
        register_strategy("far")(lambda judge: made(judge))


def test_a_function_that_makes_no_strategy_is_named() -> None:
    register_strategy("far")(lambda judge: None)  # type: ignore[type-var]
    with pytest.raises(BrokenContract, match="strategy 'far': its function returned None instead of a Strategy"):
        registry.strategy("far", truth(graph("S: A")))


def test_the_compiled_driver_does_not_take_a_plug_in_for_what_it_is_called(tmp_path: Path) -> None:
    """By its name it would be breadth-first with priorities."""
    register_strategy("prioritised-breadth-first")(made)
    web = generated(tmp_path)
    seeds = ["--target", "relevant", "--seeds", f"{web}/seeds.txt"]
    assert main(["simulate", str(web), "--strategy", "prioritised-breadth-first", "--driver", "compiled", *seeds]) == 2


# Of an installed package


def test_a_package_is_imported_when_its_name_is_asked_for_and_not_before(package: Callable[..., str]) -> None:
    module = package(PARTS, strategies="anchor-mentions = plugged:anchor_mentions")
    judge = truth(graph("S: A"))
    registry.strategy("breadth-first", judge)
    assert module not in sys.modules
    assert repr(registry.strategy("anchor-mentions:word=tea", judge).scorer) == "AnchorMentions(word='tea')"
    assert module in sys.modules


def test_a_list_tells_which_package_a_plug_in_comes_from(
    package: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    package(PARTS, "anchor-mentions = plugged:anchor_mentions", "mentions = plugged:mentions")
    assert listed("strategies", capsys).endswith(
        "anchor-mentions:word=news\n    Links first that have a word in their anchor\n"
        "    from the package plugged 1.5\n"
    )
    assert listed("judges", capsys).endswith(
        "mentions:SUBJECT:times=1\n    A word, mentioned at least so many times\n    subjects: WORD, telescope\n"
        "    from the package plugged 1.5\n"
    )


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import nothing_of_the_kind", "ModuleNotFoundError: No module named 'nothing_of_the_kind'"),
        ("raise SystemExit('two\\nlines')", "SystemExit: two lines"),
        ("make = print", "plugged:make is not registered by @spoor.strategy('far')"),
    ],
)
def test_a_package_that_is_broken_costs_one_line_and_its_own_names(
    code: str,
    why: str,
    package: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    package(code, strategies="far = plugged:make")
    line = f"strategy 'far' of the package plugged 1.5 cannot be used: {why}"
    with pytest.raises(BadInput) as refused:
        registry.strategy("far", truth(graph("S: A")))
    assert str(refused.value) == line
    assert "breadth-first\n" in listed("strategies", capsys)
    assert "breadth-first\n" in listed("strategies", capsys)
    assert caplog.messages == [line]


def test_a_package_cannot_take_a_name_that_is_built_in(
    package: Callable[..., str], capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    module = package(PARTS, strategies="learned = plugged:anchor_mentions")
    assert listed("strategies", capsys).count("learned:") == 1
    assert caplog.messages == ["strategy 'learned' of the package plugged 1.5 cannot be used: the name is built in"]
    assert module not in sys.modules


def test_a_contest_runs_a_plug_in_again_when_its_code_has_changed(package: Callable[..., str]) -> None:
    module = package(PARTS, strategies="anchor-mentions = plugged:anchor_mentions")
    before = code_of("anchor-mentions:word=tea")
    assert code_of("anchor-mentions") == before
    Path(sys.modules[module].__file__ or "").write_text("# other code")
    assert code_of("anchor-mentions") != before
    assert code_of("breadth-first") == ""


# In other processes


def generated(folder: Path) -> Path:
    web = folder / "web"
    assert main(["web", "generate", "--like", "topical", "--pages", "300", "--seed", "7", "--out", str(web)]) == 0
    return web


SCRIPT = """
import sys
from spoor.cli.main import main

if __name__ == "__main__":
    sys.exit(max(main(line.split()) for line in sys.argv[1:]))
"""
JUDGED = "--judge mentions:telescope --target relevant"
COMPARED = f"compare web {JUDGED} --strategies anchor-mentions:word=telescope --workers 2"
SIMULATED = f"simulate web {JUDGED} --strategy anchor-mentions:word=telescope"
CRAWLED = "--judge mentions:telescope --strategy anchor-mentions:word=telescope --workers 1 --max-pages 40 --rest 0"


def crawl_twice(command: list[str], simulated: str, folder: Path, given: str = "") -> str:
    """What the script says of a simulated crawl and of a live one."""
    web = generated(folder)
    paths = {"PYTHONPATH": str(ROOT / "src")} if command[0] == sys.executable else {"PYTHONPATH": ""}

    async def both() -> str:
        async with served(Web.open(web)) as proxy:
            lines = (simulated, f"crawl {CRAWLED} --proxy {proxy} --out {folder / 'crawl'}")
            whole = (*command, *(f"{line} --seeds {web / 'seeds.txt'}" for line in lines))
            pipe, place = asyncio.subprocess.PIPE, {**os.environ, **paths}
            process = await asyncio.create_subprocess_exec(
                *whole, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.STDOUT, env=place, cwd=folder
            )
            said, _ = await process.communicate(given.encode())
        assert process.returncode == 0, said.decode()
        return said.decode()

    return asyncio.run(both())


def test_plug_ins_of_a_script_are_known_in_processes_that_compare_and_that_read(tmp_path: Path) -> None:
    (tmp_path / "crawling.py").write_text(PARTS + SCRIPT)
    said = crawl_twice([sys.executable, str(tmp_path / "crawling.py")], COMPARED, tmp_path)
    compared, crawled = said.split("40 pages in ")
    assert "anchor-mentions:word=telescope" in compared
    assert " 0 failures" in crawled
    assert "this process" not in said


def test_plug_ins_of_a_notebook_are_run_in_its_process_which_is_said_once(tmp_path: Path) -> None:
    said = crawl_twice([sys.executable, "-"], COMPARED, tmp_path, PARTS + SCRIPT)
    why = "worker processes cannot import what is defined in a notebook or __main__; put it into a module"
    assert said.count(f"strategies are run in this process, one after another: {why}\n") == 1
    assert said.count(f"pages are read and judged in this process, without limits of time and memory: {why}\n") == 1
    compared, crawled = said.split("40 pages in ")
    assert "anchor-mentions:word=telescope" in compared
    assert " 0 failures" in crawled


READER = """
from dataclasses import dataclass
from spoor.records import Failure

@dataclass(frozen=True)
class Lengths:
    def warm_up(self):
        pass

    def read_in_worker(self, visit, response):
        return Failure(f"{len(response.body)} bytes")
"""


@pytest.fixture
def loose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Imports code as a module that is on no path."""

    def load(code: str) -> ModuleType:
        (tmp_path / "loose.py").write_text(code)
        spec = spec_from_file_location("somewhere_else", tmp_path / "loose.py")
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "somewhere_else", module)
        spec.loader.exec_module(module)
        return module

    return load


def test_a_module_that_is_on_no_path_is_imported_from_its_file(loose: Callable[[str], ModuleType]) -> None:
    module = loose(READER)

    async def read() -> object:
        async with reading(1, pack(module.Lengths()), ReadingLimits()) as processes:
            return await processes.read(*asked(0, b"four"))

    assert asyncio.run(read()) == Failure("4 bytes")


def test_what_a_module_has_registered_is_known_by_name_wherever_strategies_are_compared(
    loose: Callable[[str], ModuleType],
) -> None:
    loose(PARTS)
    with workers(2) as pool:
        known = pool.submit(registry.strategy_named, "anchor-mentions:word=tea").result()
    assert known == ("anchor-mentions", {"word": "tea"})


def test_a_reader_made_in_a_function_stays_here(caplog: pytest.LogCaptureFixture) -> None:
    class Local:
        def warm_up(self) -> None:
            pass

        def read_in_worker(self, visit: Visit, response: Response) -> Failure:
            return Failure("")

    assert asyncio.run(packed_to_send(Local())) is None
    (line,) = caplog.messages
    assert line.startswith("pages are read and judged in this process") and "Local" in line


CARELESS = """
from dataclasses import dataclass
import spoor
from spoor.records import Verdict

@dataclass(frozen=True)
class Mine:
    reads_content = True

    def judge(self, pages):
        return [Verdict(1.0, True, "") for _ in pages]

try:
    list(spoor.crawl("crawl", seeds=["http://127.0.0.1:1/"], judge=Mine(), strategy="breadth-first", workers=1))
except spoor.SpoorError as error:
    print(f"{type(error).__name__}: {error}")
"""


def test_a_script_that_crawls_whenever_it_is_imported_is_told_where_to_put_that(tmp_path: Path) -> None:
    """A worker has to run it once more, to know the judge."""
    (tmp_path / "careless.py").write_text(CARELESS)
    paths = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    ran = subprocess.run(
        [sys.executable, str(tmp_path / "careless.py")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert (
        'UsageError: a crawl cannot begin in a worker process; put what starts it under if __name__ == "__main__"'
        in ran.stdout
    )


def test_only_modules_that_are_needed_are_brought_along() -> None:
    modules = {origin.module for origin in pack(registry.judge("keywords:horse")).origins}
    assert "spoor.judging.topic_judges" in modules and "__main__" not in modules


def test_only_what_is_made_of_spoor_alone_is_copied_by_a_fork() -> None:
    """Another library may have threads, which a fork would not copy."""
    judge = registry.judge("keywords:horse")
    assert pack(Reader.of(registry.strategy("learned", judge))).may_fork
    assert not pack(DeadlyJudge()).may_fork


def test_one_process_alone_asks_for_no_modules(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    typed_in = lambda judge: made(judge)  # noqa: E731
    typed_in.__module__ = "typed_in"
    register_strategy("far")(typed_in)
    workers(1).shutdown()
    assert caplog.messages == []
    workers(2).shutdown()
    (line,) = caplog.messages
    assert line.startswith(
        "strategies are run in this process, one after another: worker processes cannot import 'typed_in'"
    )


# The example


def test_the_example_is_installed_passes_its_tests_and_runs_simulated_and_live(tmp_path: Path) -> None:
    python = fresh_environment(tmp_path / "fresh")
    shutil.copytree(EXAMPLE, tmp_path / "example")
    install = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*install, "--disable-pip-version-check", str(tmp_path / "example")], check=True)
    (tmp_path / "example" / "spoor_example.py").unlink()
    its_own = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path / "example")]
    subprocess.run(its_own, check=True, env={**os.environ, "PYTHONPATH": ""})
    simulated, crawled = crawl_twice([python, "-c", SCRIPT], SIMULATED, tmp_path).split("40 pages in ")
    assert "anchor-mentions:word=telescope" in simulated
    assert " 0 failures" in crawled


def fresh_environment(folder: Path) -> str:
    """A virtual environment that sees what is installed here, spoor included, so that nothing has to be downloaded."""
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "seen.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT / 'src'}\n")
    return str(folder / "bin" / "python")
