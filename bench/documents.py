"""How much of a text is found in the PDF that is made of it: the Declaration of Human Rights in some languages, printed
by Chromium. Words are counted in NFKC, of scripts without blanks
characters; times are of the processor. Needs the texts of the data folder,
Chromium, and fonts of the scripts."""

from __future__ import annotations

import argparse
import html
import shutil
import subprocess
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.shared_data import SHARED

from spoor.parse.pdf import read_pdf

LANGUAGES = "arb pes_1 urd uig_arab ckb heb ydd khk rus ell_monotonic hye kat vie tur tha cmn_hans"
UNSPACED = ("tha", "cmn_hans")
ROUNDS = 5


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench documents", description=__doc__)
    parser.add_argument("--languages", default=LANGUAGES, metavar="CODES", help="files of texts/udhr (%(default)s)")
    asked = parser.parse_args(options)
    print("| language | pages | ms a page | recall of words | without repair |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for code in asked.languages.split():
            print(_row(code, Path(folder)), flush=True)


def _row(code: str, folder: Path) -> str:
    head, _, text = (SHARED / "texts" / "udhr" / f"{code}.txt").read_text("utf8").partition("\n")
    body = _printed(text, "rtl" if "rtl" in head else "ltr", folder)
    began = time.process_time()
    for _ in range(ROUNDS):
        found = read_pdf(body, 100)
    seconds = (time.process_time() - began) / ROUNDS
    pages, plain = _plain(body)
    shares = (_recall(text, said, code in UNSPACED) for said in (found.text, plain))
    return f"| {code} | {pages} | {1000 * seconds / pages:.1f} | {' | '.join(f'{share:.3f}' for share in shares)} |"


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
