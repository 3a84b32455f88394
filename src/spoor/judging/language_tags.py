"""Languages by their BCP-47 tags: codes, names, scripts, countries; and the language that a word of a URL means.

A tag here is a language and, where it matters, a script: "ja", "mn-Mong". A country becomes a script if it writes the
language differently (zh-TW is zh-Hant) and is dropped otherwise (pt-BR is pt). The data are from CLDR.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from spoor.errors import UsageError

# Languages by BCP-47 tag: codes, names, scripts, and the countries where they are spoken.


_TAG = re.compile(r"([a-z]{2,3})(?:-[a-z]{3})?(?:-([a-z]{4}))?(?:-([a-z]{2}|[0-9]{3}))?((?:-[a-z0-9]{1,8})*)", re.A)
_PARENTS = {"nb": "no", "nn": "no"}
"""Languages that are also identified by the tag of a macrolanguage."""
_MOST = 50
"""Percent."""


@dataclass(frozen=True)
class Language:
    """`names` begins with the English name, followed by the native ones. `codes` are codes other than the tag, with the
    script they imply or "". `script` is the usual one (ISO 15924: "Jpan"); `scripts_abroad` maps countries to other
    scripts. `domains` are country domains where the language is official or spoken by most, with the percentage of
    speakers; 0 if it is official only in a part of the country."""

    tag: str
    script: str
    scripts_abroad: Mapping[str, str]
    codes: Mapping[str, str]
    domains: Mapping[str, int]
    names: tuple[str, ...]


def language(tag: str) -> Language:
    """The language of a tag, whatever its script."""
    return languages()[canonical_tag(tag).partition("-")[0]]


def canonical_tag(text: str) -> str:
    """The canonical spelling of a tag: "jpn" is "ja", "mn_mong" is "mn-Mong". UsageError if there is no such
    language."""
    tag = read_tag(text)
    if tag is None:
        raise UsageError(f"unknown language {text!r}; {_remedy(text)}")
    return tag


def read_tag(text: str) -> str | None:
    """Like `canonical_tag`, for tags found in pages: None if it is not the tag of a known language."""
    parts = _TAG.fullmatch(text.strip().replace("_", "-").lower())
    if parts is None or parts[1] not in _codes():
        return None
    tag, implied = _codes()[parts[1]]
    known = languages()[tag]
    script = (parts[2] or "").capitalize() or known.scripts_abroad.get((parts[3] or "").upper(), "") or implied
    if script and script not in scripts():
        return None
    return f"{tag}-{script}" if script else tag


@lru_cache(1024)
def main_language(codes: str) -> str:
    """The tag of the first of several codes, the language of most of a page; "" if there is none. A code that means no
    known language is returned unchanged."""
    first = codes.partition(",")[0].strip().lower()
    return read_tag(first) or first


def matches(target: str, found: str) -> bool:
    """Whether a page in `found` matches `target`, both canonical. A target without a script matches every script; a
    target with a script matches only that script."""
    (language, script), (other, other_script) = _parts(target), _parts(found)
    if language != other and _PARENTS.get(other) != language and _PARENTS.get(language) != other:
        return False
    return not script or script == (other_script or languages()[other].script)


def accept_language(tag: str) -> str:
    """The Accept-Language header that asks for this language; "" if it is not the tag of a known language. It also has
    countries that imply the script, zh-TW for zh-Hant, for servers that know no script tags. The star at the end is for
    servers that have none of these and would answer 406."""
    known = read_tag(tag)
    if known is None:
        return ""
    name, script = _parts(known)
    wider = [name] if script else [_PARENTS[name]] if name in _PARENTS else []
    narrower = [f"{name}-{country}" for country in _countries_of(languages()[name], script)]
    narrower += [child for child, parent in _PARENTS.items() if parent == name]
    ranges = [known, *(f"{one};q=0.9" for one in narrower), *(f"{one};q=0.8" for one in wider), "*;q=0.1"]
    return ",".join(ranges)


def _countries_of(known: Language, script: str) -> list[str]:
    """Countries where most people speak the language and write it in this script, which is not the usual one."""
    return [
        country
        for country, written in known.scripts_abroad.items()
        if written == script and known.domains.get(country.lower(), 0) >= _MOST
    ]


@cache
def languages() -> Mapping[str, Language]:
    """All languages by tag."""
    lines = files("spoor.judging").joinpath("languages.tsv").read_text("utf8").splitlines()
    return {found.tag: found for found in map(_language, lines)}


@cache
def spoken_in() -> Mapping[str, Mapping[str, int]]:
    """Country domains to the languages spoken there, with the percentage of speakers, largest first."""
    found: dict[str, dict[str, int]] = {}
    for known in languages().values():
        for domain, percent in known.domains.items():
            found.setdefault(domain, {})[known.tag] = percent
    return {domain: dict(sorted(spoken.items(), key=lambda one: -one[1])) for domain, spoken in found.items()}


@cache
def scripts() -> frozenset[str]:
    """The codes of all scripts in which a language is usually written."""
    usual = {known.script for known in languages().values()}
    abroad = {script for known in languages().values() for script in known.scripts_abroad.values()}
    return frozenset(usual | abroad | {"Latn", "Cyrl", "Arab"})


@cache
def _codes() -> Mapping[str, tuple[str, str]]:
    """Every code with its tag and the script it implies."""
    own = {tag: (tag, "") for tag in languages()}
    others = {code: (tag, script) for tag, known in languages().items() for code, script in known.codes.items()}
    return others | own


def _language(line: str) -> Language:
    tag, written, codes, domains, names = (line.split("\t") + [""] * 4)[:5]
    script, _, abroad = written.partition("|")
    spoken = {domain: int(percent) for domain, percent in _pairs(domains).items()}
    return Language(tag, script, _pairs(abroad), _pairs(codes), spoken, tuple(names.split("|")) if names else ())


def _pairs(text: str) -> dict[str, str]:
    """`a=1|b` as a dictionary; "" if there is no value."""
    return {name: value for name, _, value in (entry.partition("=") for entry in text.split("|")) if name}


def _parts(tag: str) -> tuple[str, str]:
    language, _, script = tag.partition("-")
    return language, script


def hint_at_tag(text: str) -> str:
    """A question that names the tag of the language whose name this nearly is; "" if there is none."""
    names = {name.lower(): known.tag for known in languages().values() for name in known.names}
    near = difflib.get_close_matches(text.strip().lower(), names, 1, 0.8)
    return f"did you mean {names[near[0]]!r} ({near[0]})?" if near else ""


def _remedy(text: str) -> str:
    return hint_at_tag(text) or "give a BCP-47 tag such as ja, mn-Mong or uz-Cyrl"


# The languages that a word of a URL may mean, as a code, a country or a name, and with what confidence.


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


Meanings = Mapping[str, float]
"""The languages that something may mean, by tag, with a confidence from 0 to 1."""

WORDS = _set_of("""
    am an as be co cs do ee el go he hi ho hr id ie ii in io is it la li me ml mr ms my na ne no or os pa pi ps sc so
    st su ti to ts tt us ve we bin cat dan est fin fra her ind lat may mon nor per run sin som sun tel ton
""")
"""Codes that often mean something else in a URL: words, abbreviations, faculties."""

COUNTRIES = _set_of("br ch cr ee ie kg kr lu my ng rw se sg si tw za")
"""Codes of small languages that mostly mean the country with the same code: se is Sweden, not Northern Sami."""

SMALL = 0.3
"""Confidence in a code or name of a language without a two-letter code: many three-letter strings are such codes."""

_WORD, _COUNTRY, _NAME, _CODE = 0.5, 0.8, 0.8, 0.8
"""Confidence in a code that is also a word, in a country, a name, and a three-letter code; in a tag it is 1."""

_DOMAINS = {"gb": "uk"}
"""Countries whose domain is not their code."""

_LOCALE = re.compile(r"([a-z]{2,3})[-_]([a-z]{4}|[a-z]{2})(?:[-_][a-z]{2})?")
_LONGEST_LOCALE = len("xxx-xxxx-xx")


def meanings(word: str) -> Meanings:
    """The languages that a word of a URL, in lower case, may mean."""
    may_be_code = len(word) <= _LONGEST_LOCALE and not word[-1:].isdigit()
    return _meanings(word) if may_be_code or word in names() else {}


@lru_cache(1 << 14)
def _meanings(word: str) -> Meanings:
    if word in names():
        return {names()[word]: SMALL if is_small(names()[word]) else _NAME}
    if len(word) == 2:
        return _of_two_letters(word)
    if len(word) != 3 or (tag := read_tag(word)) is None:
        return locale(word)
    return {tag: SMALL if is_small(tag) else _WORD if word in WORDS else _CODE}


def _of_two_letters(word: str) -> Meanings:
    """A language, or a country, which means its languages. If the code is both, the language."""
    tag = read_tag(word)
    countries = _spoken_in(word) if tag is None or word in COUNTRIES else ()
    said = {} if tag is None else {tag: _WORD if word in WORDS or word in COUNTRIES else 1.0}
    return said | dict.fromkeys(countries, _WORD if word in WORDS else _COUNTRY)


def locale(word: str) -> Meanings:
    """de_DE, pt-br, zh-hant: a language with a country where it is spoken, or with a script."""
    parts = _LOCALE.fullmatch(word)
    tag = read_tag(word) if parts else None
    if parts is None or tag is None:
        return {}
    plausible = len(parts[2]) == 4 or _domain(parts[2]) in languages()[tag.partition("-")[0]].domains
    return {tag: 1.0} if plausible else {}


@cache
def codes_and_countries() -> frozenset[str]:
    """Whatever has a meaning and is not a name begins with one of these."""
    return frozenset((*_codes(), *spoken_in(), *_DOMAINS))


@cache
def names() -> Mapping[str, str]:
    """Names of languages in lower case, also without accents, to tags. If two languages share a name, the larger has
    it."""
    found: dict[str, str] = {}
    for tag in sorted(languages(), key=is_small):
        for name in map(str.lower, languages()[tag].names):
            plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
            for spelling in (name, plain):
                if len(spelling) > 3 or not plain.isascii():
                    found.setdefault(spelling, tag)
    return found


def is_small(tag: str) -> bool:
    """Whether the language has no two-letter code."""
    return len(tag.partition("-")[0]) > 2


def _spoken_in(country: str) -> list[str]:
    """The languages of at least a third of the population of a country; English only if it is the only one."""
    spoken = spoken_in().get(_domain(country), {})
    found = [tag for tag, percent in spoken.items() if percent >= 33 and not is_small(tag)]
    return found if found == ["en"] else [tag for tag in found if tag != "en"]


def _domain(country: str) -> str:
    return _DOMAINS.get(country, country)
