"""The web of engineering courses (generator W4): five classes of pages, a fifth of them with their terms in Hindi."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.webs.generate.content import Content, Context
from spoor.webs.generate.course_hindi import OWN_HINDI, Hindi, hindi_in, in_hindi
from spoor.webs.generate.prose import LANGUAGE, Author, Vocabulary, vocabulary
from spoor.webs.generate.request import Advance, Request
from spoor.webs.generate.typed_web import TypedWeb, draw_typed
from spoor.webs.generate.words import COURSE_TERMS, COURSE_WORDS, LANGUAGES

CLASSES = tuple(COURSE_TERMS)
CSE, COMP = CLASSES.index("CSE"), CLASSES.index("COMP")
MIXED = 0.2
"""Share of the pages that mix English and Hindi; what they say of their subject is in Hindi."""

NO_TERM, ONE_TERM, STRAY_TERM = 0.4, 0.45, 0.15
"""Chances that the context of a link names the class of its target not at all, once (twice otherwise), and that
it says "computer" for no reason."""

TYPED = TypedWeb(
    labels=tuple(f"class={name}" for name in CLASSES),
    shares=(0.15, 0.12, 0.13, 0.15, 0.45),
    matrix=(
        (0.25, 0.35, 0.10, 0.10, 0.20),
        (0.20, 0.25, 0.30, 0.05, 0.20),
        (0.25, 0.25, 0.20, 0.05, 0.25),
        (0.05, 0.05, 0.05, 0.45, 0.40),
        (0.02, 0.03, 0.05, 0.10, 0.80),
    ),
    fewest=4,
    most=12,
    first=(CSE,),
    seeds=3,
    seed_types=(CSE,),
)


def draw(request: Request, folder: Path, advance: Advance) -> None:
    hindi = hindi_in(request.words) if request.words else OWN_HINDI
    draw_typed(TYPED, lambda types, seed: CoursesAuthor(types, seed, MIXED, hindi).compose, request, folder, advance)


def draw_english(request: Request, folder: Path, advance: Advance) -> None:
    draw_typed(TYPED, lambda types, seed: CoursesAuthor(types, seed, 0.0, OWN_HINDI).compose, request, folder, advance)


class CoursesAuthor:
    """Writes pages in the words of their class and contexts that name the class of the target, or do not. The share
    `mixed` of the pages has all that in Hindi, between everyday words in English."""

    def __init__(self, types: NDArray[np.uint8], seed: int, mixed: float, hindi: Hindi) -> None:
        self._types = types
        self._author = Author(seed)
        self._mixed = mixed
        self._terms = {name: (term, in_hindi(term, hindi)) for name, term in COURSE_TERMS.items()}
        self._words = {
            name: (_spread(words), _spread([hindi[word] for word in words if word in hindi]))
            for name, words in COURSE_WORDS.items()
        }

    def compose(self, page: int, links: list[int]) -> tuple[Content, list[Context]]:
        author, name = self._author, CLASSES[self._types[page]]
        author.turn_to(page)
        hindi = author.chance() < self._mixed
        own, term = self._words[name][hindi], self._terms[name][hindi]
        title = f"{term} {author.write(own, 3)}"
        text = f"{author.write(own, 50)} {term} {author.write(own, 50)}"
        content = Content(title, text, {"h1": f"{term} {author.write(own, 2)}"})
        return content, [self._context(int(self._types[link]), hindi) for link in links]

    def _context(self, target: int, hindi: bool) -> Context:
        """The first mention is the anchor, the second follows it."""
        author, term = self._author, self._terms[CLASSES[target]][hindi]
        anchor, left, right = (author.write(LANGUAGE["english"], 3) for _ in range(3))
        draw = author.chance()
        if draw >= NO_TERM:
            anchor = f"{anchor} {term}"
        if draw >= NO_TERM + ONE_TERM:
            right = f"{term} {right}"
        if author.chance() < STRAY_TERM:
            left = f"{left} {self._terms[CLASSES[COMP]][hindi]}"
        return Context(anchor, left, right, "")


def _spread(words: Sequence[str]) -> Vocabulary:
    """Every other word is an everyday one."""
    return vocabulary((0.5, words), (0.5, LANGUAGES["english"]))
