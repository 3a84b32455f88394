"""How much of a text is found in the PDF that is made of it: the Declaration of Human Rights in some languages, printed
by Chromium. Words are counted in NFKC, of scripts without blanks characters; times are of the processor, the best of
five. Needs the texts of the data folder, Chromium, and fonts of the scripts."""

from __future__ import annotations

import argparse
import html
import math
import shutil
import subprocess
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from tests.shared_data import SHARED

from spoor.parse.pdf import read_pdf

LANGUAGES = "arb pes_1 urd uig_arab heb ydd khk rus ell_monotonic hye kat vie tur hin ben tam mya khm tha cmn_hans jpn"
UNSPACED = ("tha", "cmn_hans", "jpn", "mya", "khm")
ROUNDS = 5

T = TypeVar("T")


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench documents", description=__doc__)
    parser.add_argument("--languages", default=LANGUAGES, metavar="CODES", help="files of texts/udhr (%(default)s)")
    asked = parser.parse_args(options)
    print("| language | pages | ms a page | of that pdfium | recall of words | without repair |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for code in asked.languages.split():
            print(_row(code, Path(folder)), flush=True)


def _row(code: str, folder: Path) -> str:
    head, _, text = (SHARED / "texts" / "udhr" / f"{code}.txt").read_text("utf8").partition("\n")
    body = _printed(text, "rtl" if "rtl" in head else "ltr", folder)
    found, ours = _fastest(lambda: read_pdf(body, 100).text)
    (pages, plain), pdfium = _fastest(lambda: _plain(body))
    times = (f"{1000 * seconds / pages:.1f}" for seconds in (ours, pdfium))
    shares = (f"{_recall(text, said, code in UNSPACED):.3f}" for said in (found, plain))
    return f"| {code} | {pages} | {' | '.join([*times, *shares])} |"


def _fastest(work: Callable[[], T]) -> tuple[T, float]:
    """What it gives, and the seconds of the processor that it takes where nothing else is in the way."""
    seconds = math.inf
    for _ in range(ROUNDS):
        began = time.process_time()
        done = work()
        seconds = min(seconds, time.process_time() - began)
    return done, seconds


def _printed(text: str, direction: str, folder: Path) -> bytes:
    page, out = folder / "page.html", folder / "page.pdf"
    lines = "".join(f"<p>{html.escape(line)}</p>" for line in text.splitlines())
    page.write_text(f"<meta charset=utf-8><body dir={direction}>{lines}", "utf8")
    chromium = shutil.which("chromium") or "chromium"
    wishes = ("--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--print-to-pdf={out}")
    subprocess.run([chromium, *wishes, page.as_uri()], check=True, capture_output=True, timeout=120)
    return out.read_bytes()


def _plain(body: bytes) -> tuple[int, str]:
    """The number of pages, and their text as pdfium gives it."""
    import pypdfium2

    document = pypdfium2.PdfDocument(body)
    return len(document), "\n".join(page.get_textpage().get_text_bounded() for page in document)


def _recall(text: str, found: str, unspaced: bool) -> float:
    normal = (unicodedata.normalize("NFKC", said).split() for said in (text, found))
    wanted, got = (Counter("".join(words) if unspaced else words) for words in normal)
    return (wanted & got).total() / wanted.total()
