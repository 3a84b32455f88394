"""The Python interface: what `import spoor` gives. Prints nothing and changes nothing of its process."""
