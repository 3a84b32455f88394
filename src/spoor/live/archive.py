"""What a live crawl stores besides the frontier: responses, facts about pages, verdicts, duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from spoor.events import Event, Failed, Visited
from spoor.live.sub_resources import SubResource
from spoor.records import Failure, Judged, Outcome, Redirect, Rendering, Response, Trouble
from spoor.roles import Troubles
from spoor.store.duplicates import Duplicates
from spoor.store.journal import Journal, PageFacts
from spoor.store.warc import Kept, WarcWriter, judgement, metadata, not_kept
from spoor.store.warc_records import digest_of


class KnownPayloads(Protocol):
    """The payloads that are in the archive, by digest."""

    def same(self, digest: str) -> Kept | None: ...

    def remember(self, kept: Kept) -> None: ...


@dataclass(frozen=True, slots=True)
class ResponseArchive:
    """Writes responses to WARC files. A payload that is there already is not stored again."""

    keeper: WarcWriter
    known: KnownPayloads

    def keep(self, response: Response) -> Kept:
        digest = digest_of(response.payload)
        earlier = self.known.same(digest) if response.payload else None
        earlier = earlier if earlier is not None and earlier.file else None
        kept = self.keeper.keep(response, digest, earlier)
        if earlier is None:
            self.known.remember(kept)
        return kept

    def keep_relevant(self, response: Response, outcome: Outcome) -> Kept:
        """Stores the response of a relevant page; of another response only its digest, and why it is no page."""
        if isinstance(outcome, Judged) and outcome.verdict.relevant:
            return self.keep(response)
        left = not_kept(response)
        if isinstance(outcome, Judged):
            self.known.remember(left)
        else:
            self.keeper.note(left, response.at, {"status": str(response.status), "because": _reason(outcome)})
        return left


@dataclass(frozen=True, slots=True)
class RenderedDom:
    """The DOM that scripts produced for a page, and the sub-resources that they used."""

    html: str
    used: Sequence[SubResource]


@dataclass
class Archive:
    """What the process with the frontier stores of a page whose response was archived, here or by a worker process.

    `note` is called with the events of each batch and writes the verdicts to the WARC, all at once.
    """

    responses: ResponseArchive
    journal: Journal
    duplicates: Duplicates
    troubles: Troubles
    _kept: dict[str, tuple[Kept, str]] = field(default_factory=dict, init=False)
    """By URL, with the language of the page, until `note`."""

    def describe(self, outcome: Judged, kept: Kept, drawn: RenderedDom | None = None) -> Judged:
        """Passes facts to the journal that the event of the page does not contain. Returns the outcome, with the URL of
        which the page is a duplicate."""
        page = outcome.page
        if page.rendering is not None:
            page = replace(page, rendering=self._archived_dom(kept, page.rendering, drawn))
        fingerprint = None if page.text_fingerprint is None else page.text_fingerprint.fingerprint
        # Pages rendered by scripts often share one payload, although their texts differ.
        is_scripted = page.rendering is not None and page.rendering.gained
        same = None if is_scripted else self.duplicates.same(kept.digest)
        twin = same.url if same is not None and same.url != page.url else ""
        copied = twin or self.duplicates.alike(page.url, fingerprint)
        facts = PageFacts(
            title=page.title,
            language=outcome.language,
            digest=kept.digest,
            simhash=fingerprint,
            duplicate_of=copied,
            warc_file=kept.file,
            warc_offset=kept.offset,
            noindex=page.noindex,
        )
        self.journal.tell(page.url, facts)
        self._kept[page.url] = kept, outcome.language
        if copied != page.duplicate_of:
            page = replace(page, duplicate_of=copied)
        return outcome if page is outcome.page else replace(outcome, page=page)

    def _archived_dom(self, kept: Kept, rendering: Rendering, drawn: RenderedDom | None) -> Rendering:
        """The rendering with the location of its DOM in the archive."""
        if drawn is None or not kept.file:
            return rendering
        keeper = self.responses.keeper
        for used in drawn.used:
            if not used.is_kept:
                keeper.keep(used.response, kind=used.kind)
                used.is_kept = True
        file, offset = keeper.convert(kept, rendering.fetched + rendering.seconds, drawn.html)
        return replace(rendering, file=file, offset=offset)

    def note(self, events: Sequence[Event]) -> None:
        verdicts = []
        for event in events:
            known = self._kept.pop(event.visit.url, None) if isinstance(event, Visited | Failed) else None
            if known is not None and isinstance(event, Visited):
                verdicts.append(self._verdict_record(*known, event))
        if verdicts:
            self.responses.keeper.add(verdicts, events[0].at)

    def _verdict_record(self, kept: Kept, language: str, event: Visited) -> bytes:
        """b"" if an error prevents it."""
        status = {} if kept.file else {"status": str(event.status)}
        try:
            return metadata(kept, event.at, {**status, **judgement(event.visit, event.verdict, language)})
        except Exception as error:
            self.troubles.keep(event.visit.url, "recorded in the archive", error)
            return b""


def _reason(outcome: Outcome) -> str:
    """Why the outcome is not a page."""
    match outcome:
        case Redirect(to=target):
            return f"redirects to {target}"
        case Failure(reason=reason) | Trouble(reason=reason):
            return reason
        case _:
            return ""
