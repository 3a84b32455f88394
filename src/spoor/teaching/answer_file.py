"""A file of answers as a teacher: URLs with relevant or not, as CSV, TSV or JSON lines.

url,answer
https://example.org/course,yes
https://example.org/shop,no
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spoor.errors import BadInput
from spoor.files import read_bounded
from spoor.records import Question
from spoor.urls import canonical, normalise

LARGEST = 1 << 26
"""Maximum file size in bytes: hundreds of thousands of answers."""
WORDS = {
    **dict.fromkeys(("yes", "y", "true", "1", "relevant"), True),
    **dict.fromkeys(("no", "n", "false", "0", "not relevant", "irrelevant"), False),
    **dict.fromkeys(("", "?", "skip", "null", "none"), None),
}


@dataclass(frozen=True)
class FileTeacher:
    """A teacher that looks answers up by canonical URL. None is "cannot say"."""

    answers: Mapping[str, bool | None]
    who: str = "file"
    spent: str = ""

    def may_know(self, url: str) -> bool:
        return self.answers.get(canonical(url)) is not None

    async def answer(self, question: Question) -> bool | None:
        return self.answers.get(canonical(question.url))


def read_answers(path: Path) -> dict[str, bool | None]:
    """Answers by canonical URL; of several answers to one URL the last counts."""
    try:
        content = read_bounded(path, LARGEST, "file of answers").decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8; save the answers in UTF-8") from None
    rows = _objects(path, content) if content.lstrip().startswith("{") else _cells(path, content)
    return {_url(path, line, url): _answer(path, line, said) for line, url, said in rows}


def _objects(path: Path, content: str) -> Iterator[tuple[int, Any, Any]]:
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            raise BadInput(f"{path}, line {number}: not JSON; each line is an object with url and answer") from None
        if not isinstance(said, dict):
            raise BadInput(f"{path}, line {number}: each line is an object with url and answer")
        yield number, said.get("url"), said.get("answer", said.get("relevant"))


def _cells(path: Path, content: str) -> Iterator[tuple[int, Any, Any]]:
    """Line number, URL and answer of each row: the columns url and answer, or the first two without a header."""
    head = next((line for line in content.splitlines() if line.strip()), "")
    rows = csv.reader(io.StringIO(content), delimiter="\t" if "\t" in head else ",", skipinitialspace=True)
    columns = [0, 1]
    try:
        for row in rows:
            names = [cell.strip().lower() for cell in row]
            if "url" in names and ("answer" in names or "relevant" in names):
                columns = [names.index("url"), names.index("answer" if "answer" in names else "relevant")]
            elif len(row) > max(columns):
                yield rows.line_num, row[columns[0]], row[columns[1]]
            elif any(names):
                raise BadInput(f"{path}, line {rows.line_num}: a URL and an answer are needed")
    except csv.Error as error:
        raise BadInput(f"{path}, line {rows.line_num}: {error}") from None


def _url(path: Path, line: int, said: Any) -> str:
    url = normalise(said.strip()) if isinstance(said, str) else None
    if url is None:
        raise BadInput(f"{path}, line {line}: not an http(s) URL: {said!r:.60}")
    return canonical(url)


def _answer(path: Path, line: int, said: Any) -> bool | None:
    word = ("" if said is None else str(said)).strip().lower()
    if word not in WORDS:
        raise BadInput(f"{path}, line {line}: {said!r:.60} is not an answer; write yes, no or ?")
    return WORDS[word]
