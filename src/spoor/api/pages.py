"""`spoor.read_page` and `spoor.judge`: parse and judge local pages; decorators that register judges and strategies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar, overload

from spoor import registry
from spoor.api.options import AnyJudge
from spoor.errors import BadInput, UsageError
from spoor.files import SUFFIX
from spoor.judging.training_pages import as_page, document
from spoor.parse.apart import read_in_subprocess
from spoor.parse.html import ParseOptions
from spoor.parse.main_text import QUICK
from spoor.records import Failure, Page, Verdict
from spoor.roles import Judge
from spoor.settings import Config, Target
from spoor.strategy import verdicts_of
from spoor.urls import normalise

AnyTarget = AnyJudge | Target | Config
"""As in `spoor judge`: a language tag, a model, a judge such as `script:thai`, a crawl.toml; or an object."""
AnyPage = Page | str | bytes | Path
"""A page, its HTML or text, or a file that contains it."""
NOWHERE = "http://document.invalid/"

Made = TypeVar("Made", bound=Callable[..., Any])


def read_page(source: str | bytes, url: str = NOWHERE, content_type: str = "text/html") -> Page:
    """Parses HTML: title, text, main text, links with their context. Never raises because of malformed HTML. Bytes are
    decoded as in browsers: by `content_type`, by the declaration in the page, or by detection. Also reads PDF, DOCX,
    OpenDocument and EPUB files, in another process; raises `BadInput` with the reason if one has no text."""
    address = normalise(url)
    if address is None:
        raise UsageError(f"{url!r} is not an http or https URL; links are resolved against it")
    if isinstance(source, str):
        source, content_type = source.encode("utf8", "replace"), f"{content_type.partition(';')[0]}; charset=utf-8"
    page = read_in_subprocess(address, source, content_type, parse_options=ParseOptions(QUICK))
    if isinstance(page, Failure):
        raise BadInput(f"{url} cannot be read: {page.reason}")
    return page


@overload
def judge(target: str, pages: None = None, **about: Any) -> Callable[[Made], Made]: ...
@overload
def judge(target: AnyTarget, pages: Iterable[AnyPage]) -> list[Verdict]: ...
def judge(
    target: AnyTarget, pages: Iterable[AnyPage] | None = None, **about: Any
) -> Callable[[Made], Made] | list[Verdict]:
    """Verdicts of a judge on pages, in their order. Without `pages` it is a decorator: `@spoor.judge("name")` registers
    a judge under that name; `about` is passed to `spoor.registry.register_judge`."""
    if pages is None:
        if not isinstance(target, str):
            raise UsageError(
                f"{target!r} is not the name of a judge; give pages to be judged, or a name as a decorator"
            )
        return registry.register_judge(target, **about)
    return verdicts_of(judge_of(target), [_page(page) for page in pages])


def strategy(name: str, **about: Any) -> Callable[[Made], Made]:
    """`@spoor.strategy("name")` registers a function that makes a strategy for a judge; `about` is passed to
    `spoor.registry.register_strategy`."""
    return registry.register_strategy(name, **about)


def judge_of(target: AnyTarget) -> Judge:
    """A string without a colon that is not a file name is a language tag."""
    if isinstance(target, Config):
        return registry.judge_of(target.target, translator=registry.translator_of(target.translate))
    if isinstance(target, Target):
        return registry.judge_of(target)
    if not isinstance(target, str):
        return target
    is_tag = ":" not in target and not target.endswith((SUFFIX, registry.TARGETS))
    return registry.judge(f"language:{target}" if is_tag else target)


def _page(page: AnyPage) -> Page:
    if isinstance(page, Page):
        return page
    if isinstance(page, Path):
        return document(page)
    return as_page("", page) if isinstance(page, bytes) else _from_text(page)


def _from_text(text: str) -> Page:
    if text.lstrip()[:1] == "<":
        return read_page(text)
    return Page(NOWHERE, content_type="text/plain", size=len(text), text=text)
