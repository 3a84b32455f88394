"""A crawl folder to something a person can read. Reads the folder, never the crawler."""
