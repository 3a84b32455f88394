"""Pages made by scripts, in a real browser that never goes out by itself."""
