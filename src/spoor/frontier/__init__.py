"""What is waiting, what is in transit, who is resting."""

from spoor.frontier.entry import Entry, State
from spoor.frontier.frontier import Frontier
from spoor.frontier.host import HostRules
from spoor.frontier.memory import MemoryStore
from spoor.frontier.sqlite import SqliteStore

__all__ = ["Entry", "Frontier", "HostRules", "MemoryStore", "SqliteStore", "State"]
