"""The history in lists and dictionaries: the twin for tests, and for a vault that is in memory."""
