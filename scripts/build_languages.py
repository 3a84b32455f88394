"""Writes src/spoor/judging/languages.tsv from the CLDR facts in the package Babel, which spoor itself does not need.

    python3 -m venv /somewhere && /somewhere/bin/pip install Babel==2.18.0
    /somewhere/bin/python scripts/build_languages.py

A line is a language: tag, script (then the countries that write it otherwise, TW=Hant), other codes, domains with the
percentage of the people there who speak it, names (the English one first, then its own). Empty columns at the end are
left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from babel import Locale
from babel.core import get_global
from babel.localedata import locale_identifiers

OUT = Path(__file__).resolve().parents[1] / "src" / "spoor" / "language" / "languages.tsv"

_SOLD = """
    ac ag ai as bz cc cd cf co cx dj fm ga gd gg gl gq gs im io je ki la lc ly me ml ms mu nf nr nu pw re sb sc sh so st
    sx tc tk to tv vc vg vu ws
"""
VANITY = frozenset(_SOLD.split())
"""Country domains that are mostly sold to the whole world for how they look."""

DOMAINS_OF_LANGUAGES = {"bzh": "br", "cat": "ca", "cymru": "cy", "eus": "eu", "gal": "gl", "su": "ru", "xn--p1ai": "ru"}
"""Domains that belong to a language rather than to a country."""

OFFICIAL = ("official", "de_facto_official")
LEAST_PERCENT = 1.0


def main() -> None:
    scripts, codes, domains, names = scripts_of_languages(), other_codes(), domains_of_languages(), all_names()
    with OUT.open("w", encoding="utf8", newline="\n") as file:
        for tag in sorted(scripts):
            columns = (tag, scripts[tag], codes[tag], domains.get(tag, []), names.get(tag, []))
            joined = [c if isinstance(c, str) else "|".join(c) for c in columns]
            print("\t".join(joined).rstrip("\t"), file=file)


def scripts_of_languages() -> dict[str, list[str]]:
    """The usual script, then country=script where it differs."""
    likely = {tuple(key.split("_")): value.split("_")[1] for key, value in get_global("likely_subtags").items()}
    passed_over = {"und", *get_global("language_aliases")}
    found = {key[0]: [script] for key, script in likely.items() if len(key) == 1 and key[0] not in passed_over}
    for key, script in sorted(likely.items()):
        if len(key) == 2 and len(key[1]) == 2 and key[0] in found and script != found[key[0]][0]:
            found[key[0]].append(f"{key[1]}={script}")
    return found


def other_codes() -> dict[str, list[str]]:
    """Codes of ISO 639 that mean the language but are not its tag; sh=Latn means it in one script."""
    found = defaultdict(list)
    for code, meant in sorted(get_global("language_aliases").items()):
        tag, _, rest = meant.partition("_")
        if re.fullmatch("[a-z]{2,3}", code):
            found[tag].append(f"{code}={rest}" if len(rest) == 4 else code)
    return found


def domains_of_languages() -> dict[str, list[str]]:
    """0 percent: spoken in parts of the country, so that its domain says nothing for or against."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for country, spoken in sorted(get_global("territory_languages").items()):
        domain = {"GB": "uk"}.get(country, country.lower())
        if domain not in VANITY and len(country) == 2:
            most = max((facts["population_percent"] for facts in spoken.values()), default=0.0)
            for tag, facts in spoken.items():
                language, percent = tag.partition("_")[0], facts["population_percent"]
                if facts["official_status"] in OFFICIAL or percent == most:
                    found[language][domain] = max(percent, found[language].get(domain, LEAST_PERCENT))
                elif facts["official_status"]:
                    found[language].setdefault(domain, 0.0)
    for domain, tag in DOMAINS_OF_LANGUAGES.items():
        found[tag][domain] = 99.0
    return {tag: [f"{domain}={percent:.0f}" for domain, percent in spoken.items()] for tag, spoken in found.items()}


def all_names() -> dict[str, list[str]]:
    """The English name, then what the language calls itself, in each script that CLDR knows it in."""
    english = Locale("en").languages
    names = {tag: [plain(name)] for tag, name in english.items() if "_" not in tag}
    for identifier in sorted(locale_identifiers(), key=lambda identifier: (identifier.count("_"), identifier)):
        locale = Locale.parse(identifier)
        own = locale.languages.get(locale.language)
        if own and locale.language in names and locale.variant is None:
            names[locale.language].append(plain(own))
    for script in ("Hans", "Hant"):
        names["zh"].append(plain(Locale.parse(f"zh_{script}").languages[f"zh_{script}"]))
    return {tag: list({name.lower(): name for name in found}.values()) for tag, found in names.items()}


def plain(name: str) -> str:
    """Without what stands in parentheses."""
    return re.sub(r"\s*[(（].*?[)）]", "", name).strip()


if __name__ == "__main__":
    main()
