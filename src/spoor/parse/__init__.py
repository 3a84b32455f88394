"""From the bytes of a response to a `records.Page`: charset, text, links and what surrounds them."""
