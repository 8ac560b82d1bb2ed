"""The notebook workbench: what a person sees of a trace, and what they do to it."""
