"""`python -m spoor` is the `spoor` command."""

from spoor.cli.main import program

program()
