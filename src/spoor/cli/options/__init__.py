"""The options of every command. Imports only the standard library, so that `--help` is fast."""
