"""Inputs made from good ones: bits turned, parts doubled, dropped and mixed, signs of the format put anywhere."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

LARGEST = 1 << 14
"""Bytes of an input; what grows beyond is cut."""
NUMBERS = (
    b"0",
    b"-1",
    b"2147483648",
    b"18446744073709551616",
    b"9" * 400,
    b"9" * 4_400,
    b"1e999",
    b"nan",
    b"0.1",
    b"007",
)
SIGNS = (
    b"\0",
    b"\n",
    b"\r\n",
    b"\x1b",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\xe2\x80\xae",
    b" ",
    b"%",
    b'"',
    b"'",
)

Change = Callable[[bytearray], None]


class Mutator:
    """The same seed makes the same inputs."""

    def __init__(self, seed: int, corpus: Sequence[bytes], signs: Sequence[bytes]) -> None:
        self._random = random.Random(seed)
        self._corpus = corpus
        self._signs = (*signs, *SIGNS, *NUMBERS)
        self._changes: tuple[Change, ...] = (
            self._turn_a_bit,
            self._put_a_sign,
            self._put_a_sign,
            self._replace_by_a_sign,
            self._drop_a_part,
            self._double_a_part,
            self._repeat_a_sign,
            self._mix,
        )

    def input(self) -> bytes:
        made = bytearray(self._random.choice(self._corpus))
        for _ in range(self._random.choice((0, 1, 1, 2, 3, 5, 8))):
            self._random.choice(self._changes)(made)
        return bytes(made[:LARGEST])

    def _place(self, made: bytearray) -> int:
        return self._random.randint(0, len(made))

    def _part(self, made: bytearray) -> slice:
        start = self._place(made)
        return slice(start, start + self._random.choice((1, 2, 4, 16, 64, 1_024)))

    def _sign(self) -> bytes:
        return self._random.choice(self._signs)

    def _turn_a_bit(self, made: bytearray) -> None:
        if made:
            made[self._random.randrange(len(made))] ^= 1 << self._random.randrange(8)

    def _put_a_sign(self, made: bytearray) -> None:
        place = self._place(made)
        made[place:place] = self._sign()

    def _replace_by_a_sign(self, made: bytearray) -> None:
        made[self._part(made)] = self._sign()

    def _drop_a_part(self, made: bytearray) -> None:
        del made[self._part(made)]

    def _double_a_part(self, made: bytearray) -> None:
        place = self._place(made)
        made[place:place] = made[self._part(made)] * self._random.choice((1, 1, 2, 30))

    def _repeat_a_sign(self, made: bytearray) -> None:
        place = self._place(made)
        made[place:place] = self._sign() * self._random.choice((2, 10, 300, 3_000))

    def _mix(self, made: bytearray) -> None:
        place, other = self._place(made), self._random.choice(self._corpus)
        made[place:] = other[self._random.randint(0, len(other)) :]
