"""In a simulation, a page that says what an earlier one said names that one."""

from __future__ import annotations

from dataclasses import dataclass

from spoor.lab.generate.prose import LANGUAGE, Author
from spoor.lab.worlds import ComparedWorld
from spoor.records import Failure, Link, Outcome, Page, Visit

WORDS = Author(5).write(LANGUAGE["english"], 400)


@dataclass(frozen=True)
class Texts:
    """Pages by URL, of which only the text is known."""

    texts: dict[str, str]
    links: tuple[Link, ...] = ()

    def fetch(self, visit: Visit) -> tuple[Outcome, float]:
        text = self.texts.get(visit.url)
        return Failure("not recorded") if text is None else Page(visit.url, text=text, links=self.links), 0.5

    def truth(self, url: str) -> bool:
        return url in self.texts


def duplicates(world: ComparedWorld, *urls: str) -> list[str]:
    pages = [world.fetch(Visit(url, "h.test", 0, 0.0))[0] for url in urls]
    return [page.duplicate_of for page in pages if isinstance(page, Page)]


def test_an_equal_page_and_one_that_differs_in_a_word_are_duplicates_of_the_first() -> None:
    world = ComparedWorld(Texts({"a": WORDS, "b": WORDS, "c": f"{WORDS} more", "d": WORDS[::-1]}))
    assert duplicates(world, "a", "b", "c", "d") == ["", "a", "a", ""]


def test_a_page_too_short_for_a_fingerprint_is_a_duplicate_of_an_equal_one_only() -> None:
    world = ComparedWorld(Texts({"a": "short", "b": "short", "c": "shorter"}))
    assert duplicates(world, "a", "b", "c") == ["", "a", ""]


def test_a_page_that_comes_again_is_no_duplicate_of_itself() -> None:
    world = ComparedWorld(Texts({"a": WORDS}))
    assert duplicates(world, "a", "a") == ["", ""]


def test_what_is_no_page_and_the_time_it_takes_stay_as_they_are() -> None:
    assert ComparedWorld(Texts({})).fetch(Visit("a", "h.test", 0, 0.0)) == (Failure("not recorded"), 0.5)
