"""Submitting an action: checked, left in the inbox of the crawl, and done at once where no crawl is running."""

from __future__ import annotations

import getpass
import time
from contextlib import closing
from dataclasses import dataclass, replace

from spoor.actions import Action, AddSeeds, Block, Mark, SlowDown, Unblock, action_of, as_json
from spoor.errors import BadInput
from spoor.events import Steered
from spoor.steering.inbox import Inbox
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.journal import open_to_read
from spoor.store.steered import steered_by
from spoor.urls import host_of, normalise

PATIENCE = 0.1
"""Seconds between two looks at what became of an action."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a submission so far; `done` None: a crawl is running, and will see it in about a second, or it
    will be done when the crawl is started next."""

    id: str
    done: Steered | None


def submit(folder: CrawlFolder, action: Action, who: str = "") -> Receipt:
    """Leaves an action for the crawl that runs in the folder, in this process or another; does it at once if none does.
    BadInput, in one line, for what cannot be done. `who` is the user of this process unless another is named."""
    submission = Inbox(folder.inbox).leave(_normalised(action), who or user())
    return Receipt(submission.id, outcome(folder, submission.id))


def outcome(folder: CrawlFolder, submission: str) -> Steered | None:
    """What became of a submission, by its id; None: nothing yet."""
    with closing(open_to_read(folder.database)) as db:
        return steered_by(db, submission)


def wait_for(folder: CrawlFolder, receipt: Receipt, seconds: float) -> Receipt:
    """Until the action is done or refused, or so many seconds are over."""
    until = time.monotonic() + seconds
    while receipt.done is None and time.monotonic() < until:
        time.sleep(PATIENCE)
        receipt = replace(receipt, done=outcome(folder, receipt.id))
    return receipt


def user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "somebody"


def _normalised(action: Action) -> Action:
    """With URLs and hosts in the spelling that crawls use."""
    action = action_of(as_json(action))
    match action:
        case AddSeeds(urls):
            return AddSeeds(tuple(dict.fromkeys(map(_url, urls))))
        case Mark(url, relevant):
            return Mark(_url(url), relevant)
        case SlowDown(host, seconds):
            return SlowDown(_host(host), seconds)
        case Block(pattern):
            return Block(pattern.strip().lower() if "/" not in pattern else pattern.strip())
        case Unblock(pattern):
            return Unblock(pattern.strip().lower() if "/" not in pattern else pattern.strip())
    return action


def _url(text: str) -> str:
    url = normalise(text.strip())
    if url is None:
        raise BadInput(f"{text[:200]!r} is not an http or https URL, such as https://example.org/about")
    return url


def _host(text: str) -> str:
    url = normalise(f"http://{text.strip()}/")
    if url is None or url != f"http://{host_of(url)}/":
        raise BadInput(f"{text[:200]!r} is not the name of a host, such as www.example.org")
    return host_of(url)
