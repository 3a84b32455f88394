"""`spoor trust`: list and allow what the crawl in a folder may use on this machine."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import asdict

from spoor import registry
from spoor.cli.terminal import print_json, say
from spoor.errors import BadInput
from spoor.report.showing import plain
from spoor.store.crawl_folder import CrawlFolder
from spoor.trust import TrustFile, permissions_in


def run_trust(arguments: argparse.Namespace) -> int:
    folder, trusted = CrawlFolder(arguments.folder), TrustFile.of(os.environ)
    text = folder.settings()
    if text is None:
        raise BadInput(f"{folder.path} has no crawl.toml; give the folder of a crawl")
    asked = [(one, trusted.allows(one)) for one in permissions_in(registry.loads(text, folder.path))]
    new = [one for one, is_allowed in asked if not is_allowed]
    if not arguments.json:
        for one, is_allowed in asked:
            print(plain(str(one), 4000) + (" (allowed before)" if is_allowed else ""))
    may = bool(new) and not arguments.list and (arguments.json or _confirmed())
    if may:
        trusted.allow(new)
    if arguments.json:
        listed = [{**asdict(one), "allowed": is_allowed or may} for one, is_allowed in asked]
        print_json({"folder": str(folder.path), "file": str(trusted.path), "permissions": listed})
    elif not new:
        say(f"{folder.path} asks for nothing that is not allowed; `spoor crawl --out {folder.path}` resumes it")
    elif may:
        say(f"allowed, and recorded in {trusted.path}")
    else:
        say("nothing was allowed")
    return 0


def _confirmed() -> bool:
    """A person at a terminal is asked; a script has said what it wants by the command."""
    if not sys.stdin.isatty():
        return True
    try:
        return input("allow this to every crawl on this machine? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
