"""From the markup of a page, as serialised by the parser, to its text and its elements.

Serialised markup is regular: every element that can have an end tag has one, every value is quoted, and unescaped `<`
and `&` occur only inside elements that contain nothing but text. So compiled code can read it in one pass, whereas a
tree traversal would create an object per node.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import array, compiled, kernel, kernels_in, nth
from spoor.parse.tags import (
    ACT,
    APART,
    BLOCK,
    EMPTY,
    FRAME,
    HEADING,
    HOLDS_TEXT,
    HTML,
    IMG,
    LINK,
    LITERAL,
    LONGEST_NAME,
    NAME_TABLE,
    NAMES,
    NOSCRIPT,
    NUMBER,
    SCRIPT,
    SLOTS,
    TELLING,
    TITLE,
    TO_THE_END,
    UNREAD,
    A,
    NameTable,
    spread,
)

Codes = NDArray[np.uint32]
Numbers = NDArray[np.int32]

BORDER = 0x1F
"""In the text at the start and end of each block; white space for Python."""

WHAT, INSIDE, START, END, UNDER, IS_APART, IS_NOFOLLOW, VALUES = range(8)
"""Columns of an element: its action, the frame around it, start and end in the text, the heading above it as a span
number (-1 if none), whether it is outside the main content, whether its `rel` contains nofollow, and from there on
start and end in the markup of its attribute values, slot by slot (-1 if none)."""
COLUMNS = VALUES + 2 * SLOTS

_LESS_THAN, _MORE_THAN, _SLASH, _EQUALS, _QUOTE, _AMPERSAND, _BLANK, _MARK, _DASH, _QUESTION = b'<>/="& !-?'
_SMALL_LETTER = 32
_ACT_BITS = 255
_NOFOLLOW = np.frombuffer(b"nofollow", np.uint8)
_SCRIPT_NAME = np.frombuffer(b"script", np.uint8)


class Walked(NamedTuple):
    """`elements` are those with an action, in the order of their start tags, `spans` those whose text is collected
    separately (number of the tag, start, end in the text), `frames` all that can contain others: the frame around each,
    -1 for the outermost, and start and end of its name in the markup."""

    text: Codes
    elements: Numbers
    spans: Numbers
    frames: Numbers


def walk(markup: str) -> Walked:
    codes = np.frombuffer(markup.encode("utf-32-le", "surrogatepass"), np.uint32)
    return Walked(*_walk(codes, NAMES))


@kernel(array(np.uint32, read_only=True), NAME_TABLE)
def _walk(codes: Codes, names: NameTable) -> tuple[Codes, Numbers, Numbers, Numbers]:
    """One long function, because its state is many numbers and a crawler spends most of its time here."""
    end = codes.size
    text = np.empty(end + 1, np.uint32)  # A tag is longer than the borders it produces.
    elements, count = np.empty((64, COLUMNS), np.int32), 0
    spans, spanned = np.empty((16, 3), np.int32), 0
    frames, framed = np.empty((256, 3), np.int32), 0
    # The open elements: each with its kind, its element number, its span number, the frame around it.
    stack, depth = np.empty((32, 4), np.int32), 0
    values = np.empty(2 * SLOTS, np.int32)
    place = length = apart = unseen = 0
    frame = heading = anchor = unread = -1
    while place < end or depth:
        if place < end and nth(codes, place) != _LESS_THAN:
            place, length = _copied(codes, place, text, length, unseen == 0 and unread < 0)
            continue
        second = nth(codes, place + 1) if place + 1 < end else _SLASH
        if second == _MARK:
            place = _end_of_comment(codes, place)
            continue
        if second == _QUESTION:  # A processing instruction, which cannot contain `>`.
            while place < end and nth(codes, place) != _MORE_THAN:
                place += 1
            place += 1
            continue
        if second == _SLASH:
            name, stop = place + 2, _end_of_name(codes, place + 2)
            place = stop + 1
            # A different name: of an element without an end tag in HTML that has one in MathML or SVG.
            if stop < end and (depth == 0 or not _same(codes, name, stop, frames[frame, 1], frames[frame, 2])):
                continue
            depth -= 1
            kind, element, span = int(stack[depth, 0]), int(stack[depth, 1]), int(stack[depth, 2])
            frame = int(stack[depth, 3])
            act = kind >> ACT & _ACT_BITS
            if unread >= 0:
                unread = -1 if depth == unread else unread
                continue
        else:
            name, stop = place + 1, _end_of_name(codes, place + 1)
            kind = _kind(names, codes, name, stop)
            act = kind >> ACT & _ACT_BITS
            place = _read_attributes(codes, stop, names, act, values)
            if unread >= 0 and act == TITLE:  # The title of an SVG image may contain markup.
                kind = act = 0
            element = span = -1
            finish = _end_of_text(codes, place, name, stop, act) if kind & HOLDS_TEXT else place
            if unread < 0:
                if kind & BLOCK:
                    text[length] = BORDER
                    length += 1
                    apart += (kind & APART) != 0
                if kind & TELLING:
                    if spanned == len(spans):
                        spans = _larger(spans)
                    span = spanned
                    spanned += 1
                    spans[span, 0], spans[span, 1], spans[span, 2] = kind >> NUMBER, length, length
                    if kind & HEADING:
                        heading = span
                if act == TITLE:
                    values[0], values[1] = place, finish
                elif act == SCRIPT:
                    values[-2], values[-1] = place, finish
                if act == IMG and anchor >= 0 and values[2] < values[3]:
                    elements[anchor, VALUES + 2], elements[anchor, VALUES + 3] = values[2], values[3]
                elif act == NOSCRIPT:
                    unseen += 1
                elif (0 < act <= FRAME and values[0] >= 0) or HTML <= act <= SCRIPT:
                    if count == len(elements):
                        elements = _larger(elements)
                    element = count
                    count += 1
                    elements[element, WHAT], elements[element, INSIDE] = act, frame
                    elements[element, START], elements[element, END] = length, length
                    elements[element, UNDER], elements[element, IS_APART] = heading, apart > 0
                    elements[element, IS_NOFOLLOW] = (act <= FRAME or act == LINK) and _says_nofollow(codes, values)
                    for value in range(values.size):
                        elements[element, VALUES + value] = values[value]
                    if act == A:
                        anchor = element
                if act >= LITERAL and not unseen:
                    for ahead in range(finish - place):
                        text[length + ahead] = nth(codes, place + ahead)
                    length += finish - place
            if kind & HOLDS_TEXT:
                place = finish + 3 + stop - name
            elif not kind & EMPTY:
                if depth == len(stack):
                    stack = _larger(stack)
                if framed == len(frames):
                    frames = _larger(frames)
                stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = kind, element, span, frame
                frames[framed, 0], frames[framed, 1], frames[framed, 2] = frame, name, stop
                if unread < 0 and kind & UNREAD:
                    unread = depth
                depth += 1
                frame = framed
                framed += 1
                continue
            if unread >= 0:
                continue
        # End of an element.
        if span >= 0:
            spans[span, 2] = length
        if act == A:
            if element >= 0:
                elements[element, END] = length
            anchor = -1
        elif act == NOSCRIPT:
            unseen -= 1
        if kind & BLOCK:
            text[length] = BORDER
            length += 1
            apart -= (kind & APART) != 0
    return text[:length], elements[:count], spans[:spanned], frames[:framed]


@kernel(array(np.int32, 2))
def deepest(frames: Numbers) -> int:
    """The maximum nesting depth of frames; outer frames come before inner ones."""
    depths, most = np.empty(frames.shape[0], np.int32), 0
    for frame in range(frames.shape[0]):
        around = frames[frame, 0]
        depths[frame] = depths[around] + 1 if around >= 0 else 1
        most = max(most, int(depths[frame]))
    return most


@compiled
def _larger(rows: Numbers) -> Numbers:
    larger = np.empty((2 * rows.shape[0], rows.shape[1]), np.int32)
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            larger[row, column] = rows[row, column]
    return larger


@compiled
def _copied(codes: Codes, place: int, text: Codes, length: int, seen: bool) -> tuple[int, int]:
    """Copies the text from `place` to the next tag, if `seen`; returns the start of the tag and the end of the text.
    Decodes `&amp;`, `&lt;`, `&gt;` and `&nbsp;`."""
    end = codes.size
    while place < end and nth(codes, place) != _LESS_THAN:
        code = nth(codes, place)
        place += 1
        if not seen:
            continue
        if code == _AMPERSAND and place < end:
            first = nth(codes, place)
            if first == 97:
                place += 4
            elif first == 108:
                code, place = np.uint32(_LESS_THAN), place + 3
            elif first == 103:
                code, place = np.uint32(_MORE_THAN), place + 3
            elif first == 110:
                code, place = np.uint32(0xA0), place + 5
        text[length] = code
        length += 1
    return place, length


@compiled
def _end_of_comment(codes: Codes, place: int) -> int:
    for last in range(place + 6, codes.size):
        if nth(codes, last) == _MORE_THAN and nth(codes, last - 1) == _DASH and nth(codes, last - 2) == _DASH:
            return last + 1
    return codes.size


@compiled
def _end_of_name(codes: Codes, place: int) -> int:
    while place < codes.size and nth(codes, place) != _BLANK and nth(codes, place) != _MORE_THAN:
        place += 1
    return place


@compiled
def _same(codes: Codes, start: int, stop: int, other: int, other_stop: int) -> bool:
    length = stop - start
    letter = 0
    while length == other_stop - other and letter < length and nth(codes, start + letter) == nth(codes, other + letter):
        letter += 1
    return letter == length == other_stop - other


@compiled
def _packed(codes: Codes, start: int, stop: int) -> tuple[np.uint64, np.uint64]:
    """As `tags.packed`; 0 for a name that cannot be in the table."""
    low, high = np.uint64(0), np.uint64(0)
    if stop - start > LONGEST_NAME:
        return low, high
    for place in range(start, stop):
        if nth(codes, place) > 127:
            return np.uint64(0), np.uint64(0)
        if place - start < 8:
            low = low << np.uint64(8) | np.uint64(nth(codes, place))
        else:
            high = high << np.uint64(8) | np.uint64(nth(codes, place))
    return low, high


@compiled
def _kind(names: NameTable, codes: Codes, start: int, stop: int) -> int:
    low, high = _packed(codes, start, stop)
    place = spread(low, high)
    while names.low[place]:
        if names.low[place] == low and names.high[place] == high:
            return int(names.kinds[place])
        place = (place + 1) % names.low.size
    return 0


@compiled
def _read_attributes(codes: Codes, place: int, names: NameTable, act: int, values: Numbers) -> int:
    """Stores the positions of the attribute values that the action uses; returns the end of the tag."""
    end = codes.size
    values[:] = -1
    while place < end and nth(codes, place) == _BLANK:
        start = place + 1
        stop = start + 1  # An equals sign at the start belongs to the name.
        while (
            stop < end and nth(codes, stop) != _EQUALS and nth(codes, stop) != _BLANK and nth(codes, stop) != _MORE_THAN
        ):
            stop += 1
        value = finish = place = stop
        if stop + 1 < end and nth(codes, stop) == _EQUALS:
            value = finish = stop + 2
            while finish < end and nth(codes, finish) != _QUOTE:
                finish += 1
            place = finish + 1
        if 0 < act < NOSCRIPT:
            low, high = _packed(codes, start, stop)
            for slot in range(SLOTS):
                if low and names.attributes_low[act, slot] == low and names.attributes_high[act, slot] == high:
                    values[2 * slot], values[2 * slot + 1] = value, finish
    return place + 1


@compiled
def _says_nofollow(codes: Codes, values: Numbers) -> bool:
    """Whether the third value contains the word, in any case."""
    for place in range(values[4], values[5] - _NOFOLLOW.size + 1):
        letter = 0
        while letter < _NOFOLLOW.size and nth(codes, place + letter) | _SMALL_LETTER == _NOFOLLOW[letter]:
            letter += 1
        if letter == _NOFOLLOW.size:
            return True
    return False


@compiled
def _end_of_text(codes: Codes, place: int, name: int, stop: int, act: int) -> int:
    """The position of the end tag of an element that contains only text."""
    if act == SCRIPT:
        return _end_of_script(codes, place)
    length = stop - name
    found = codes.size
    for at in range(place, codes.size - length - 2):
        if nth(codes, at) != _LESS_THAN or nth(codes, at + 1) != _SLASH or nth(codes, at + 2 + length) != _MORE_THAN:
            continue
        if _same(codes, at + 2, at + 2 + length, name, stop):
            found = at
            if act != TO_THE_END:
                break
    return found


@compiled
def _end_of_script(codes: Codes, place: int) -> int:
    """As in browsers, a script inside a comment inside the script does not end it."""
    commented = nested = False
    for at in range(place, codes.size):
        code = nth(codes, at)
        if code == _MORE_THAN and commented and nth(codes, at - 1) == _DASH and nth(codes, at - 2) == _DASH:
            commented = nested = False
        elif code != _LESS_THAN or at + 3 >= codes.size:
            continue
        elif nth(codes, at + 1) == _MARK and nth(codes, at + 2) == _DASH and nth(codes, at + 3) == _DASH:
            commented = True
        elif nth(codes, at + 1) == _SLASH and _is_script(codes, at + 2):
            if not nested:
                return at
            nested = False
        elif commented and _is_script(codes, at + 1):
            nested = True
    return codes.size


@compiled
def _is_script(codes: Codes, place: int) -> bool:
    """Whether the name `script` is at this position."""
    stop = place + _SCRIPT_NAME.size
    if stop >= codes.size:
        return False
    for letter in range(_SCRIPT_NAME.size):
        if nth(codes, place + letter) | _SMALL_LETTER != _SCRIPT_NAME[letter]:
            return False
    return nth(codes, stop) in (9, 10, 12, 13, _BLANK, _SLASH, _MORE_THAN)


KERNELS = kernels_in(__name__)
