"""What a request does, inside a group of the sequencer."""
