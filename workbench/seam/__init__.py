"""The seam: where an agent touches the world, and the session that decides about each call."""
