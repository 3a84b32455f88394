"""Imported before processes are forked: loads the machine code with which a crawl reads pages and learns from them.

To load it takes each process longer than the small crawls of the tests do."""

from __future__ import annotations

import gc

from spoor import registry
from spoor.lab.worlds import WrittenWorld
from spoor.parse.demanding import demanding
from spoor.parse.html import read_page
from spoor.parse.simhash import text_fingerprint
from tests.machine_code import PAGE, WORDS
from tests.tiny import events_of, url

demanding(PAGE.encode())
text_fingerprint(WORDS)
_home = read_page(url("S"), PAGE.encode(), "text/html")
_judge = registry.judge("language:th")
events_of(WrittenWorld({_home.url: _home}, set()), registry.strategy("learned", _judge), ["S"])
gc.freeze()
