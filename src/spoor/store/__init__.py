"""A crawl on disk: folder, WARC files, indexes, journal, snapshots; checks and repair."""
