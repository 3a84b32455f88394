"""Translates texts by a server, each piece once; and builds the translator that the settings name."""

from __future__ import annotations

import logging
import os
import re
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import ClassVar

from spoor.errors import UsageError
from spoor.fetch.translation import Endpoint
from spoor.judging.detector import cld2_shares
from spoor.judging.dictionary import Transcriber, read_dictionary, script_of
from spoor.parse.words import STOP_WORDS
from spoor.records import Failure
from spoor.roles import Translator
from spoor.server_settings import TranslateSettings
from spoor.settings import translate_in
from spoor.store.translations import Translations

LONGEST_PIECE = 1_000
"""Characters translated at once; longer lines are split between words."""
LONGEST_TEXT = 20_000
"""Characters of a text that are translated; the rest stays unchanged."""
MOST_REMEMBERED = 5_000
"""Cached pieces in memory."""
PAUSE = 30.0
"""Seconds without requests after the server failed, so that a failing server does not delay every page."""
_PIECE = re.compile(rf"\S.{{0,{LONGEST_PIECE - 2}}}\S(?=\s|$)|\S{{1,{LONGEST_PIECE}}}")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ServerTranslator:
    """Texts that the server does not translate in time are used untranslated, with a count and one warning for each
    reason. Pieces of text are cached, in memory and, with `kept`, in the folder of the crawl. Pieces without letters,
    and pieces in the target language and a single script, are not sent."""

    endpoint: Endpoint
    kept: Translations | None = field(default=None, repr=False, compare=False)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False, compare=False)
    _known: OrderedDict[bytes, str] = field(default_factory=OrderedDict, init=False, repr=False, compare=False)
    _pausing: list[tuple[float, str]] = field(default_factory=list, init=False, repr=False, compare=False)
    _said: set[str] = field(default_factory=set, init=False, repr=False, compare=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    waits: ClassVar[bool] = True

    def __reduce__(self) -> tuple[type[ServerTranslator], tuple[object, ...]]:
        """Pickled for a worker without its cache."""
        return ServerTranslator, (self.endpoint, self.kept, self.clock)

    def translate(self, texts: Sequence[str]) -> list[str]:
        lines = {text: [_pieces(line) for line in text[:LONGEST_TEXT].split("\n")] for text in dict.fromkeys(texts)}
        pieces = dict.fromkeys(piece for cut in lines.values() for line in cut for piece in line)
        meant = self._translated([piece for piece in pieces if _is_foreign(piece, self.endpoint.target)])
        said = {
            text: "\n".join(" ".join(meant.get(piece, piece) for piece in line) for line in cut) + text[LONGEST_TEXT:]
            for text, cut in lines.items()
        }
        return [said[text] for text in texts]

    def _translated(self, pieces: list[str]) -> dict[str, str]:
        """The pieces that could be translated."""
        digests = {piece: self._digest(piece) for piece in pieces}
        known = self._remembered(list(digests.values()))
        unknown = [piece for piece in pieces if digests[piece] not in known]
        if unknown:
            new = {digests[piece]: meant for piece, meant in self._asked(unknown).items()}
            self._remember(new, kept=True)
            known |= new
        return {piece: known[digest] for piece, digest in digests.items() if digest in known}

    def _asked(self, pieces: list[str]) -> dict[str, str]:
        if self._pausing and self.clock() < self._pausing[0][0]:
            self._count(Counter({self._pausing[0][1]: len(pieces)}))
            return {}
        answers = dict(zip(pieces, self.endpoint.translated(pieces), strict=True))
        reasons = Counter(answer.reason for answer in answers.values() if isinstance(answer, Failure))
        self._count(reasons)
        self._pausing[:] = [(self.clock() + PAUSE, next(iter(reasons)))] if reasons.total() == len(pieces) else []
        return {piece: answer for piece, answer in answers.items() if isinstance(answer, str)}

    def _count(self, reasons: Counter[str]) -> None:
        for reason, texts in reasons.items():
            is_first = self.kept.count(reason, texts) if self.kept is not None else True
            if is_first and reason not in self._said:
                _log.warning("the translator %s %s; texts are used untranslated", self.endpoint.url, reason)
            self._said.add(reason)

    def _digest(self, piece: str) -> bytes:
        asked = self.endpoint
        written = "\0".join((asked.url, asked.source, asked.target, piece)).encode("utf8", "surrogatepass")
        return blake2b(written, digest_size=16).digest()

    def _remembered(self, digests: list[bytes]) -> dict[bytes, str]:
        with self._lock:
            known = {digest: self._known[digest] for digest in digests if digest in self._known}
        missing = [digest for digest in digests if digest not in known]
        if missing and self.kept is not None:
            found = self.kept.known(missing)
            self._remember(found)
            known |= found
        return known

    def _remember(self, translations: dict[bytes, str], kept: bool = False) -> None:
        with self._lock:
            self._known.update(translations)
            while len(self._known) > MOST_REMEMBERED:
                self._known.popitem(last=False)
        if kept and translations and self.kept is not None:
            self.kept.keep(translations)


def _pieces(line: str) -> list[str]:
    return [line] if len(line) <= LONGEST_PIECE else _PIECE.findall(line)


def _is_foreign(piece: str, target: str) -> bool:
    """Whether there may be something to translate; one word in another script is enough."""
    scripts = {script for letter in set(piece) if (script := script_of(letter))}
    return bool(scripts) and (len(scripts) > 1 or set(cld2_shares(piece)) != {target})


# Builds the translator from settings or a name.


def transcriber_of(file: str, language: str = "") -> Transcriber:
    """If `language`, that of the terms, is given, inflected forms are found by their stems."""
    return Transcriber(read_dictionary(Path(file)), _foreign_stop_words(), language=language)


@cache
def _foreign_stop_words() -> frozenset[str]:
    """Stop words in scripts other than Latin: a dictionary does not name its language, but its script is known. Latin
    stop words of one language are words of another, such as the German `die`."""
    words = (word for listed in STOP_WORDS.values() for word in listed.split())
    return frozenset(word for word in words if script_of(word[0]) != "latin")


def translator_of(asked: TranslateSettings, kept: Translations | None = None) -> Translator | None:
    """None if nothing is translated. `kept` stores the translations of a server."""
    if asked.endpoint and asked.dictionary:
        raise UsageError("[translate] names an endpoint and a dictionary; leave one of them out")
    if asked.dictionary:
        return transcriber_of(asked.dictionary, asked.from_language)
    if not asked.endpoint:
        return None
    if asked.key_variable and not os.environ.get(asked.key_variable):
        raise UsageError(f"[translate] key_variable: the environment variable {asked.key_variable} is not set")
    source, target = asked.from_language or "auto", asked.into_language
    server = Endpoint(asked.endpoint, source, target, asked.answer_seconds, asked.key_variable)
    return ServerTranslator(server, kept)


def translator_named(dictionary: str, translator: str) -> Translator | None:
    """From a parameter of a strategy or judge: a dictionary, or a TOML file with a section [translate]."""
    if not translator:
        return transcriber_of(dictionary) if dictionary else None
    if dictionary:
        raise UsageError(f"dictionary={dictionary} and translator={translator} are given; leave one of them out")
    made = translator_of(translate_in(Path(translator)))
    if made is None:
        raise UsageError(f"{translator} has no section [translate] with an endpoint or a dictionary")
    return made
