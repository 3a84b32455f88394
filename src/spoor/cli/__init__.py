"""The `spoor` command: one module for each group of sub-commands; reads arguments and prints, decides nothing."""
