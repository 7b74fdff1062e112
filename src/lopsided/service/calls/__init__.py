"""The calls of the service over HTTP, by subject."""
