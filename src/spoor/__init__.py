"""spoor: a focused web crawler and the simulator to judge it by."""

__version__ = "0.1.0"
