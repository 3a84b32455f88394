"""The elements that begin a line of their own."""

from __future__ import annotations

HEADINGS = "h1 h2 h3 h4 h5 h6"
_NAMES = f"""
    address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption figure
    footer form frameset header hr legend li main menu nav ol optgroup option p pre section select summary table tbody
    td tfoot th thead tr ul {HEADINGS}
"""
BLOCKS = frozenset(_NAMES.split())
