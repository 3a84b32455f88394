"""A crawl in the browser, while it runs and afterwards: an HTTP server, its JSON API, and the page that uses it."""
