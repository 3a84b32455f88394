"""`python -m tests.fuzz [TARGET …] [--inputs N]`: feeds every target, and keeps what it choked on."""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

from tests.fuzz.mutation import Mutator
from tests.fuzz.targets import TARGETS

INPUTS = 20_000
LONGEST = 5.0
"""Seconds for one input; whoever takes longer is stopped."""
MEMORY = 4_000_000_000
MOST_FINDINGS = 20
"""Of one target; then it is given up."""
SHOWN = 500
"""Inputs between two signs of life."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz",
        description=__doc__,
        epilog="example: python -m tests.fuzz html robots --inputs 1000000 --seed 7",
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)} (all of them)")
    parser.add_argument("--inputs", type=int, default=INPUTS, metavar="N", help=f"for each target ({INPUTS:,})")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="other inputs for another seed (1)")
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"), metavar="FOLDER", help="for findings (out/fuzz)")
    parser.add_argument("--here", action="store_true", help="in this process, which a crash would end")
    asked = parser.parse_args()
    if unknown := set(asked.targets) - TARGETS.keys():
        parser.error(f"no target is called {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    names = asked.targets or list(TARGETS)
    asked.out.mkdir(parents=True, exist_ok=True)
    feed = _feed if asked.here else _feed_apart
    return int(sum([feed(name, asked.inputs, asked.seed, asked.out) for name in names]) > 0)


def _feed_apart(name: str, inputs: int, seed: int, out: Path) -> int:
    """The number of findings. What a process died of is one of them."""
    command = [sys.executable, "-m", "tests.fuzz", name, "--here", "--inputs", str(inputs), "--seed", str(seed)]
    code = subprocess.run([*command, "--out", str(out)], check=False).returncode
    if code < 0:
        kept = _current(out, name).rename(out / f"{name}-{signal.Signals(-code).name}")
        print(f"{name}: {signal.strsignal(-code)}; the input is in {kept}")
    return code != 0


def _feed(name: str, inputs: int, seed: int, out: Path) -> int:
    target = TARGETS[name]
    mutator = Mutator(seed, target.corpus, target.signs)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    findings, slowest, began = 0, 0.0, time.monotonic()
    with _current(out, name).open("wb", buffering=0) as current:
        for number in range(inputs):
            given = mutator.input()
            os.pwrite(current.fileno(), given, 0)
            os.ftruncate(current.fileno(), len(given))
            signal.setitimer(signal.ITIMER_REAL, LONGEST)
            started = time.process_time()
            findings += _finds(name, given, out)
            slowest = max(slowest, time.process_time() - started)
            if number % SHOWN == 0:
                _show(name, number, findings, slowest, time.monotonic() - began, end="\r")
            if findings >= MOST_FINDINGS:
                break
    signal.setitimer(signal.ITIMER_REAL, 0)
    _show(name, number + 1, findings, slowest, time.monotonic() - began, end="\n")
    _current(out, name).unlink()
    return findings


def _finds(name: str, given: bytes, out: Path) -> bool:
    try:
        TARGETS[name].check(given)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        kept = out / f"{name}-{hashlib.sha256(given).hexdigest()[:12]}"
        kept.write_bytes(given)
        where = f"{Path(place.filename).name}:{place.lineno}"
        print(f"{name}: {type(error).__name__} at {where}: {str(error)[:200]!r}; the input is in {kept}")
        return True
    return False


def _current(out: Path, name: str) -> Path:
    return out / f"{name}-current"


def _show(name: str, inputs: int, findings: int, slowest: float, seconds: float, end: str) -> None:
    told = f"{name:<10}{inputs:>10,} inputs {seconds:>6.0f} s, slowest {1000 * slowest:>6.0f} ms, {findings} findings"
    print(told, end=end, flush=True)


if __name__ == "__main__":
    sys.exit(main())
