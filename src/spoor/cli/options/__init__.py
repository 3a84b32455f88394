"""The options of every command. Only the standard library is imported: `--help` must not wait for what runs it."""
