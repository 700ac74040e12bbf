"""What happened and cannot be derived from notes: the audit of changes, and the grants that a person gave."""
