"""`spoor pause`, `unpause`, `stop`, `budget`, `add-seeds`, `block`, `unblock`, `slow` and `mark`: steer a crawl."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from spoor import actions
from spoor.actions import Action, action_of, as_json, described
from spoor.cli.options.crawl_actions import MARKS
from spoor.cli.terminal import print_json, say
from spoor.errors import BadInput
from spoor.report.showing import plain
from spoor.steering.checking import normalised
from spoor.steering.submitting import Receipt, recipients, submit, wait_for
from spoor.store.crawl_folder import CrawlFolder, open_for_reading

PATIENCE = 15.0
"""Seconds to wait for a running crawl to apply the action: it may be busy with a long step."""

ACTIONS: dict[str, Callable[[argparse.Namespace], Action]] = {
    "pause": lambda _: actions.Pause(),
    "unpause": lambda _: actions.Unpause(),
    "stop": lambda _: actions.Stop(),
    "budget": lambda asked: actions.Budget(asked.max_pages, asked.max_minutes),
    "add-seeds": lambda asked: actions.AddSeeds(tuple(asked.urls)),
    "block": lambda asked: actions.Block(asked.pattern),
    "unblock": lambda asked: actions.Unblock(asked.pattern),
    "slow": lambda asked: actions.SlowDown(asked.host, asked.seconds),
    "mark": lambda asked: actions.Mark(asked.url, MARKS[asked.relevant]),
}
"""The action of each command."""


def run_action(arguments: argparse.Namespace) -> int:
    folder = open_for_reading(arguments.folder)
    action = action_of(as_json(ACTIONS[arguments.asked](arguments)))
    submitted = [(part, own, submit(part, own, arguments.who)) for part, own in recipients(folder, normalised(action))]
    for part, own, receipt in submitted:
        _tell(part, own, wait_for(part, receipt, PATIENCE), arguments.json)
    return 0


def _tell(folder: CrawlFolder, action: Action, receipt: Receipt, as_line: bool) -> None:
    """Prints the outcome; one line for each shard."""
    done = receipt.done
    if done is not None and done.refused:
        raise BadInput(f"{folder.path}: {done.refused}")
    if as_line:
        about = {"folder": str(folder.path), "id": receipt.id, "at": None if done is None else done.at}
        print_json({**about, "done": done is not None, **as_json(action if done is None else done.action)})
        return
    later = "not applied yet: the crawl applies it as soon as it can, or at its next start"
    what = plain(described(action if done is None else done.action), 400)
    say(f"{plain(str(folder.path))}: {what}; {later if done is None else 'done'}")
