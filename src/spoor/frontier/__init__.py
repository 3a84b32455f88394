"""The queue of a crawl: waiting links, links in transit, hosts with their delays; and its two stores."""
