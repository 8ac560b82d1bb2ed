"""Live models that a run can talk to; each provider loads only what it needs."""
