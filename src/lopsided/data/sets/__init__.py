"""Data sets by name: where they are, and how to get them."""
