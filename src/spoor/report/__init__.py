"""Output of a crawl for people and other tools: report.html, why, export. Reads the crawl folder, not the crawler."""
