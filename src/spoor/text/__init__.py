"""What can be said of texts without HTML: words, vector spaces, and how words and texts explain each other."""
