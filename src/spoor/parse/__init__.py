"""From the bytes of a response to a `records.Page`: charset, text, links, words; no judging and no I/O."""
