"""A running crawl looks into its inbox about once a second, and does what persons ask for."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from spoor import settings as config
from spoor.actions import Action, Budget, Stop, Submission
from spoor.crawl import Crawl
from spoor.errors import OF_STORAGE
from spoor.events import Event, Steered
from spoor.settings import Config
from spoor.steering.checking import with_action
from spoor.steering.inbox import Inbox
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.steered import steered_by

LOOK = 1.0
"""Seconds between two looks."""
_log = logging.getLogger(__name__)


@dataclass
class Heeding:
    """Each action is done in one transaction with its event; then its file is removed. One that is in the database
    already, because the process was killed in between, is only removed. `settings` are written anew where an action
    changes what holds at the next start."""

    folder: CrawlFolder
    db: sqlite3.Connection
    settings: Config
    crawl: Crawl
    clock: Callable[[], float]

    def heed(self) -> list[Event]:
        """What has happened by that."""
        inbox, events = Inbox(self.folder.inbox), list[Event]()
        for submission in inbox.waiting():
            try:
                events += self._do(submission)
                inbox.remove(submission)
            except OF_STORAGE:
                raise
            except Exception as error:
                _log.exception("an action could not be done: %s", submission)
                inbox.set_aside(submission, f"{type(error).__name__}: {error}")
        return events

    def _do(self, submission: Submission) -> list[Event]:
        done, events = steered_by(self.db, submission.id), list[Event]()
        if done is None:
            events = self.crawl.steer(submission, self.clock())
            done = next(e for e in events if isinstance(e, Steered) and e.id == submission.id)
        if not done.refused:
            self._write_settings(submission.action)
        return events

    def _write_settings(self, action: Action) -> None:
        changed = with_action(self.settings, action)
        if changed != self.settings:
            self.settings = changed
            self.folder.write_settings(config.dumps(changed))


def stopped_by(events: list[Event]) -> str:
    """Who stopped the crawl; "" when nobody did."""
    return next((e.who for e in events if isinstance(e, Steered) and isinstance(e.action, Stop) and not e.refused), "")


def minutes_in(events: list[Event]) -> float | None:
    """The last budget of time that somebody asked for."""
    asked = [e.action for e in events if isinstance(e, Steered) and isinstance(e.action, Budget) and not e.refused]
    return next((budget.max_minutes for budget in reversed(asked) if budget.max_minutes is not None), None)
