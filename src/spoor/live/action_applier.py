"""Applies the actions of persons to a running crawl: checks its inbox about once a second."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field

from spoor import settings as config
from spoor.actions import Action, Budget, Mark, Stop, Submission
from spoor.crawl import Crawl
from spoor.errors import OF_STORAGE
from spoor.events import Event, Steered
from spoor.records import Verdict
from spoor.settings import Config
from spoor.steering.checking import with_action
from spoor.steering.inbox import Inbox
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.steered import steered_by
from spoor.store.verdicts import verdict_that_holds
from spoor.teaching.lessons import revised_lessons

POLL_INTERVAL = 1.0
"""Seconds between two checks of the inbox."""
_log = logging.getLogger(__name__)


@dataclass
class ActionApplier:
    """Applies each action in one transaction with its event, then removes its file. If the process was killed in
    between, the action is already in the database and only its file is removed. `settings` are rewritten if an action
    changes what applies at the next start. Once persons gave other verdicts, the strategy learns anew, and
    `on_verdicts` is called."""

    folder: CrawlFolder
    db: sqlite3.Connection
    settings: Config
    crawl: Crawl
    clock: Callable[[], float]
    on_verdicts: Callable[[], None] = field(default=lambda: None)

    def apply_actions(self) -> list[Event]:
        """Applies the waiting actions and returns the events that resulted."""
        inbox, events, marked = Inbox(self.folder.inbox), list[Event](), dict[str, Verdict]()
        for submission in inbox.waiting():
            try:
                events += self._do(submission)
                inbox.remove(submission)
            except OF_STORAGE:
                raise
            except Exception as error:
                _log.exception("an action could not be done: %s", submission)
                inbox.set_aside(submission, f"{type(error).__name__}: {error}")
        for event in events:
            if isinstance(event, Steered) and isinstance(event.action, Mark) and not event.refused:
                said = verdict_that_holds(self.db, event.action.url)
                marked |= {event.action.url: said} if said is not None else {}
        if marked:
            self._learn_anew(marked)
        return events

    def _learn_anew(self, marked: dict[str, Verdict]) -> None:
        """From all visits with the verdicts that hold now, once for all that was said since the last look."""
        lessons = (lesson for _, lesson in revised_lessons(self.db, self.crawl.strategy))
        self.crawl.revise(self.crawl.strategy.judge, marked, lessons)
        self.on_verdicts()

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
    """Who stopped the crawl; "" if no action did."""
    return next((e.who for e in events if isinstance(e, Steered) and isinstance(e.action, Stop) and not e.refused), "")


def minutes_in(events: list[Event]) -> float | None:
    """The last time budget that was requested, in minutes; None if there was none."""
    asked = [e.action for e in events if isinstance(e, Steered) and isinstance(e.action, Budget) and not e.refused]
    return next((budget.max_minutes for budget in reversed(asked) if budget.max_minutes is not None), None)
