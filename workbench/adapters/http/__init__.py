"""What travels over HTTP, whoever sends it: bodies, headers and event streams."""
