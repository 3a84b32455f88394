"""Answers from a file: CSV, TSV and JSON lines, as people write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from spoor.errors import BadInput
from spoor.teaching.answer_file import read_answers

ANSWERS = {"http://a.test/1": True, "http://a.test/2": False, "http://a.test/3": None}


@pytest.mark.parametrize(
    "content",
    [
        "url,answer\nhttp://a.test/1,yes\nhttp://a.test/2,no\nhttp://a.test/3,?\n",
        "http://a.test/1,y\nHTTP://A.test:80/2,N\nhttp://a.test/3,\n",
        "answer\ttitle\turl\n1\tOne\thttp://a.test/1\n0\t\thttp://a.test/2\nskip\t\thttp://a.test/3\n",
        '{"url": "http://a.test/1", "answer": true}\n\n{"url": "http://a.test/2", "relevant": false}\n'
        '{"url": "http://a.test/3", "answer": null}\n',
        "\ufeffurl,relevant\r\nhttp://a.test/1,false\r\nhttp://a.test/1,true\r\n"
        "http://a.test/2,irrelevant\r\nhttp://a.test/3,\r\n",
    ],
)
def test_answers_are_read_however_they_are_written(content: str, tmp_path: Path) -> None:
    (tmp_path / "answers").write_text(content, "utf8")
    assert read_answers(tmp_path / "answers") == ANSWERS


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("url,answer\nnot-a-url,yes\n", "line 2: not an http(s) URL: 'not-a-url'"),
        ("http://a.test/1,perhaps\n", "line 1: 'perhaps' is not an answer; write yes, no or ?"),
        ("http://a.test/1\n", "line 1: a URL and an answer are needed"),
        ('{"url": "http://a.test/1"\n', "line 1: not JSON"),
        ('{"url": 1}\n', "line 1: not an http(s) URL: 1"),
        ('{"url": "http://a.test/"}\n[]\n', "line 2: each line is an object with url and answer"),
    ],
)
def test_a_wrong_line_is_named(content: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "answers").write_text(content)
    with pytest.raises(BadInput, match="answers, ") as refused:
        read_answers(tmp_path / "answers")
    assert complaint in str(refused.value)
