"""Readers: files and pipes to blocks of rows."""
