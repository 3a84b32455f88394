"""`spoor web`: make webs and look at them."""

from __future__ import annotations

from spoor.cli import web_build, web_generate, web_info, web_serve
from spoor.cli.command import Commands, add_command

EXAMPLES = """
spoor web build crawl.warc.gz --out my-web
spoor web generate --like thai --pages 30000 --seed 1 --out thai-web
spoor web info thai-web --target relevant
"""


def register(commands: Commands) -> None:
    group = add_command(commands, "web", "make webs for the simulator, and look at them", EXAMPLES)
    kinds = group.add_subparsers(metavar="ACTION", required=True)
    for module in (web_build, web_generate, web_info, web_serve):
        module.register(kinds)
