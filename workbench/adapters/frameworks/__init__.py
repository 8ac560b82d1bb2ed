"""What the adapters of frameworks share: model calls with no SDK's call inside, and steps."""
