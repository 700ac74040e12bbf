"""The daemon: one process per user, which serves every registered vault to programs on this machine."""
