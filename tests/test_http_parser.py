"""The parser of responses: what servers send is read as browsers read it, and in whatever pieces it arrives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spoor.fetch.http_parser import (
    MAX_INTERIM_RESPONSES,
    BrokenResponse,
    HeadTooLarge,
    OnlyHttp2,
    ResponseHead,
    ResponseParser,
    parse_head,
)

MAX_HEAD_BYTES = 2_000
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@dataclass(frozen=True)
class Parsed:
    """What came of a response; `end` is "complete", "with the connection", "missing" or the name of an error."""

    heads: tuple[tuple[int, dict[str, str], bytes], ...]
    body: bytes
    end: str
    leaves_open: bool


def parsed(*packets: bytes) -> Parsed:
    """Packets after the end of the response are not given to the parser."""
    parser = ResponseParser(MAX_HEAD_BYTES)
    heads: list[tuple[int, dict[str, str], bytes]] = []
    body, end = b"", ""
    try:
        for packet in packets:
            for event in () if parser.is_complete else parser.feed(packet):
                if isinstance(event, ResponseHead):
                    heads.append((event.status, event.headers.first, event.raw))
                else:
                    assert event
                    body += event
    except BrokenResponse as error:
        end = type(error).__name__
    end = end or (
        "complete" if parser.is_complete else "with the connection" if parser.ends_with_connection else "missing"
    )
    return Parsed(tuple(heads), body, end, parser.leaves_connection_open)


def cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    edges = [0, *sorted(places), len(data)]
    return [data[start:end] for start, end in pairwise(edges) if start < end]


STATUS_LINES = st.sampled_from(
    [b"HTTP/1.1 200 OK", b"HTTP/1.1 200", b"HTTP/1.0 404 Not Found", b"HTTP/1.1 204 No", b"HTTP/1.1 304 Not Modified",
     b"HTTP/1.1 101 Switching", b"HTTP/1.1 103 Hints", b"HTTP/1.1 100 Continue", b"HTTP/2 200 OK", b"ICY 200 OK",
     b"HTTP/1.1 20 OK", b"", b"\0\0\x12\x04\0\0\0\0\0"]
)  # fmt: skip
HEADER_LINES = st.sampled_from(
    [b"Content-Length: 5", b"Content-Length: 5, 5", b"Content-Length : 5", b"content-length:3", b"Content-Length: -1",
     b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, Chunked", b"Transfer-Encoding: klingon",
     b"Connection: close", b"Connection: keep-alive", b"X: y", b"X:", b": y", b"no colon", b" folded", b"X: \xff\xfe",
     b"X: \xc3\xa9", b"X: a\0b", b"X: a\rb", b"Set-Cookie: a=b", b"Set-Cookie: c=d"]
)  # fmt: skip
LINE_ENDS = st.sampled_from([b"\r\n"] * 5 + [b"\n"])
BODIES = st.sampled_from(
    [b"", b"hello", b"hello, and more", b"5\r\nhello\r\n0\r\n\r\n", b"2;x=y\r\nhe\r\n3 \r\nllo\r\n0\r\nT: t\r\n\r\n",
     b"5\nhello\n0\n\n", b"5\r\nhello", b"5\r\nhello\r\n", b"5\r\nhellohello", b"g\r\n", b"\r\n", b"0\r\n",
     b"0\r\n\r\n", OK + b"Content-Length: 2\r\n\r\nok"]
)  # fmt: skip


@st.composite
def heads(draw: st.DrawFn) -> bytes:
    lines = [draw(STATUS_LINES), *draw(st.lists(HEADER_LINES, max_size=5)), b""]
    return b"".join(line + draw(LINE_ENDS) for line in lines)


RESPONSES = st.builds(lambda heads, body: b"".join(heads) + body, st.lists(heads(), min_size=1, max_size=3), BODIES)


@given(RESPONSES | st.binary(max_size=60), st.data())
@example(CHUNKED + b"5\r\nhello\r\n0\r\n\r\n", None)
def test_the_pieces_in_which_a_response_arrives_change_nothing(data: bytes, draws: st.DataObject | None) -> None:
    whole = parsed(data)
    places = list(range(len(data))) if draws is None else draws.draw(st.lists(st.integers(0, len(data))))
    for packets in (cut(data, places), cut(data, range(len(data)))):
        pieces = parsed(*packets)
        assert (pieces.heads, pieces.body, pieces.end) == (whole.heads, whole.body, whole.end)
        assert pieces.leaves_open or not whole.leaves_open


@given(RESPONSES, st.binary(min_size=1, max_size=30))
def test_what_follows_a_complete_response_does_not_lose_it(data: bytes, junk: bytes) -> None:
    alone, followed = parsed(data), parsed(data + junk)
    if alone.end == "complete":
        assert (followed.heads, followed.body, followed.end) == (alone.heads, alone.body, "complete")
        assert not followed.leaves_open


@given(
    st.lists(st.sampled_from([b"X: y", b"Content-Type: text/html", b"Vary:", b"x: z", b"X-\xc3\xa9: 1", b"Y: \xe9"]))
)
def test_a_head_that_is_corrected_says_what_it_would_have_said_by_the_standard(lines: list[bytes]) -> None:
    strict = b"\r\n".join([b"HTTP/1.1 200 OK", *lines, b"", b""])
    sloppy = b"\n".join([b"HTTP/1.1  200 OK", *lines, b"no colon", b"", b""]).replace(b": ", b" :\n ")
    assert not parse_head(sloppy).is_strict
    assert parse_head(sloppy).headers.first == parse_head(strict).headers.first


@pytest.mark.parametrize(
    ("head", "headers"),
    [
        (b"Content-Length: 2\r\nContent-Length: 2\r\n", {"content-length": "2"}),
        (b"Content-Length: 2, 2\r\n", {"content-length": "2, 2"}),
        (b"Server : a\r\nContent-Length : 2\r\n", {"server": "a", "content-length": "2"}),
        (b"no colon here\r\nContent-Length: 2\r\n", {"content-length": "2"}),
        (b": no name\r\nno token: x\r\n\x00: \x01\r\nContent-Length: 2\r\n", {"content-length": "2"}),
        (b" folded into the status line\r\nContent-Length: 2\r\n", {"content-length": "2"}),
        (b"X: a\r\n  b\r\n\tc\r\nContent-Length: 2\r\n", {"x": "a b c", "content-length": "2"}),
        (b"Content-Length:\r\n 2\r\n", {"content-length": "2"}),
        (b"X: a\0b\rc\r\nContent-Length: 2\r\n", {"x": "a b c", "content-length": "2"}),
        (b"X: \xe9\r\nY: \xc3\xa9\r\nContent-Length: 2\r\n", {"x": "é", "y": "é", "content-length": "2"}),
        (b"Set-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: \t2 \r\n", {"set-cookie": "a", "content-length": "2"}),
    ],
)
def test_heads_that_the_standard_forbids_are_read_and_kept_as_they_came(head: bytes, headers: dict[str, str]) -> None:
    head = OK + head + b"\r\n"
    for raw in (head, head.replace(b"\r\n", b"\n")):
        result = parsed(raw + b"ok")
        assert result.heads == ((200, headers, raw),)
        assert (result.body, result.end) == (b"ok", "complete")


def test_a_head_may_have_as_many_headers_as_it_has_room_for() -> None:
    lines = b"".join(b"X-%d: y\r\n" % number for number in range(180))
    assert parsed(OK + lines + b"Content-Length: 0\r\n\r\n").end == "complete"
    assert parsed(OK + lines * 2).end == parsed(OK + lines * 2 + b"\r\n").end == "HeadTooLarge"


@pytest.mark.parametrize("line", [b"HTTP/1.1 200", b"HTTP/1.1  200 OK", b"\r\n\nHTTP/1.1 200 OK", b"HTTP/1.1 200 \xff"])
def test_status_lines_that_are_read(line: bytes) -> None:
    assert parsed(line + b"\r\nContent-Length: 2\r\n\r\nok").heads[0][0] == 200


@pytest.mark.parametrize(
    "line",
    [b"220 mail.test ESMTP", b"SSH-2.0-OpenSSH", b"<html>", b"HTTP/1.1 20 OK", b"HTTP/1.1 2000 OK", b"HTTP/1.1 -200",
     b"HTTP/x.1 200 OK", "HTTP/1.1 ٢٠٠ OK".encode(), b"\0", b"\0" * 9],
)  # fmt: skip
def test_status_lines_that_are_not(line: bytes) -> None:
    result = parsed(line + b"\r\n" + b"X: y\r\n" * 2 + b"\r\n")
    assert (result.heads, result.end) == ((), "BrokenResponse")


def test_interim_responses_are_skipped_but_not_without_end() -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\nContent-Length: 9\r\n\r\n"
    assert parsed(interim * MAX_INTERIM_RESPONSES + OK + b"Content-Length: 2\r\n\r\nok").body == b"ok"
    assert parsed(interim * (MAX_INTERIM_RESPONSES + 1)).end == "BrokenResponse"


@pytest.mark.parametrize(
    ("fields", "body", "end"),
    [
        (b"Content-Length: 2\r\n", b"ok", "complete"),
        (b"Content-Length: 2\r\n", b"o", "missing"),
        (b"Content-Length: 2\r\n", b"ok and more than was announced", "complete"),
        (b"Transfer-Encoding: chunked\r\n", b"2\r\nok\r\n0\r\n\r\n", "complete"),
        (b"Transfer-Encoding: chunked\r\n", b"2\r\nok\r\n0\r\nT: t\r\n\r\n", "complete"),
        (b"Transfer-Encoding: chunked\r\n", b"2\r\nok\r\n0\r\n", "missing"),
        (b"Transfer-Encoding: chunked\r\n", b"2\r\nok", "missing"),
        (b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", b"2\r\nok\r\n0\r\n\r\n", "complete"),
        (b"Transfer-Encoding: identity\r\nContent-Length: 2\r\n", b"ok", "complete"),
        (b"Transfer-Encoding: identity\r\n", b"ok", "with the connection"),
        (b"", b"ok", "with the connection"),
    ],
)
def test_where_a_body_ends(fields: bytes, body: bytes, end: str) -> None:
    """The end of the connection ends it only where there is neither length nor chunks."""
    result = parsed(OK + fields + b"\r\n" + body)
    assert (result.body, result.end) == (b"o" if body == b"o" else b"ok", end)


@pytest.mark.parametrize("status", [b"101", b"204", b"304"])
def test_responses_that_never_have_a_body(status: bytes) -> None:
    for fields in (b"", b"Content-Length: 70\r\n", b"Transfer-Encoding: chunked\r\n"):
        assert parsed(OK.replace(b"200", status) + fields + b"\r\n").end == "complete"


@pytest.mark.parametrize(
    "fields",
    [
        b"Content-Length: 2\r\n",
        b"Content-Length: 2\r\nContent-Length: 2\r\n",
        b"Content-Length: 2\r\nConnection: keep-alive\r\nX: y\r\n",
        b"Transfer-Encoding: chunked\r\n",
    ],
)
def test_a_connection_stays_open_after(fields: bytes) -> None:
    body = b"2\r\nok\r\n0\r\n\r\n" if b"chunked" in fields else b"ok"
    assert parsed(OK + fields + b"\r\n" + body).leaves_open


@pytest.mark.parametrize(
    "response",
    [
        OK + b"Content-Length: 2\r\nConnection: x, Close\r\n\r\nok",
        OK.replace(b"1.1", b"1.0") + b"Content-Length: 2\r\n\r\nok",
        OK.replace(b"1.1", b"2") + b"Content-Length: 2\r\n\r\nok",
        OK + b"Content-Length : 2\r\n\r\nok",
        OK + b"Content-Length: 2\n\r\nok",
        OK + b"X: y\r\n z\r\nContent-Length: 2\r\n\r\nok",
        OK + b"no colon\r\nContent-Length: 2\r\n\r\nok",
        OK + b"X: a\rContent-Length: 9\r\nContent-Length: 2\r\n\r\nok",
        OK + b"Transfer-Encoding: chunked\r\nContent-Length: 12\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: xchunked\r\nContent-Length: 2\r\n\r\nok",
        CHUNKED + b"2\nok\r\n0\r\n\r\n",
        CHUNKED + b"2\r\nok\n0\r\n\r\n",
        CHUNKED + b"2\r\nok\r\n0\r\n\n",
        OK.replace(b"200", b"204") + b"Transfer-Encoding: chunked\r\n\r\n",
        OK.replace(b"200", b"101") + b"\r\n",
    ],
)  # fmt: skip
def test_a_connection_is_closed_where_another_reader_might_see_another_end(response: bytes) -> None:
    result = parsed(response)
    assert (result.end, result.leaves_open) == ("complete", False)


def test_a_keep_alive_of_the_old_protocol_is_kept() -> None:
    assert parsed(OK.replace(b"1.1", b"1.0") + b"Connection: Keep-Alive\r\nContent-Length: 0\r\n\r\n").leaves_open


@pytest.mark.parametrize(
    "fields",
    [
        b"Content-Length: 2\r\nContent-Length: 3\r\n",
        b"Content-Length: 2, 3\r\n",
        b"Content-Length: -2\r\n",
        b"Content-Length: +2\r\n",
        b"Content-Length: 0x2\r\n",
        b"Content-Length: 2 2\r\n",
        b"Content-Length:\r\n",
        "Content-Length: ٢\r\n".encode(),
        b"Content-Length: " + b"9" * 1_000 + b"\r\n",
    ],
)
def test_lengths_that_say_nothing_certain_are_refused(fields: bytes) -> None:
    assert parsed(OK + fields + b"\r\nok").end == "BrokenResponse"


@pytest.mark.parametrize(
    "chunks",
    [b"-1\r\nok", b"0x2\r\nok", b" 2\r\nok", b"2 x\r\nok", b"\r\n", b"\n\nok", b"f" * 1_000 + b"\r\nok", b"f" * 3_000,
     b"2\r\nokok\r\n0\r\n\r\n", b"2;" + b"x" * 3_000,
     b"1;" + b"x" * 900 + b"\r\ny" + b"\r\n1;%b\r\ny" % (b"x" * 900) * 3,
     b"0\r\n" + b"X: y\r\n" * 500],
)  # fmt: skip
def test_chunks_that_are_none_are_refused(chunks: bytes) -> None:
    assert parsed(CHUNKED + chunks).end == "BrokenResponse"


def test_what_came_before_the_error_is_kept() -> None:
    assert parsed(CHUNKED + b"3\r\none\r\n2\r\ntwo").body == b"onetw"


def test_a_frame_of_http_2_is_recognised() -> None:
    settings = b"\0\0\x06\x04\0\0\0\0\0\0\3\0\0\0\x64"
    assert parsed(settings).end == OnlyHttp2.__name__
    assert parsed(b"\0\0\x06\x07\0\0\0\0\0").end == BrokenResponse.__name__


def test_bytes_without_end_before_the_body_are_too_large() -> None:
    for start, endless in ((b"", b"\r\n"), (b"HTTP/1.1 200 ", b"x"), (OK, b"X: y\r\n"), (OK + b"X: ", b"y")):
        assert parsed(start, *[endless] * MAX_HEAD_BYTES).end == HeadTooLarge.__name__
