"""Active learning of a judge during a crawl: how it starts, which pages it asks about, and what answers change."""
