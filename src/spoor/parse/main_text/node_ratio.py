"""The main text as in paper 002: under the deepest element that holds much of the text and most of its blocks.

NodeRatio(v)       = TextLength(v) / TextLength(page)      TextLength: characters outside of links
UnlinkNodeRatio(v) = UnlinkNodes(v) / UnlinkNodes(page)    UnlinkNodes: blocks that hold such characters
"""

from __future__ import annotations

from spoor.parse.main_text.outline import Element, Outline, outline

LEAST_NODE_RATIO = 0.3
LEAST_UNLINK_NODE_RATIO = 0.5
"""Of two elements side by side not both can have more, so there is only one deepest."""


def node_ratio(element: Element, page: Outline) -> float:
    return element.letters / page.letters if page.letters else 0.0


def unlink_node_ratio(element: Element, page: Outline) -> float:
    return element.blocks / page.blocks if page.blocks else 0.0


def main_element(page: Outline) -> Element | None:
    """None: there is no text but in links."""
    candidates = [
        element
        for element in page.elements
        if node_ratio(element, page) > LEAST_NODE_RATIO and unlink_node_ratio(element, page) > LEAST_UNLINK_NODE_RATIO
    ]
    return max(candidates, key=lambda element: element.depth, default=None)


def node_ratio_text(html: str, url: str = "") -> str:
    """With the text of the links in it, which are part of its sentences."""
    page = outline(html)
    chosen = main_element(page)
    return page.text(chosen) if chosen else ""
