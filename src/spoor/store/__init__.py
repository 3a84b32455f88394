"""A crawl on disk: folder, WARC files, indexes, journal, snapshots; how they are checked, repaired, migrated."""
