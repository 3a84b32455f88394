"""What people and other tools read of a crawl: report.html, why, export; reads the folder, not the crawler."""
