"""The SDKs of OpenAI and Anthropic, which are built alike: one adapter, described twice."""
