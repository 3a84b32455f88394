"""Demanding pages: what is read in the crawler itself can never take long."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from spoor.parse.demanding import LARGEST, MOST_ATTRIBUTES, MOST_TAGS, MOST_UNPAIRED, demanding

ORDINARY = "<html lang=en><body class=x><p>Words, <b>bold</b> <i class='a b'>ones</i> and <a href=x>links</a>.</p>"


def test_an_ordinary_page_is_not_demanding() -> None:
    assert not demanding((ORDINARY * 100).encode())
    assert not demanding(b"") and not demanding(b"<") and not demanding(b"</") and not demanding(b"<b")


@pytest.mark.parametrize(
    "html",
    [
        "x" * (LARGEST + 1),
        "<p>" * (MOST_TAGS + 1),
        "".join(f"<b id={n}>" for n in range(MOST_UNPAIRED + 1)),
        "".join(f"<FONT id={n}>x</B>" for n in range(MOST_UNPAIRED + 1)),
        "<div>" * 1_000 + "</b>" * (MOST_UNPAIRED + 1),
        "<p " + "a " * (MOST_ATTRIBUTES + 1) + ">",
        "<p/" + "a/" * (MOST_ATTRIBUTES + 1),
        "<p" + " a='>'" * (MOST_ATTRIBUTES + 1),
        "<p " + 'a="<">' + 'b=">"' * (MOST_ATTRIBUTES + 1) + "<p " + "c=d " * (MOST_ATTRIBUTES + 1),
        "</p " + "a " * (MOST_ATTRIBUTES + 1) + ">",
        "<!-- <p " + "a " * (MOST_ATTRIBUTES + 1) + ">-->",
        "<script>'<p " + "a " * (MOST_ATTRIBUTES + 1) + ">'</script>",
        "".join(f"<body a{n}>" for n in range(MOST_ATTRIBUTES + 1)),
        "".join(f"<html a{n}>" for n in range(MOST_ATTRIBUTES + 1)),
        '<p x="' + '<a x="' * 2_000 + "y" * 100_000,
    ],
)
def test_a_page_out_of_order_is_demanding(html: str) -> None:
    assert demanding(html.encode())


@pytest.mark.parametrize("charset", ["utf-16le", "utf-16be", "hz", "iso2022_jp"])
def test_a_page_whose_markup_cannot_be_seen_in_its_bytes_is_demanding(charset: str) -> None:
    assert demanding("<p>日本".encode(charset))


FRAGMENTS = """
    <b/id={}> <i/id={}> <font/x={}> <code/id={}>x</code> <b/id={}>x</b> </b> </i> <p>x <p> </p> <div> </div> x
    <a/href={}> </a> <object> </object> <table> <tr> <td> </td> </table> <caption> <select> <option> </select> <svg>
    </svg> <math> <mi> <foreignObject> <template> </template> <!-- --> <style> </style> <script> </script> <title>
    </title> <ul> <li> </ul> <b/id={}/x=' '> " <b/x="</b>"/id={}> <i/x='<b>x</b>'/id={}> <b/id={}><!--</b>-->
    <b/id={}><object></b></object> <marquee> <nobr/id={}> <button> <form> <h1> </h1> <frameset> <plaintext>
    <![CDATA[ ]]> <body> <html> </body> <br/>
"""
REPEATED = st.tuples(
    st.lists(st.sampled_from(FRAGMENTS.split()), min_size=1, max_size=3), st.sampled_from([1, 2, 10, 100, 400])
)


def nodes(html: str) -> int:
    """Of the tree that a parser makes of it."""
    root = LexborHTMLParser(html).root
    count, node, ancestors = 0, root, []
    while node is not None:
        count += 1
        child = node.first_child
        if child is not None:
            ancestors.append(node)
            node = child
            continue
        node = node.next
        while node is None and ancestors:
            node = ancestors.pop().next
    return count


@settings(max_examples=300, deadline=None)
@given(st.lists(REPEATED, max_size=5))
def test_a_page_that_is_not_demanding_makes_no_large_tree(parts: list[tuple[list[str], int]]) -> None:
    """Whatever a parser opens again, it does so for a bounded number of elements in a bounded number of places."""
    numbers = iter(range(10**9))
    html = "".join(piece.replace("{}", str(next(numbers))) for pieces, times in parts for piece in pieces * times)
    if not demanding(html.encode()):
        assert nodes(html) <= 100_000 + (MOST_UNPAIRED + 10) * html.count("<")
