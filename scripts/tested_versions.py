"""Writes for `spoor doctor` which versions of its libraries the tests run with: those of requirements.lock."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "src" / "spoor" / "cli" / "tested_versions.toml"


def locked_versions() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
    extras = [line for extra, lines in project["optional-dependencies"].items() if extra != "dev" for line in lines]
    names = [re.split(r"[^\w.-]", line)[0] for line in (*project["dependencies"], *extras)]
    locked = dict(re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / "requirements.lock").read_text("utf8"), re.M))
    normal = {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in locked.items()}
    found = {name: normal.get(re.sub(r"[-_.]+", "-", name).lower()) for name in names}
    lines = [f'"{name}" = "{version}"' for name, version in sorted(found.items()) if version]
    return "\n".join(["# made by scripts/tested_versions.py from requirements.lock", *lines, ""])


if __name__ == "__main__":
    FILE.write_text(locked_versions(), "ascii")
