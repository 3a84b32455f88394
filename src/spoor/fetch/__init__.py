"""Asking servers for pages, and understanding what they answer."""
