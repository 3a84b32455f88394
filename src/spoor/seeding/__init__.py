"""Where to start: seeds from the result lists of several search sources."""
