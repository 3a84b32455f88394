"""`python -m tests.machine_code PART` does in small what makes numba compile nearly all that it can compile.

In a clean clone that takes twenty seconds of processor time a part; where the machine code is kept already, two."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from spoor.cli.main import main
from spoor.parse.demanding import demanding
from spoor.parse.simhash import text_fingerprint
from spoor.records import Page
from spoor.teaching.beginning import beginner

WORDS = "Grüezi mitenand, das isch en Täxt uf Schwiizerdütsch. " * 30
PAGE = f"<title>Title</title><script>x</script><!-- y --><p><b>{WORDS}</b> and <a href=/a title=b>a link</a>."


def reading(folder: Path) -> None:
    """What reads and judges pages."""
    page, profile = folder / "page.html", str(folder / "gsw.spoor")
    page.write_text(PAGE, "utf8")
    main(["train", "language", "--name", "gsw", "--out", profile, str(page)])
    main(["judge", profile, str(page)])
    main(["judge", "language:th", str(page)])
    demanding(PAGE.encode())


def simulating(folder: Path) -> None:
    """What generates webs and crawls them, and a little more, so that both parts take as long."""
    text_fingerprint(WORDS)
    beginner([Page("http://a.test/", title="Title", text=WORDS)], "a language")
    for kind in ("thai", "topical"):
        web = str(folder / kind)
        main(["web", "generate", "--like", kind, "--pages", "300", "--seed", "1", "--text", "--out", web])
    task = [web, "--target", "relevant", "--seeds", f"{web}/seeds.txt"]
    main(["simulate", *task, "--strategy", "learned"])
    strategies = "breadth-first,depth-first,soft-focused,prioritised-limited-distance,in-links"
    main(["compare", *task, "--strategies", strategies, "--driver", "compiled", "--workers", "1"])


PARTS = {"reading": reading, "simulating": simulating}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        PARTS[sys.argv[1]](Path(scratch))
