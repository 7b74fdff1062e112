"""Runs over streams: progressive passes, banks of models, files that do not end."""
