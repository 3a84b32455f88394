"""Runs commands of spoor, given one an argument, and prints their exit codes and what they said, as JSON.

A script for the interpreter of another environment. Each command is a process of its own, forked when what nearly all
of them need is imported, because that takes longer than most commands do. Each imports the rest."""

from __future__ import annotations

import json
import os
import sys
from tempfile import TemporaryFile
from typing import NoReturn

import spoor.lab.comparison
import spoor.live.session  # noqa: F401
from spoor.cli.main import program


def run(line: str) -> tuple[int, str, str]:
    """The exit code, and what was written to the two streams."""
    with TemporaryFile("w+") as stdout, TemporaryFile("w+") as stderr:
        process = os.fork()
        if not process:
            become(line, stdout.fileno(), stderr.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        for stream in (stdout, stderr):
            stream.seek(0)
        return code, stdout.read(), stderr.read()


def become(line: str, stdout: int, stderr: int) -> NoReturn:
    """The command."""
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    sys.argv = ["spoor", *line.split()]
    program()


if __name__ == "__main__":
    print(json.dumps([run(line) for line in sys.argv[1:]]))
