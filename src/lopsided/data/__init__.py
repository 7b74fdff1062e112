"""Streams of data: readers, data sets by name, generators."""
