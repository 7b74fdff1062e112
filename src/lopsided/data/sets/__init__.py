"""Data sets by name: finding and fetching them."""
