"""`spoor web serve`: a recorded web as an HTTP proxy on this machine."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from spoor.cli.command import Commands, add_command
from spoor.cli.conditions_options import check_conditions
from spoor.errors import BadInput, UsageError
from spoor.webs.network import FIELD, Conditions
from spoor.webs.web import Web

EXAMPLES = """
spoor web serve my-web --port 8080
curl --proxy http://127.0.0.1:8080 http://recorded.example/
spoor web serve my-web --conditions field --rest 0.1 --latency 0.02
spoor web serve my-web --log requests.tsv
"""

DRAWN = {
    "latency": "latency",
    "bandwidth": "bandwidth",
    "rest": "rest",
    "failures": "failures",
    "retry_after": "retry_after",
    "clock_seed": "seed",
}
"""Options that change field conditions, and the fields that they set."""


def register(kinds: Commands) -> None:
    parser = add_command(
        kinds, "serve", "answer for every host of a web, as an HTTP proxy on this machine", EXAMPLES, run
    )
    parser.add_argument(
        "web", type=Path, metavar="WEB", help="folder made by `spoor web build` or `spoor web generate`"
    )
    parser.add_argument("--port", type=int, default=8080, metavar="P", help="(8080; 0 takes a free one)")
    parser.add_argument(
        "--conditions",
        choices=("lab", "field"),
        default="lab",
        help="lab: every answer comes at once; field: hosts take time, fail and ask for a crawl delay, "
        "as in a simulation under field conditions (lab)",
    )
    parser.add_argument(
        "--log",
        type=Path,
        metavar="FILE",
        help="append a line for every request: when it came (seconds since 1970), seconds that the answer took, "
        "status, URL",
    )
    field = parser.add_argument_group("field conditions, as of `spoor simulate`")
    field.add_argument("--rest", type=float, metavar="S", help="crawl delay in seconds that hosts ask for (1)")
    field.add_argument("--latency", type=float, metavar="S", help="seconds, median over hosts (0.2)")
    field.add_argument("--bandwidth", type=float, metavar="B", help="bytes/s, median over hosts (500000)")
    field.add_argument("--failures", type=float, metavar="P", help="share of requests that time out (0.02)")
    field.add_argument(
        "--retry-after", type=int, metavar="S", help="seconds to wait after one that timed out, as hosts say (60)"
    )
    field.add_argument("--clock-seed", type=int, metavar="K", help="draws speeds, delays and failures (0)")


def run(arguments: argparse.Namespace) -> int:
    web, conditions = Web.open(arguments.web), _conditions(arguments)
    with _opened(arguments.log) as log:
        asyncio.run(_serve(web, arguments.port, conditions, log))
    return 0


def _opened(log: Path | None) -> contextlib.AbstractContextManager[TextIO | None]:
    """Line by line, so that nothing is missing from it however the server ends."""
    if log is None:
        return contextlib.nullcontext()
    try:
        return log.open("a", buffering=1, encoding="utf8")
    except OSError as error:
        raise BadInput(f"cannot write {log}: {error.strerror}; give another --log") from None


def _conditions(arguments: argparse.Namespace) -> Conditions | None:
    """None: every answer comes at once."""
    given = {name: getattr(arguments, name) for name in DRAWN if getattr(arguments, name) is not None}
    if arguments.conditions == "lab":
        if given:
            option = f"--{next(iter(given)).replace('_', '-')}"
            raise UsageError(f"{option} has no effect under lab conditions; add --conditions field")
        return None
    check_conditions({name.replace("_", "-"): value for name, value in given.items() if name != "clock_seed"})
    return replace(FIELD, **{DRAWN[name]: value for name, value in given.items()})


async def _serve(web: Web, port: int, conditions: Conditions | None, log: TextIO | None) -> None:
    from aiohttp.web import Server, ServerRunner, TCPSite

    from spoor.webs.serve import WebServer

    runner = ServerRunner(Server(WebServer(web, conditions, log).answer))
    await runner.setup()
    try:
        await TCPSite(runner, "127.0.0.1", port).start()
    except OSError as error:
        raise BadInput(f"cannot listen on port {port}: {error.strerror or error}; give another --port") from None
    host, bound, *_ = runner.addresses[0]
    under = " under field conditions" if conditions else ""
    print(f"{web.name} is served{under} by the proxy http://{host}:{bound}; stop it with Ctrl-C", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()
