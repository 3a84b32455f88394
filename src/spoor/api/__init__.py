"""The Python API exported by `import spoor`. Prints nothing and has no effect on the rest of the process."""
