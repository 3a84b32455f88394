"""Crawls in the browser, running or finished: an HTTP server, its JSON API, and the page that uses it."""
