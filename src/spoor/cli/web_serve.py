"""`spoor web serve`: a recorded web as an HTTP proxy on this machine."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from spoor.cli.command import Commands, add_command
from spoor.errors import BadInput
from spoor.webs.web import Web

EXAMPLES = """
spoor web serve my-web --port 8080
curl --proxy http://127.0.0.1:8080 http://recorded.example/
"""


def register(kinds: Commands) -> None:
    parser = add_command(
        kinds, "serve", "answer for every host of a web, as an HTTP proxy on this machine", EXAMPLES, run
    )
    parser.add_argument(
        "web", type=Path, metavar="WEB", help="folder made by `spoor web build` or `spoor web generate`"
    )
    parser.add_argument("--port", type=int, default=8080, metavar="P", help="(8080; 0 takes a free one)")


def run(arguments: argparse.Namespace) -> int:
    asyncio.run(_serve(Web.open(arguments.web), arguments.port))
    return 0


async def _serve(web: Web, port: int) -> None:
    from aiohttp.web import Server, ServerRunner, TCPSite

    from spoor.webs.serve import WebServer

    runner = ServerRunner(Server(WebServer(web).answer))
    await runner.setup()
    try:
        await TCPSite(runner, "127.0.0.1", port).start()
    except OSError as error:
        raise BadInput(f"cannot listen on port {port}: {error.strerror or error}; give another --port") from None
    host, bound, *_ = runner.addresses[0]
    print(f"{web.name} is served by the proxy http://{host}:{bound}; stop it with Ctrl-C", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()
