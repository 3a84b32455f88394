"""What a judge said of the pages of a web, kept in a file: it is asked once, however many crawls come by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput
from spoor.records import Page, Verdict


@dataclass(frozen=True, eq=False)
class Verdicts:
    """By the number of the page; reasons and class labels are not kept. A page that nobody judged is not wanted."""

    relevance: NDArray[np.float64]
    relevant: NDArray[np.bool_]

    def write(self, path: Path) -> None:
        with path.open("wb") as file:
            np.savez_compressed(file, relevance=self.relevance, relevant=self.relevant)

    @staticmethod
    def read(path: Path) -> Verdicts:
        try:
            with path.open("rb") as file, np.load(file) as kept:
                return Verdicts(kept["relevance"], kept["relevant"])
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise BadInput(f"cannot read the verdicts in {path}: {error}; delete it, and it is made again") from None

    def of(self, number: int) -> Verdict:
        relevance = float(self.relevance[number])
        return Verdict(relevance, bool(self.relevant[number]), f"judged before, relevance {relevance:.2f}")


@dataclass(frozen=True)
class Remembered:
    """`name` is that of the judge that was asked; `verdict_of` answers by URL. It reads no texts any more, so
    strategies that read none either run as quickly as under a perfect judge."""

    name: str
    verdict_of: Callable[[str], Verdict] = field(repr=False)

    reads_content: ClassVar[bool] = False

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [self.verdict_of(page.url) for page in pages]
