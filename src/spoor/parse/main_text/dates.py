"""A date in words or numbers, as pages write it."""

from __future__ import annotations

import re
from datetime import date

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FORMS = [
    re.compile(form)
    for form in (
        r"(?<!\d)(?P<year>\d{4})\s?[-/.年년]\s?(?P<month>\d{1,2})\s?[-/.月월]\s?(?P<day>\d{1,2})(?!\d)",
        r"(?<!\d)(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)(?!\d)",
        r"(?<!\d)(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})(?!\d)",
        r"(?<!\d)(?P<day>\d{1,2})[a-z]{0,2}\s+(?P<month>[A-Za-z]{3})[a-z]{0,6}[.,]?\s+(?P<year>\d{4})(?!\d)",
        r"\b(?P<month>[A-Za-z]{3})[a-z]{0,6}\.?\s+(?P<day>\d{1,2})[a-z]{0,2},?\s+(?P<year>\d{4})(?!\d)",
        r"/(?P<year>\d{4})/(?P<month>[A-Za-z]{3})[a-z]{0,6}/(?P<day>\d{1,2})/",
    )
]
"""2026-11-15, 20261115, 15.11.2026, 15th November 2026, Nov. 15, 2026, /2026/nov/15/. Not 11/12/2026, which is in
November or in December, depending on the country."""


def date_in(text: str) -> date | None:
    """The first date of the first form that is in the text, as it is written there: time zones do not matter."""
    for form in _FORMS:
        if (found := form.search(text)) and (day := _date(**found.groupdict())):
            return day
    return None


def _date(year: str, month: str, day: str) -> date | None:
    """None: there is no such day."""
    try:
        number = int(month) if month.isdecimal() else 1 + _MONTHS.index(month.lower())
        return date(int(year), number, int(day))
    except ValueError:
        return None
