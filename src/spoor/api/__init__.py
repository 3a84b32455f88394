"""The Python API: what `import spoor` gives. Prints nothing and changes nothing of its process."""
