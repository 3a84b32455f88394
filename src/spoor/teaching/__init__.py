"""A judge that is learned while crawling: what it starts from, which pages it asks about, what answers change."""
