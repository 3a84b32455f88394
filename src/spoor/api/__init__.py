"""spoor for Python programs: what `import spoor` gives. Prints nothing and changes nothing of its process."""
