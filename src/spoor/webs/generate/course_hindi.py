"""The Hindi of course pages: our own words, or those of a dictionary that a user gives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from spoor.errors import BadInput
from spoor.webs.generate.words import COURSE_TERMS, COURSE_WORDS

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
"""Words of a Hindi phrase that somebody would write for one English word; longer ones are explanations."""
_REMARK = re.compile(r"\{[^}]*\}")

Hindi = Mapping[str, str]
"""By the English word."""

OWN_HINDI: Hindi = {
    english: hindi
    for line in _OWN.strip().splitlines()
    for english, hindi in (pair.split() for pair in line.split(";"))
}


def hindi_in(dictionary: Path) -> Hindi:
    """Words of the courses as a dictionary has them, our own where it has none.

    A line is an English word, a tab, and Hindi senses with | between; the first short one is taken.
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
    """Word by word; a word that has no Hindi stays as it is."""
    return " ".join(hindi.get(word, word) for word in text.split())


def _lines(dictionary: Path) -> list[str]:
    try:
        return dictionary.read_text("utf8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"cannot read the dictionary {dictionary}: {getattr(error, 'strerror', None) or error}"
        ) from None
