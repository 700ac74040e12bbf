"""Who may write where, and what may be shown where: pure decisions, no I/O."""
