"""What stands around a link, compared with an ontology; and what the class of its page lets one expect.

    ontology = scale · OBRS(heading, left, anchor, right)        rules = LARS(class of the page)

Links are visited by the first; both together say whether they are visited at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.errors import UsageError
from spoor.ontology.finder import DIGITS, Finder
from spoor.ontology.look_ahead import LookAhead
from spoor.ontology.transcriber import Transcriber
from spoor.records import Evidence, Hints, Link, Page, Sighting
from spoor.roles import Merge


@dataclass(frozen=True)
class ContextOntology:
    """Without `look_ahead` the rules say nothing, 0. With a `transcriber` contexts and pages are transcribed before
    anything looks at them."""

    finder: Finder
    look_ahead: LookAhead | None = None
    transcriber: Transcriber | None = None
    scale: float = 10.0

    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {"ontology": max, "rules": max}

    def __post_init__(self) -> None:
        if not self.scale > 0:
            raise UsageError(f"obrs_scale={self.scale:g} makes every link the same; give more than 0")

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        """Both scores. A heading stands over many links; it is read once."""
        rules = self._rules(page)
        texts = dict.fromkeys(text for link in links for text in _context(link))
        obrs = {text: self.finder.score(self._read(text)) for text in texts}
        return [(round(self.scale * sum(obrs[text] for text in _context(link)), DIGITS), rules) for link in links]

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"ontology": ontology, "rules": rules} for ontology, rules in (link.hints for link in links)]

    def key(self, evidence: Evidence) -> float:
        return evidence["ontology"]

    def _rules(self, page: Page) -> float:
        if self.look_ahead is None:
            return 0.0
        return self.look_ahead.score(self._read(f"{page.title}\n{page.main_text or page.text}"))

    def _read(self, text: str) -> str:
        return text if self.transcriber is None else self.transcriber.transcribe(text)


def _context(link: Link) -> tuple[str, str]:
    """The heading above, and the words around and in the link, which are one piece of text."""
    return link.heading, f"{link.left} {link.anchor} {link.right}"
