"""The queue of a crawl: what is waiting, what is in transit, which hosts have a delay; and its two stores."""
