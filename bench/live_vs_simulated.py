"""Does a live crawl find what the clocked simulation finds? Six rows of the contest, each crawled through `spoor web
serve` under field conditions that are sped up, and simulated with the same figures, seeds, budget and judge."""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from bench.signs import DATA
from spoor import config
from spoor.cli.contest_webs import build_webs
from spoor.cli.tables import print_table
from spoor.config import Config, Crawling, Politeness, Target
from spoor.contest.rows import Row, chosen, read_rows
from spoor.course import Course, Task, read_seeds
from spoor.store.journal import open_to_read

ROWS = (
    "webkb/class=faculty/hub",
    "webkb/class=student/relevant",
    "openoffice/lang=de/hub",
    "openoffice/lang=de/relevant",
    "weblogs/lang=ko/hub",
    "weblogs/lang=ko/relevant",
)
REST, LATENCY, BANDWIDTH, FAILURES, CONNECTIONS = 1.0, 0.2, 500_000.0, 0.02, 64
"""Field conditions."""
COLUMNS = (
    "row",
    "budget",
    "live",
    "simulated",
    "difference",
    "failed live",
    "failed simulated",
    "s live",
    "s simulated",
)


@dataclass(frozen=True)
class Found:
    """What a crawl came to: relevant pages by the labels of the web, the share of visits that brought no page, seconds.
    `failed` is None when nobody told."""

    relevant: float
    failed: float | None
    seconds: float


@dataclass(frozen=True)
class Trial:
    """One row, sped up: hosts are `speed` times as fast as in the field, and so is the crawl. `seed` draws their speeds
    and failures."""

    row: Row
    course: Course
    strategy: str
    budget: int
    speed: float
    seed: int
    folder: Path

    @property
    def network(self) -> list[str]:
        """The conditions as options."""
        rest, latency, bandwidth = REST / self.speed, LATENCY / self.speed, BANDWIDTH * self.speed
        figures = {
            "rest": rest,
            "latency": latency,
            "bandwidth": bandwidth,
            "failures": FAILURES,
            "clock-seed": self.seed,
        }
        return [word for name, figure in figures.items() for word in (f"--{name}", f"{figure:g}")]

    def settings(self, proxy: str) -> Config:
        crawling = Crawling(
            seeds=read_seeds(self.row.seeds),
            strategy=self.strategy,
            max_pages=self.budget,
            connections=CONNECTIONS,
            proxy=proxy,
        )
        return Config(self._target(), crawling, politeness=Politeness(rest=REST / self.speed))

    def _target(self) -> Target:
        """A judge that both can ask: the language, or a pattern that only URLs with the label match."""
        if self.row.language:
            return Target(language=self.row.language)
        web = self.course.web
        relevant = [re.escape(web.urls[int(number)]) for number in self.course.wanted.nonzero()[0]]
        return Target(pattern=f"^(?:{'|'.join(relevant)})$")

    def live(self) -> Found:
        with served(self.course.web.folder, self.network) as proxy:
            settings = self.folder / "crawl.toml"
            settings.write_text(config.dumps(self.settings(proxy)), "utf8")
            spoor("crawl", str(settings), "--out", str(self.folder / "live"))
        with contextlib.closing(open_to_read(self.folder / "live" / "crawl.db")) as db:
            found = [url for (url,) in db.execute("SELECT url FROM pages")]
            ((without,),) = db.execute("SELECT count(*) FROM events WHERE kind != 'refused' AND number IS NOT NULL")
            ((seconds,),) = db.execute("SELECT max(ended) - min(started) FROM pages")
        world = self.course.world(with_content=False)
        return Found(sum(map(world.truth, found)), without / (len(found) + without), seconds)

    def simulated(self) -> Found:
        result = self.folder / "simulated.json"
        asked = [
            "--target",
            self.row.target,
            "--seeds",
            str(self.row.seeds),
            "--judge",
            str(self.folder / "crawl.toml"),
        ]
        budget = ["--budget", str(self.budget), "--strategy", self.strategy, "--json", str(result)]
        clock = ["--unrecorded", "fail", "--clock", "--connections", str(CONNECTIONS), *self.network]
        spoor("simulate", str(self.course.web.folder), *asked, *budget, *clock)
        told = json.loads(result.read_text("utf8"))
        return Found(told["found"], told.get("failed"), told["clock"]["elapsed"])


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench live-vs-simulated", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/contest"), metavar="DIR", help="where webs/ is or goes")
    parser.add_argument("--rows", default=",".join(ROWS), metavar="A,B", help="rows of the contest (six of three webs)")
    parser.add_argument("--strategy", default="learned", metavar="S", help="a name from `spoor strategies` (learned)")
    parser.add_argument("--budget", type=int, default=300, metavar="N", help="visits at most (300)")
    parser.add_argument("--speed", type=float, default=10.0, metavar="X", help="times as fast as in the field (10)")
    parser.add_argument("--rounds", type=int, default=1, metavar="K", help="the mean of K is printed (1)")
    arguments = parser.parse_args(options)
    if not (DATA / "contest").is_dir():
        print(f"live-vs-simulated: no contest in {DATA}; set SPOOR_DATA to the folder that has it")
        return
    rows = chosen(read_rows(DATA), arguments.rows.split(","))
    build_webs([row.web for row in rows], arguments.out / "webs", 2)
    title = (
        f"{arguments.strategy}, relevant pages found live and simulated, {arguments.speed:g} times as fast as the field"
    )
    print_table(COLUMNS, [compared(row, arguments) for row in rows], title)


def compared(row: Row, arguments: argparse.Namespace) -> list[str]:
    course = Course(Task(arguments.out / "webs" / row.web.name, row.target, read_seeds(row.seeds)))
    budget = min(course.yardstick.budget, arguments.budget)
    both = []
    for seed in range(arguments.rounds):
        with tempfile.TemporaryDirectory() as folder:
            trial = Trial(row, course, arguments.strategy, budget, arguments.speed, seed, Path(folder))
            both.append((trial.live(), trial.simulated()))
    live, simulated = map(average, zip(*both, strict=True))
    difference = (live.relevant - simulated.relevant) / max(1, simulated.relevant)
    return [
        row.name,
        str(budget),
        f"{live.relevant:.0f}",
        f"{simulated.relevant:.0f}",
        f"{difference:+.1%}",
        *("" if one.failed is None else f"{one.failed:.0%}" for one in (live, simulated)),
        *(f"{one.seconds:.1f}" for one in (live, simulated)),
    ]


def average(rounds: Sequence[Found]) -> Found:
    failed = [one.failed for one in rounds if one.failed is not None]
    relevant, seconds = mean(one.relevant for one in rounds), mean(one.seconds for one in rounds)
    return Found(relevant, mean(failed) if failed else None, seconds)


def spoor(*words: str) -> None:
    done = subprocess.run([sys.executable, "-m", "spoor", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"spoor {words[0]} failed: {done.stderr.strip()}")


@contextlib.contextmanager
def served(web: Path, network: Sequence[str]) -> Iterator[str]:
    """The proxy, in a process of its own."""
    command = [sys.executable, "-m", "spoor", "web", "serve", str(web), "--port", "0", "--conditions", "field"]
    with subprocess.Popen([*command, *network], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().split("proxy ")[1].split(";")[0]
        finally:
            server.terminate()
