"""A durable service: it scores events, asks for labels, learns, and loses nothing."""
