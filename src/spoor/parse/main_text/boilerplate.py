"""What is on many pages and part of no text: what a page is cleaned of before its main text is looked for."""

from __future__ import annotations

import re
from collections.abc import Mapping

SURROUNDINGS = frozenset({"nav", "footer", "aside"})
"""Elements that say themselves that they are not the main thing."""
_CODE = "head script style template noscript noframes noembed iframe object svg math"
_FIELDS = "button select textarea"
NOT_TEXT = frozenset(f"{_CODE} {_FIELDS}".split())
LONGEST = 300
"""Characters, without those of links. What holds more is no advert, whatever it is called: pages give such names to the
element around the whole article too."""

_ADVERT = re.compile(
    r"(?:^|[\s_-])(?:ads?|adv|adverts?|advertisements?|advertising|adsbygoogle|banner|sponsored|promo|copyright)(?:$|[\s_-])",
    re.IGNORECASE,
)
_COPYRIGHT = re.compile(r"©|\bcopyright\s*(?:\(c\)|[12]\d{3})|\ball rights reserved\b|版权所有", re.IGNORECASE)


def is_called_advert(attributes: Mapping[str, str | None]) -> bool:
    """By its class or id."""
    return bool(_ADVERT.search(f"{attributes.get('class') or ''} {attributes.get('id') or ''}"))


def claims_copyright(words: str) -> bool:
    return bool(_COPYRIGHT.search(words))
