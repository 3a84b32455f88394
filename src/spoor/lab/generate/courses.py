"""The web of engineering courses (generator W4); a fifth of its pages have terms in Hindi."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput
from spoor.lab.generate.chance import Request
from spoor.lab.generate.pages import Content, LinkWords
from spoor.lab.generate.prose import COURSE_TERMS, COURSE_WORDS, LANGUAGE, LANGUAGES, Author, Vocabulary, vocabulary
from spoor.lab.generate.topical import TypedWeb, draw_typed
from spoor.progress import Advance

# The Hindi of course pages: built-in words, or those of a dictionary file.


_OWN = """
    and और; computer कंप्यूटर; science विज्ञान; engineering इंजीनियरिंग; information सूचना; technology प्रौद्योगिकी
    campus परिसर; life जीवन
    algorithms एल्गोरिदम; compilers संकलक; programming प्रोग्रामिंग; data डेटा; structures संरचना
    operating प्रचालन; systems तंत्र; theory सिद्धांत
    networks नेटवर्क; database डेटाबेस; internet इंटरनेट; security सुरक्षा; web वेब; services सेवा
    administration प्रशासन; servers सर्वर
    mechanical यांत्रिक; civil सिविल; circuits परिपथ; thermodynamics ऊष्मागतिकी; design अभिकल्प
    workshop कार्यशाला; materials सामग्री; bridges सेतु
    laptop लैपटॉप; printer मुद्रक; keyboard कुंजीपटल; repair मरम्मत; monitor प्रदर्शक; memory स्मृति
    shop दुकान; hardware हार्डवेयर
    sports खेल; hostel छात्रावास; canteen भोजनालय; music संगीत; festival उत्सव; library पुस्तकालय
    admission प्रवेश; fees शुल्क
"""
_LONGEST = 3
"""Maximum number of words of a Hindi translation of one English word; longer ones are explanations."""
_REMARK = re.compile(r"\{[^}]*\}")

Hindi = Mapping[str, str]
"""Hindi by English word."""

OWN_HINDI: Hindi = {
    english: hindi
    for line in _OWN.strip().splitlines()
    for english, hindi in (pair.split() for pair in line.split(";"))
}


def hindi_in(dictionary: Path) -> Hindi:
    """The words of the courses from a dictionary, with the built-in word where it has none.

    A line is an English word, a tab, and Hindi senses separated by |. The first short sense is used.
    """
    needed = {word for text in (*COURSE_TERMS.values(), *map(" ".join, COURSE_WORDS.values())) for word in text.split()}
    found: dict[str, str] = {}
    for english, tab, senses in (line.partition("\t") for line in _lines(dictionary)):
        plain = (_REMARK.sub("", sense).strip() for sense in senses.split("|"))
        short = [sense for sense in plain if 0 < len(sense.split()) <= _LONGEST]
        if english in needed and tab and short:
            found.setdefault(english, short[0])
    if not found:
        raise BadInput(f"the dictionary {dictionary} holds no word of the courses; a line is: english, a tab, hindi")
    return {**OWN_HINDI, **found}


def in_hindi(text: str, hindi: Hindi) -> str:
    """Translates word by word; a word without a translation stays unchanged."""
    return " ".join(hindi.get(word, word) for word in text.split())


def _lines(dictionary: Path) -> list[str]:
    try:
        return dictionary.read_text("utf8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"cannot read the dictionary {dictionary}: {getattr(error, 'strerror', None) or error}"
        ) from None


# The web of engineering courses (generator W4): five classes of pages, a fifth of them with their terms in Hindi.


CLASSES = tuple(COURSE_TERMS)
CSE, COMP = CLASSES.index("CSE"), CLASSES.index("COMP")
MIXED = 0.2
"""Share of the pages that mix English and Hindi; words of their subject are in Hindi."""

NO_TERM, ONE_TERM, STRAY_TERM = 0.4, 0.45, 0.15
"""Probabilities that the context of a link does not name the class of its target, that it names it once (otherwise
twice), and that it contains "computer" for no reason."""
AROUND = 15
"""Everyday words on each side of a link: enough that the context of a link does not reach the terms of the next one."""

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
    """Writes pages in the words of their class, and link contexts that may name the class of the target. In the share
    `mixed` of the pages these words are in Hindi, between everyday words in English."""

    def __init__(self, types: NDArray[np.uint8], seed: int, mixed: float, hindi: Hindi) -> None:
        self._types = types
        self._author = Author(seed)
        self._mixed = mixed
        self._terms = {name: (term, in_hindi(term, hindi)) for name, term in COURSE_TERMS.items()}
        self._words = {
            name: (_spread(words), _spread([hindi[word] for word in words if word in hindi]))
            for name, words in COURSE_WORDS.items()
        }

    def compose(self, page: int, links: list[int]) -> Content:
        author, name = self._author, CLASSES[self._types[page]]
        author.turn_to(page)
        hindi = author.chance() < self._mixed
        own, term = self._words[name][hindi], self._terms[name][hindi]
        title = f"{term} {author.write(own, 3)}"
        text = f"{author.write(own, 50)} {term} {author.write(own, 50)}"
        heading = f"{term} {author.write(own, 2)}"
        words = [self._link_words(int(self._types[link]), hindi) for link in links]
        return Content(title, heading, text, words, second_heading=author.write(LANGUAGE["english"], 2))

    def _link_words(self, target: int, hindi: bool) -> LinkWords:
        """The first mention is in the anchor, the second follows it."""
        author, term = self._author, self._terms[CLASSES[target]][hindi]
        anchor, left, right = (author.write(LANGUAGE["english"], words) for words in (3, AROUND, AROUND))
        draw = author.chance()
        if draw >= NO_TERM:
            anchor = f"{anchor} {term}"
        if draw >= NO_TERM + ONE_TERM:
            right = f"{term} {right}"
        if author.chance() < STRAY_TERM:
            left = f"{left} {self._terms[CLASSES[COMP]][hindi]}"
        return LinkWords(left, anchor, right)


def _spread(words: Sequence[str]) -> Vocabulary:
    """Half of the words are everyday words."""
    return vocabulary((0.5, words), (0.5, LANGUAGES["english"]))
