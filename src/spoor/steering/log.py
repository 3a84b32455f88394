"""Where it is written down what persons asked for: journal, list of actions and marks, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spoor.events import Event
from spoor.frontier.sqlite import SqliteStore
from spoor.store.journal import Journal
from spoor.store.marks import Marks
from spoor.store.steered import SteeredActions


@dataclass(frozen=True, slots=True)
class SteeringLog:
    """A journal that also keeps the actions and marks among the events."""

    journal: Journal
    actions: SteeredActions
    marks: Marks

    @staticmethod
    def create(store: SqliteStore, journal: Journal) -> SteeringLog:
        """`journal` is written in every commit of the store already."""
        log = SteeringLog(journal, SteeredActions.create(store.connection), Marks.create(store.connection))
        store.write_along(log.actions.write)
        store.write_along(log.marks.write)
        return log

    def note(self, events: Sequence[Event]) -> None:
        self.journal.note(events)
        self.actions.note(events)
        self.marks.note(events)
