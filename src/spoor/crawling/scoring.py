"""The priority of a link: computed from its evidence when the link is found and whenever it gains evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from spoor.crawling.batches import OneByOne, Scored, key_of, merged_evidence
from spoor.crawling.guidance import Guidance
from spoor.crawling.isolation import Isolation
from spoor.crawling.share import Handover
from spoor.errors import BrokenContract
from spoor.events import Refusal
from spoor.frontier.entry import OPEN, Entry, State
from spoor.frontier.frontier import Frontier
from spoor.records import (
    SOONEST,
    Evidence,
    Handed,
    Key,
    Lesson,
    Link,
    Page,
    Ruling,
    Sighting,
    TrailState,
    Verdict,
    WaitingLink,
    sighting_elsewhere,
)
from spoor.roles import BatchScorer, Heir, Reviewer, Saturated, Saturating, Upkeep
from spoor.strategy import Strategy, hinted, some_reads_content
from spoor.urls import host_of

MOST_SENT = 20_000
"""Links sent to other shards whose evidence is remembered: about 15 MB."""
MOST_FETCHED = 100_000
"""URLs fetched by other shards that are remembered: about 15 MB. Links to others are sent, and ignored there."""
MOST_FOUND = 512
"""Links that upkeep re-scores are looked up so many at a time."""
MOST_LINKS = 2_000
"""Maximum links re-scored at once after verdicts were revised: of each page, and of all others. The rest later, when
they are next."""


OpenLink = tuple[Link, Entry | None]
"""A link of a page that may gain evidence, with its entry if it is known."""


@dataclass(slots=True)
class Offered:
    """The result of offering the links of one page: counts of added and moved links, and refusals."""

    added: int = 0
    moved: int = 0
    refused: list[Refusal] = field(default_factory=list)


def _without_texts(sighting: Sighting) -> Sighting:
    visit, verdict = sighting.visit, sighting.verdict
    return sighting_elsewhere(visit.url, visit.depth, sighting.trail, verdict.relevance, verdict.relevant)


class Scoring:
    """Scores links. A new link is admitted, parked or refused. A known link gains evidence until it is visited, which
    may change its position in the queue. An exception loses only that link or that evidence."""

    def __init__(
        self,
        strategy: Strategy,
        frontier: Frontier,
        isolation: Isolation,
        guidance: Guidance,
        handover: Handover | None = None,
        saturated: Saturated | None = None,
    ) -> None:
        self._frontier = frontier
        self._guidance = guidance
        self._isolation = isolation
        self._handover = handover
        self._sent: dict[str, tuple[Evidence, TrailState]] = {}
        self._fetched_elsewhere: set[str] = set()
        self._admission_reads = some_reads_content((strategy.admission,))
        self._admission = strategy.admission
        self._trail = strategy.trail
        self._scorer = strategy.scorer
        self._batch = self._scorer if isinstance(self._scorer, BatchScorer) else OneByOne(self._scorer)
        self._link_reader = strategy.link_reader
        self._saturates = isinstance(self._scorer, Saturating)
        self._reviewer = self._scorer if isinstance(self._scorer, Reviewer) else None
        self._heir = self._scorer if isinstance(self._scorer, Heir) else None
        self._left_out = saturated
        self._upkeep = strategy.upkeep
        self._upkeep_at = self._next_upkeep()
        self.reviews_links = self._reviewer is not None

    def offer(self, sighting: Sighting) -> Offered:
        """Processes the open links of a page: new ones are admitted, parked or refused, known ones gain evidence."""
        links = sighting.page.links
        foreign = self._foreign(links)
        known = self._known(links, foreign)
        of_use = self._of_use(zip(links, known, strict=True), sighting)
        if self._left_out is not None:
            self._leave_out(self._left_out, known, of_use, sighting)
        offered, seen = Offered(), _without_texts(sighting) if foreign else sighting
        for link, entry, scored in self._scored(sighting, of_use):
            if scored is None:
                offered.refused.append(Refusal(link.url, "it could not be scored", parked=False))
                continue
            evidence, key = scored
            try:
                if link.url in foreign:
                    self._send(link, evidence, seen, offered)
                elif entry is None:
                    self._let_in(link, evidence, key, sighting, offered)
                else:
                    offered.moved += self._gained(link, entry, evidence, key, sighting.trail)
            except Exception as error:
                reason = self._isolation.spare(sighting.visit.url, "searched for links", error)
                offered.refused.append(Refusal(link.url, reason, parked=False))
        return offered

    def _leave_out(
        self, left_out: Saturated, known: Iterable[Entry | None], of_use: Iterable[OpenLink], sighting: Sighting
    ) -> None:
        """Notes the links that are of no use, so that further pages need not contain them."""
        used = {link.url for link, _ in of_use}
        for entry in known:
            if entry is not None and entry.url not in used and entry.state is not State.IN_TRANSIT:
                left_out.add(entry.url, sighting.verdict.relevant)

    def _foreign(self, links: Sequence[Link]) -> set[str]:
        """The URLs that belong to other shards."""
        return set() if self._handover is None else set(filter(self._handover.is_foreign, [link.url for link in links]))

    def _known(self, links: Sequence[Link], foreign: set[str]) -> list[Entry | None]:
        """The frontier entry of each link; None for new links and those of other shards, which are not looked up."""
        if not foreign:
            return self._frontier.find([link.url for link in links])
        own = [link.url for link in links if link.url not in foreign]
        known = dict(zip(own, self._frontier.find(own), strict=True))
        return [known.get(link.url) for link in links]

    def _of_use(self, links: Iterable[OpenLink], sighting: Sighting) -> list[OpenLink]:
        """The links that are new or can still gain evidence from this page. Most are neither: no call for each."""
        known = [
            (link, entry) for link, entry in links if entry is None or (entry.state in OPEN and entry.key != SOONEST)
        ]
        saturated = self._saturated([entry for _, entry in known if entry is not None], sighting)
        return [
            (link, entry)
            for link, entry in known
            if (self._is_unsent(link, sighting) if entry is None else link.url not in saturated)
        ]

    def _saturated(self, entries: list[Entry], sighting: Sighting) -> set[str]:
        """The URLs of those to whose evidence another referring page adds nothing."""
        if not self._saturates:
            return set()
        try:
            found = self._batch.saturated([entry.evidence for entry in entries], sighting)
        except Exception as error:
            self._isolation.survive(error)
            found = [self._is_saturated(entry.url, entry.evidence, sighting) for entry in entries]
        return {entry.url for entry, is_saturated in zip(entries, found, strict=True) if is_saturated}

    def _is_unsent(self, link: Link, sighting: Sighting) -> bool:
        """Whether a link without an entry is new, or can still gain evidence from this page on its own shard."""
        if link.url in self._fetched_elsewhere:
            return False
        sent = self._sent.get(link.url)
        if sent is None:
            return True
        # The shard that owns the link finds it on its own pages, too: about as often as this one.
        return not self._is_saturated(link.url, merged_evidence(self._scorer, sent[0], sent[0]), sighting)

    def _gains(self, entry: Entry, sighting: Sighting) -> bool:
        """Whether a known link can still gain evidence from this page."""
        is_open = entry.state in OPEN and not entry.is_seed
        return is_open and not self._is_saturated(entry.url, entry.evidence, sighting)

    def _is_saturated(self, url: str, evidence: Evidence, sighting: Sighting) -> bool:
        try:
            return self._batch.saturated([evidence], sighting)[0]
        except Exception as error:
            self._isolation.spare(url, "found again", error)
            return True

    def _scored(self, sighting: Sighting, of_use: list[OpenLink]) -> Iterable[tuple[Link, Entry | None, Scored | None]]:
        """Scores all links together; if that fails, one by one, with None for those that cannot be scored."""
        try:
            read = self._read(sighting.page, [link for link, _ in of_use])
            entries = [entry for _, entry in of_use]
            return zip(read, entries, self._scores(sighting, read, entries), strict=True)
        except Exception as error:
            self._isolation.spare(sighting.visit.url, "searched for links", error)
            return [self._scored_alone(sighting, link, entry) for link, entry in of_use]

    def _scored_alone(
        self, sighting: Sighting, link: Link, entry: Entry | None
    ) -> tuple[Link, Entry | None, Scored | None]:
        try:
            read = self._read(sighting.page, [link])
            return read[0], entry, self._scores(sighting, read, [entry])[0]
        except Exception as error:
            self._isolation.survive(error)
            return link, entry, None

    def _read(self, page: Page, links: list[Link]) -> list[Link]:
        """Adds hints to links if they were not read together with the page."""
        if self._link_reader is None or not links or links[0].hints:
            return links
        return hinted(self._link_reader, page, links)

    def _scores(self, sighting: Sighting, links: list[Link], entries: list[Entry | None]) -> Sequence[Scored]:
        """The evidence of each link, merged with that of its entry, and its key."""
        known = [None if entry is None else entry.evidence for entry in entries]
        scores = self._batch.offered(sighting, links, known) if links else ()
        if len(scores) != len(links):
            counts = f"{len(scores)} evidences for {len(links)} links on {sighting.page.url}"
            raise BrokenContract(f"{self._scorer!r} gave {counts}")
        return scores

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        if because := self._guidance.blocks(link.url):
            return Ruling("park", because)
        return self._admission.at_offer(link, evidence, trail)

    def is_foreign(self, url: str) -> bool:
        """Whether a link belongs to another shard."""
        return self._handover is not None and self._handover.is_foreign(url)

    def hand_over(self, handed: Handed) -> None:
        """Sends a link to the shard that owns its host, with only the fields that an admission there may read."""
        assert self._handover is not None
        self._handover.send(replace(handed, link=self._for_others(handed.link)))

    def _for_others(self, link: Link) -> Link:
        if self._admission_reads:
            return link
        return Link(link.url, nofollow=link.nofollow, hints=self._kept_hints(link))

    def _send(self, link: Link, evidence: Evidence, sighting: Sighting, offered: Offered) -> None:
        """Sends a link if its evidence or trail improved since it was last sent. A link that the admission drops here
        is not sent. The admission is asked only once per link, as for a waiting link."""
        assert self._handover is not None
        known, trail = evidence, sighting.trail
        if link.url in self._sent:
            sent, sent_trail = self._sent[link.url]
            known = merged_evidence(self._scorer, sent, evidence)
            if known is sent and not self._ranks_higher(trail, sent_trail):
                return
            trail = trail if self._ranks_higher(trail, sent_trail) else sent_trail
        else:
            ruling = self.at_offer(link, evidence, trail)
            if ruling.decision == "drop":
                offered.refused.append(Refusal(link.url, ruling.because, parked=False))
                return
            if len(self._sent) >= MOST_SENT:
                self._sent.clear()
        self._sent[link.url] = known, trail
        self._handover.send(Handed(self._for_others(link), evidence, sighting))

    def hear_of(self, lesson: Lesson) -> None:
        """Takes note of a visit of another shard: if it brought a page, links to it are of no use any more, unless that
        shard may lose the visit."""
        if isinstance(lesson, Sighting) and self._handover is not None and not self._handover.post.may_go_back:
            if len(self._fetched_elsewhere) >= MOST_FETCHED:
                self._fetched_elsewhere.clear()
            self._fetched_elsewhere.add(lesson.visit.url)
            self._sent.pop(lesson.visit.url, None)

    def receive(self, batch: Sequence[Handed]) -> Offered:
        """Processes links that other shards found: new ones are admitted, parked or refused, known ones gain evidence,
        all by the model of this shard."""
        offered, urls = Offered(), [handed.link.url for handed in batch]
        known = dict(zip(urls, self._frontier.find(urls), strict=True))
        for url, handed in zip(urls, batch, strict=True):
            try:
                self._receive(handed, known[url], offered)
            except Exception as error:
                reason = self._isolation.spare(url, "received", error)
                offered.refused.append(Refusal(url, reason, parked=False))
            if known[url] is None:
                (known[url],) = self._frontier.find([url])
        return offered

    def _receive(self, handed: Handed, entry: Entry | None, offered: Offered) -> None:
        link, sighting = handed.link, handed.sighting
        if entry is None and handed.is_seed:
            found = (handed.evidence, handed.trail, handed.depth, handed.found_on, handed.redirects)
            self._frontier.add(Entry(link.url, host_of(link.url), SOONEST, *found, hints=self._kept_hints(link)))
            offered.added += 1
        elif entry is None:
            evidence = self._by_own_model(handed)
            self._let_in(link, evidence, self._key(evidence), sighting, offered, handed.redirects)
        elif handed.again and entry.state is State.SETTLED:
            self._frontier.admit(entry)
        elif not handed.is_seed and self._gains(entry, sighting):
            offered.moved += self.found_again(link, entry, self._by_own_model(handed), handed.trail)

    def _by_own_model(self, handed: Handed) -> Evidence:
        if self._reviewer is None:
            return handed.evidence
        hints = self._kept_hints(handed.link)
        return self._reviewer.review(WaitingLink(handed.link.url, handed.evidence, handed.trail, hints))

    def _let_in(
        self, link: Link, evidence: Evidence, key: Key, sighting: Sighting, offered: Offered, redirects: int = 0
    ) -> None:
        ruling = self.at_offer(link, evidence, sighting.trail)
        if ruling.decision != "admit":
            offered.refused.append(Refusal(link.url, ruling.because, ruling.decision == "park"))
        if ruling.decision == "drop":
            return
        parent = sighting.visit
        found = (evidence, sighting.trail, parent.depth + 1, parent.url, redirects)
        entry = Entry(link.url, host_of(link.url), key, *found, hints=self._kept_hints(link))
        if ruling.decision == "park":
            entry.state, entry.because = State.PARKED, ruling.because
        else:
            offered.added += 1
        self._frontier.add(entry)

    def found_again(self, link: Link, entry: Entry, evidence: Evidence, trail: TrailState) -> bool:
        """Adds evidence to a known link that is not visited yet. Returns whether its position in the queue changed."""
        merged = merged_evidence(self._scorer, entry.evidence, evidence)
        return self._gained(link, entry, merged, self._key(merged), trail)

    def _gained(self, link: Link, entry: Entry, merged: Evidence, key: Key, trail: TrailState) -> bool:
        """A known link has this evidence and key now. Returns whether its position in the queue changed."""
        better = key > entry.key or (key == entry.key and self._ranks_higher(trail, entry.trail))
        kept, hints = (trail, self._kept_hints(link)) if better else (entry.trail, entry.hints)
        if merged is entry.evidence and kept is entry.trail:
            return False
        moved = self._frontier.change(entry, key, merged, kept, hints)
        return self._reconsider(link, entry) or moved

    def _ranks_higher(self, trail: TrailState, other: TrailState) -> bool:
        return self._trail.rank(trail) > self._trail.rank(other)

    def _kept_hints(self, link: Link) -> bytes:
        return link.hints if isinstance(link.hints, bytes) else b""

    def _reconsider(self, link: Link, entry: Entry) -> bool:
        """Admits a parked link if its new evidence suffices. Returns whether it did."""
        if entry.state is not State.PARKED or entry.is_given_up:
            return False
        if self.at_offer(link, entry.evidence, entry.trail).decision != "admit":
            return False
        self._frontier.admit(entry)
        return True

    def review(self, entry: Entry) -> bool:
        """Re-scores a waiting link. Returns whether its key is lower than before."""
        assert self._reviewer is not None
        was = entry.key
        try:
            evidence, key = self._batch.reviewed(WaitingLink(entry.url, entry.evidence, entry.trail, entry.hints))
            if key != was or evidence != entry.evidence:
                self._frontier.change(entry, key, evidence, entry.trail)
        except Exception as error:
            self._isolation.spare(entry.url, "scored again", error)
            return False
        return key < was

    def inherit(self, verdicts: Mapping[str, Verdict]) -> None:
        """Re-scores the links found on pages whose verdicts were revised, and some of all other links."""
        for url, verdict in verdicts.items() if self._heir is not None else ():
            for link in self._frontier.waiting.links_found_on(url, MOST_LINKS):
                self._isolation.attempt(link.url, "scored again", self._inherit, link.url, verdict)
        for link in self._frontier.waiting.some(MOST_LINKS) if self.reviews_links else ():
            (entry,) = self._frontier.find([link.url])
            if entry is not None and entry.state in OPEN and not entry.is_seed:
                self.review(entry)

    def _inherit(self, url: str, verdict: Verdict) -> None:
        (entry,) = self._frontier.find([url])
        if self._heir is None or entry is None or entry.state not in OPEN or entry.is_seed:
            return
        evidence, trail = self._heir.inherit(entry.evidence, entry.trail, verdict)
        if self._reviewer is not None:
            evidence = self._reviewer.review(WaitingLink(entry.url, evidence, trail, entry.hints))
        if evidence != entry.evidence or trail != entry.trail:
            self._frontier.change(entry, self._key(evidence), evidence, trail)

    def keep_up(self) -> None:
        """Re-scores the links that the upkeep of the strategy selects, if it is due."""
        if self._upkeep is not None and self._frontier.visits >= self._upkeep_at:
            self._upkeep_at = self._next_upkeep()
            self._isolation.attempt("", "valued anew", self._revise, self._upkeep)

    def _next_upkeep(self) -> int:
        """The number of visits at which upkeep is next due."""
        every = 1 if self._upkeep is None else self._upkeep.every
        return (self._frontier.visits // every + 1) * every

    def _revise(self, upkeep: Upkeep) -> None:
        revised = iter(upkeep.revise(self._frontier.waiting))
        while some := list(islice(revised, MOST_FOUND)):
            entries = self._frontier.find([url for url, _ in some])
            keys = self._batch.keys([evidence for _, evidence in some])
            for entry, (_, evidence), key in zip(entries, some, keys, strict=True):
                if entry is not None and entry.state in OPEN and not entry.is_seed:
                    self._revise_one(entry, evidence, key)

    def _revise_one(self, entry: Entry, evidence: Evidence, key: Key) -> None:
        if key == entry.key and entry.state is State.WAITING and self.reviews_links:
            return  # It stays where it is, and its evidence is computed again before it is fetched.
        if evidence == entry.evidence:
            return  # Its key changes when it is reviewed, or found again.
        self._frontier.change(entry, key, evidence, entry.trail)
        if entry.state is State.PARKED:
            self._reconsider(Link(entry.url), entry)

    def _key(self, evidence: Evidence) -> Key:
        return key_of(self._scorer, evidence)
