"""What is known of a language by its BCP-47 tag: codes, names, scripts, and the countries where it is at home.

A tag here is a language and, where it matters, a script: "ja", "mn-Mong". Countries are told in scripts if they write
differently (zh-TW is zh-Hant) and left out otherwise (pt-BR is pt). The facts are CLDR's.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from spoor.errors import UsageError

_TAG = re.compile(r"([a-z]{2,3})(?:-[a-z]{3})?(?:-([a-z]{4}))?(?:-([a-z]{2}|[0-9]{3}))?((?:-[a-z0-9]{1,8})*)", re.A)
_PARENTS = {"nb": "no", "nn": "no"}
"""Languages that are also called by the tag of a wider one."""


@dataclass(frozen=True)
class Language:
    """`names` begins with the English one, followed by what its speakers call it. `codes` are other codes than the tag,
    with the script they imply or "". `script` is the usual one (ISO 15924: "Jpan"), `scripts_abroad` says where another
    is written. `domains` are country domains where it is official or spoken by most, with the percentage of speakers; 0
    where it is official in a part of the country only."""

    tag: str
    script: str
    scripts_abroad: Mapping[str, str]
    codes: Mapping[str, str]
    domains: Mapping[str, int]
    names: tuple[str, ...]


def language(tag: str) -> Language:
    """The facts about the language of a tag, whatever script the tag names."""
    return languages()[canonical_tag(tag).partition("-")[0]]


def canonical_tag(text: str) -> str:
    """The one spelling of a tag: "jpn" is "ja", "mn_mong" is "mn-Mong". UsageError when there is no such language."""
    tag = read_tag(text)
    if tag is None:
        raise UsageError(f"unknown language {text!r}; {_remedy(text)}")
    return tag


def read_tag(text: str) -> str | None:
    """The same for what a page claims: None when it is no tag of a known language."""
    parts = _TAG.fullmatch(text.strip().replace("_", "-").lower())
    if parts is None or parts[1] not in _meanings():
        return None
    tag, implied = _meanings()[parts[1]]
    known = languages()[tag]
    script = (parts[2] or "").capitalize() or known.scripts_abroad.get((parts[3] or "").upper(), "") or implied
    if script and script not in scripts():
        return None
    return f"{tag}-{script}" if script else tag


def matches(wanted: str, found: str) -> bool:
    """Whether a page in `found` is one in `wanted`, both canonical: a wanted language accepts every script, a wanted
    script only itself."""
    (language, script), (other, other_script) = _parts(wanted), _parts(found)
    if language != other and _PARENTS.get(other) != language and _PARENTS.get(language) != other:
        return False
    return not script or script == (other_script or languages()[other].script)


@cache
def languages() -> Mapping[str, Language]:
    """All languages by tag."""
    lines = files("spoor.language").joinpath("languages.tsv").read_text("utf8").splitlines()
    return {found.tag: found for found in map(_language, lines)}


@cache
def spoken_in() -> Mapping[str, Mapping[str, int]]:
    """Country domains to the languages at home there, with the percentage of speakers; those spoken by most first."""
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
def _meanings() -> Mapping[str, tuple[str, str]]:
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
    """`a=1|b` as a dictionary, "" for what has no value."""
    return {name: value for name, _, value in (entry.partition("=") for entry in text.split("|")) if name}


def _parts(tag: str) -> tuple[str, str]:
    language, _, script = tag.partition("-")
    return language, script


def _remedy(text: str) -> str:
    names = {name.lower(): known.tag for known in languages().values() for name in known.names}
    near = difflib.get_close_matches(text.strip().lower(), names, 1, 0.8)
    if near:
        return f"did you mean {names[near[0]]!r} ({near[0]})?"
    return "give a BCP-47 tag such as ja, mn-Mong or uz-Cyrl"
