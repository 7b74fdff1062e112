"""Tables to blocks: columns, cells, classes."""
