"""From tables to blocks: columns, cells, classes."""
