"""The `spoor` command: one sub-command, one module."""
