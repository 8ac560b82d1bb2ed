"""The sample agents. A package, so that no installed one of this name is taken for it."""
