"""The `spoor` command: one module for each group of sub-commands; parses arguments and prints, without crawl logic."""
